"""Proofs that a model has no solution: multipliers that no w satisfies, or a direction of endless descent."""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import lsqr

from ..penalties.conic import ConicForm, broken_lines, group_norms
from .model import Model

_FAINT = 1e-6
_SHARP = 1e-7
"""How small a residual must be beside what it proves."""
_MOST_LINES = 2000
"""Constraints up to which a linear program looks for those that contradict each other."""


def find(
    model: Model, w: np.ndarray, y: np.ndarray, solved: bool
) -> tuple[Literal["infeasible", "unbounded"], np.ndarray] | None:
    """A proof that the model is infeasible or unbounded; once `solved`, only empty constraints are checked."""
    wrong = _impossible(model)
    if wrong is not None or solved:
        return None if wrong is None else ("infeasible", wrong)
    multipliers = _infeasible(model.form, y)
    if multipliers is not None:
        return "infeasible", multipliers
    direction = _unbounded(model, w)
    return None if direction is None else ("unbounded", direction)


def contradiction(model: Model) -> np.ndarray | None:
    """Multipliers of lines that no w satisfies, by a linear program; None if there are none, or they prove nothing.

    For constraints of very different sizes, among which interior points do not find them: in rows and columns of size
    1, the least t^T z over K^T z = 0 and |z| <= 1.
    """
    form = model.form
    above, below = form.limits
    rows = np.flatnonzero((above | below) & (np.diff(form.K.indptr)[: form.n_lines] > 0))
    if not 0 < rows.size <= _MOST_LINES:
        return None
    K = sp.csr_array(form.K[rows])
    units = np.asarray(abs(K).max(axis=1).todense()).ravel()
    offset = form.offset[rows] / units
    largest = float(np.abs(offset).max())
    if largest == 0.0:
        return None  # 0 satisfies them all
    K = sp.csr_array(sp.diags_array(1.0 / units) @ K)
    columns = np.asarray(abs(K).max(axis=0).todense()).ravel()
    used = np.flatnonzero(columns)
    K = sp.csr_array(K[:, used] @ sp.diags_array(1.0 / columns[used]))
    bounds = np.column_stack([np.where(below[rows], -1.0, 0.0), np.where(above[rows], 1.0, 0.0)])
    found = linprog(offset / largest, A_eq=K.T, b_eq=np.zeros(used.size), bounds=bounds, method="highs")
    if not found.success or not found.fun < 0.0:
        return None
    # What it proves is judged in these units too, in which no row is faint beside others.
    proof = _infeasible(broken_lines(K, offset, form.up[rows], form.down[rows]), found.x)
    if proof is None:
        return None
    z = np.zeros(form.K.shape[0])
    z[rows] = proof / units
    return z


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


def _infeasible(form: ConicForm, y: np.ndarray) -> np.ndarray | None:
    """z on the constraints with K^T z = 0 and t^T z + sum of radius |z_g| < 0: then no w satisfies them."""
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
    magnitude = float(np.abs(form.offset) @ np.abs(z))
    return z if promised > _SHARP * magnitude and left * magnitude <= _SHARP * promised * max(terms, 1e-300) else None


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
    threshold = _SHARP * np.maximum(entries[: form.n_lines], 1e-300)
    stuck = (np.isinf(form.up) & (lines > threshold)) | (np.isinf(form.down) & (lines < -threshold))
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
