"""The squared loss among few columns: coordinate descent on the matrix of their products.

The loss is 1/2 v^T H v and a linear part, whatever the rows. With H at hand a coordinate that does not move costs
nothing, and one that moves costs as many operations as there are columns, not rows. Once descent has taken as long as a
Newton step among the coordinates that are not 0 would take, that step is taken (as in `block_models`).

Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate descent, Journal of
Statistical Software 33, 2010 ("covariance updates").
"""

import numpy as np

from ..data import Block
from ..kernels.jit import allocating_kernel, inner, shared
from ..kernels.lapack import ROUTINES, Routines, cholesky, cholesky_solve
from ..sums import Sums
from ..sums.blocks import gram_time, margins_of
from .block_models import gap, missing
from .block_newton import Reached
from .block_terms import Blocks, norms_at, shrunk

MOST_COLUMNS = 2000
"""Columns up to which there is room for the matrix."""

_FEW_VISITS, _MANY_VISITS, _VISITED, _VISITED_SPARSE = 8.0, 60.0, 0.7, 2.0
"""Visits to each entry that descent on the columns takes at least, and about at most; and nanoseconds of one. Chosen on
hitech and on dense 500 x 5,000, shown on k1b and classic."""

_LEAST_TIME = 1e6
"""Nanoseconds for which descent may go on."""

_STRICTER = 0.2
"""Factor on what a round may miss after one that promised too much."""

_SUPPORT = 0.1
"""Fraction of what is asked for, to which the coordinates that are not 0 are solved among themselves."""

_SEVERAL = 20
"""Rounds among the coordinates that are not 0 between two of all."""

_MOST_ON_FACE = 10
"""Newton steps after each other, each with one coordinate less."""

_RAISED = 1e-10
"""Fraction by which the diagonal of a matrix that is not positive is raised."""

_LOOKED = 10.0
"""Moves that take as long as to look at all coordinates."""

_UPDATED, _FACTORED = 0.25, 0.04
"""Nanoseconds for an entry of the gradient that a move changes, and for one of the s^3 of a factorisation."""


def pays(block: Block, penalties: Blocks) -> bool:
    """Whether the matrix of all columns takes less time than descent on the columns themselves, and fits.

    Beside a ridge, columns that are alike do not hold each other up, and few visits do.
    """
    if penalties.cost.size < penalties.weight.size or penalties.cost.any() or penalties.ridge.any():
        return False
    fits = penalties.weight.size <= MOST_COLUMNS
    return fits and gram_time(block.rows, block.labels.size) <= _FEW_VISITS * _visit(block)


def _visit(block: Block) -> float:
    """Nanoseconds of a round of descent on the columns."""
    return (_VISITED_SPARSE if block.rows.indptr.size else _VISITED) * block.rows.values.size


def descended(sums: Sums, penalties: Blocks, w: np.ndarray, aim: float) -> Reached:
    """The minimum among the columns of rows in memory, up to a gap of this fraction of the objective.

    Penalties are those of single coordinates.
    """
    at, block = sums.at(w, curvature=True), sums.block
    assert at.curvature is not None
    assert block is not None
    v = w.copy()
    most = max(_MANY_VISITS * _visit(block), _LEAST_TIME)
    found = bool(_descended(at.curvature, at.gradient, penalties, v, float(at.loss), aim, most, ROUTINES))
    return Reached(v, margins_of(block.rows, block.labels.size, v), found)


@shared
def _round(
    H: np.ndarray, gradient: np.ndarray, blocks: Blocks, v: np.ndarray, order: np.ndarray, total: float, moves: bool
) -> tuple[float, float, int]:
    """Look at some coordinates, and move each to its minimum if asked to: what they missed, and how many moved."""
    own, scaling, moved = 0.0, 0.0, 0
    for j in order:
        steep = H[j, j] + blocks.ridge[j]
        if steep <= 0.0:
            continue
        there = shrunk(v[j] - (gradient[j] + blocks.ridge[j] * v[j]) / steep, blocks.weight[j] / steep)
        move = there - v[j]
        if move == 0.0:
            continue
        alone, all_of_them = missing(blocks, j, v, steep * abs(move), steep, total)
        own += alone
        scaling = max(scaling, all_of_them)
        moved += 1
        if moves:
            v[j] = there
            _change(H, j, move, gradient)
    return own, scaling, moved


@inner
def _change(H: np.ndarray, j: int, move: float, gradient: np.ndarray) -> None:
    line = H[j]
    for k in range(gradient.size):
        gradient[k] += move * line[k]


@shared
def _support(v: np.ndarray, out: np.ndarray) -> int:
    count = 0
    for j in range(v.size):
        if v[j] != 0.0:
            out[count] = j
            count += 1
    return count


@shared
def _to_face(
    H: np.ndarray,
    gradient: np.ndarray,
    blocks: Blocks,
    v: np.ndarray,
    inside: np.ndarray,
    room: np.ndarray,
    step: np.ndarray,
    lapack: Routines,
) -> bool:
    """A Newton step among the coordinates that are not 0, up to where the first of them becomes 0; whether one does."""
    count = inside.size
    matrix = room[: count * count].reshape(count, count)
    # Where columns depend on each other, the raised diagonal leaves a long step along what they have in common: it ends
    # where one of them is 0.
    for raised in (0.0, _RAISED):
        for a in range(count):
            i = inside[a]
            for b in range(a + 1):
                matrix[a, b] = H[i, inside[b]]
            matrix[a, a] = (1.0 + raised) * (matrix[a, a] + blocks.ridge[i])
        positive = cholesky(lapack, matrix)
        if positive:
            break
    if not positive:
        return False
    for a in range(count):
        i = inside[a]
        step[a] = -(gradient[i] + blocks.ridge[i] * v[i] + np.copysign(blocks.weight[i], v[i]))
    cholesky_solve(lapack, matrix, step[:count])
    length, first = 1.0, -1
    for a in range(count):
        i = inside[a]
        if blocks.weight[i] > 0.0 and (v[i] > 0.0) != (v[i] + length * step[a] > 0.0):
            length, first = v[i] / -step[a], a
    for a in range(count):
        i = inside[a]
        move = -v[i] if a == first else length * step[a]
        v[i] = 0.0 if a == first else v[i] + move
        _change(H, i, move, gradient)
    return first >= 0


@allocating_kernel
def _descended(
    H: np.ndarray,
    gradient: np.ndarray,
    blocks: Blocks,
    v: np.ndarray,
    loss: float,
    aim: float,
    most: float,
    lapack: Routines,
) -> bool:
    """Move v in place, and the gradient with it, until the gap is at most a part of the objective.

    It ends after about `most` nanoseconds.
    """
    k = v.size
    for j in range(k):
        if H[j, j] + blocks.ridge[j] <= 0.0 and blocks.weight[j] > 0.0:
            v[j] = 0.0  # an empty column
    start, before = v.copy(), gradient.copy()
    every, support = np.arange(k), np.empty(k, dtype=np.int64)
    step, room = np.empty(k), np.empty(0)
    stricter, spent = 1.0, 0.0
    while most > 0.0:
        total = loss + norms_at(blocks, v)
        for j in range(k):
            total += 0.5 * ((before[j] + gradient[j]) * (v[j] - start[j]) + blocks.ridge[j] * v[j] * v[j])
        total = abs(total)
        asked = aim * total
        own, scaling, moved = _round(H, gradient, blocks, v, every, total, True)
        spent += _UPDATED * k * moved
        most -= _UPDATED * k * (moved + _LOOKED)
        if not np.isfinite(own + scaling):
            return False
        if gap(own, scaling, norms_at(blocks, v), total) <= stricter * asked:
            # Each coordinate was looked at before the others moved.
            own, scaling, _ = _round(H, gradient, blocks, v, every, total, False)
            if gap(own, scaling, norms_at(blocks, v), total) <= asked:
                return True
            stricter *= _STRICTER
        for _ in range(_SEVERAL):
            used = _support(v, support)
            own, scaling, moved = _round(H, gradient, blocks, v, support[:used], total, True)
            spent += _UPDATED * k * moved
            most -= _UPDATED * k * (moved + _LOOKED)
            if gap(own, scaling, norms_at(blocks, v), total) <= _SUPPORT * stricter * asked:
                break
            used = _support(v, support)
            cost = _FACTORED * float(used) ** 3 + _UPDATED * k * used
            if spent >= cost:
                if room.size < used * used:
                    room = np.empty(used * used)
                for _ in range(_MOST_ON_FACE):
                    most -= cost
                    if not _to_face(H, gradient, blocks, v, support[:used], room, step, lapack):
                        break
                    used = _support(v, support)
                spent = 0.0
                break
    return False
