"""The dual point of a model without noise: corrected until the optimality condition holds to rounding."""

from dataclasses import replace

import numpy as np

from ..kernels.jit import allocating, allocating_kernel
from ..kernels.lapack import ROUTINES, Routines, cholesky, cholesky_solve
from ..penalties.conic import group_norms
from .dense import multiply
from .minimization import measured, padded, within_sets
from .model import Model, ModelSolution
from .stationary import LEAST, ROUNDS, room

NOISE = 1e-14
"""Fraction of the room of a multiplier below which it counts as 0."""

_SHIFT = 1e-13
_ROUNDS = 3
"""Added to the unit diagonal of a curvature that may be singular, and the corrections that undo it."""

_FARTHEST = 1e-6
"""Fraction of w that such a correction may move it by."""

_MOST_WORK = 2e8
"""Flops that multipliers on a face may take."""


def refined(model: Model, solution: ModelSolution) -> ModelSolution:
    """Multipliers that are 0 up to rounding are 0, and w takes up what that leaves."""
    form, lines, known = model.form, model.form.n_lines, model.b.size
    ends = np.where(np.isfinite(form.up), form.up, 0.0) + np.where(np.isfinite(form.down), form.down, 0.0)
    y, w = solution.y.copy(), solution.w.copy()
    y[:lines][np.abs(y[:lines]) <= NOISE * ends] = 0.0
    target = model.right() - form.adjoint(y)
    if form.curved:  # what auxiliary variables add, which stay as they are
        target -= form.quadratic @ np.concatenate([np.zeros(known), w[known:]])
    _refine(padded(model)[:known, :known], target[:known], w, ROUTINES)
    return replace(solution, w=w, y=y, residual=model.times(w) - model.right() + form.adjoint(y))


@np.errstate(over="ignore", invalid="ignore")  # a wrong face shows by its gap
def on_face(model: Model, solution: ModelSolution, w: np.ndarray) -> ModelSolution:
    """The solution at a point w of its face, with multipliers to match; itself where these are no better.

    Next to the border of a cone an interior point has half of its digits. At w, all lines and groups that do not vanish
    determine their multipliers exactly; the others move as little as the optimality condition allows.
    """
    form, lines = model.form, model.form.n_lines
    owner = np.repeat(np.arange(form.weight.size), np.diff(form.starts))
    image, norms = form.image(w), np.isfinite(form.weight)
    lengths = group_norms(image, form.starts)
    free = np.concatenate([solution.active, (solution.zero | ~norms | (lengths == 0.0))[owner]])
    if not 0 < np.count_nonzero(free) * model.width**2 <= _MOST_WORK:
        return solution
    y = solution.y.copy()
    pull = np.where(norms, form.weight, 0.0) / np.where(lengths > 0.0, lengths, 1.0)
    along = form.slopes(image[:lines]), pull[owner] * image[lines:]
    y = np.where(free, y, np.concatenate(along))
    if not np.all(np.isfinite(y)):
        return solution
    moving = np.flatnonzero(free)
    reach = room(form, y)[moving]
    C = (form.K[moving].toarray() * reach[:, None]).T
    size = np.linalg.norm(C, axis=1)
    size = np.where(size > 0.0, size, 1.0)
    for _ in range(ROUNDS):
        residual = model.times(w) - model.right() + form.adjoint(y)
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(C))):
            return solution
        try:
            y[moving] -= reach * np.linalg.lstsq(C / size[:, None], residual / size, rcond=LEAST)[0]
        except np.linalg.LinAlgError:
            return solution
    y = within_sets(form, y)
    image, residual, gap = measured(model, w, y)
    if not gap < solution.gap:
        return solution
    return replace(solution, w=w, y=y, residual=residual, value=model.value(w, image), gap=gap)


@allocating
def refine(H: np.ndarray, target: np.ndarray, w: np.ndarray, lapack: Routines) -> None:
    """Bring H w, for the first entries of w, closer to the target as long as that moves it by next to nothing."""
    n = target.size
    factor, scale = np.empty((n, n)), np.ones(n)
    for i in range(n):
        if H[i, i] > 0.0:
            scale[i] = 1.0 / np.sqrt(H[i, i])
    for i in range(n):
        for j in range(i + 1):
            factor[i, j] = scale[i] * H[i, j] * scale[j]
        factor[i, i] += _SHIFT
    if not cholesky(lapack, factor):
        return
    trial, rest, move = w[:n].copy(), np.empty(n), np.empty(n)
    largest = 0.0
    for j in range(w.size):
        largest = max(largest, abs(w[j]))
    best = np.inf
    for round_ in range(_ROUNDS + 1):
        multiply(H, trial, rest)
        size = 0.0
        for j in range(n):
            rest[j] -= target[j]
            size = max(size, abs(rest[j]))
        if not size < best:
            return
        best = size
        w[:n] = trial
        if round_ == _ROUNDS:
            return
        for j in range(n):
            move[j] = scale[j] * rest[j]
        cholesky_solve(lapack, factor, move)
        for j in range(n):
            move[j] *= scale[j]
            if not abs(move[j]) <= _FARTHEST * largest:
                return  # along directions without curvature
            trial[j] -= move[j]


@allocating_kernel
def _refine(H: np.ndarray, target: np.ndarray, w: np.ndarray, lapack: Routines) -> None:
    refine(H, target, w, lapack)
