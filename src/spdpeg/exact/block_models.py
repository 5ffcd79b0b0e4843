"""Quadratic models with l1 norms, squares and norms of disjoint groups, minimised on the columns in compiled code.

Block coordinate descent finds out which coordinates are 0, and Anderson's extrapolation makes it fast where many are
not. Once it has taken as long as a Newton step among those that are not 0 would take, that step is taken: it goes to
the minimum of their face at once. Exact zeros come from the thresholds. No matrix of all columns is ever made.

Bertrand, Massias: Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.columns import Columns, add_column, add_scaled_column, column_dot, column_square
from ..kernels.jit import allocating, allocating_kernel, inner, shared, strict
from ..kernels.lapack import Routines, cholesky, cholesky_solve
from .block_face import face_time, to_face
from .block_terms import BlockQuadratic, Blocks, Point, norms_at, shrunk

_DEPTH = 5
"""Rounds of coordinate descent that an extrapolation is made of."""

_MOST_ROUNDS = 400
"""Rounds of coordinate descent on one model."""

_STEEPER = 1.1
"""Factor by which the curvature of a block is raised at least where it was guessed too small."""

_ROUNDED = 1.0 + 1e-12
"""Factor that rounding may make a curvature too large by."""

_SINGULAR = 1e-12
"""Fraction of its trace that is added to the matrix of an extrapolation."""

_SUPPORT = 0.1
"""Fraction of what is asked for, to which the coordinates that are not 0 are solved among themselves."""

_STRICTER = 0.2
"""Factor on what a round may miss after one that promised too much."""

_SEVERAL = 10
"""Rounds among the coordinates that are not 0 between two of all."""

_VISITED, _VISITED_SPARSE = 0.7, 2.0
"""Nanoseconds of coordinate descent for an entry."""


class Room(NamedTuple):
    """Work space of a round: by coordinates, by rows (all 0 between two uses), and the last points and slopes."""

    q: np.ndarray
    move: np.ndarray
    image: np.ndarray
    order: np.ndarray
    """Blocks to visit."""
    support: np.ndarray
    """The blocks in `order` that are not 0."""
    points: np.ndarray
    slopes: np.ndarray


@inner
def steepness(model: BlockQuadratic, blocks: Blocks, g: int) -> float:
    """The largest curvature of a coordinate of a block: that of the block is no smaller."""
    largest = 0.0
    for j in range(blocks.starts[g], blocks.starts[g + 1]):
        largest = max(largest, column_square(model.columns, j, model.curvatures) + blocks.ridge[j])
    return largest


@allocating
def room_for(n: int, k: int, n_blocks: int) -> Room:
    """Work space for models of so many rows, coordinates and blocks."""
    order, support = np.empty(n_blocks, dtype=np.int64), np.empty(n_blocks, dtype=np.int64)
    points, slopes = np.empty((_DEPTH + 1, k)), np.empty((_DEPTH + 1, n))
    return Room(np.empty(k), np.empty(k), np.zeros(n), order, support, points, slopes)


@strict
def proximal_move(blocks: Blocks, g: int, v: np.ndarray, q: np.ndarray, steep: float, move: np.ndarray) -> float:
    """The step of a block with gradient q and this curvature, into `move`; its length."""
    start, stop = blocks.starts[g], blocks.starts[g + 1]
    if stop - start == 1:
        held = (blocks.weight[start] + blocks.cost[g]) / steep
        move[start] = shrunk(v[start] - q[start] / steep, held) - v[start]
        return abs(move[start])
    square = 0.0
    for j in range(start, stop):
        move[j] = shrunk(v[j] - q[j] / steep, blocks.weight[j] / steep)
        square += move[j] * move[j]
    length, held = np.sqrt(square), blocks.cost[g] / steep
    factor, square = 1.0 - held / length if length > held else 0.0, 0.0
    for j in range(start, stop):
        move[j] = factor * move[j] - v[j]
        square += move[j] * move[j]
    return np.sqrt(square)


@inner
def missing(blocks: Blocks, g: int, v: np.ndarray, pull: float, steep: float, total: float) -> tuple[float, float]:
    """A block's share of the gap if its conditions are violated by `pull`: directly, and by rescaled multipliers."""
    square, least, ridge = 0.0, np.inf, np.inf
    for j in range(blocks.starts[g], blocks.starts[g + 1]):
        square += v[j] * v[j]
        least, ridge = min(least, blocks.weight[j]), min(ridge, blocks.ridge[j])
    held = blocks.cost[g] + least
    # Without a penalty: as far as the objective lets it move.
    alone = pull * (np.sqrt(square) if held > 0.0 else np.sqrt(square) + np.sqrt(2.0 * total / steep))
    scaling = pull / held if held > 0.0 else 0.0
    # The conjugate of a square takes any multiplier.
    if pull * pull < 2.0 * ridge * (alone + scaling * total):
        return 0.5 * pull * pull / ridge, 0.0
    return alone, scaling


@inner
def gap(own: float, scaling: float, norms: float, total: float) -> float:
    """The approximate duality gap of blocks, by what they miss, their penalties `norms` and the objective `total`."""
    part = scaling / (1.0 + scaling)
    return own + part * norms + part * part * total


@shared
def _round(
    model: BlockQuadratic, blocks: Blocks, point: Point, order: np.ndarray, room: Room, total: float
) -> tuple[float, float, bool]:
    """A round of block coordinate descent; what blocks missed, alone and by scaling, and whether others are 0 now."""
    v, slopes, columns, q = point.v, point.slopes, model.columns, room.q
    own, scaling, changed = 0.0, 0.0, False
    for g in order:
        start, stop, steep = blocks.starts[g], blocks.starts[g + 1], point.steepness[g]
        if steep <= 0.0:
            continue
        for j in range(start, stop):
            q[j] = column_dot(columns, j, slopes) + blocks.ridge[j] * v[j]
        if stop - start > 1:
            alone, all_of_them, other = _move_group(model, blocks, point, g, room, total)
            changed |= other
        else:
            length = proximal_move(blocks, g, v, q, steep, room.move)
            if length == 0.0:
                continue
            alone, all_of_them = missing(blocks, g, v, steep * length, steep, total)
            there = v[start] + room.move[start]
            changed |= (there == 0.0) != (v[start] == 0.0)
            v[start] = there
            add_scaled_column(columns, start, room.move[start], model.curvatures, slopes)
        own += alone
        scaling = max(scaling, all_of_them)
    return own, scaling, changed


@shared
def _missed(model: BlockQuadratic, blocks: Blocks, point: Point, order: np.ndarray, room: Room, total: float) -> float:
    """The approximate gap of some blocks at the current point."""
    v, q, own, scaling = point.v, room.q, 0.0, 0.0
    for g in order:
        steep = point.steepness[g]
        for j in range(blocks.starts[g], blocks.starts[g + 1]):
            q[j] = column_dot(model.columns, j, point.slopes) + blocks.ridge[j] * v[j]
        if steep > 0.0:
            pull = steep * proximal_move(blocks, g, v, q, steep, room.move)
            alone, all_of_them = missing(blocks, g, v, pull, steep, total)
            own += alone
            scaling = max(scaling, all_of_them)
    return gap(own, scaling, norms_at(blocks, v), total)


@shared
def _move_group(
    model: BlockQuadratic, blocks: Blocks, point: Point, g: int, room: Room, total: float
) -> tuple[float, float, bool]:
    """A step of one group, whose gradient is known; what it missed, and whether other coordinates are 0 now."""
    v, start, stop = point.v, blocks.starts[g], blocks.starts[g + 1]
    move, image, changed = room.move, room.image, False
    while True:
        steep = point.steepness[g]
        length = proximal_move(blocks, g, v, room.q, steep, move)
        if length == 0.0:
            return 0.0, 0.0, False
        # The curvature along the step is known once it is taken; where it was guessed too small, again.
        curvature = _moved_slopes(model, start, stop, move, 1.0, image, point.slopes)
        for j in range(start, stop):
            curvature += blocks.ridge[j] * move[j] * move[j]
        if not curvature > _ROUNDED * steep * length * length:
            break
        point.steepness[g] = max(curvature / (length * length), _STEEPER * steep)
        _moved_slopes(model, start, stop, move, -1.0, image, point.slopes)
    alone, all_of_them = missing(blocks, g, v, steep * length, steep, total)
    for j in range(start, stop):
        there = v[j] + move[j]
        changed |= (there == 0.0) != (v[j] == 0.0)
        v[j] = there
    return alone, all_of_them, changed


@inner
def _moved_slopes(
    model: BlockQuadratic, start: int, stop: int, move: np.ndarray, sign: float, image: np.ndarray, slopes: np.ndarray
) -> float:
    """Change the slopes by a move of some coordinates, or back; the curvature of the model along it."""
    columns, curvatures, curvature = model.columns, model.curvatures, 0.0
    for j in range(start, stop):
        if move[j] != 0.0:
            add_column(columns, j, sign * move[j], image)
    if columns.indices.size == 0:
        for i in range(image.size):
            change = curvatures[i] * image[i]
            curvature += change * image[i]
            slopes[i] += change
            image[i] = 0.0
    else:
        for p in range(np.uint64(columns.starts[start]), np.uint64(columns.starts[stop])):
            row = np.uint64(columns.indices[p])
            change = curvatures[row] * image[row]
            curvature += change * image[row]
            slopes[row] += change
            image[row] = 0.0
    return curvature


@shared
def _value(model: BlockQuadratic, blocks: Blocks, w: np.ndarray, v: np.ndarray, slopes: np.ndarray) -> float:
    """The value of the model with its penalties; the quadratic part is 0 at w."""
    total = norms_at(blocks, v)
    for j in range(v.size):
        total += model.gradient[j] * (v[j] - w[j]) + 0.5 * blocks.ridge[j] * v[j] * v[j]
    for i in range(slopes.size):
        if model.curvatures[i] > 0.0:
            total += 0.5 * (slopes[i] - model.slopes[i]) ** 2 / model.curvatures[i]
    return total


@shared
def _extrapolated(
    model: BlockQuadratic, blocks: Blocks, w: np.ndarray, point: Point, room: Room, small: np.ndarray, lapack: Routines
) -> None:
    """Anderson's combination of the last points, if it is better than the last one."""
    points, slopes = room.points, room.slopes
    matrix, factors = small[:_DEPTH], small[_DEPTH]
    for a in range(_DEPTH):
        factors[a] = 1.0
        for b in range(a + 1):
            total = 0.0
            for j in range(w.size):
                total += (points[a + 1, j] - points[a, j]) * (points[b + 1, j] - points[b, j])
            matrix[a, b] = total
    trace = 0.0
    for a in range(_DEPTH):
        trace += matrix[a, a]
    for a in range(_DEPTH):
        matrix[a, a] += _SINGULAR * trace
    if not (trace > 0.0 and cholesky(lapack, matrix)):
        return
    cholesky_solve(lapack, matrix, factors)
    total = 0.0
    for a in range(_DEPTH):
        total += factors[a]
    if not (np.isfinite(total) and total != 0.0):
        return
    # The first of the points is not needed any more, and its room is taken.
    for j in range(w.size):
        combined = 0.0
        for a in range(_DEPTH):
            combined += factors[a] * points[a + 1, j]
        points[0, j] = combined / total
    for i in range(model.slopes.size):
        combined = 0.0
        for a in range(_DEPTH):
            combined += factors[a] * slopes[a + 1, i]
        slopes[0, i] = combined / total
    if _value(model, blocks, w, points[0], slopes[0]) < _value(model, blocks, w, point.v, point.slopes):
        for j in range(w.size):
            point.v[j] = points[0, j]
        for i in range(point.slopes.size):
            point.slopes[i] = slopes[0, i]


@allocating
def minimize_blocks(
    model: BlockQuadratic,
    blocks: Blocks,
    opened: np.ndarray,
    point: Point,
    room: Room,
    lapack: Routines,
    asked: float,
    total: float,
) -> float:
    """Move a point to the minimum of a model, up to a gap of about `asked` where the objective is about `total`.

    Only the open blocks move, and not longer than for some hundred rounds. Returns the number of entries visited, by
    time; -1 where numbers overflow.
    """
    w, small = point.v.copy(), np.empty((_DEPTH + 1, _DEPTH))
    number, entries = 0, 0
    for g in range(opened.size):
        if opened[g]:
            room.order[number] = g
            number += 1
            entries += model.columns.starts[blocks.starts[g + 1]] - model.columns.starts[blocks.starts[g]]
    visit = _VISITED if model.columns.indices.size == 0 else _VISITED_SPARSE
    spent, visits, kept, rounds, looked_for = 0.0, 0.0, 0, 0, asked
    while rounds < _MOST_ROUNDS:
        own, scaling, changed = _round(model, blocks, point, room.order[:number], room, total)
        rounds += 1
        spent += visit * entries
        visits += entries
        if gap(own, scaling, norms_at(blocks, point.v), total) <= looked_for:
            # Each block was looked at before the others moved.
            missed = _missed(model, blocks, point, room.order[:number], room, total)
            if missed <= asked:
                return visits
            looked_for *= _STRICTER
        for _ in range(_SEVERAL):
            used, inside, members = _used(model, blocks, point, room, number)
            own, scaling, changed = _round(model, blocks, point, room.support[:used], room, total)
            rounds += 1
            spent += visit * inside
            visits += inside
            if not np.isfinite(own):
                return -1.0
            if gap(own, scaling, norms_at(blocks, point.v), total) <= _SUPPORT * looked_for:
                break
            if changed:
                kept = 0
                continue
            cost = face_time(model, inside, members)
            if spent >= cost:
                to_face(model, blocks, point, lapack)
                visits += cost / visit
                spent, kept = 0.0, 0
                break
            room.points[kept], room.slopes[kept] = point.v, point.slopes
            kept += 1
            if kept > _DEPTH:
                _extrapolated(model, blocks, w, point, room, small, lapack)
                kept = 0
    return visits


@allocating_kernel
def minimize_dense(
    factor: np.ndarray,
    gradient: np.ndarray,
    blocks: Blocks,
    v: np.ndarray,
    asked: float,
    total: float,
    lapack: Routines,
) -> bool:
    """The same for gradient^T (v - w) + |factor^T (v - w)|^2 / 2 from v = w on, in place; whether numbers stay finite.

    The rows of the factor, a lower triangle, stand for columns of data.
    """
    k, n_blocks = v.size, blocks.cost.size
    starts = np.empty(k + 1, dtype=np.int64)
    for j in range(k + 1):
        starts[j] = j * k
    columns = Columns(factor.reshape(k * k), np.empty(0, dtype=np.int32), starts)
    slopes, curvatures = gradient.copy(), np.ones(k)
    for i in range(k):
        for j in range(i):
            slopes[i] -= factor[i, j] * slopes[j]
        slopes[i] /= factor[i, i]
    model = BlockQuadratic(columns, slopes.copy(), curvatures, gradient)
    point, opened = Point(v, slopes, np.empty(n_blocks)), np.ones(n_blocks, dtype=np.bool_)
    for g in range(n_blocks):
        point.steepness[g] = steepness(model, blocks, g)
    return minimize_blocks(model, blocks, opened, point, room_for(k, k, n_blocks), lapack, asked, total) >= 0.0


@shared
def _used(model: BlockQuadratic, blocks: Blocks, point: Point, room: Room, number: int) -> tuple[int, int, int]:
    """List the open blocks that are not 0: how many, their entries and their coordinates that are not 0."""
    used, entries, members = 0, 0, 0
    for g in room.order[:number]:
        count = 0
        for j in range(blocks.starts[g], blocks.starts[g + 1]):
            count += point.v[j] != 0.0
        if count:
            room.support[used] = g
            used += 1
            entries += model.columns.starts[blocks.starts[g + 1]] - model.columns.starts[blocks.starts[g]]
            members += count
    return used, entries, members
