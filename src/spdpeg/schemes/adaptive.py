"""The extragradient step that finds its own length, compiled: distance over weighted gradients.

Khaled, Mishchenko, Jin: DoWG unleashed (2023), after Ivgi, Hinder, Carmon: DoG is SGD's best friend (2023), brought to
the primal-dual proximal step. docs/spdpeg.md says what was added, and docs/theory.md what is proved of it.
"""

import math
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel
from ..kernels.rows import Rows, add_row, add_scaled_row, row_dot, weight_of
from ..kernels.terms import Terms
from .learned import (
    BIAS,
    BRAKE,
    COUNT,
    FRACTION,
    JUDGED,
    LARGEST_LOSS,
    LOG_SQUARE,
    LOG_WEIGHT,
    LOSS,
    LOSS_AT_ZERO,
    PACE,
    RADIUS,
    RECENT,
    SCORED,
    SEEN,
    SLOPE,
    STEP,
    WEIGHT,
    Columns,
    at_centre,
    centred_square,
    measure,
    score,
    shrinkage,
)
from .primal_dual import blend, expect

_TOO_LARGE = 4.0
"""Recent losses above this many times those at 0 mean that steps are too long: the method goes back to its average."""
_EARLY, _BRAKED = 256.0, 0.3
"""Where steps are too long, the method begins anew at 0 if it has taken fewer than _EARLY of them, or if it has gone
back so often that its brake is below _BRAKED."""

_CAUTION = 0.92
"""Factor of all steps: a little below what is best on most data, since beyond it they soon go astray."""

_EASING = 1.0 + 1.0 / 256.0
"""The brake is let go by this factor a step."""

_BEYOND = 64.0
"""Steps may be this many times 1 / (curvature * typical square) where slopes are bounded: there curvature fades."""

_COUPLING = 0.25
"""Product of the step, rho and |F|^2 from which rho is found, unless it is given."""


class Course(NamedTuple):
    """Constants of a run: of the loss, of F, and of the regime. A `rho` of 0 is chosen with each step."""

    curvature: float
    bounded_slope: bool
    scale: float
    rho: float
    square: float
    """|F|^2, or 0 where there is no F."""
    slope: float
    shift: float
    """The step is at most 1 / (slope (k + shift))."""
    forgetting: float
    """Iterate k weighs like k^forgetting in the averages."""
    two_samples: bool
    once: bool
    """Rows come from a stream: what it shows is chosen by rows before they are used."""
    first: float
    """The first step goes this many times as far as 1 / (curvature * typical square) would."""


class Stride(NamedTuple):
    """How long the steps along the rows of a batch are: found from them, at most `limit`, or `given` if not 0."""

    course: Course
    limit: float
    given: float


@inner
def descent(
    block: Block,
    rows: Rows,
    order: np.ndarray,
    value: Term,
    derivative: Term,
    stride: Stride,
    columns: Columns,
    learned: np.ndarray,
    at: np.ndarray,
    gradient: np.ndarray,
) -> float:
    """Walk from the point `at` along the rows in `order`, a step each; returns how far in all.

    The gradient is the mean of those that the walk met, by the length of their steps: the point that one step of the
    whole length leads to is the end of the walk.
    """
    gradient[:] = 0.0
    total = along = 0.0
    centre = columns.centre
    middle = at_centre(centre, at)
    for k in range(order.size):
        i = order[k]
        weight, label = weight_of(block.weights, i), block.labels[i]
        square = centred_square(rows, i, columns)
        factor = shrinkage(weight * square, learned)
        square += rows.bias * rows.bias
        # The walk so far has gone `along` times `pull`, which is left out of `at` since it would move all coordinates.
        pulled = row_dot(rows, i, columns.pull) if centre.size and order.size > 1 else 0.0
        margin = row_dot(rows, i, at) + along * pulled - middle
        slope = factor * weight * call_scalar(derivative, margin, label)
        c = stride.given
        if c == 0.0:
            c = step_length(stride, learned, weight * factor * square, slope * slope * square)
        total += c
        along += c * slope
        add_row(rows, i, c * slope, gradient)
        if k + 1 < order.size:
            add_scaled_row(rows, i, -c * slope, columns.metric, at)
            middle -= c * slope * (pulled - columns.depth)
        if factor < 1.0:
            continue
        zero = weight * call_scalar(value, 0.0, label)
        here = min(weight * call_scalar(value, margin, label), LARGEST_LOSS * zero)
        learned[JUDGED] += 1.0
        fraction = 1.0 / min(learned[JUDGED], RECENT)
        learned[LOSS] += fraction * (here - learned[LOSS])
        learned[LOSS_AT_ZERO] += fraction * (zero - learned[LOSS_AT_ZERO])
    for j in range(centre.size):
        gradient[j] -= along * centre[j]
    for j in range(gradient.size):
        gradient[j] /= total
    return total


@inner
def typical_square(learned: np.ndarray) -> float:
    """Weighted square of the usual row, intercept's column included."""
    return math.exp(learned[LOG_WEIGHT]) * (math.exp(learned[LOG_SQUARE]) + learned[BIAS] * learned[BIAS])


@inner
def longest_step(course: Course, learned: np.ndarray, count: float, batch: int, distance: float) -> float:
    """An upper bound on the next steps after `count` rows; updates the radius with the distance to the start."""
    if learned[SEEN] == 0.0:
        return 1.0  # only empty rows so far: nothing but proxes, which take any step
    largest = typical_square(learned)
    least = course.first * learned[SLOPE] / (course.curvature * math.sqrt(largest))
    learned[RADIUS] = max(learned[RADIUS], math.sqrt(distance), least)
    limit = (_BEYOND if course.bounded_slope else 1.0) / (course.curvature * largest)
    if course.slope > 0.0:
        limit = min(limit, 1.0 / (course.slope * (count + course.shift)))
    if course.rho > 0.0 and course.square > 0.0:
        limit = min(limit, _COUPLING / (course.rho * course.square * batch))
    return limit


@inner
def step_length(stride: Stride, learned: np.ndarray, square: float, gradient: float) -> float:
    """The step along a row, from its weighted square and the squared gradient."""
    course, limit = stride.course, stride.limit
    learned[WEIGHT] += learned[RADIUS] * learned[RADIUS] * gradient
    if not course.bounded_slope and course.curvature * square * limit > 1.0:
        limit = 1.0 / (course.curvature * square)
    if learned[WEIGHT] == 0.0:
        return limit
    factor = _CAUTION * course.scale * learned[BRAKE] * math.exp(learned[PACE])
    return min(factor * learned[RADIUS] ** 2 / math.sqrt(learned[WEIGHT]), limit)


@inner
def follow_size(
    learned: np.ndarray, x: np.ndarray, start: np.ndarray, x_average: np.ndarray, gradient_average: np.ndarray
) -> None:
    """Keep the intercept's column about as long as the rows: another unit for the last coordinate, same predictions."""
    square = math.exp(learned[LOG_SQUARE])
    now = learned[BIAS] * learned[BIAS]
    if learned[SEEN] == 0.0 or 0.25 * now < square < 4.0 * now:
        return
    factor = learned[BIAS] / math.sqrt(square)
    learned[BIAS] = math.sqrt(square)
    for vector in (x, start, x_average):
        vector[-1] *= factor
    gradient_average[-1] /= factor


class Work(NamedTuple):
    """Vectors of a step: what is learned, iterates, the start, averages, the half-way point, and room to work in."""

    learned: np.ndarray
    metric: np.ndarray
    column_squares: np.ndarray
    column_counts: np.ndarray
    column_sums: np.ndarray
    column_lost: np.ndarray
    centre: np.ndarray
    pull: np.ndarray
    dual_factors: np.ndarray
    """rho_e is in proportion to it; 1 / |F|^2 where the metric is 1."""
    x: np.ndarray
    y: np.ndarray
    start: np.ndarray
    x_average: np.ndarray
    z_average: np.ndarray
    y_average: np.ndarray
    gradient_average: np.ndarray
    x_bar: np.ndarray
    y_bar: np.ndarray
    gradient: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    Fx: np.ndarray
    Fx_bar: np.ndarray


@inner
def columns_of(work: Work) -> Columns:
    """The columns as they are before a step."""
    depth = 0.0
    for j in range(work.centre.size):
        depth += work.pull[j] * work.centre[j]
    return Columns(
        work.metric,
        work.column_squares,
        work.column_counts,
        work.column_sums,
        work.column_lost,
        work.centre,
        work.pull,
        depth,
    )


@inner
def leave_centre(work: Work) -> None:
    """Measure rows from 0 again: another intercept, same predictions."""
    bias = work.learned[BIAS]
    for vector in (work.x, work.start, work.x_average):
        vector[-1] -= at_centre(work.centre, vector) / bias
    for j in range(work.centre.size):
        work.gradient_average[j] += work.centre[j] * work.gradient_average[-1] / bias
    work.centre[:] = 0.0
    work.pull[:] = 0.0


@kernel
def find_usual(block: Block, work: Work, usual: np.ndarray) -> None:
    """Which rows are not outliers."""
    given = block.rows
    rows = Rows(given.values, given.indices, given.indptr, given.width, work.learned[BIAS])
    columns = columns_of(work)
    for i in range(usual.size):
        square = weight_of(block.weights, i) * centred_square(rows, i, columns)
        usual[i] = shrinkage(square, work.learned) == 1.0


@kernel
def score_rows(block: Block, order: np.ndarray, value: Term, work: Work) -> None:
    """`score` on rows along which no step is taken."""
    given, learned = block.rows, work.learned
    rows = Rows(given.values, given.indices, given.indptr, given.width, learned[BIAS])
    score(block, rows, order, value, columns_of(work), work.start, work.x_average, work.x, learned)


@kernel
def adaptive_extragradient(
    block: Block,
    order: np.ndarray,
    batch: int,
    first: int,
    steps: int,
    course: Course,
    terms: Terms,
    value: Term,
    work: Work,
) -> None:
    """Iterations first, ..., first + steps - 1 of SPDPEG with steps of their own length.

    with a step c metric_j for coordinate j, and rho in proportion to 1 / c and to the factors of the rows of F; g is
    the gradient of a walk from x along the rows of the batch, whose steps add up to c,

    y_bar = prox_{rho r2*}(y + rho F x)
    x_bar = prox_{c r1}(x - c (g + F^T y))
    x    <- prox_{c r1}(x - c (g + F^T y_bar)),  or with g at x_bar from rows of its own if there are two samples
    y    <- y_bar + rho (F x_bar - F x)
    averages of x_bar, of z = F x + (y - y_bar) / rho, of y_bar and of g, the later the heavier
    """
    learned, metric, dual_factors, gradient = work.learned, work.metric, work.dual_factors, work.gradient
    x, x_bar, x_average, start = work.x, work.x_bar, work.x_average, work.start
    y, y_bar, y_average, z_average = work.y, work.y_bar, work.y_average, work.z_average
    ahead, back, Fx, Fx_bar, gradient_average = work.ahead, work.back, work.Fx, work.Fx_bar, work.gradient_average
    columns = columns_of(work)
    per_step = 2 * batch if course.two_samples else batch
    for k in range(steps):
        rows_here = order[k * per_step : k * per_step + batch]
        expect(block, order, (k + 1) * per_step, (k + 2) * per_step)
        given = block.rows
        rows = Rows(given.values, given.indices, given.indptr, given.width, learned[BIAS])
        if measure(block, rows, rows_here, terms.derivative, columns, learned) and columns.centre.size:
            leave_centre(work)
            columns = columns_of(work)
        if given.bias != 0.0:
            follow_size(learned, x, start, x_average, gradient_average)
            rows = Rows(given.values, given.indices, given.indptr, given.width, learned[BIAS])
        if course.once and learned[COUNT] > 0.0:
            score(block, rows, rows_here, value, columns, start, x_average, x, learned)
        # A loop that adds up writes nothing: its order, hence its rounding, would depend on where the vectors lie.
        distance = 0.0
        for j in range(x.size):
            distance += (x[j] - start[j]) ** 2 / metric[j]
        for j in range(x.size):
            ahead[j] = x[j]
        learned[BRAKE] = min(1.0, _EASING * learned[BRAKE])
        limit = longest_step(course, learned, float((first + k) * batch), batch, distance)
        found = Stride(course, limit, 0.0)
        c = descent(block, rows, rows_here, value, terms.derivative, found, columns, learned, ahead, gradient)
        if learned[JUDGED] >= RECENT and learned[LOSS] > _TOO_LARGE * learned[LOSS_AT_ZERO]:
            learned[LOSS] = learned[LOSS_AT_ZERO] = learned[JUDGED] = 0.0
            learned[BRAKE] *= 0.5
            if learned[COUNT] >= _EARLY and learned[BRAKE] >= _BRAKED:
                learned[RADIUS] = 0.0
                for j in range(x.size):
                    x[j] = x_average[j]
                for i in range(y.size):
                    y[i] = y_average[i]
                continue
            # Everything learned so far belongs to rows of another size.
            ahead[:] = 0.0
            y[:] = 0.0
            call_prox(terms.prox1, ahead, 1.0, x)
            call_linear(terms.forward, x, z_average)
            for j in range(x.size):
                start[j] = x[j]
                x_average[j] = x[j]
                gradient_average[j] = 0.0
            y_average[:] = 0.0
            learned[RADIUS] = learned[WEIGHT] = learned[COUNT] = learned[SCORED] = learned[FRACTION] = 0.0
            learned[SEEN] = min(learned[SEEN], RECENT)
            continue

        learned[STEP] = c
        # Dual steps that differ belong to a prox that is the same for all.
        rho = _COUPLING / c if course.rho == 0.0 else course.rho * course.square
        even = rho * dual_factors[0] if y.size else 1.0

        call_linear(terms.forward, x, Fx)
        for i in range(y.size):
            Fx_bar[i] = y[i] + rho * dual_factors[i] * Fx[i]
        call_prox(terms.dual_prox2, Fx_bar, even, y_bar)

        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * metric[j] * (gradient[j] + back[j])
        call_prox(terms.prox1, ahead, c, x_bar)

        if course.two_samples:
            second = order[k * per_step + batch : (k + 1) * per_step]
            for j in range(x.size):
                ahead[j] = x_bar[j]
            same = Stride(course, limit, c / batch)
            descent(block, rows, second, value, terms.derivative, same, columns, learned, ahead, gradient)
        call_linear(terms.adjoint, y_bar, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * metric[j] * (gradient[j] + back[j])
        call_prox(terms.prox1, ahead, c, x)

        learned[COUNT] += 1.0
        theta = (1.0 + course.forgetting) / (learned[COUNT] + course.forgetting)
        for i in range(y.size):
            here = Fx[i] + (y[i] - y_bar[i]) / (rho * dual_factors[i])
            z_average[i] = here if theta == 1.0 else z_average[i] + theta * (here - z_average[i])
        call_linear(terms.forward, x_bar, Fx_bar)
        for i in range(y.size):
            y[i] = y_bar[i] + rho * dual_factors[i] * (Fx_bar[i] - Fx[i])
        blend(theta, y_bar, y_average)
        blend(theta, x_bar, x_average)
        blend(theta, gradient, gradient_average)
