"""Newton's steps among few columns that are in memory, from the first margin to the last in one compiled call.

What `Newton` does with sums over rows wherever they are, for l1 norms, squares and norms of disjoint groups. A step has
the curvature of those columns only that are in use or whose slope their penalties do not hold; the others wait for the
next one.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import CHUNK, allocating, allocating_kernel, call_chunk, call_scalar, inner, shared
from ..kernels.lapack import Routines, add_gram, routines
from ..kernels.rows import Rows, add_row, row_dot, weight_of
from ..kernels.sweeps import Labelled, complete
from ..losses import Loss
from .block_models import Blocks, Room, minimize_blocks, norms_at, shrunk
from .newton import ARMIJO, CLOSE, FIRST_FLOOR, ROUNDING, SHORTEST

_MOST_STEPS = 40

_NEGLIGIBLE = 1e-17
"""Part of the objective that a model's minimum may miss."""

_WRITTEN, _MULTIPLIED, _SCATTERED = 2.2, 0.02, 0.28
"""Costs of curvature by dense and by scattered products, as in `sums.part`."""


class Reached(NamedTuple):
    """Where the steps came to."""

    w: np.ndarray
    margins: np.ndarray


def minimized(block: Block, loss: Loss, penalties: Blocks, w: np.ndarray, enough: float) -> Reached | None:
    """The minimum among the columns of a block, up to this part of the objective; None where steps lead nowhere."""
    w, margins = w.copy(), np.empty(block.labels.size)
    data = Labelled(*block, loss.read_term, loss.curvature_term)
    found = _minimized(data, penalties, w, margins, (enough, float(loss.curvature)), routines())
    return Reached(w, margins) if found else None


@allocating_kernel
def _minimized(
    data: Labelled,
    penalties: Blocks,
    w: np.ndarray,
    margins: np.ndarray,
    limits: tuple[float, float],
    lapack: Routines,
) -> bool:
    n, k, rows = margins.size, w.size, data.rows
    slopes, curvatures, gradient = np.empty(n), np.empty(n), np.empty(k)
    there, trial, spare, between = np.empty(n), np.empty(k), np.empty(n), np.empty(k)
    opened, places = np.empty(penalties.cost.size, dtype=np.bool_), np.empty(k, dtype=np.int64)
    for i in range(n):
        margins[i] = row_dot(rows, i, w)
    value = _read(data, margins, slopes) + _squares(penalties.ridge, w) + norms_at(penalties, w)
    floor = 0.0
    for _ in range(_MOST_STEPS):
        if not np.isfinite(value):
            return False
        largest = 0.0
        for i in range(n):
            curvatures[i] = call_scalar(data.curvature, margins[i], data.labels[i])
            largest = max(largest, curvatures[i])
        if floor > 0.0:
            least = floor * (limits[1] if np.isfinite(limits[1]) else largest)
            for i in range(n):
                curvatures[i] = max(curvatures[i], least)
        gradient[:] = 0.0
        for i in range(n):
            add_row(rows, i, weight_of(data.weights, i) * slopes[i] / n, gradient)
        for j in range(k):
            gradient[j] += penalties.ridge[j] * w[j]
        a = _open(penalties, w, gradient, opened, places)
        if a == 0:
            return True
        some = _chosen(penalties, opened, a)
        H, q, v = np.zeros((a, a)), np.empty(a), np.empty(a)
        _curvature(data, curvatures, places, lapack, H)
        for j in range(k):
            if places[j] >= 0:
                q[places[j]], v[places[j]] = gradient[j], w[j]
        for j in range(a):
            H[j, j] += some.ridge[j]
        first, before = q.copy(), v.copy()
        room = Room(np.empty(a), np.empty(a), np.empty(a, dtype=np.int64), np.empty(a * a))
        if not minimize_blocks(H, q, v, some, room, lapack, _NEGLIGIBLE * abs(value)):
            return False
        slope, curvature = norms_at(some, v) - norms_at(some, before), 0.0
        for j in range(a):
            slope += first[j] * (v[j] - before[j])
            curvature += (v[j] - before[j]) * (q[j] - first[j])
        foretold = -(slope + 0.5 * curvature)
        trial[:] = w
        for j in range(k):
            if places[j] >= 0:
                trial[j] = v[places[j]]
        for i in range(n):
            there[i] = row_dot(rows, i, trial)
        length, after = 1.0, np.inf
        while True:
            # Along the way, margins are those between the two ends.
            after = _value_between(data, penalties, (w, margins), (trial, there), length, (between, spare), slopes)
            if after <= value + ARMIJO * length * slope + ROUNDING * abs(value):
                break
            length *= 0.5
            if length < SHORTEST:
                return False
        w[:], margins[:] = between, spare
        gained, value, exact = value - after, after, floor == 0.0
        if length < 0.5:
            floor = min(max(10.0 * floor, FIRST_FLOOR), 1.0)
        else:
            floor = 0.0 if foretold <= CLOSE * abs(value) else 0.1 * floor
        if length == 1.0 and exact and (foretold <= limits[0] * abs(value) or gained <= ROUNDING * abs(value)):
            return True
    return True


@shared
def _read(data: Labelled, margins: np.ndarray, slopes: np.ndarray) -> float:
    """The mean loss at margins; fills the slopes."""
    total, n = 0.0, margins.size
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        total += call_chunk(
            data.read, margins[start:stop], data.labels[start:stop], data.weights[start:stop], slopes[start:stop]
        )
    return total / n


@shared
def _squares(ridge: np.ndarray, w: np.ndarray) -> float:
    total = 0.0
    for j in range(w.size):
        total += 0.5 * ridge[j] * w[j] * w[j]
    return total


@shared
def _open(penalties: Blocks, w: np.ndarray, gradient: np.ndarray, opened: np.ndarray, places: np.ndarray) -> int:
    """Number the coordinates of blocks that are in use, or that their penalties do not hold; returns how many."""
    count = 0
    for g in range(penalties.cost.size):
        start, stop = penalties.starts[g], penalties.starts[g + 1]
        used, square = False, 0.0
        for j in range(start, stop):
            used |= w[j] != 0.0
            square += shrunk(gradient[j], penalties.weight[j]) ** 2
        opened[g] = used or np.sqrt(square) > penalties.cost[g]
        for j in range(start, stop):
            places[j] = count if opened[g] else -1
            count += opened[g]
    return count


@allocating
def _chosen(penalties: Blocks, opened: np.ndarray, count: int) -> Blocks:
    """The penalties of the blocks that are open."""
    number = 0
    for g in range(opened.size):
        number += opened[g]
    some = Blocks(np.empty(count), np.empty(count), np.zeros(number + 1, dtype=np.int64), np.empty(number))
    block, place = 0, 0
    for g in range(opened.size):
        if not opened[g]:
            continue
        for j in range(penalties.starts[g], penalties.starts[g + 1]):
            some.weight[place], some.ridge[place] = penalties.weight[j], penalties.ridge[j]
            place += 1
        some.cost[block] = penalties.cost[g]
        block += 1
        some.starts[block] = place
    return some


@allocating
def _curvature(data: Labelled, curvatures: np.ndarray, places: np.ndarray, lapack: Routines, H: np.ndarray) -> None:
    """H = sum_i w_i h_i a_i a_i^T / n over the columns that have a place."""
    rows, n, width = data.rows, curvatures.size, H.shape[0]
    dense = rows.indptr.size == 0
    squares = 0.0
    if not dense:
        for i in range(n):
            count = 0
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                count += places[rows.indices[p]] >= 0
            squares += count * count
        dense = _SCATTERED * squares > n * width * (_WRITTEN + _MULTIPLIED * width)
    table = np.empty((CHUNK if dense else 1, width))
    found = np.empty(width, dtype=np.int64)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        if dense:
            table[:] = 0.0
        for i in range(start, stop):
            factor = weight_of(data.weights, i) * curvatures[i] / n
            line = table[i - start if dense else 0]
            count = _gather(rows, i, places, line, found, dense)
            if dense:
                for a in range(width):
                    line[a] *= np.sqrt(factor)
                continue
            for a in range(count):
                scaled, into = factor * line[a], H[found[a]]
                for b in range(a):
                    into[found[b]] += scaled * line[b]
                into[found[a]] += 0.5 * scaled * line[a]
        if dense:
            add_gram(lapack, table, H)
    complete(H, not dense)


@inner
def _gather(rows: Rows, i: int, places: np.ndarray, line: np.ndarray, found: np.ndarray, dense: bool) -> int:
    """Entries of a row in columns that have a place: by their places, or one after the other with their places."""
    count = 0
    if rows.indptr.size == 0:
        for j in range(rows.width):
            if places[j] >= 0:
                line[places[j]] = rows.values[i * rows.width + j]
    else:
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            place = places[np.uint64(rows.indices[p])]
            if place >= 0:
                line[place if dense else count] = rows.values[p]
                if not dense:
                    found[count] = place
                    count += 1
    if rows.bias != 0.0 and places[rows.width] >= 0:
        line[places[rows.width] if dense else count] = rows.bias
        if not dense:
            found[count] = places[rows.width]
            count += 1
    return count


@shared
def _value_between(
    data: Labelled,
    penalties: Blocks,
    start: tuple[np.ndarray, np.ndarray],
    end: tuple[np.ndarray, np.ndarray],
    length: float,
    spare: tuple[np.ndarray, np.ndarray],
    slopes: np.ndarray,
) -> float:
    """The objective at a part of the way from one point with its margins to another; fills the slopes there."""
    point, margins = spare
    for j in range(point.size):
        point[j] = end[0][j] if length == 1.0 else start[0][j] + length * (end[0][j] - start[0][j])
    for i in range(margins.size):
        margins[i] = end[1][i] if length == 1.0 else start[1][i] + length * (end[1][i] - start[1][i])
    return _read(data, margins, slopes) + _squares(penalties.ridge, point) + norms_at(penalties, point)
