"""Every estimator with small settings, and its objective written down a second time for a conic solver."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
from sklearn.base import is_classifier

from spdpeg import estimators, losses, operators, penalties
from support.conic import TIGHT

cp: Any = cvxpy

EDGES = [(0, 1, 1.0), (1, 4, 0.5), (2, 3, 2.0), (0, 5, 1.0)]
F = np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, -2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, -1.0]])


def _chain(x: Any) -> Any:
    return cp.norm1(cp.diff(x))


def _graph(x: Any) -> Any:
    return sum(w * cp.abs(x[i] - x[j]) for i, j, w in EDGES)


def _grid(x: Any) -> Any:
    image = cp.reshape(x, (2, 3), order="C")
    return cp.norm1(cp.vec(cp.diff(image, axis=0), order="C")) + cp.norm1(cp.vec(cp.diff(image, axis=1), order="C"))


def _groups(x: Any) -> Any:
    return np.sqrt(3.0) * (cp.norm2(x[:3]) + cp.norm2(x[3:]))


def _nuclear(x: Any) -> Any:
    return cp.normNuc(cp.reshape(x, (2, 3), order="C"))


def _squared(t: Any, y: np.ndarray) -> Any:
    return cp.square(t - y) / 2


def _logistic(t: Any, y: np.ndarray) -> Any:
    return cp.logistic(-cp.multiply(y, t))


def _hinge(t: Any, y: np.ndarray) -> Any:
    return cp.pos(1 - cp.multiply(y, t))


def minimum(problem: Any) -> float:
    """Solve by Clarabel as exactly as it can."""
    with warnings.catch_warnings():
        # Beyond what double precision allows; the tests compare with looser tolerances than it misses.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    return float(problem.value)


@dataclass(frozen=True)
class Case:
    """An estimator for six features, and its loss and penalty in cvxpy's terms."""

    estimator: Any
    loss: Callable[[Any, np.ndarray], Any]
    penalty: Callable[[Any], Any]

    @property
    def name(self) -> str:
        """Of the class."""
        return type(self.estimator).__name__

    @property
    def classifies(self) -> bool:
        """Whether y holds classes."""
        return bool(is_classifier(self.estimator))

    def data(self, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Noisy rows with columns off centre, and labels with a constant in them."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 6)) + rng.standard_normal(6)
        score = X @ [1.0, 1.0, -1.0, 0.0, 0.5, 0.5] + 0.5 + rng.standard_normal(n)
        return X, np.where(score > np.median(score) + 0.3, 1.0, -1.0) if self.classifies else score

    def solve(
        self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, intercept: bool = True
    ) -> tuple[np.ndarray, float, float]:
        """Coefficients, intercept and objective by Clarabel."""
        share = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
        x, c = cp.Variable(X.shape[1]), cp.Variable()
        problem = cp.Problem(
            cp.Minimize(share @ self.loss(X @ x + c, y) + self.penalty(x)), [] if intercept else [c == 0]
        )
        objective = minimum(problem)
        return x.value, float(c.value), objective


_E = estimators
_TIGHT = {"tol": 3e-9, "random_state": 0}
"""Clear of the slack of 1e-9 that a gap with a norm as r1 keeps."""

CASES = [
    Case(_E.FusedLasso(0.05, 0.1, **_TIGHT), _squared, lambda x: 0.05 * cp.norm1(x) + 0.1 * _chain(x)),
    Case(_E.FusedLogisticRegression(0.02, 0.03, **_TIGHT), _logistic, lambda x: 0.02 * cp.norm1(x) + 0.03 * _chain(x)),
    Case(_E.FusedSVC(0.02, 0.03, max_passes=20_000, **_TIGHT), _hinge, lambda x: 0.02 * cp.norm1(x) + 0.03 * _chain(x)),
    Case(
        _E.GraphGuidedRegressor(EDGES, "l1", 0.05, 0.1, **_TIGHT),
        _squared,
        lambda x: 0.05 * cp.norm1(x) + 0.1 * _graph(x),
    ),
    Case(
        _E.GraphGuidedLogisticRegression(EDGES, "ridge", 0.02, 0.03, **_TIGHT),
        _logistic,
        lambda x: 0.01 * cp.sum_squares(x) + 0.03 * _graph(x),
    ),
    Case(_E.GeneralizedLasso(F, 0.05, 0.1, **_TIGHT), _squared, lambda x: 0.05 * cp.norm1(x) + 0.1 * cp.norm1(F @ x)),
    Case(
        _E.GeneralizedLassoClassifier(F, 0.02, 0.03, **_TIGHT),
        _logistic,
        lambda x: 0.02 * cp.norm1(x) + 0.03 * cp.norm1(F @ x),
    ),
    Case(_E.TrendFilter(2, 0.1, **_TIGHT), _squared, lambda x: 0.1 * cp.norm1(cp.diff(x, 2))),
    Case(
        _E.TotalVariationRegressor((2, 3), 0.05, 0.1, **_TIGHT),
        _squared,
        lambda x: 0.05 * cp.norm1(x) + 0.1 * _grid(x),
    ),
    Case(
        _E.TotalVariationClassifier((2, 3), 0.02, 0.03, **_TIGHT),
        _logistic,
        lambda x: 0.02 * cp.norm1(x) + 0.03 * _grid(x),
    ),
    Case(_E.LowRankRegressor((2, 3), 0.05, 0.1, **_TIGHT), _squared, lambda x: 0.05 * cp.norm1(x) + 0.1 * _nuclear(x)),
    Case(
        _E.LowRankClassifier((2, 3), 0.02, 0.05, **_TIGHT), _logistic, lambda x: 0.02 * cp.norm1(x) + 0.05 * _nuclear(x)
    ),
    Case(_E.GroupLasso(3, 0.1, **_TIGHT), _squared, lambda x: 0.1 * _groups(x)),
    Case(_E.GroupLassoClassifier([0, 0, 0, 1, 1, 1], 0.03, **_TIGHT), _logistic, lambda x: 0.03 * _groups(x)),
    Case(
        _E.SparseGroupLasso([[0, 1, 2], [3, 4, 5]], 0.05, 0.1, **_TIGHT),
        _squared,
        lambda x: 0.05 * cp.norm1(x) + 0.1 * _groups(x),
    ),
    Case(
        _E.SparseGroupLassoClassifier(3, 0.02, 0.03, **_TIGHT),
        _logistic,
        lambda x: 0.02 * cp.norm1(x) + 0.03 * _groups(x),
    ),
    Case(
        _E.CompositeRegressor(
            losses.Huber(0.5), penalties.L2Squared(0.1), penalties.GroupL2(0.1, 3), operators.Identity(), **_TIGHT
        ),
        lambda t, y: cp.huber(t - y, 0.5) / 2,
        lambda x: 0.05 * cp.sum_squares(x) + 0.1 * (cp.norm2(x[:3]) + cp.norm2(x[3:])),
    ),
    Case(
        _E.CompositeClassifier(losses.SquaredHinge(), penalties.L1(0.05), penalties.LInf(0.1), **_TIGHT),
        lambda t, y: cp.square(cp.pos(1 - cp.multiply(y, t))) / 2,
        lambda x: 0.05 * cp.norm1(x) + 0.1 * cp.norm_inf(x),
    ),
]
"""One for each estimator."""
