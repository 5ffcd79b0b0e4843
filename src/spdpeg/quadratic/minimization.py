"""Quadratic models with penalties, minimised exactly and without data.

    min over w of  1/2 w^T H w - b^T w + (lines and groups of a ConicForm)

`minimize` follows the central path (see central_path); `crossover.to_face` then makes zeros, fused entries and active
bounds exact.
"""

from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from ..kernels import deadline
from ..penalties.conic import ConicForm, group_norms
from . import dense, extended, infeasible, scaling, sparse, stationary, vertex
from .central_path import Point, Terms
from .model import LowRank, Model, ModelSolution, Status
from .stopping import FLOOR

ACCURACY = 1e-12
"""Relative accuracy that is aimed at; rounding decides how much of it is reached."""
ENOUGH = 1e-8
"""Relative accuracy that counts as optimal."""
_CERTAIN = 1e-11
"""Relative gap at the end that counts as optimal, whatever the path was like."""
_GUESSES = 3
"""How often units are taken from the best solution so far."""
_STRAY = 1e-6
"""Fraction of its largest term by which the optimality condition may be missed."""
_OUTSIDE = 1e-6
"""Fraction of the objective by which a doubtful solution may be worse than one that misses a constraint."""
_BESIDE = 1e-9
"""Fraction of the largest entry of w by which one may be outside its bounds, and is brought inside."""
LEAST_W, _LEAST_Y = 1e-6, 1e-3
"""Sizes of w and y, in a model of size 1, below which they do not tell what is large: at a solution 0, say."""
_FEW, _MANY_LONG, _MOST_DENSE, _COLUMNS = 60, 64, 4000, 4
"""Variables up to which a sparse H is treated as dense; long rows from which on it is, up to the next size, and to so
many variables for each of these rows."""


def minimize(model: Model, accuracy: float = ACCURACY, digits: int = 16) -> ModelSolution:
    """The solution of a model, up to a relative `accuracy` or as far as rounding allows.

    With 32 `digits` in the linear systems from the start, if the model is small; otherwise these are the last resort.
    """
    sharp = digits > 16 and extended.fits(model)
    best, doubt = _tried(model, accuracy, _Attempt(extended=sharp), None)
    if not doubt:
        return best
    units = None
    for attempt in _others(model, best):
        if sharp and (not attempt.extended or attempt == _Attempt(extended=True)):
            continue  # that was the first
        if attempt.guess and best is units:
            continue  # the same units would bring the same solution
        units = best if attempt.guess else units
        found, doubt = _tried(model, accuracy, attempt, best)
        if not doubt:
            return found
        best = min(best, found, key=lambda known: _worth(model, known))
    if model.misses(best.w):
        wrong = infeasible.contradiction(model)
        return best if wrong is None else replace(best, status="infeasible", certificate=wrong)
    return best


def _worth(model: Model, found: ModelSolution) -> float:
    """An upper estimate of the optimum, the smaller the better; a point outside a constraint counts for less.

    It is none where the optimality condition does not hold, which the gap does not show at w = 0.
    """
    if _strays(model, found.residual, found.y):
        return np.inf
    far = _OUTSIDE * _size(model, found.w, found.value) if model.form.bounded and model.misses(found.w) else 0.0
    return found.value + found.gap + far


def _strays(model: Model, residual: np.ndarray, y: np.ndarray) -> bool:
    """Whether the optimality condition is missed by more than a small part of its largest term."""
    form, sizes = model.form, np.abs(y)
    ends = np.maximum(np.where(np.isfinite(form.up), form.up, 0.0), np.where(np.isfinite(form.down), form.down, 0.0))
    sizes[: form.n_lines] = np.maximum(sizes[: form.n_lines], _STRAY * ends)  # at an optimum 0 they may all be 0
    magnitudes = np.abs(model.right()) + np.abs(form.K).T @ sizes
    return bool(np.any(np.abs(residual) > _STRAY * float(np.max(magnitudes, initial=0.0))))


class _Attempt(NamedTuple):
    """A way to bring a model to unit size and to solve its linear systems."""

    tight: bool = False
    """Constraints ask for far smaller w than H and b."""
    extended: bool = False
    """Linear systems in twice the digits."""
    near: bool = False
    """These begin with slacks of size 1: large ones lead far away where a solution may be anywhere."""
    guess: bool = False
    """In units of an earlier solution."""
    vertex: bool = False
    """Whether it comes from the simplex method."""


def _others(model: Model, found: ModelSolution) -> list[_Attempt]:
    """Other methods to try after a doubtful solution."""
    small = extended.fits(model)
    # New units come first: they are the cure where a gap is small only in units that were too large.
    attempts = [_Attempt(extended=small, guess=True)] * _GUESSES if _is_rough(model, found) else []
    attempts += [_Attempt(vertex=True)] if vertex.fits(model) else []
    for digits in (False, True) if small else (False,):
        if digits:
            attempts.append(_Attempt(extended=True))
            if not model.form.weight.size:
                attempts.append(_Attempt(extended=True, near=True))
                if _is_rough(model, found):
                    attempts += [_Attempt(extended=True, near=True, guess=True)] * _GUESSES
        if model.form.bounded:
            attempts.append(_Attempt(tight=True, extended=digits))
    return attempts


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # an attempt that fails shows it by its status
def _tried(
    model: Model, accuracy: float, attempt: _Attempt, before: ModelSolution | None
) -> tuple[ModelSolution, bool]:
    """A solution, and whether it is doubtful: not good, outside a constraint, or good only in units that are too large.

    A constraint that is small beside what H and b ask for may be met only in units of the latter.
    """
    found = _minimized(model, accuracy, attempt, before)
    # Both follow from a ray, which is a proof; another attempt would find the same.
    if found.status in ("infeasible", "unbounded"):
        return found, False
    missed = model.form.bounded and model.misses(found.w)
    return found, found.status == "inaccurate" or missed or _is_rough(model, found)


def _is_rough(model: Model, found: ModelSolution) -> bool:
    """Whether the gap is small only in units that come from the size of an auxiliary variable, guessed too large."""
    return model.form.width > model.form.size and found.gap > ENOUGH * _size(model, found.w, found.value)


def _size(model: Model, w: np.ndarray, value: float) -> float:
    """The size of the terms of the objective."""
    return abs(value) + float(np.abs(model.right()) @ np.abs(w))


def _minimized(model: Model, accuracy: float, attempt: _Attempt, before: ModelSolution | None) -> ModelSolution:
    deadline.check()  # before each of the attempts
    right = model.right()
    kept = kept_lines(model.form)
    form = kept.form
    diagonal = model.diagonal()
    # A linear program has no curvature to take units from; its lines have.
    if not isinstance(model.H, LowRank) and not np.any(model.H.data if sp.issparse(model.H) else model.H):
        diagonal = diagonal + scaling.equivalent_curvature(form)
    guess = None
    # Units of an earlier solution, since those from H and b may be off by orders of magnitude.
    if attempt.guess and before is not None:
        guess = scaling.Guess(before.w, max(_size(model, before.w, before.value), before.gap))
    scales = scaling.find(diagonal, right, form, attempt.tight, guess)
    terms = scaling.apply(form, scales)
    factor = scales.columns * np.sqrt(scales.width / scales.price)
    b = scales.columns * right / scales.price
    if attempt.vertex and (outcome := vertex.run(b, terms)) is not None:
        return _finished(model, kept, scales, terms, outcome)
    if attempt.extended:
        outcome = sparse.follow(extended.ExtendedSystem(_scaled_parts(model, factor), terms, attempt.near), b, accuracy)
    elif _is_small(model):
        outcome = dense.run(padded(model) * factor[:, None] * factor, b, terms, accuracy)
    else:
        outcome = sparse.run(_scaled_parts(model, factor), b, terms, accuracy)
    return _finished(model, kept, scales, terms, outcome)


class _Kept(NamedTuple):
    """The lines with entries; the multipliers of the others are known."""

    form: ConicForm
    rows: np.ndarray
    y: np.ndarray


_kept: WeakKeyDictionary[ConicForm, _Kept] = WeakKeyDictionary()


def kept_lines(form: ConicForm) -> _Kept:
    """Leave out lines that are constant or of slope 0; found once for each form."""
    if form not in _kept:
        _kept[form] = _without_constants(form)
    return _kept[form]


def _without_constants(form: ConicForm) -> _Kept:
    K = form.K
    if not K.has_canonical_format:
        K = K.copy()
        K.sum_duplicates()  # sorts the columns too
    counts = np.diff(K.indptr)
    lines = form.n_lines
    used = np.ones(K.shape[0], dtype=bool)
    used[:lines] = (counts[:lines] > 0) & ((form.up > 0.0) | (form.down > 0.0))
    y = np.zeros(K.shape[0])
    if used.all():
        return _Kept(_with_rows(form, K, used), np.arange(K.shape[0]), y)
    # A line that does not depend on w has a slope that is known; at its kink any slope is one, and 0 is safe.
    constant = -form.offset[:lines]
    slopes = np.where(constant == 0.0, 0.0, form.slopes(constant))
    y[:lines] = np.where(used[:lines] | np.isinf(slopes), 0.0, slopes)
    return _Kept(_with_rows(form, sp.csr_array(K[used]), used), np.flatnonzero(used), y)


def _with_rows(form: ConicForm, K: sp.csr_array, used: np.ndarray) -> ConicForm:
    lines = used[: form.n_lines]
    return ConicForm(
        form.size, form.quadratic, form.linear, K, form.offset[used], form.up[lines], form.down[lines],
        form.starts - np.count_nonzero(~lines), form.weight, form.radius, form.smoothing[lines], form.columns,
    )  # fmt: skip


def _is_small(model: Model) -> bool:
    """Whether a dense matrix serves best: H is one, or few variables, or too many long rows for a Schur complement."""
    if isinstance(model.H, np.ndarray) or model.width <= _FEW:
        return True
    long = int(np.count_nonzero(np.diff(model.form.K.indptr) > sparse.LONG))
    return bool(long > _MANY_LONG and model.width <= min(_MOST_DENSE, _COLUMNS * long))


def _scaled_parts(model: Model, factor: np.ndarray) -> sparse.Parts:
    """The sparse part of H, and the few rows beside it, in scaled variables."""
    known, width = model.b.size, model.width
    low = isinstance(model.H, LowRank)
    own = sp.coo_array(sp.diags_array(model.H.base) if low else model.H)
    H = model.form.quadratic + sp.csr_array((own.data, (own.row, own.col)), shape=(width, width))
    scale = sp.diags_array(factor)
    V, signs = np.zeros((0, width)), np.zeros(0)
    if low:
        V, signs = np.zeros((model.H.signs.size, width)), model.H.signs
        V[:, :known] = model.H.V * factor[:known]
    return sparse.Parts(sp.csr_array(scale @ H @ scale), V, signs)


def padded(model: Model) -> np.ndarray:
    """H + Q as a dense matrix of all variables."""
    if isinstance(model.H, np.ndarray) and model.b.size == model.width and not model.form.curved:
        return model.H
    H = model.form.quadratic.toarray()
    known = slice(model.b.size)
    if isinstance(model.H, LowRank):
        H[known, known] += np.diag(model.H.base) + model.H.V.T @ (model.H.signs[:, None] * model.H.V)
    else:
        H[known, known] += model.H.toarray() if sp.issparse(model.H) else model.H
    return H


def _finished(model: Model, kept: _Kept, scales: scaling.Scaling, terms: Terms, outcome: Any) -> ModelSolution:
    form, point = model.form, outcome.point
    w = scales.unscaled_w(point.w)
    y = kept.y.copy()
    y[kept.rows] = within_sets(kept.form, scales.unscaled_y(point.y))
    lines, least = form.n_lines, FLOOR * scales.width * scales.price
    image, residual, gap = measured(model, w, y)
    if np.all(np.isfinite(w)):
        moved_w, moved_y = stationary.corrected(model, w, y)
        moved_y = within_sets(form, moved_y)
        known = measured(model, moved_w, moved_y)
        # Factorisations near the solution lose digits, and the slope is what certificates are sensitive to; but what
        # a correction brings into the optimality condition it may lose in complementarity.
        size = _size(model, moved_w, model.value(moved_w, known[0])) + least
        if known[2] <= max(gap, ENOUGH * size):
            w, y, (image, residual, gap) = moved_w, moved_y, known
    inside = _clipped(form, w)
    if inside is not w and np.abs(inside - w).max() <= _BESIDE * np.abs(w).max():
        w = inside
        image, residual, gap = measured(model, w, y)
    active, zero = np.zeros(lines, dtype=bool), np.zeros(0, dtype=bool)
    own_active, zero = _vanishing(terms, point)
    active[kept.rows[kept.rows < lines]] = own_active
    value = model.value(w, image)
    size = _size(model, w, value) + least
    good = outcome.short <= ENOUGH * outcome.size and gap <= ENOUGH * size
    # What is measured at the end counts for more than what the path itself knew, in units of its own.
    certain = gap <= _CERTAIN * size and not _strays(model, residual, y)
    status: Status = "optimal" if good or certain else "inaccurate"
    last = np.zeros(y.size)
    last[kept.rows] = scales.unscaled_y(outcome.last.y)
    found = infeasible.find(model, scales.unscaled_w(outcome.last.w), last, good)
    if found is not None:
        status = found[0]
    return ModelSolution(
        w=w, y=y, residual=residual, value=value, violation=model.violation(w), gap=gap, active=active,
        zero=zero, iterations=outcome.steps, status=status, certificate=None if found is None else found[1],
    )  # fmt: skip


def _clipped(form: ConicForm, w: np.ndarray) -> np.ndarray:
    """w within the bounds of single variables."""
    above, below = form.limits
    pointers, _, columns, values = form.entries
    single = (np.diff(pointers)[: form.n_lines] == 1) & (above | below)
    rows = np.flatnonzero(single)
    rows = rows[values[pointers[rows]] != 0.0]
    if not rows.size:
        return w
    own, factor = columns[pointers[rows]], values[pointers[rows]]
    end, upper = form.offset[rows] / factor, np.where(factor > 0.0, above[rows], below[rows])
    lower = np.where(factor > 0.0, below[rows], above[rows])
    out = w.copy()
    np.minimum.at(out, own[upper], end[upper])
    np.maximum.at(out, own[lower], end[lower])
    return w if np.array_equal(out, w) else out


def measured(model: Model, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """K w, the residual of the optimality condition, and the gap with what the residual may cost."""
    image = model.form.image(w)
    residual = model.times(w) - model.right() + model.form.adjoint(y)
    return image, residual, _complementarity(model.form, image, y) + float(np.abs(residual) @ np.abs(w))


def within_sets(form: ConicForm, y: np.ndarray) -> np.ndarray:
    """y cut off at its set, exactly."""
    lines = form.n_lines
    y[:lines] = np.minimum(np.maximum(y[:lines], -form.down), form.up)
    for _ in range(4 if form.weight.size else 0):  # dividing by the norm may round upwards
        lengths = group_norms(y, form.starts)
        if not np.any(lengths > form.weight):
            break
        shrink = np.where(lengths > form.weight, form.weight / np.where(lengths > 0.0, lengths, 1.0), 1.0)
        shrink = np.where(shrink < 1.0, np.minimum(shrink, 1.0 - np.finfo(float).eps), 1.0)
        y[lines:] *= np.repeat(shrink, np.diff(form.starts))
    return y


def _vanishing(terms: Terms, point: Point) -> tuple[np.ndarray, np.ndarray]:
    """Which lines and groups vanish: their primal part is smaller, in its units, than the room of their multiplier."""
    size = max(float(np.max(np.abs(point.w), initial=0.0)), LEAST_W)
    both = terms.above * terms.below > 0.0
    sharp = terms.smoothing == 0.0
    width = np.where(both, terms.up + terms.down, 1.0) * 0.5
    room = np.minimum(np.where(terms.above > 0.0, point.u, np.inf), np.where(terms.below > 0.0, point.v, np.inf))
    largest = max(float(np.max(np.abs(point.y), initial=0.0)), _LEAST_Y)
    lines = sharp & ((point.p + point.q) / size < room / np.where(both, np.maximum(width, 1e-300), largest))
    if not terms.weight.size:
        return lines, np.zeros(0, dtype=bool)
    balls = terms.balls > 0
    lengths, multipliers = group_norms(point.body, terms.starts), group_norms(point.y, terms.starts)
    norms = point.head / size < (terms.weight - multipliers) / np.where(balls, 1.0, terms.weight)
    border = (point.head - lengths) / np.maximum(terms.radius, 1e-300) < point.lead / largest
    return lines, np.where(balls, border, norms)


def _complementarity(form: ConicForm, image: np.ndarray, y: np.ndarray) -> float:
    """Lines and groups at w minus their linear bounds by y: 0 at a solution, never negative up to rounding."""
    lines = form.n_lines
    ends = form.slopes(image[:lines])
    finite = np.isfinite(ends)
    ends = np.where(finite, ends, 0.0)
    # s a - smoothing s^2 / 2 at the slope s of the line, minus the same at y.
    own = (ends - y[:lines]) * (image[:lines] - 0.5 * form.smoothing * (ends + y[:lines]))
    own = np.where(finite, own, np.abs(y[:lines] * image[:lines]))
    total = float(np.maximum(own, 0.0).sum())
    if not form.weight.size:
        return total
    product = image[lines:] * y[lines:]
    labels = np.repeat(np.arange(form.weight.size), np.diff(form.starts))
    products = np.bincount(labels, product, minlength=form.weight.size)
    balls = np.isinf(form.weight)
    lengths = group_norms(image, form.starts)
    norms = np.where(balls, 0.0, form.weight) * lengths - products
    rims = form.radius * group_norms(y, form.starts) - products
    return total + float(np.abs(np.where(balls, rims, norms)).sum())
