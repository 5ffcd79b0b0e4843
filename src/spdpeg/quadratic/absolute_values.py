"""Penalties that are absolute values of linear functions, beside a dense H: products, objective, optimality conditions.

Compiled parts that `absolute` and `from_guess` share.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels.jit import allocating, shared
from ..penalties.conic import ConicForm
from .crossover import SLACK, SOME, VANISHED
from .dense import full_lines, multiply
from .minimization import ENOUGH, kept_lines
from .model import ModelSolution
from .stationary import EXACT, PRODUCT
from .stopping import FLOOR

COVERED = 1e-10
"""Fraction of an l1 weight by which the optimality condition may be missed: what exceeds the dual ball by that much
is scaled back at the same relative cost."""


class AbsoluteValues(NamedTuple):
    """Penalties up_i max(K_i w, 0) + down_i max(-K_i w, 0), and which rows have many entries."""

    pointers: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    up: np.ndarray
    down: np.ndarray
    full: np.ndarray
    marks: np.ndarray


class FaceSolution(NamedTuple):
    """The solution of a model, a point of its face if there is one, and a dual point without noise."""

    solution: ModelSolution
    face: np.ndarray | None
    simple: bool
    """Whether the face was looked for; where rows of more than two entries vanish, it was not."""
    w: np.ndarray
    y: np.ndarray


_known: WeakKeyDictionary[ConicForm, AbsoluteValues | None] = WeakKeyDictionary()


def absolute_values(form: ConicForm) -> AbsoluteValues | None:
    """The penalties of a form, found once; None if it holds anything else, or lines without entries or slope."""
    if form not in _known:
        _known[form] = _made(form)
    return _known[form]


def _made(form: ConicForm) -> AbsoluteValues | None:
    if form.width != form.size or form.weight.size or form.bounded or form.rounded or form.offset.any():
        return None
    sorted_form = kept_lines(form).form
    pointers, _, columns, values = sorted_form.entries
    if sorted_form.n_lines < form.n_lines or np.any(values == 0.0):
        return None
    return AbsoluteValues(
        pointers, columns, values, form.up, form.down, *full_lines(pointers, form.n_lines, form.width)
    )


@allocating
def measured(
    H: np.ndarray,
    b: np.ndarray,
    penalty: AbsoluteValues,
    w: np.ndarray,
    y: np.ndarray,
    image: np.ndarray,
    unit: float,
) -> tuple[float, float, bool]:
    """Objective and gap, for which `image` is filled; and whether the gap is small."""
    n = b.size
    slope = np.empty(n)
    multiply(H, w, slope)
    value = size = 0.0
    for j in range(n):
        value += (0.5 * slope[j] - b[j]) * w[j]
        size += abs(b[j] * w[j])
        slope[j] -= b[j]
    add_adjoint(penalty, y, 1.0, slope)
    value += fill_image(penalty, w, image)
    gap = 0.0
    for e in range(y.size):
        gap += max(((penalty.up[e] if image[e] > 0.0 else -penalty.down[e]) - y[e]) * image[e], 0.0)
    for j in range(n):
        gap += abs(slope[j] * w[j])
    return value, gap, gap <= ENOUGH * (abs(value) + size + FLOOR * unit)


@allocating
def is_exact(
    H: np.ndarray,
    b: np.ndarray,
    penalty: AbsoluteValues,
    w: np.ndarray,
    y: np.ndarray,
    target: np.ndarray,
    covered: float,
) -> bool:
    """Whether H w = target = b - K^T y to rounding, or to a fraction of the weight that a coordinate has by itself."""
    magnitudes = np.abs(b)
    for e in range(y.size):
        first, last = penalty.pointers[e], penalty.pointers[e + 1]
        for k in range(first, last):
            magnitudes[penalty.columns[k]] += abs(penalty.values[k] * y[e])
        if last - first == 1:
            own = min(penalty.up[e], penalty.down[e]) * abs(penalty.values[first])
            magnitudes[penalty.columns[first]] += covered / EXACT * own
    for i in range(b.size):
        product = terms = 0.0
        for j in range(b.size):
            term = H[i, j] * w[j]
            product += term
            terms += abs(term)
        if not abs(product - target[i]) <= EXACT * magnitudes[i] + PRODUCT * terms:
            return False
    return True


@shared
def fill_image(penalty: AbsoluteValues, w: np.ndarray, image: np.ndarray) -> float:
    """Fill K w; returns the penalties at w."""
    total = 0.0
    for e in range(image.size):
        image[e] = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            image[e] += penalty.values[k] * w[penalty.columns[k]]
        total += (penalty.up[e] if image[e] > 0.0 else -penalty.down[e]) * image[e]
    return total


@shared
def add_adjoint(penalty: AbsoluteValues, y: np.ndarray, factor: float, out: np.ndarray) -> None:
    """out += factor K^T y."""
    for e in range(y.size):
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            out[penalty.columns[k]] += factor * y[e] * penalty.values[k]


@allocating
def holds(
    H: np.ndarray,
    b: np.ndarray,
    penalty: AbsoluteValues,
    before: np.ndarray,
    value: float,
    active: np.ndarray,
    w: np.ndarray,
) -> bool:
    """Whether w has the signs that were assumed, and no higher an objective, as `crossover` requires."""
    largest = total = magnitude = 0.0
    moved = np.empty(b.size)
    multiply(H, w, moved)
    for j in range(b.size):
        if not np.isfinite(w[j]):
            return False
        largest = max(largest, abs(w[j]))
        if H[j, j] > 0.0:
            largest = max(largest, SOME * abs(b[j]) / H[j, j])
        total += (0.5 * moved[j] - b[j]) * w[j]
        magnitude += abs(b[j] * w[j])
    for e in range(active.size):
        image = size = entries = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            term = penalty.values[k] * w[penalty.columns[k]]
            image += term
            size += abs(term)
            entries += abs(penalty.values[k])
        if active[e]:
            # What rounding leaves of a vanishing row would count as a rise of the objective.
            if abs(image) > VANISHED * (size + entries * largest):
                return False
            continue
        if before[e] * image < 0.0 and abs(image) > SLACK * size:
            return False
        total += (penalty.up[e] if image > 0.0 else -penalty.down[e]) * image
    return total <= value + SLACK * (abs(value) + magnitude)
