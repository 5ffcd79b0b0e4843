"""Newton's steps among few columns that are in memory, from the first margin to the last in one compiled call.

What `Newton` does with sums over rows wherever they are, for l1 norms, squares and norms of disjoint groups. A step has
the curvature of those columns only that are in use or whose slope their penalties do not hold; the others wait for the
next one.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.columns import add_column, column_dot, columns_of
from ..kernels.jit import CHUNK, allocating_kernel, call_chunk, inner, shared
from ..kernels.lapack import ROUTINES, Routines
from ..kernels.rows import row_dot, weight_of
from ..kernels.sweeps import Labelled
from ..losses import Loss
from .block_models import Room, gap, minimize_blocks, missing, proximal_move, room_for, steepness
from .block_terms import BlockQuadratic, Blocks, Point, norms_at, shrunk
from .newton import ARMIJO, CLOSE, FIRST_FLOOR, ROUNDING, SHORTEST

_MOST_STEPS = 60
_LITTLE = 0.01
"""Fraction of a gap that a step gains at least, if it is worth the while."""

_INEXACT = 0.2
"""Fraction of what the conditions at hand miss, to which a model is solved."""

_NEAR = 1e3
"""Times what may be missed in the end, at which blocks that wait are looked at: those that open then take part in the
last steps."""


class Reached(NamedTuple):
    """The point that the steps reached."""

    w: np.ndarray
    margins: np.ndarray
    found: bool
    """Whether that is the minimum."""


class Aim(NamedTuple):
    """Gaps, as parts of the objective, at which the steps end."""

    fine: float
    coarse: float
    """Once entries have been visited so often; then also where a step gained little beside it."""
    visits: float


def minimized(block: Block, loss: Loss, penalties: Blocks, w: np.ndarray, aim: Aim) -> Reached:
    """The minimum among the columns of a block, or the last point if steps make no more progress."""
    w, margins = w.copy(), np.empty(block.labels.size)
    data = Labelled(*block, loss.read_term, loss.curvatures_term)
    found = _minimized(data, penalties, w, margins, aim, float(loss.curvature), ROUTINES)
    return Reached(w, margins, bool(found))


@allocating_kernel
def _minimized(
    data: Labelled,
    penalties: Blocks,
    w: np.ndarray,
    margins: np.ndarray,
    aim: Aim,
    bound: float,
    lapack: Routines,
) -> bool:
    n, k, rows = margins.size, w.size, data.rows
    slopes, there, trial, spare, between = np.empty(n), np.empty(n), np.empty(k), np.empty(n), np.empty(k)
    opened, steep = np.ones(penalties.cost.size, dtype=np.bool_), np.zeros(penalties.cost.size)
    model = BlockQuadratic(columns_of(rows, k, n), np.empty(n), np.empty(n), np.zeros(k))
    point, room = Point(trial, there, steep), room_for(n, k, penalties.cost.size)
    for i in range(n):
        margins[i] = row_dot(rows, i, w)
    value = _read(data, margins, slopes) + _squares(penalties.ridge, w) + norms_at(penalties, w)
    floor, visits, gained, looked = 0.0, 0.0, np.inf, False
    for _ in range(_MOST_STEPS):
        if not np.isfinite(value):
            return False
        _model_at(data, margins, slopes, floor, bound, model)
        missed = _open(model, penalties, w, abs(value), opened, steep, room)
        enough = (aim.coarse if visits > aim.visits else aim.fine) * abs(value)
        little = visits > aim.visits and gained <= _LITTLE * aim.coarse * abs(value)
        if missed <= enough or little or (missed <= _NEAR * enough and not looked):
            # Blocks that were held at the start of the last steps may not be any more.
            before = np.count_nonzero(opened)
            opened[:] = True
            missed = _open(model, penalties, w, abs(value), opened, steep, room)
            looked = bool(np.count_nonzero(opened) <= before)
            if missed <= enough or (little and looked):
                return missed <= enough or gained <= ROUNDING * abs(value)
        if missed == np.inf:
            # Where the loss is a line for all rows of a column, the model has no minimum.
            if floor >= 1.0:
                return False
            floor = _raised(floor)
            continue
        trial[:], there[:] = w, model.slopes
        asked = max(_INEXACT * missed, 0.5 * enough)
        visited = minimize_blocks(model, penalties, opened, point, room, lapack, asked, abs(value))
        if visited < 0.0:
            return False
        visits += visited
        slope = norms_at(penalties, trial) - norms_at(penalties, w)
        there[:] = margins
        for j in range(k):
            if trial[j] != w[j]:
                slope += (model.gradient[j] + penalties.ridge[j] * w[j]) * (trial[j] - w[j])
                add_column(model.columns, j, trial[j] - w[j], there)
        length, after = 1.0, np.inf
        while True:
            # Along the way, margins are those between the two ends.
            after = _value_between(data, penalties, (w, margins), (trial, there), length, (between, spare), slopes)
            if after <= value + ARMIJO * length * slope + ROUNDING * abs(value):
                break
            length *= 0.5
            if length < SHORTEST:
                break
        if length < SHORTEST:
            # The model is too flat to tell where to go.
            if floor >= 1.0:
                return False
            _read(data, margins, slopes)
        else:
            w[:], margins[:] = between, spare
            gained, value = value - after if length == 1.0 else np.inf, after
        lower = 0.0 if -slope <= CLOSE * abs(value) else 0.1 * floor
        floor = _raised(floor) if length < 0.5 else lower
    return False


@inner
def _raised(floor: float) -> float:
    """The next higher fraction of the largest curvature that all rows have at least."""
    return min(max(10.0 * floor, FIRST_FLOOR), 1.0)


@shared
def _model_at(
    data: Labelled, margins: np.ndarray, slopes: np.ndarray, floor: float, bound: float, model: BlockQuadratic
) -> None:
    """The slopes and curvatures of the mean loss, these not below a fraction of the largest."""
    n, largest = margins.size, 0.0
    for start in range(0, n, CHUNK):
        some = slice(start, min(start + CHUNK, n))
        call_chunk(data.curvatures, margins[some], data.labels[some], data.weights[some], model.curvatures[some])
    for i in range(n):
        largest = max(largest, model.curvatures[i])
    least = floor * (bound if np.isfinite(bound) else largest)
    for i in range(n):
        mean = weight_of(data.weights, i) / n
        model.slopes[i] = mean * slopes[i]
        model.curvatures[i] = mean * max(model.curvatures[i], least)


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
def _open(
    model: BlockQuadratic,
    penalties: Blocks,
    w: np.ndarray,
    total: float,
    opened: np.ndarray,
    steep: np.ndarray,
    room: Room,
) -> float:
    """Find the open blocks that are in use or violate their optimality conditions, and by how much.

    That is infinite if one of them has no curvature.
    """
    q, own, scaling = room.q, 0.0, 0.0
    for g in range(penalties.cost.size):
        if not opened[g]:
            continue
        start, stop = penalties.starts[g], penalties.starts[g + 1]
        used, square = False, 0.0
        for j in range(start, stop):
            model.gradient[j] = column_dot(model.columns, j, model.slopes)
            q[j] = model.gradient[j] + penalties.ridge[j] * w[j]
            used |= w[j] != 0.0
            square += shrunk(q[j], penalties.weight[j]) ** 2
        opened[g] = used or np.sqrt(square) > penalties.cost[g]
        steep[g] = steepness(model, penalties, g) if opened[g] else 0.0
        if not opened[g]:
            continue
        if steep[g] <= 0.0:
            own = np.inf
            continue
        pull = steep[g] * proximal_move(penalties, g, w, q, steep[g], room.move)
        alone, all_of_them = missing(penalties, g, w, pull, steep[g], total)
        own += alone
        scaling = max(scaling, all_of_them)
    return gap(own, scaling, norms_at(penalties, w), total)


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
    """The objective at a fraction of the way from one point with its margins to another; fills the slopes there."""
    point, margins = spare
    for j in range(point.size):
        point[j] = end[0][j] if length == 1.0 else start[0][j] + length * (end[0][j] - start[0][j])
    for i in range(margins.size):
        margins[i] = end[1][i] if length == 1.0 else start[1][i] + length * (end[1][i] - start[1][i])
    return _read(data, margins, slopes) + _squares(penalties.ridge, point) + norms_at(penalties, point)
