"""Problems as raw arrays and terms, with an objective of their own to score solvers by."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from spdpeg import Problem
from spdpeg.penalties import SeparableSum, Zero
from support import formulas


@dataclass(frozen=True)
class Instance:
    """min over x of  sum_i w_i phi(<a_i, x>, b_i) / sum w + r1(x) + r2(F x), x in the domain.

    `labels` are -1 and +1 for classification; `matrix` is F written out, `operator` the same F as users give it.
    """

    X: np.ndarray
    labels: np.ndarray
    loss: Any
    r1: Any = None
    r2: Any = None
    operator: Any = None
    matrix: np.ndarray | None = None
    domain: Any = None
    weights: np.ndarray | None = None

    @property
    def F(self) -> np.ndarray:
        """F written out; without r2 there is none."""
        d = self.X.shape[1]
        if self.r2 is None or type(self.r2).__name__ == "Zero":
            return np.zeros((0, d))
        return np.eye(d) if self.matrix is None else self.matrix

    @property
    def scaled_weights(self) -> np.ndarray:
        """Weights with mean one."""
        if self.weights is None:
            return np.ones(len(self.labels))
        return np.asarray(self.weights * (len(self.labels) / self.weights.sum()))

    def problem(self, **changes: Any) -> Problem:
        """The same as the package takes it, with some arguments changed."""
        arguments = {
            "X": self.X,
            "y": self.labels,
            "loss": self.loss,
            "r1": self.r1,
            "r2": self.r2,
            "F": self.operator,
            "domain": self.domain,
            "sample_weight": self.weights,
        }
        return Problem(**{**arguments, **changes})

    def with_(self, **changes: Any) -> Self:
        """A changed copy."""
        return replace(self, **changes)

    def beside_intercept(self, bias: float = 1.0) -> Self:
        """With an intercept written out: a last column of `bias` that no penalty, set or operator sees."""
        n, d = self.X.shape
        F = np.hstack([self.F, np.zeros((len(self.F), 1))])
        return self.with_(
            X=np.hstack([self.X, np.full((n, 1), bias)]),
            r1=_on_features(self.r1, d),
            domain=_on_features(self.domain, d),
            operator=F,
            matrix=F,
        )

    def objective(self, x: np.ndarray) -> float:
        """The objective, written out."""
        losses = formulas.loss_value(self.loss, self.X @ x, self.labels)
        total = float(self.scaled_weights @ losses) / len(self.labels)
        if self.r1 is not None:
            total += formulas.value(self.r1, x)
        if self.domain is not None:
            total += formulas.value(self.domain, x)
        if self.r2 is not None:
            total += formulas.value(self.r2, self.F @ x)
        return total

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Gradient of the mean loss, written out."""
        slopes = self.scaled_weights * formulas.loss_derivative(self.loss, self.X @ x, self.labels)
        return np.asarray(self.X.T @ slopes) / len(self.labels)


def _on_features(penalty: Any, d: int) -> Any:
    return None if penalty is None else SeparableSum([penalty, Zero()], [d, 1])
