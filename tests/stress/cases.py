"""A random problem: what the package is given, and what it means."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spdpeg import Problem


@dataclass(frozen=True)
class Case:
    """min over x, c of  sum_i w_i phi(<a_i, x> + c, b_i) / sum w  +  r1(x) + r2(F x),  x in the domain.

    `given` and `y` are X and labels as the package takes them; `X` and `labels` the same numbers as plain arrays,
    labels of two classes being -1 and +1. `matrix` is F written out. `kinds` says what was drawn, for tables.
    """

    seed: int
    loss: Any
    r1: Any
    r2: Any
    F: Any
    domain: Any
    given: Any
    X: np.ndarray
    y: Any
    labels: np.ndarray
    matrix: np.ndarray
    weights: np.ndarray | None
    intercept: bool | float
    tol: float
    start: np.ndarray | None = None
    """Where `solve` begins, a number for each coordinate of x and for the intercept."""
    passes: float | None = None
    """A budget that is too small, now and then."""
    kinds: dict[str, str] = field(default_factory=dict)

    def problem(self) -> Problem:
        """As the package takes it."""
        return Problem(
            self.given,
            self.y,
            loss=self.loss,
            r1=self.r1,
            r2=self.r2,
            F=self.F,
            domain=self.domain,
            sample_weight=self.weights,
            intercept=self.intercept,
        )

    def settings(self) -> dict[str, Any]:
        """Arguments of `solve`."""
        given = {"x0": self.start, "max_passes": self.passes}
        return {"tol": self.tol, **{name: value for name, value in given.items() if value is not None}}

    def __str__(self) -> str:
        n, d = self.X.shape
        return (
            f"seed {self.seed}: N={n} d={d} {self.loss!r} r1={self.r1!r} r2={self.r2!r} F={self.kinds.get('F')}"
            f"{self.matrix.shape} domain={self.domain!r} data={self.kinds.get('data')} "
            f"storage={self.kinds.get('storage')} labels={self.kinds.get('labels')} "
            f"weights={self.kinds.get('weights')} intercept={self.intercept!r} tol={self.tol:g}"
            + (" with a start" if self.start is not None else "")
            + (f" passes={self.passes:g}" if self.passes is not None else "")
        )
