"""How the quadratic models of Newton's steps are minimised, penalties included and without data."""

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ..penalties.conic import ConicForm
from ..quadratic import Model, ModelSolution, Status, augmented, minimize, to_face
from ..quadratic.augmented import Split

_NOISE = 1e-14
"""Part of the room of a multiplier below which it counts as 0."""

_SHIFT = 1e-13
_REFINEMENTS = 3
"""Added to the unit diagonal of a curvature that may be singular, and the corrections that undo it."""

_FARTHEST = 1e-6
"""Part of w that such a correction may move it by."""

_APEX = 1e-6
"""Part of the objective that the way to such a 0 may cost."""

_FEW, _MOST_FILLED = 100, 20
"""Coordinates beyond which a curvature with at most so many entries a column is treated as sparse: of a signal, say."""


class Minimum(NamedTuple):
    """Where a model has its minimum."""

    point: np.ndarray
    """With exact zeros and pieces where those are certain."""
    w: np.ndarray
    """As found with the multipliers: H w - b + K^T y = 0. It starts with x, auxiliary variables follow."""
    y: np.ndarray
    status: Status
    gap: float
    """By how much the model may be too high there."""


class Models(Protocol):
    """Minimises models with some penalties."""

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""


class ConicModels:
    """By interior points, for penalties in conic form."""

    def __init__(self, form: ConicForm) -> None:
        self._form = form

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        model = quick = Model(H, b, self._form)
        if x.size > _FEW and np.count_nonzero(H) <= _MOST_FILLED * x.size:
            quick = replace(model, H=sp.csr_array(H))
        solution = minimize(quick)
        face = to_face(quick, solution)
        exact = refined(model, solution)
        point = within(model, solution.w if face is None else face)[: x.size].copy()
        return Minimum(point, exact.w, exact.y, solution.status, solution.gap)


class SplitModels:
    """By augmented Lagrangians, for any penalties with a prox.

    Parameters
    ----------
    split : Split
    own : slice or None
        Where K x holds x itself, with the structure that the prox gives it; None if it does not.
    """

    def __init__(self, split: Split, own: slice | None) -> None:
        self._split, self._own = split, own

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        found = augmented.minimize(H, b, self._split, x)
        point = found.x
        if self._own is not None:
            K, penalty = self._split
            trial = found.z[self._own]
            values = [0.5 * float(v @ (H @ v)) - float(b @ v) + penalty.value(K @ v) for v in (point, trial)]
            # Structure is worth the rounding that it may cost.
            point = trial.copy() if not values[1] > values[0] + _NOISE * abs(values[0]) else point
        return Minimum(point, found.x, found.y, *(("optimal", 0.0) if found.found else ("inaccurate", np.inf)))


def within(model: Model, w: np.ndarray) -> np.ndarray:
    """w; with 0 where cones meet in 0 alone, of which interior points leave a direction by their last digits."""
    form, bounds = model.form, model.form.limits[0] | model.form.limits[1]
    cones = np.flatnonzero(bounds & (form.offset[: form.n_lines] == 0.0))
    if not cones.size or not model.misses(w):
        return w
    apex = w.copy()
    apex[np.unique(form.K[cones].indices)] = 0.0
    value = model.value(w)
    as_good = model.value(apex) <= value + _APEX * (abs(value) + float(np.abs(model.right()) @ np.abs(w)))
    return apex if as_good and not model.misses(apex) else w


def refined(model: Model, solution: ModelSolution) -> ModelSolution:
    """The dual point without noise: multipliers that are 0 up to rounding are 0, and w takes up what that leaves."""
    form, lines = model.form, model.form.n_lines
    ends = np.where(np.isfinite(form.up), form.up, 0.0) + np.where(np.isfinite(form.down), form.down, 0.0)
    y = solution.y.copy()
    y[:lines][np.abs(y[:lines]) <= _NOISE * ends] = 0.0
    d = model.b.size
    diagonal = np.diagonal(model.H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    factor, failed = lapack.dpotrf(model.H * scale[:, None] * scale + _SHIFT * np.eye(d), lower=1)
    if failed:
        return replace(solution, y=y)
    w = solution.w.copy()
    right, adjoint = model.right(), form.adjoint(y)
    best = residual = model.times(w) - right + adjoint
    for _ in range(_REFINEMENTS):
        move = scale * lapack.dpotrs(factor, scale * residual[:d], lower=1)[0]
        if np.abs(move).max() > _FARTHEST * np.abs(w).max():
            break  # along directions without curvature
        trial = w.copy()
        trial[:d] -= move
        residual = model.times(trial) - right + adjoint
        if not np.abs(residual[:d]).max() < np.abs(best[:d]).max():
            break
        w, best = trial, residual
    return replace(solution, w=w, y=y, residual=best)
