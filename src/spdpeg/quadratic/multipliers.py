"""Absolute values beside a matrix that is diagonal plus few rows: conjugate gradients among the multipliers.

    min over w of  1/2 w^T H w - b^T w + sum_e cost_e |K_e (x + w)|,    H = diag(D) + rows^T core^-1 rows

The multipliers y of the rows of K minimise 1/2 (b - K^T y)^T H^-1 (b - K^T y) - x^T K^T y within |y_e| <= cost_e, and
H^-1 is again diagonal plus few rows. Nothing is factored, and a step is two products with K: from multipliers of a
similar model some ten of them are enough. Where pieces are large, as on a grid, the multipliers within them are badly
conditioned and the steps many; interior points (`minimize`) do not mind.

Steps are conjugate gradients among the multipliers inside their intervals. Where a step leaves an interval it is cut
off there, and where more is to be gained by multipliers at an end of theirs, these move first (proportioning).

Dostal, Schoeberl: Minimizing quadratic functions subject to bound constraints with the rate of convergence and finite
termination, Computational Optimization and Applications 30, 2005.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernels.jit import inner, kernel, shared

_MOST_HALVINGS = 60
"""Of a step that was cut off and does not descend."""


class Inverse(NamedTuple):
    """H^-1 b = (b - rows^T inner (rows (b / D) + beside)) / D on the columns of K; `beside` has the others."""

    D: np.ndarray
    rows: np.ndarray
    """By coordinate: a row of this array is a column of the few rows."""
    inner: np.ndarray
    beside: np.ndarray


class CostedRows(NamedTuple):
    """K by rows, and their costs."""

    pointers: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    cost: np.ndarray


class _Work(NamedTuple):
    """Of a run: by row of K, by coordinate, by row of H."""

    unit: np.ndarray
    limit: np.ndarray
    slope: np.ndarray
    towards: np.ndarray
    curved: np.ndarray
    before: np.ndarray
    start: np.ndarray
    """K x."""
    w: np.ndarray
    right: np.ndarray
    over: np.ndarray
    """1 / D."""
    few: np.ndarray
    sums: np.ndarray


def descend(
    H: Inverse, b: np.ndarray, K: CostedRows, x: np.ndarray, y: np.ndarray, aim: float, most: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Improve the multipliers `y` in place until the gap is at most `aim`, or about `most` products with H^-1 are made.

    Returns
    -------
    w : array
        That of the multipliers.
    few : array
        inner (rows (b - K^T y) / D + beside): H^-1 of all coordinates takes its rows as often.
    gap : float
        In units of the objective.
    """
    work = _Work(*np.empty((7, y.size)), *np.empty((3, b.size)), *np.empty((2, H.beside.size)))
    gap = float(_descend(H, b, K, x, y, aim, most, work))
    return work.w, work.few, gap


@shared
def _cut_off(H: Inverse, b: np.ndarray, K: CostedRows, y: np.ndarray, step: float, work: _Work) -> int:
    """A step towards p of which each multiplier goes as far as its interval allows; products made."""
    limit, g, p, product, before = work.limit, work.slope, work.towards, work.curved, work.before
    for e in range(y.size):
        before[e], product[e] = y[e], g[e]
    made = 0
    for _ in range(_MOST_HALVINGS):
        for e in range(y.size):
            y[e] = min(max(before[e] - step * p[e], -limit[e]), limit[e])
        _slopes(H, b, K, y, work)
        made += 1
        change = 0.0
        for e in range(y.size):
            change += (g[e] + product[e]) * (y[e] - before[e])
        if change <= 0.0:
            break
        # Conjugate directions need not lead downhill once they are cut off; the slopes themselves do.
        for e in range(y.size):
            p[e] = _free(limit[e], before[e], product[e]) + _off(limit[e], before[e], product[e])
        step *= 0.5
    return made


@inner
def _free(limit: float, y: float, g: float) -> float:
    """The slope of a multiplier inside its interval."""
    return g if -limit < y < limit else 0.0


@inner
def _off(limit: float, y: float, g: float) -> float:
    """That of one at an end, if it leads inside."""
    if y >= limit:
        return max(g, 0.0) if limit > 0.0 else 0.0
    return min(g, 0.0) if y <= -limit else 0.0


@shared
def _measured(limit: np.ndarray, y: np.ndarray, g: np.ndarray) -> tuple[float, float, float]:
    """The gap, and the squares of the slopes inside and at the ends."""
    gap = inside = ends = 0.0
    for e in range(y.size):
        gap += limit[e] * abs(g[e]) + y[e] * g[e]
        free, off = _free(limit[e], y[e], g[e]), _off(limit[e], y[e], g[e])
        inside += free * free
        ends += off * off
    return gap, inside, ends


@shared
def _slopes(H: Inverse, b: np.ndarray, K: CostedRows, y: np.ndarray, work: _Work) -> None:
    """w = H^-1 (b - K^T y), and the slopes -K (x + w)."""
    for j in range(b.size):
        work.right[j] = b[j]
    _add(K, work.unit, y, -1.0, work.right)
    for i in range(H.beside.size):
        work.sums[i] = H.beside[i]
    _inverted(H, work, work.w)
    _applied(K, work.unit, work.w, -1.0, work.slope)
    for e in range(y.size):
        work.slope[e] -= work.start[e]


@shared
def _curvature(H: Inverse, K: CostedRows, work: _Work) -> None:
    """K H^-1 K^T p."""
    work.right[:] = 0.0
    _add(K, work.unit, work.towards, 1.0, work.right)
    work.sums[:] = 0.0
    _inverted(H, work, work.right)
    _applied(K, work.unit, work.right, 1.0, work.curved)


@shared
def _add(K: CostedRows, unit: np.ndarray, y: np.ndarray, sign: float, out: np.ndarray) -> None:
    """out + sign K^T y."""
    for e in range(y.size):
        own = sign * unit[e] * y[e]
        if own != 0.0:
            for k in range(K.pointers[e], K.pointers[e + 1]):
                out[K.columns[k]] += own * K.values[k]


@shared
def _applied(K: CostedRows, unit: np.ndarray, w: np.ndarray, sign: float, out: np.ndarray) -> None:
    """sign K w."""
    for e in range(out.size):
        total = 0.0
        for k in range(K.pointers[e], K.pointers[e + 1]):
            total += K.values[k] * w[K.columns[k]]
        out[e] = sign * unit[e] * total


@shared
def _inverted(H: Inverse, work: _Work, out: np.ndarray) -> None:
    """H^-1 of `right`, where `sums` has what other coordinates add to the products with the few rows."""
    b, over, sums, few = work.right, work.over, work.sums, work.few
    n, r = H.rows.shape
    for j in range(n):
        own = over[j] * b[j]
        if own != 0.0:
            for i in range(r):
                sums[i] += H.rows[j, i] * own
    for i in range(r):
        total = 0.0
        for k in range(r):
            total += H.inner[i, k] * sums[k]
        few[i] = total
    for j in range(n):
        total = b[j]
        for i in range(r):
            total -= H.rows[j, i] * few[i]
        out[j] = over[j] * total


@kernel
def _descend(
    H: Inverse, b: np.ndarray, K: CostedRows, x: np.ndarray, y: np.ndarray, aim: float, most: int, work: _Work
) -> float:
    """In units in which the rows of K have length 1 beside D."""
    unit, limit, g, p, product = work.unit, work.limit, work.slope, work.towards, work.curved
    m = y.size
    for j in range(b.size):
        work.over[j] = 1.0 / H.D[j]
    for e in range(m):
        square = 0.0
        for k in range(K.pointers[e], K.pointers[e + 1]):
            square += K.values[k] * K.values[k] * work.over[K.columns[k]]
        unit[e] = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        limit[e] = K.cost[e] / unit[e]
        y[e] = min(max(y[e] / unit[e], -limit[e]), limit[e])
    _applied(K, unit, x, 1.0, work.start)
    _slopes(H, b, K, y, work)
    gap, inside, ends = _measured(limit, y, g)
    conjugate, drifted = False, False
    while (gap > aim or drifted) and most > 0:
        most -= 1
        if gap <= aim:  # by slopes that were updated again and again
            _slopes(H, b, K, y, work)
            gap, inside, ends = _measured(limit, y, g)
            conjugate, drifted = False, False
            continue
        leaving = ends > inside
        if leaving or not conjugate:
            for e in range(m):
                p[e] = _off(limit[e], y[e], g[e]) if leaving else _free(limit[e], y[e], g[e])
        _curvature(H, K, work)
        ahead, curvature, longest = 0.0, 0.0, math.inf
        for e in range(m):
            ahead += g[e] * p[e]
            curvature += product[e] * p[e]
            if p[e] != 0.0:
                longest = min(longest, (y[e] + math.copysign(limit[e], p[e])) / p[e])
        if not (ahead > 0.0 and curvature > 0.0):
            # Rounding, unless the directions have only lost their conjugacy.
            if not conjugate or leaving:
                break
            conjugate = False
            continue
        step = ahead / curvature
        if step <= longest:
            for e in range(m):
                y[e] -= step * p[e]
                g[e] -= step * product[e]
            conjugate, drifted = not leaving, True
            if conjugate:
                back = 0.0
                for e in range(m):
                    back += _free(limit[e], y[e], g[e]) * product[e]
                for e in range(m):
                    p[e] = _free(limit[e], y[e], g[e]) - back / curvature * p[e]
        else:
            most -= _cut_off(H, b, K, y, step, work)
            conjugate, drifted = False, False
        gap, inside, ends = _measured(limit, y, g)
    if drifted:
        _slopes(H, b, K, y, work)
        gap, inside, ends = _measured(limit, y, g)
    for e in range(m):
        y[e] = min(max(y[e] * unit[e], -K.cost[e]), K.cost[e])
    return gap
