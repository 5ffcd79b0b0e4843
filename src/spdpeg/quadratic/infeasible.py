"""Proofs that a model has no solution: multipliers that no w satisfies, or a direction of endless descent."""

from typing import Literal

import numpy as np
from scipy.sparse.linalg import lsqr

from ..penalties.conic import group_norms
from .model import Model

_FAINT = 1e-6
_SHARP = 1e-7
"""How small a residual must be beside what it proves."""


def find(
    model: Model, w: np.ndarray, y: np.ndarray, solved: bool
) -> tuple[Literal["infeasible", "unbounded"], np.ndarray] | None:
    """What the last iterates prove, if anything; where a solution was found, only constraints without entries count."""
    wrong = _impossible(model)
    if wrong is not None or solved:
        return None if wrong is None else ("infeasible", wrong)
    multipliers = _infeasible(model, y)
    if multipliers is not None:
        return "infeasible", multipliers
    direction = _unbounded(model, w)
    return None if direction is None else ("unbounded", direction)


def _impossible(model: Model) -> np.ndarray | None:
    """A constraint without entries, 0 <= t or 0 = t, that is wrong whatever w is."""
    form = model.form
    if not form.bounded:
        return None
    empty = np.flatnonzero(np.diff(form.K.indptr)[: form.n_lines] == 0)
    if not empty.size:
        return None
    offset = form.offset[empty]
    above, below = form.limits
    wrong = empty[((offset < 0.0) & above[empty]) | ((offset > 0.0) & below[empty])]
    if not wrong.size:
        return None
    z = np.zeros(form.K.shape[0])
    z[wrong[0]] = -np.sign(form.offset[wrong[0]])
    return z


def _infeasible(model: Model, y: np.ndarray) -> np.ndarray | None:
    """z on the constraints with K^T z = 0 and t^T z + sum of radius |z_g| < 0: then no w satisfies them."""
    form = model.form
    lines = form.n_lines
    z = np.zeros(y.size)
    own = y[:lines]
    above, below = form.limits
    z[:lines] = np.where(np.where(own > 0.0, above, below), own, 0.0)
    z[lines:] = np.where(np.repeat(np.isinf(form.weight), np.diff(form.starts)), y[lines:], 0.0)
    size = float(np.max(np.abs(z), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    z /= size
    # What the rest of the model adds to the gradient is still in K^T z; take it out by the smallest change.
    used = np.flatnonzero(np.abs(z) > _FAINT)
    own_rows = form.K[used]
    changed = np.zeros(z.size)
    changed[used] = z[used] - lsqr(own_rows.T, own_rows.T @ z[used], atol=1e-14, btol=1e-14)[0]
    kept = np.where(np.arange(z.size) < lines, z * changed > 0.0, z != 0.0)
    z = np.where(kept, changed, 0.0)
    promised = -float(form.offset @ z) - float(form.radius @ group_norms(z, form.starts))
    terms = float(np.max(np.abs(form.K).T @ np.abs(z), initial=0.0))
    left = float(np.max(np.abs(form.K.T @ z), initial=0.0))
    reach = float(np.abs(form.offset) @ np.abs(z))
    return z if promised > _SHARP * reach and left * reach <= _SHARP * promised * max(terms, 1e-300) else None


def _unbounded(model: Model, w: np.ndarray) -> np.ndarray | None:
    """d with H d = 0 along which the linear terms, lines and norms fall and no constraint is left."""
    form = model.form
    size = float(np.max(np.abs(w), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    d = w / size
    image = form.K @ d
    entries = np.abs(form.K) @ np.abs(d)
    lines, balls = image[: form.n_lines], np.isinf(form.weight)
    steep = _SHARP * np.maximum(entries[: form.n_lines], 1e-300)
    stuck = (np.isinf(form.up) & (lines > steep)) | (np.isinf(form.down) & (lines < -steep))
    lengths = group_norms(image, form.starts)
    if stuck.any() or np.any(lengths[balls] > _SHARP):
        return None
    slopes = np.where(lines > 0.0, form.up, form.down)
    slopes = np.where(np.isinf(slopes), 0.0, slopes)
    right = model.right()
    rises = float(slopes @ np.abs(lines)) + float(form.weight[~balls] @ lengths[~balls])
    falls = float(right @ d) - rises
    curvature = float(d @ model.times(d))
    scale = float(np.abs(right) @ np.abs(d)) + rises
    return d if falls > _SHARP * scale and curvature <= _SHARP * falls else None
