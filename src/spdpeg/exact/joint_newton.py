"""Newton's method for losses that are no sum over single margins.

    min over x   f(A x)  +  r1(x)  +  r2(F x)

Softmax couples the margins of all classes, the partial likelihood of Cox those of all rows at risk. Each step minimises
a quadratic model of the loss plus the penalties. The model is a least squares problem, which any method takes, with at
most as many rows as unknowns, however many the data have. A line search keeps the objective from rising. The bound is
Fenchel's, with the conjugate that the loss has along its own slopes. multinomial.py and cox.py are the losses.
"""

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular

from ..certificate import Certificate, bound, kkt_residual
from ..certificate.bound import NO_CONJUGATE, NOT_FEASIBLE
from ..certificate.slopes import LossPart, Slopes
from ..errors import DivergedError, InputError, UnsupportedError
from ..losses import Squared
from ..operators import Operator, Repeated
from ..penalties import Penalty, SeparableSum, Zero
from ..problem import Problem
from ..result import History, Result, Run, Status, uninterrupted

MOST = 5000
"""Unknowns for which a Hessian is made."""

FLOOR = 1e-9
"""Added to the diagonal of a Hessian, relative to its entries, as a loss may be flat."""

_RAISES = 4
"""Floors that are tried, each 1,000 times the last: where the loss vanishes, rounding is larger than the first."""

_FRACTION = 0.1
_LEAST_FRACTION = 1e-5
"""A model is solved until its gap is this fraction of the gap that is left, or less, where that does not help."""

_FINEST = 1e-12
"""Tolerance that no model is asked to go below."""

_ENOUGH = 1e-4
_SHORTEST = 1e-6
"""Fraction of the decrease predicted by the model that a step must bring; steps shorter than this are not tried."""

_ROUNDING = 1e-14
"""Relative error of an objective."""

_VANISHES = 1e-12
"""Fraction of the size of an objective that is as good as none."""

_NO_STEP = 1e-12
"""The prox of a conjugate with hardly any step is the projection onto its domain."""

_SLOPE_SIZE = 4.0
"""Slopes over the root of the curvature that the model's columns carry, as far as rounding is concerned."""


Start = tuple[np.ndarray, Any, np.ndarray | None]
"""Coefficients, intercept and multipliers of a class, to begin with."""


class JointNewton:
    """A problem of k classes, or of one; x holds the coefficients of the first class, its intercept, those of the next.

    A loss has the methods that raise NotImplementedError here.

    Parameters
    ----------
    count : int
        k.
    n_features : int
    intercept : bool
    """

    def __init__(self, count: int, n_features: int, intercept: bool) -> None:
        self._count, self._n_features, self._intercept = count, n_features, intercept
        self._terms: dict[str, Any] = {}

    def _margins(self, x: np.ndarray) -> np.ndarray:
        """The margins, linear in x, of which the loss is a function."""
        raise NotImplementedError

    def _loss(self, margins: np.ndarray) -> float:
        raise NotImplementedError

    def _curvature(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R and t with R^T R the Hessian of the loss, as a function of x, and R^T t its gradient."""
        raise NotImplementedError

    def _slopes(self, margins: np.ndarray) -> tuple[np.ndarray, LossPart]:
        """The gradient g at or near the margins, and s -> minus the conjugate of the loss, or a bound on it, at s g."""
        raise NotImplementedError

    def with_penalties(self, r1: Penalty | None, r2: Penalty | None, F: Operator | None) -> Self:
        """The same data under these penalties of each class."""
        other, k = copy(self), self._count
        free, sizes = ([Zero()], [1]) if self._intercept else ([], [])
        other._terms = {
            "loss": Squared(),
            "r1": SeparableSum([Zero() if r1 is None else r1, *free] * k, [self._n_features, *sizes] * k),
        }
        if r2 is not None and F is not None:
            other._terms["F"] = Repeated(F, k, skip=len(sizes))
            other._terms["r2"] = SeparableSum([r2] * k, [F.n_outputs] * k)
        return other

    def penalty_value(self, x: np.ndarray) -> float:
        """r1 and r2 of all classes at x."""
        r2 = self._terms["r2"].value(self._terms["F"].forward(x)) if "r2" in self._terms else 0.0
        return float(self._terms["r1"].value(x) + r2)

    def objective(self, x: np.ndarray) -> float:
        """Loss and penalties at x."""
        return self._loss(self._margins(x)) + self.penalty_value(x)

    @property
    def objective_size(self) -> float:
        """The scale of the objective: its value at x = 0."""
        return self.objective(np.zeros(self._count * (self._n_features + self._intercept)))

    def join(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """x, from what `split` returns."""
        return np.hstack([coef, intercept[:, None]] if self._intercept else [coef]).astype(float).ravel()

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts, a row for each class."""
        table = x.reshape(self._count, -1)
        if not self._intercept:
            return table.copy(), np.zeros(len(table))
        return table[:, :-1].copy(), table[:, -1] - table[:, -1].mean()

    def solve(self, starts: Sequence[Start], tol: float, max_passes: float, minimize: Callable[..., Result]) -> Run:
        """Newton's method from the starts of the classes.

        `minimize(model, tol=, max_passes=, x0=, dual0=)` solves the models, as `spdpeg.solve` does; each may take as
        many passes as all steps together over the data.
        """
        if not tol > 0.0:
            raise InputError(f"tol is {tol}. It must be positive.")
        begun = time.perf_counter()
        x, dual = self._joined(starts)
        margins, passes, fraction, best = self._margins(x), 1.0, _FRACTION, -np.inf
        records: list[tuple[float, int, float, float, float]] = []
        size = self.objective_size
        while True:
            model = self._model(x, margins)
            objective = self._loss(margins) + model.view.penalty.value(x)
            dual = dual if dual.size == model.F.n_outputs else np.zeros(model.F.n_outputs)
            certificate = self._certificate(model, x, margins, dual, objective, best).judged(tol, size)
            best = certificate.dual
            # A step that gained nothing asks for a better solution of the model.
            gained = not records or objective < records[-1][3] - _ROUNDING * abs(objective)
            fraction = _FRACTION if gained else 0.1 * fraction
            records.append((passes, len(records), time.perf_counter() - begun, objective, 0.0))
            spent = passes >= max_passes and len(records) > 1
            # Nowhere is a loss 0 that is above 0 at x = 0: it falls for ever.
            vanished = x.any() and objective <= _VANISHES * size
            if certificate.met is not None or spent or vanished or fraction < _LEAST_FRACTION:
                break
            result = uninterrupted(
                minimize(
                    model,
                    tol=_tolerance(fraction, certificate, model.objective(x)),
                    max_passes=max_passes,
                    x0=x,
                    dual0=dual,
                )
            )
            x, margins = self._searched(model, x, result.x, margins, objective)
            # One read for the Hessian, one for the margins at the end of the step; line searches need none.
            dual, passes = result.dual, passes + 2.0
        history = History(*(np.array(column) for column in zip(*records, strict=True)))
        if vanished:
            certificate, status = replace(certificate, met=None), Status.NO_MINIMUM
        elif certificate.met is not None:
            status = Status.of(certificate)
        else:
            status = Status.MAX_PASSES if spent else Status.EXHAUSTED
        return Run(x, dual.reshape(self._count, -1), objective, certificate, history, passes, status)

    def _joined(self, starts: Sequence[Start]) -> tuple[np.ndarray, np.ndarray]:
        """The start: x and the multipliers of all classes."""
        table = np.array([np.append(coef, [constant] * self._intercept) for coef, constant, _ in starts], dtype=float)
        return table.ravel(), np.concatenate([np.zeros(0) if dual is None else dual for _, _, dual in starts])

    def _model(self, x: np.ndarray, margins: np.ndarray) -> Problem:
        """Least squares with the gradient and the Hessian of the loss at x, and the penalties."""
        root, target = self._curvature(margins)
        size = len(root)
        # A Problem takes the mean over its rows; the roots of their number make it the sum.
        return Problem(np.sqrt(size) * root, np.sqrt(size) * (root @ x - target), **self._terms)

    def _searched(
        self, model: Problem, x: np.ndarray, end: np.ndarray, margins: np.ndarray, objective: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The farthest point tried between x and the model's solution that is far enough down, and its margins."""
        move, along = end - x, self._margins(end) - margins
        predicted = _ENOUGH * max(model.objective(x) - model.objective(end), 0.0)
        step = 1.0
        while step >= _SHORTEST:
            ahead = x + step * move
            value = self._loss(margins + step * along) + model.view.penalty.value(ahead)
            # Where rounding hides what is gained, the bound still gains by the step.
            if value <= objective - step * predicted + _ROUNDING * abs(objective):
                return ahead, margins + step * along
            step *= 0.5
        return x, margins

    def _certificate(
        self, model: Problem, x: np.ndarray, margins: np.ndarray, dual: np.ndarray, objective: float, best: float
    ) -> Certificate:
        """Fenchel's bound at the slopes of x and the multipliers of the last model."""
        y = model.r2.dual_prox(-dual, _NO_STEP) if dual.size else -dual
        obstacle = NOT_FEASIBLE
        try:
            gradient, loss_part = self._slopes(margins)
            sizes = np.full(model.view.rows.block.labels.size, _SLOPE_SIZE)
            slopes = Slopes(gradient, loss_part, lambda: sizes, movable=False)
            value = max(best, bound(model.view, slopes, y, x))
        except (UnsupportedError, NotImplementedError):  # no closed conjugate
            value, obstacle = best, NO_CONJUGATE
        certificate = Certificate(objective, value, np.nan)
        if np.isfinite(certificate.rel_gap):
            return certificate
        # The model has the gradient of the loss at x.
        obstacle = "" if np.isfinite(value) else obstacle
        return Certificate(objective, value, kkt_residual(model.view, x, dual), obstacle=obstacle)


def factored(H: np.ndarray, gradient: np.ndarray, floor: Any) -> tuple[np.ndarray, np.ndarray]:
    """R and t with R^T R = H, the floor added to its diagonal, and R^T t the gradient; H is overwritten."""
    for _ in range(_RAISES):
        H[np.diag_indices(len(H))] += floor
        try:
            root = np.linalg.cholesky(H).T
        except np.linalg.LinAlgError:
            floor = 1e3 * floor
        else:
            return root, solve_triangular(root, gradient, trans="T")
    raise DivergedError("The Hessian of the loss is no number any more. Scale the columns of X, or raise the weights.")


def mean_weights(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Weights that sum to 1; of size 1 first, so that the sum neither overflows nor vanishes."""
    if weights is None:
        return np.full(n, 1.0 / n)
    sized = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return np.asarray(sized / sized.sum())


def _tolerance(fraction: float, certificate: Certificate, objective: float) -> float:
    """The tolerance for a model with this objective at its start."""
    left = certificate.gap / objective if np.isfinite(certificate.rel_gap) and objective > 0.0 else certificate.residual
    return float(np.clip(fraction * left, _FINEST, _FRACTION))
