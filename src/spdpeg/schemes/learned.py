"""What the adaptive step learns from rows as they come: their size, their columns, how far to go. Compiled."""

import math
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_scalar, inner
from ..kernels.rows import Rows, count_entries, count_shrunk, row_dot, row_square, scaled_square, weight_of

RADIUS, WEIGHT, COUNT, SEEN, LOG_SQUARE, LOG_WEIGHT, SLOPE, LOSS, LOSS_AT_ZERO, JUDGED, BRAKE, BIAS, STEP = range(13)
SURPRISED, MEASURED, LENGTH, FRACTION, SCORED, PACE, AT_LAST, AT_AVERAGE, LOG_PLAIN, OUTLYING, SCORES = range(13, 24)
"""Places in the vector of what the method learns about its course:

largest distance from the start; sum of squared distance times squared gradient; steps since the start; rows measured;
means of log |a_i - centre|^2 and of log w_i; mean slope of the loss at 0; recent losses at x and at 0, and how many of
them since the start; factor that shrinks with each new start; entry of the intercept's column; last step; fraction of
recent rows that were far larger than expected, less that of those far smaller; rows that the columns were measured on;
how long a step to show at most, in safe ones, and which part of the way from the start to the average, 0 if unknown;
rows that parts of the way were scored on; logarithm of a factor of the steps, and the losses that it follows, on recent
rows before they are used, at x and at the average; mean of log |a_i|^2; how many times the typical square that of an
outlier is; from SCORES on the mean loss at each part of the way.
"""

FRACTIONS = 2.0 ** (1.0 - 0.5 * np.arange(9))
"""Fractions of the way from the start to the average, and beyond it."""
WHOLE = int(np.flatnonzero(FRACTIONS == 1.0)[0])
LEARNED = SCORES + FRACTIONS.size

_FORGETTING = 3.0
"""Means of row sizes weigh row i like i^3: first chunks of another size are soon forgotten."""

_SURPRISE = 6.0
"""No row's logarithm counts as further than this from the mean: single rows hardly change it, many do."""

_LATELY = 64.0
"""Rows that losses at x and at the average are compared on, and over which the pace changes by a factor of about e."""
_NOISE, _BAND = 1.2, 0.1
"""How far losses at x may lie above those at the average, as a ratio, and how far beyond that slows down fully."""
_NEGLIGIBLE = 0.3
"""Part of the loss at 0 that is added to both: noise in losses that are small already does little harm."""
_SLOWEST = -5.0
"""Least logarithm of the pace."""

RECENT = 32.0
"""Rows that the recent losses are averaged over."""
LARGEST_LOSS = 64.0
"""The loss of a row counts as at most this many times its loss at 0: one row alone must not look like divergence."""


@inner
def toward(mean: float, value: float, count: float, first: bool) -> float:
    """The mean of `count` logarithms, the last of which is new; weights grow like the cube of their number."""
    if first:
        return value
    change = min(max(value - mean, -_SURPRISE), _SURPRISE)
    return mean + (1.0 + _FORGETTING) / (count + _FORGETTING) * change


class Columns(NamedTuple):
    """The metric that steps are taken in, one entry a coordinate, and what it is made of: sums of squares of the
    columns, how many entries are not 0, sums of them, and what the squares lack of outliers. The metric of the
    intercept is 1.

    Beside an intercept rows are a_i - centre, and its coordinate is the prediction at the centre. `pull` is
    metric * centre and `depth` <pull, centre>. Without one, both are empty.
    """

    metric: np.ndarray
    squares: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    lost: np.ndarray
    centre: np.ndarray
    pull: np.ndarray
    depth: float


@inner
def at_centre(centre: np.ndarray, x: np.ndarray) -> float:
    """<centre, x>, by which predictions at x are lower."""
    total = 0.0
    for j in range(centre.size):
        total += centre[j] * x[j]
    return total


@inner
def centred_square(rows: Rows, i: int, columns: Columns) -> float:
    """|a_i - centre|^2 in the metric, without the intercept's column."""
    if columns.centre.size == 0:
        return scaled_square(rows, i, columns.metric)
    if rows.indptr.size == 0:
        total = 0.0
        for j in range(rows.width):
            total += columns.metric[j] * (np.float64(rows.values[i * rows.width + j]) - columns.centre[j]) ** 2
        return total
    square = scaled_square(rows, i, columns.metric) - rows.bias * rows.bias
    return max(square - 2.0 * row_dot(rows, i, columns.pull) + columns.depth, 0.0)


@inner
def measure(
    block: Block, rows: Rows, order: np.ndarray, derivative: Term, columns: Columns, learned: np.ndarray
) -> bool:
    """Learn the size of rows, columns and slopes; returns whether all is forgotten, as rows have become different."""
    forgotten = False
    for k in range(order.size):
        i = order[k]
        weight = weight_of(block.weights, i)
        square, plain = centred_square(rows, i, columns), row_square(rows, i) - rows.bias * rows.bias
        if weight > 0.0 and square > 0.0:
            learned[SEEN] += 1.0
            first = learned[SEEN] == 1.0
            if plain > 0.0:
                surprise = 0.0 if first else math.log(plain) - learned[LOG_PLAIN]
                sign = 1.0 if surprise > _SURPRISE else -1.0 if surprise < -_SURPRISE else 0.0
                learned[SURPRISED] += (sign - learned[SURPRISED]) / RECENT
                learned[LOG_PLAIN] = toward(learned[LOG_PLAIN], math.log(plain), learned[SEEN], first)
            if plain > 0.0 and abs(learned[SURPRISED]) > 0.5:
                # Most rows have another size now: forget the old one, the columns, and the averages that belong to it.
                forgotten = True
                square = scaled_square(rows, i, columns.metric) - rows.bias * rows.bias
                learned[LOG_SQUARE], learned[LOG_PLAIN] = math.log(square), math.log(plain)
                learned[SEEN] = min(learned[SEEN], 0.25 * RECENT)
                learned[SURPRISED] = learned[WEIGHT] = learned[COUNT] = learned[MEASURED] = 0.0
                learned[SCORED] = learned[FRACTION] = 0.0
                columns.squares[:] = 0.0
                columns.sums[:] = 0.0
                columns.lost[:] = 0.0
                columns.counts[:] = 0.0
            learned[LOG_SQUARE] = toward(learned[LOG_SQUARE], math.log(square), learned[SEEN], first)
            learned[LOG_WEIGHT] = toward(learned[LOG_WEIGHT], math.log(weight), learned[SEEN], first)
            size = math.sqrt(weight) * abs(call_scalar(derivative, 0.0, block.labels[i]))
            learned[SLOPE] += (1.0 + _FORGETTING) / (learned[SEEN] + _FORGETTING) * (size - learned[SLOPE])
            factor = shrinkage(weight * square, learned)
            if factor == 1.0:
                count_entries(rows, i, columns.sums, columns.squares, columns.counts)
            else:
                # The centre follows an outlier the less, the farther it is; squares count it as the largest usual row.
                sums, squares, counts = columns.sums, columns.squares, columns.counts
                count_shrunk(rows, i, factor, columns.centre, sums, squares, counts, columns.lost)
            learned[MEASURED] += 1.0
    return forgotten


@inner
def shrinkage(square: float, learned: np.ndarray) -> float:
    """Factor by which the gradient of a row of this weighted square is shrunk: 1 unless it is far larger than most."""
    typical = learned[OUTLYING] * math.exp(learned[LOG_SQUARE] + learned[LOG_WEIGHT])
    return typical / square if square > typical else 1.0


@inner
def score(
    block: Block,
    rows: Rows,
    order: np.ndarray,
    value: Term,
    columns: Columns,
    start: np.ndarray,
    average: np.ndarray,
    x: np.ndarray,
    learned: np.ndarray,
) -> None:
    """Learn from rows that the average has not seen which part of the way to it is best; later rows are heavier.

    And whether x, which has not seen them either, is much worse than the average: then steps are too long.
    """
    at_start, at_average = at_centre(columns.centre, start), at_centre(columns.centre, average)
    at_x = at_centre(columns.centre, x)
    for k in range(order.size):
        i = order[k]
        weight, label = weight_of(block.weights, i), block.labels[i]
        if shrinkage(weight * centred_square(rows, i, columns), learned) < 1.0:
            continue
        zero = weight * call_scalar(value, 0.0, label)
        most = LARGEST_LOSS * zero
        origin = row_dot(rows, i, start) - at_start
        way = row_dot(rows, i, average) - at_average - origin
        learned[SCORED] += 1.0
        theta = (1.0 + _FORGETTING) / (learned[SCORED] + _FORGETTING)
        for j in range(FRACTIONS.size):
            here = min(weight * call_scalar(value, origin + FRACTIONS[j] * way, label), most)
            learned[SCORES + j] += theta * (here - learned[SCORES + j])
            if j == WHOLE:
                recent = 1.0 / min(learned[SCORED], _LATELY)
                learned[AT_AVERAGE] += recent * (here - learned[AT_AVERAGE])
        here = min(weight * call_scalar(value, row_dot(rows, i, x) - at_x, label), most)
        learned[AT_LAST] += recent * (here - learned[AT_LAST])
        if learned[SCORED] >= 0.5 * _LATELY:
            small = _NEGLIGIBLE * learned[LOSS_AT_ZERO]
            noise = (learned[AT_LAST] + small) / (learned[AT_AVERAGE] + small)
            change = min(max((_NOISE - noise) / _BAND, -1.0), 0.5)
            learned[PACE] = min(max(learned[PACE] + change / _LATELY, _SLOWEST), 0.0)
