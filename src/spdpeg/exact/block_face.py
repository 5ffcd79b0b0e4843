"""Newton steps of models of blocks among the coordinates that are not 0."""

import numpy as np

from ..kernels.columns import add_scaled_column, column_dot
from ..kernels.jit import CHUNK, allocating, inner, shared
from ..kernels.lapack import Routines, add_gram, cholesky, cholesky_solve
from ..kernels.sweeps import complete
from .block_terms import BlockQuadratic, Blocks, Point, norms_at

_ERROR = 1e-12
"""Relative error of a model's decrease."""

_MOST_ON_FACE = 10
"""Newton steps among the same coordinates."""

_SHORTEST = 1e-3
"""Length of a Newton step below which it is not worth the while."""

_WRITTEN, _MULTIPLIED, _SCATTERED, _FACTORED = 2.2, 0.02, 0.28, 0.02
"""Nanoseconds for a number written into a table, a product of two in a table, of two entries of a sparse row, and for
one of the s^3 of a factorisation."""


@inner
def face_time(model: BlockQuadratic, entries: int, members: int) -> float:
    """Approximate nanoseconds of a step, by the number of coordinates and the entries of their blocks."""
    factor = _FACTORED * float(members) ** 3
    dense = model.curvatures.size * members * (_WRITTEN + _MULTIPLIED * members)
    return factor + (dense if model.columns.indices.size == 0 else min(dense, _SCATTERED * entries * members))


@allocating
def _gram(model: BlockQuadratic, inside: np.ndarray, lapack: Routines) -> np.ndarray:
    """sum_i curvatures_i a_i a_i^T over some columns."""
    columns, n, width = model.columns, model.curvatures.size, inside.size
    H = np.zeros((width, width))
    if columns.indices.size == 0:
        table = np.empty((CHUNK, width))
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            for a in range(width):
                first = columns.starts[inside[a]]
                for i in range(start, stop):
                    table[i - start, a] = np.sqrt(model.curvatures[i]) * columns.values[first + i]
            table[stop - start :] = 0.0
            add_gram(lapack, table, H)
        complete(H, False)
        return H
    # The same entries by rows.
    starts = np.zeros(n + 2, dtype=np.int64)
    for j in inside:
        for p in range(columns.starts[j], columns.starts[j + 1]):
            starts[columns.indices[p] + 2] += 1
    squares = 0.0
    for i in range(n):
        squares += float(starts[i + 2]) ** 2
        starts[i + 2] += starts[i + 1]
    values, indices = np.empty(starts[n + 1]), np.empty(starts[n + 1], dtype=np.int64)
    for a in range(width):
        for p in range(columns.starts[inside[a]], columns.starts[inside[a] + 1]):
            i = columns.indices[p] + 1
            values[starts[i]], indices[starts[i]] = columns.values[p], a
            starts[i] += 1
    if _SCATTERED * squares > n * width * (_WRITTEN + _MULTIPLIED * width):
        table = np.empty((CHUNK, width))
        for start in range(0, n, CHUNK):
            table[:] = 0.0
            for i in range(start, min(start + CHUNK, n)):
                root = np.sqrt(model.curvatures[i])
                for p in range(starts[i], starts[i + 1]):
                    table[i - start, indices[p]] = root * values[p]
            add_gram(lapack, table, H)
    else:
        for i in range(n):
            for p in range(starts[i], starts[i + 1]):
                scaled, into = model.curvatures[i] * values[p], H[indices[p]]
                for r in range(starts[i], p + 1):
                    into[indices[r]] += scaled * values[r]
    complete(H, False)
    return H


@allocating
def to_face(model: BlockQuadratic, blocks: Blocks, point: Point, lapack: Routines) -> None:
    """Newton steps among the coordinates that are not 0; those that would change their sign become 0 and stay so."""
    v, count = point.v, 0
    inside = np.empty(v.size, dtype=np.int64)
    for j in range(v.size):
        if v[j] != 0.0:
            inside[count] = j
            count += 1
    inside = inside[:count]
    H, room_of_matrix, vectors = _gram(model, inside, lapack), np.empty(count * count), np.empty((3, count))
    for a in range(count):
        H[a, a] += blocks.ridge[inside[a]]
    for _ in range(_MOST_ON_FACE):
        matrix = room_of_matrix[: count * count].reshape(count, count)
        again = _face_step(model, blocks, point, H, matrix, inside[:count], vectors, lapack)
        left = 0
        for a in range(count):
            if v[inside[a]] != 0.0:
                for b in range(count):
                    H[left, b] = H[a, b]
                inside[left] = inside[a]
                vectors[0, left] = a
                left += 1
        if not again or left == 0:
            return
        for a in range(left):
            for b in range(left):
                H[a, b] = H[a, int(vectors[0, b])]
        count = left


@shared
def _face_step(
    model: BlockQuadratic,
    blocks: Blocks,
    point: Point,
    H: np.ndarray,
    matrix: np.ndarray,
    inside: np.ndarray,
    vectors: np.ndarray,
    lapack: Routines,
) -> bool:
    """One Newton step on the face, with the curvature H among its coordinates; returns whether another may gain."""
    v, count, curved = point.v, inside.size, False
    move, whole, q = vectors[0], vectors[1], vectors[2]
    for a in range(count):
        i = inside[a]
        q[a] = column_dot(model.columns, i, point.slopes) + blocks.ridge[i] * v[i]
        whole[a] = -q[a] - blocks.weight[i] * np.sign(v[i])
        for b in range(a + 1):
            matrix[a, b] = H[a, b]
    place = 0
    for g in range(blocks.cost.size):
        first, square = place, 0.0
        while place < count and inside[place] < blocks.starts[g + 1]:
            square += v[inside[place]] ** 2
            place += 1
        if place == first or blocks.cost[g] == 0.0:
            continue
        length = np.sqrt(square)
        curvature = blocks.cost[g] / length
        curved |= blocks.starts[g + 1] - blocks.starts[g] > 1
        for a in range(first, place):
            unit = v[inside[a]] / length
            whole[a] -= blocks.cost[g] * unit
            matrix[a, a] += curvature
            for b in range(first, a + 1):
                matrix[a, b] -= curvature * unit * (v[inside[b]] / length)
    if not cholesky(lapack, matrix):
        return False
    cholesky_solve(lapack, matrix, whole)
    crossed, longest = False, 1.0
    for a in range(count):
        i = inside[a]
        move[a] = whole[a]
        held = blocks.weight[i] > 0.0 or not curved
        if held and v[i] * (v[i] + move[a]) < 0.0:
            crossed, longest = True, min(longest, -v[i] / move[a])
            move[a] = -v[i]
    before, length = norms_at(blocks, v), 1.0
    gained = _moved(blocks, point, H, inside, q, move, before)
    if not gained > 0.0 and crossed:
        # As far as the first one that would change its sign.
        _undone(point, inside, move)
        length = longest
        for a in range(count):
            v_a = v[inside[a]]
            move[a] = -v_a if -v_a == longest * whole[a] else longest * whole[a]
        gained = _moved(blocks, point, H, inside, q, move, before)
    while not gained > 0.0 and curved and length > _SHORTEST:
        _undone(point, inside, move)
        length *= 0.5
        for a in range(count):
            move[a] *= 0.5
        gained = _moved(blocks, point, H, inside, q, move, before)
    # Within one orthant, without groups, the way to the minimum only goes down, whatever rounding says.
    if not (gained > 0.0 or (gained >= -_ERROR * before and not curved and not crossed)):
        _undone(point, inside, move)
        return False
    for a in range(count):
        add_scaled_column(model.columns, inside[a], move[a], model.curvatures, point.slopes)
    return crossed or (curved and length == 1.0 and gained > 0.0)


@shared
def _moved(
    blocks: Blocks,
    point: Point,
    H: np.ndarray,
    inside: np.ndarray,
    q: np.ndarray,
    move: np.ndarray,
    before: float,
) -> float:
    """Move v, not yet its slopes; by how much the model falls."""
    fallen = before
    for a in range(inside.size):
        total = 0.0
        for b in range(inside.size):
            total += H[a, b] * move[b]
        fallen -= move[a] * (q[a] + 0.5 * total)
        point.v[inside[a]] += move[a]
    return fallen - norms_at(blocks, point.v)


@inner
def _undone(point: Point, inside: np.ndarray, move: np.ndarray) -> None:
    for a in range(inside.size):
        point.v[inside[a]] -= move[a]
