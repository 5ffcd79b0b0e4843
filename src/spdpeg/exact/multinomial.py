"""All classes at once: Newton's method for the softmax loss with the penalties of every class.

    min over x_1 .. x_k, c   mean of -log softmax(<a_i, x_1> + c_1, ..)_{y_i}  +  sum over classes r1(x_j) + r2(F x_j)

Each step minimises a quadratic model of the loss plus the penalties. The model is made of the Hessian alone: a least
squares problem with as many rows as unknowns, however many the data have, which any method takes. A line search keeps
the objective from rising. The same number added to all intercepts changes nothing; those with mean 0 are given.
"""

import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.special import entr, logsumexp, softmax

from ..certificate import Certificate, bound, kkt_residual
from ..certificate.bound import NO_CONJUGATE, NOT_FEASIBLE
from ..certificate.slopes import Slopes
from ..errors import InputError, UnsupportedError
from ..losses import Squared
from ..operators import Operator, Repeated
from ..penalties import Penalty, SeparableSum, Zero
from ..problem import Problem
from ..result import History, Result, Run, Status, uninterrupted

_MOST = 5000
"""Unknowns for which a Hessian is made."""

_FLOOR = 1e-9
"""Added to the Hessian, relative to its largest entry: the loss is flat where all classes move alike."""

_FRACTION = 0.1
_LEAST_FRACTION = 1e-5
"""A model is solved until its gap is this part of the gap that is left, or less, where that does not help."""

_FINEST = 1e-12
"""Tolerance that no model is asked to go below."""

_ENOUGH = 1e-4
_SHORTEST = 1e-6
"""Part of the decrease foretold by the model that a step must bring; steps shorter than this are not tried."""

_ROUNDING = 1e-14
"""Relative error of an objective."""

_NO_STEP = 1e-12
"""The prox of a conjugate with hardly any step is the projection onto its domain."""

_PROFILING = 20
_SETTLED = 1e-14
"""Newton steps for the intercepts alone, before a bound, and the slope at which they end."""

_SLOPE_SIZE = 4.0
"""Slopes p - e_y over the root of the curvature that the model's columns carry, as far as rounding is concerned."""


Start = tuple[np.ndarray, Any, np.ndarray | None]
"""Coefficients, intercept and multipliers of a class, to begin with."""


class Multinomial:
    """The joint problem of k classes; x holds the coefficients of the first class, its intercept, those of the next.

    Parameters
    ----------
    X : array or CSR matrix
    codes : array
        Classes of the rows, numbered from 0.
    weights : array or None
    r1, r2 : Penalty or None
        Of each class.
    F : Operator or None
    intercept : bool
    """

    def __init__(
        self,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray | None,
        r1: Penalty | None,
        r2: Penalty | None,
        F: Operator | None,
        intercept: bool,
    ) -> None:
        n, d = X.shape
        k = int(codes.max()) + 1
        if k * (d + intercept) > _MOST:
            raise UnsupportedError(
                f"multi_class='multinomial' with {k} classes and {d} features has {k * (d + intercept)} unknowns, more "
                f"than {_MOST}. Use multi_class='ovr'."
            )
        ones = np.ones((n, int(intercept)), dtype=X.dtype)
        self._rows = sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
        self._mean_weights = np.full(n, 1.0 / n) if weights is None else _mean_weights(weights)
        self._hits = np.eye(k)[codes]
        self._intercept = intercept
        self._set_penalties(r1, r2, F)

    def with_penalties(self, r1: Penalty | None, r2: Penalty | None, F: Operator | None) -> "Multinomial":
        """The same data under other penalties."""
        other = copy(self)
        other._set_penalties(r1, r2, F)
        return other

    def _set_penalties(self, r1: Penalty | None, r2: Penalty | None, F: Operator | None) -> None:
        k, d = self._hits.shape[1], self._rows.shape[1] - self._intercept
        free, sizes = ([Zero()], [1]) if self._intercept else ([], [])
        self._terms: dict[str, Any] = {
            "loss": Squared(),
            "r1": SeparableSum([Zero() if r1 is None else r1, *free] * k, [d, *sizes] * k),
        }
        if r2 is not None and F is not None:
            self._terms["F"] = Repeated(F, k, skip=len(sizes))
            self._terms["r2"] = SeparableSum([r2] * k, [F.n_outputs] * k)

    def penalty_value(self, x: np.ndarray) -> float:
        """r1 and r2 of all classes at x."""
        r2 = self._terms["r2"].value(self._terms["F"].forward(x)) if "r2" in self._terms else 0.0
        return float(self._terms["r1"].value(x) + r2)

    def objective(self, x: np.ndarray) -> float:
        """Loss and penalties at x."""
        return self._loss(self._margins(x)) + self.penalty_value(x)

    @property
    def objective_size(self) -> float:
        """The objective at x = 0, where all classes are alike."""
        return self.objective(np.zeros(self._hits.shape[1] * self._rows.shape[1]))

    def join(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """x, from what `split` returns."""
        return np.hstack([coef, intercept[:, None]] if self._intercept else [coef]).astype(float).ravel()

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts, a row for each class."""
        table = x.reshape(self._hits.shape[1], -1)
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
        while True:
            p = softmax(margins, axis=1)
            model = self._model(x, p)
            objective = self._loss(margins) + model.view.penalty.value(x)
            dual = dual if dual.size == model.F.n_outputs else np.zeros(model.F.n_outputs)
            certificate = self._certificate(model, x, p, dual, objective, best).judged(tol)
            best = certificate.dual
            # A step that gained nothing asks for a better solution of the model.
            gained = not records or objective < records[-1][3] - _ROUNDING * abs(objective)
            fraction = _FRACTION if gained else 0.1 * fraction
            records.append((passes, len(records), time.perf_counter() - begun, objective, 0.0))
            spent = passes >= max_passes and len(records) > 1
            if certificate.met is not None or spent or fraction < _LEAST_FRACTION:
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
            dual, passes = result.dual, passes + 2.0
        history = History(*(np.array(column) for column in zip(*records, strict=True)))
        status = Status.of(certificate) if certificate.met is not None else Status.MAX_PASSES
        return Run(x, dual.reshape(self._hits.shape[1], -1), objective, certificate, history, passes, status)

    def _joined(self, starts: Sequence[Start]) -> tuple[np.ndarray, np.ndarray]:
        """x and the multipliers of all classes, to begin with."""
        table = np.array([np.append(coef, [constant] * self._intercept) for coef, constant, _ in starts], dtype=float)
        return table.ravel(), np.concatenate([np.zeros(0) if dual is None else dual for _, _, dual in starts])

    def _margins(self, x: np.ndarray) -> np.ndarray:
        """Scores of the rows, a column for each class."""
        return np.asarray(self._rows @ x.reshape(self._hits.shape[1], -1).T)

    def _loss(self, margins: np.ndarray) -> float:
        return float(self._mean_weights @ (logsumexp(margins, axis=1) - np.sum(margins * self._hits, axis=1)))

    def _gradient(self, p: np.ndarray) -> np.ndarray:
        return np.asarray(self._rows.T @ (self._mean_weights[:, None] * (p - self._hits))).T.ravel()

    def _model(self, x: np.ndarray, p: np.ndarray) -> Problem:
        """Least squares with the gradient and the Hessian of the loss at x, and the penalties."""
        H = self._hessian(p)
        size, largest = len(H), H.diagonal().max() or 1.0
        if self._intercept:
            # Holds the mean of the intercepts where it is, since the loss does not see it.
            last = np.arange(1, self._hits.shape[1] + 1) * (size // self._hits.shape[1]) - 1
            H[np.ix_(last, last)] += largest
        H[np.diag_indices(size)] += _FLOOR * largest
        root = np.linalg.cholesky(H).T
        target = root @ x - solve_triangular(root, self._gradient(p), trans="T")
        return Problem(np.sqrt(size) * root, np.sqrt(size) * target, **self._terms)

    def _hessian(self, p: np.ndarray) -> np.ndarray:
        k, width = p.shape[1], self._rows.shape[1]
        H = np.empty((k, width, k, width))
        for a in range(k):
            for b in range(a + 1):
                curvature = self._mean_weights * p[:, a] * ((a == b) - p[:, b])
                H[a, :, b] = _gram(self._rows, curvature)
                H[b, :, a] = H[a, :, b].T
        return H.reshape(k * width, k * width)

    def _searched(
        self, model: Problem, x: np.ndarray, end: np.ndarray, margins: np.ndarray, objective: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The farthest point tried between x and the model's solution that is far enough down, and its margins."""
        move, along = end - x, self._margins(end) - margins
        foretold = _ENOUGH * max(model.objective(x) - model.objective(end), 0.0)
        step = 1.0
        while step >= _SHORTEST:
            ahead = x + step * move
            value = self._loss(margins + step * along) + model.view.penalty.value(ahead)
            # Where rounding hides what is gained, the bound still gains by the step.
            if value <= objective - step * foretold + _ROUNDING * abs(objective):
                return ahead, margins + step * along
            step *= 0.5
        return x, margins

    def _certificate(
        self, model: Problem, x: np.ndarray, p: np.ndarray, dual: np.ndarray, objective: float, best: float
    ) -> Certificate:
        """Fenchel's bound; of a row's loss the conjugate at s (p - e_y) is sum q log q with q = s p + (1 - s) e_y."""
        profiled, y = self._profiled(p), model.r2.dual_prox(-dual, _NO_STEP) if dual.size else -dual

        def loss_part(scale: float) -> float:
            return float(self._mean_weights @ np.sum(entr(scale * profiled + (1.0 - scale) * self._hits), axis=1))

        obstacle = NOT_FEASIBLE
        try:
            slopes = Slopes(
                self._gradient(profiled), loss_part, lambda: np.full(model.view.rows.block.labels.size, _SLOPE_SIZE)
            )
            value = max(best, bound(model.view, slopes, y, x))
        except (UnsupportedError, NotImplementedError):  # no closed conjugate
            value, obstacle = best, NO_CONJUGATE
        certificate = Certificate(objective, value, np.nan)
        if np.isfinite(certificate.rel_gap):
            return certificate
        # The model has the gradient of the loss at x.
        obstacle = "" if np.isfinite(value) else obstacle
        return Certificate(objective, value, kkt_residual(model.view, x, dual), obstacle=obstacle)

    def _profiled(self, p: np.ndarray) -> np.ndarray:
        """Probabilities with the best intercepts, whose part of the gradient is 0; by Newton's method."""
        if not self._intercept:
            return p
        for _ in range(_PROFILING):
            slope = self._mean_weights @ (p - self._hits)
            if np.abs(slope).max() <= _SETTLED:
                break
            means = self._mean_weights @ p
            H = np.diag(means) - (p.T * self._mean_weights) @ p + np.ones((slope.size, slope.size))
            move = -np.linalg.solve(H + _FLOOR * np.eye(slope.size), slope)
            p = softmax(np.log(np.maximum(p, np.finfo(float).tiny)) + move, axis=1)
        return p


def _tolerance(fraction: float, certificate: Certificate, objective: float) -> float:
    """For a model with this objective at its start."""
    left = certificate.gap / objective if np.isfinite(certificate.rel_gap) and objective > 0.0 else certificate.residual
    return float(np.clip(fraction * left, _FINEST, _FRACTION))


def _gram(rows: Any, weights: np.ndarray) -> np.ndarray:
    """A^T diag(weights) A."""
    if sp.issparse(rows):
        return (rows.T @ rows.multiply(weights[:, None])).toarray()
    return rows.T @ (weights[:, None] * rows)


def _mean_weights(weights: np.ndarray) -> np.ndarray:
    """Weights that sum to 1; of size 1 first, so that the sum neither overflows nor vanishes."""
    sized = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return np.asarray(sized / sized.sum())
