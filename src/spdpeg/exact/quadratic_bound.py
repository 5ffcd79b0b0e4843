"""A lower bound on a quadratic loss plus penalties, from the multipliers of the model and without data.

Multipliers y within their sets bound each line and each norm of a conic form from below by y^T (K w - t), whatever w.
What is left is a convex quadratic L(w), and the optimum is at least its minimum. At a w with slope e it is
L(w) - e^T H^-1 e / 2, of second order in what rounding leaves of the optimality condition. Where H has no inverse the
bound loses |e|^T |w* - w| instead: l1 weights bound w*, as weight |w*|_1 is at most the objective, and so do weights of
norms; elsewhere e must be no more than rounding, and w* is taken to be at most ten times as large as w.
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ..penalties.conic import ConicForm, group_norms
from ..quadratic import Model
from ..sums.moments import Quadratic

_EPS = float(np.finfo(float).eps)
_TERMS = 64.0 * _EPS
"""Relative rounding error of sums."""
_NOISE = 4.0 * _EPS
"""Relative rounding error of the terms that a slope is the sum of, entry by entry."""
_FARTHEST = 10.0
_SAFE = 2.0
"""Factor on what a linear system in floating point says."""
_ERRORS = 4.0
"""Factor on the rounding error of the loss at w: it covers w*, which may be larger, and the objective at w."""


def lower_bound(model: Model, loss: Quadratic, w: np.ndarray, y: np.ndarray, value: float) -> float:
    """A number below the optimum of loss + form, which has the value `value` at some point; minus infinity if none.

    The loss is that of the model, with its constant; y must lie within its sets.
    """
    form, known = model.form, model.b.size
    y = _stationary(model, w, y)
    x = loss.decoded(w[:known])
    curved = form.curvature(w)
    image = form.image(w)
    balls = np.isinf(form.weight)
    parts = [np.array([loss.value(x)]), 0.5 * w * curved, form.linear * w, y * image]
    parts.append(-form.radius[balls] * group_norms(y, form.starts)[balls])
    terms = np.concatenate(parts)
    # Products with Q may cancel, as those of a row of F whose square has a huge weight.
    products = float(
        np.abs(terms).sum() + np.abs(y) @ form.image_sizes(w) + np.abs(w) @ (abs(form.quadratic) @ np.abs(w))
    )
    rounding = _TERMS * products + _ERRORS * loss.error(x)
    total = float(np.sum(terms)) - rounding - _left(model, w, y, value)
    return total if np.isfinite(total) else -np.inf


def _stationary(model: Model, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multipliers of single coordinates moved, within their sets, to where the slope vanishes."""
    form = model.form
    rows, columns, values = _singles(form)
    if not rows.size:
        return y
    slope = model.times(w) - model.right() + form.adjoint(y)
    moved = y.copy()
    moved[rows] = np.clip(y[rows] - slope[columns] / values, -form.down[rows], form.up[rows])
    return moved


def _singles(form: ConicForm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lines of one entry with finite slopes, one for each coordinate that has any; their columns and entries."""
    pointers, _, columns, values = form.entries
    single = (np.diff(pointers)[: form.n_lines] == 1) & np.isfinite(form.up) & np.isfinite(form.down)
    single &= (np.minimum(form.up, form.down) > 0.0) & (form.offset[: form.n_lines] == 0.0)
    rows = np.flatnonzero(single)
    rows = rows[values[pointers[rows]] != 0.0]
    _, first = np.unique(columns[pointers[rows]], return_index=True)
    rows = rows[first]
    return rows, columns[pointers[rows]], values[pointers[rows]]


def _norms(form: ConicForm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates that norms of coordinates hold, for each the number of its norm, and the weights of the norms."""
    pointers, _, columns, values = form.entries
    lines = form.n_lines
    single = (np.diff(pointers)[lines:] == 1) & (form.offset[lines:] == 0.0)
    sizes = np.diff(form.starts)
    labels = np.repeat(np.arange(sizes.size), sizes)
    at = np.minimum(pointers[lines:-1], max(values.size - 1, 0))
    entries = np.where(single, np.abs(values[at]) if values.size else 0.0, 0.0)
    weights = np.zeros(sizes.size)
    if sizes.size:
        least = np.minimum.reduceat(np.append(entries, 0.0), form.starts[:-1] - lines)
        held = np.isfinite(form.weight) & (sizes > 0) & (form.columns <= 1)
        weights = np.where(held, form.weight, 0.0) * least
    rows = np.flatnonzero(weights[labels] > 0.0)
    members, first = np.unique(columns[at[rows]], return_index=True)
    _, groups = np.unique(labels[rows[first]], return_inverse=True)
    return members, groups, weights[np.unique(labels[rows[first]])]


def _left(model: Model, w: np.ndarray, y: np.ndarray, value: float) -> float:
    """How far the minimum of L may lie below L(w)."""
    form, known = model.form, model.b.size
    right = model.right()
    slope = model.times(w) - right + form.adjoint(y)
    _, rows, columns, values = form.entries
    sizes = np.abs(right) + np.bincount(columns, np.abs(values * y[rows]), form.width)
    sizes += abs(form.quadratic) @ np.abs(w)
    sizes[:known] += abs(model.H) @ np.abs(w[:known])
    noise = _NOISE * sizes
    whole = np.abs(slope) + noise
    if sp.issparse(model.H):
        diagonal = np.zeros(form.width)
        diagonal[:known] = model.H.diagonal()
        curved = diagonal > 0.0
        gain = 0.5 * float(np.sum(whole[curved] ** 2 / diagonal[curved]))
        return gain + _linear(form, w, whole, sizes, ~curved, value)
    H = form.quadratic.toarray() if form.curved else np.zeros((form.width, form.width))
    H[:known, :known] += model.H
    curved = H.diagonal() > 0.0
    scale = 1.0 / np.sqrt(H.diagonal()[curved])
    factor, failed = lapack.dpotrf(H[np.ix_(curved, curved)] * scale[:, None] * scale, lower=1)
    if failed or not curved.any():
        return _linear(form, w, whole, sizes, np.ones(w.size, dtype=bool), value)
    # With H = L L^T the loss e^T H^-1 e / 2 is half the square of |L^-1 e|. What rounding hid of e adds at most its
    # own length over the root of the smallest eigenvalue.
    half = lapack.dtrtrs(factor, scale * slope[curved], lower=1)[0]
    least = float(np.min(factor.diagonal())) ** 2 / half.size  # about the smallest eigenvalue
    gain = 0.5 * (float(np.linalg.norm(half)) + float(np.linalg.norm(scale * noise[curved])) / np.sqrt(least)) ** 2
    return _SAFE * gain + _linear(form, w, whole, sizes, ~curved, value)


def _linear(
    form: ConicForm, w: np.ndarray, slope: np.ndarray, sizes: np.ndarray, among: np.ndarray, value: float
) -> float:
    """The sum of |slope| |w* - w| over coordinates without curvature."""
    if not np.any(slope[among]):
        return 0.0
    rows, columns, entries = _singles(form)
    weight = np.zeros(w.size)
    if not np.any(form.linear):  # then no term of the objective is below 0
        weight[columns] = np.minimum(form.up[rows], form.down[rows]) * np.abs(entries)
    covered = among & (weight > 0.0)
    cost = float(slope[covered] @ np.abs(w[covered]))
    # sum slope_j |w*_j| <= max(slope_j / weight_j) * sum weight_j |w*_j|, and that sum is no more than the objective.
    cost += float(np.max(slope[covered] / weight[covered], initial=0.0)) * value
    members, groups, weights = _norms(form)
    inside = (among & ~covered)[members]
    if inside.any() and not np.any(form.linear):
        # The same of groups: e_g^T w*_g <= |e_g| |w*_g|, and the sum of weight_g |w*_g| is no more than the objective.
        own = slope[members] * inside
        lengths = np.sqrt(np.bincount(groups, own * own, weights.size))
        cost += float(own @ np.abs(w[members])) + float(np.max(lengths / weights)) * value
        covered[members[inside]] = True
    bare = among & ~covered
    if np.any(slope[bare] > _TERMS * sizes[bare]):
        return np.inf
    radius = np.abs(w) + _FARTHEST * (np.abs(w) + float(np.max(np.abs(w), initial=0.0)))
    return cost + float(slope[bare] @ radius[bare])
