"""A loss of many rows: hooks derived from others, sums over margins that are known, and calls from Python."""

import numpy as np

from . import jit
from .jit import CHUNK, Term, call_chunk, call_scalar, call_scalar_prox, inner, kernel
from .rows import weight_of

_MOST_EVALUATIONS = 100
"""Most evaluations of phi' for one prox."""


@jit.chunk
def sum_and_slopes(
    margins: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    reals: np.ndarray,
    ints: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Sum of w phi(t, b); slopes = phi'(t, b). ints = [address of phi, address of phi']."""
    value, derivative = Term(ints[0], reals, ints[2:]), Term(ints[1], reals, ints[2:])
    total = 0.0
    for i in range(margins.size):
        w = weights[i] if weights.size else 1.0
        total += w * call_scalar(value, margins[i], labels[i])
        slopes[i] = call_scalar(derivative, margins[i], labels[i])
    return total


@jit.chunk
def plain_sum(
    a: np.ndarray, labels: np.ndarray, weights: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray
) -> float:
    """Sum of w term(a, b); ints = [address of the term]."""
    term = Term(ints[0], reals, ints[1:])
    total = 0.0
    for i in range(a.size):
        total += (weights[i] if weights.size else 1.0) * call_scalar(term, a[i], labels[i])
    return total


@jit.chunk
def curvature_of_each(
    margins: np.ndarray, labels: np.ndarray, weights: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray
) -> float:
    """out = phi''(t, b); ints = [address of phi'', its own ints]. The sum has no meaning."""
    term = Term(ints[0], reals, ints[1:])
    for i in range(margins.size):
        out[i] = call_scalar(term, margins[i], labels[i])
    return 0.0


@jit.scalar
def difference_quotient(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
    """phi''(t, b) by central differences; ints = [address of phi']."""
    derivative = Term(ints[0], reals, ints[1:])
    h = 1e-6 * max(1.0, abs(t))
    rise = call_scalar(derivative, t + h, b) - call_scalar(derivative, t - h, b)
    return max(rise / (2.0 * h), 0.0)


@jit.scalar_prox
def implicit_prox(point: float, step: float, label: float, reals: np.ndarray, ints: np.ndarray) -> float:
    """The t with t + step * phi'(t) = point; ints = [address of phi', its own ints].

    The left side increases in t, and the answer lies between `point` and the explicit step from it. The bracket is
    shrunk by false position (Illinois), which never leaves it. An exact root must be taken at once: shrinking past it
    would replace it by a neighbour.
    """
    derivative = Term(ints[0], reals, ints[1:])
    right = point
    f_right = step * call_scalar(derivative, right, label)
    if f_right == 0.0:
        return right
    left = right - f_right
    f_left = left + step * call_scalar(derivative, left, label) - point
    side = 0
    for _ in range(_MOST_EVALUATIONS):
        if f_left == 0.0:
            return left
        middle = (left * f_right - right * f_left) / (f_right - f_left)
        f_middle = middle + step * call_scalar(derivative, middle, label) - point
        if f_middle == 0.0 or abs(right - left) <= 1e-15 * (abs(left) + abs(right)):
            return middle
        if (f_middle > 0.0) == (f_right > 0.0):
            if abs(middle - right) <= 1e-16 * abs(middle):
                return middle
            right, f_right = middle, f_middle
            if side == 1:
                f_left *= 0.5
            side = 1
        else:
            if abs(middle - left) <= 1e-16 * abs(middle):
                return middle
            left, f_left = middle, f_middle
            if side == -1:
                f_right *= 0.5
            side = -1
    return 0.5 * (left + right)


@kernel
def sum_chunks(term: Term, a: np.ndarray, labels: np.ndarray, weights: np.ndarray, spare: np.ndarray) -> float:
    """Sum of w term(a_i, b_i) over all rows, a chunk at a time."""
    total = 0.0
    for start in range(0, a.size, CHUNK):
        stop = min(start + CHUNK, a.size)
        total += call_chunk(term, a[start:stop], labels[start:stop], weights[start:stop], spare[: stop - start])
    return total


@inner
def slopes_at(
    read: Term,
    margins: np.ndarray,
    shift: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> None:
    """phi'(margin_i + shift) for a chunk of rows."""
    for i in range(margins.size):
        spare[i] = margins[i] + shift
    call_chunk(read, spare[: margins.size], labels, weights, slopes[: margins.size])


@kernel
def slope_sum(
    read: Term,
    margins: np.ndarray,
    shift: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Sum of w phi'(margin_i + shift)."""
    total = 0.0
    for start in range(0, margins.size, CHUNK):
        stop = min(start + CHUNK, margins.size)
        slopes_at(read, margins[start:stop], shift, labels[start:stop], weights[start:stop], spare, slopes)
        for i in range(start, stop):
            total += weight_of(weights, i) * slopes[i - start]
    return total


@kernel
def conjugates_at(
    read: Term,
    conjugates: Term,
    margins: np.ndarray,
    shift: float,
    up: float,
    down: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Sum of w phi*(s phi'(margin_i + shift)), where s is `up` for positive slopes and `down` for others."""
    total = 0.0
    for start in range(0, margins.size, CHUNK):
        stop = min(start + CHUNK, margins.size)
        slopes_at(read, margins[start:stop], shift, labels[start:stop], weights[start:stop], spare, slopes)
        for i in range(stop - start):
            slopes[i] *= up if slopes[i] > 0.0 else down
        some, rest = slopes[: stop - start], spare[: stop - start]
        total += call_chunk(conjugates, some, labels[start:stop], weights[start:stop], rest)
    return total


@kernel
def map_scalar(term: Term, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out_i = term(a_i, b_i)."""
    for i in range(out.size):
        out[i] = call_scalar(term, a[i], b[i])


@kernel
def map_scalar_prox(term: Term, a: np.ndarray, step: float, b: np.ndarray, out: np.ndarray) -> None:
    """out_i = prox of step * phi(., b_i) at a_i."""
    for i in range(out.size):
        out[i] = call_scalar_prox(term, a[i], step, b[i])
