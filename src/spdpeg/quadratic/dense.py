"""Interior points for a dense H: the whole run is one compiled loop, as models of 20 variables take microseconds.

A step factors H + K^T D^-1 K by Cholesky. Rows of K with few entries are scattered into the matrix, full rows (data
matrices of non-smooth losses) are multiplied by BLAS.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel, shared
from ..kernels.lapack import ROUTINES, Routines, add_gram, cholesky, cholesky_solve
from .central_path import (
    ALMOST,
    Point,
    Terms,
    Work,
    add_adjoint,
    aim,
    complete,
    copy_point,
    far,
    length,
    measure,
    move,
    new_work,
    products_after,
    start,
    times,
    weigh,
)
from .stopping import (
    CENTRAL,
    CLOSE,
    CLOSE_RISES,
    FAR,
    FLOOR,
    HUGE,
    LEAST,
    LEAST_DAMPING,
    MOST_DAMPING,
    MOST_RISES,
    MOST_STEPS,
    NEAR,
    NEAR_RISES,
    POLISHING,
    PROGRESS,
    SHORT,
    SMALL,
    TIGHTER,
    Outcome,
)

CHUNK = 64
"""Full rows that are multiplied at a time."""
_FULL = 0.4
"""Fraction of the columns from which a row counts as full."""


class FullRows(NamedTuple):
    """Rows of K with many entries, as a matrix, and memory for a chunk of them."""

    rows: np.ndarray
    numbers: np.ndarray
    marks: np.ndarray
    """1 for each row of K that is one of them."""
    chunk: np.ndarray


class System(NamedTuple):
    """The linear system of a step: its matrix, room for vectors, the full rows of K, and the routines that solve it."""

    matrix: np.ndarray
    scratch: np.ndarray
    full: FullRows
    lapack: Routines


def full_lines(pointers: np.ndarray, n_lines: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and marks of the lines that BLAS multiplies faster than a scatter."""
    numbers = np.flatnonzero(np.diff(pointers)[:n_lines] > max(_FULL * width, 8))
    marks = np.zeros(pointers.size - 1, dtype=np.int64)
    marks[numbers] = 1
    return numbers, marks


@shared
def fill_full(terms: Terms, full: FullRows) -> None:
    """Write the full rows out; they are 0 before."""
    for place in range(full.numbers.size):
        e = full.numbers[place]
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            full.rows[place, terms.columns[k]] = terms.values[k]


def run(H: np.ndarray, b: np.ndarray, terms: Terms, accuracy: float) -> Outcome:
    """Follow the path until gap and misses are `accuracy` times the objective's terms, or as far as rounding allows."""
    n = b.size
    point, best = start(n, terms), start(n, terms)
    scratch = np.zeros((5, max(n, terms.offset.size)))
    numbers, marks = full_lines(terms.pointers, terms.up.size, n)
    full = FullRows(np.zeros((numbers.size, n)), numbers, marks, np.zeros((CHUNK if numbers.size else 0, n)))
    system = System(np.zeros((n, n)), scratch, full, ROUTINES)
    short, size, steps = _run(H, b, terms, point, best, new_work(n, terms), system, accuracy)
    return Outcome(best, short, size, steps, point)


@shared
def multiply(H: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """H x for a symmetric H: sums of its rows, which processors add several entries at a time; zeros cost nothing."""
    out[:] = 0.0
    for j in range(x.size):
        value = x[j]
        if value != 0.0:
            for i in range(x.size):
                out[i] += H[j, i] * value


@shared
def _assemble(H: np.ndarray, terms: Terms, work: Work, system: System) -> None:
    """The lower triangle of H + K^T D^-1 K."""
    matrix, full = system.matrix, system.full
    n = H.shape[0]
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = H[i, j]
    for e in range(terms.offset.size):
        if full.marks[e]:
            continue
        first, last = terms.pointers[e], terms.pointers[e + 1]
        for k in range(first, last):
            i, value = terms.columns[k], work.inverse[e] * terms.values[k]
            for other in range(first, k + 1):
                matrix[i, terms.columns[other]] += value * terms.values[other]
    for begin in range(0, full.numbers.size, CHUNK):
        for place in range(CHUNK):
            k = begin + place
            # Roots on both sides make it a product of one matrix with itself, for which BLAS has a routine.
            scale = np.sqrt(work.inverse[full.numbers[k]]) if k < full.numbers.size else 0.0
            for j in range(n):
                full.chunk[place, j] = scale * full.rows[k, j] if scale > 0.0 else 0.0
        add_gram(system.lapack, full.chunk, matrix)


@shared
def _fold_groups(terms: Terms, work: Work, along: np.ndarray, used: np.ndarray, matrix: np.ndarray) -> None:
    """Add the rank-one parts of the groups; `along` is 0 before and after, `used` holds the columns of a group."""
    for g in range(terms.weight.size):
        count = 0
        first, last = terms.starts[g], terms.starts[g + 1]
        for e in range(first, last):
            for k in range(terms.pointers[e], terms.pointers[e + 1]):
                j = terms.columns[k]
                if along[j] == 0.0:
                    used[count] = j
                    count += 1
                along[j] += terms.values[k] * work.bar[e]
                # Entries that cancel would make the column look unused, and it would be listed twice.
                if along[j] == 0.0:
                    along[j] = 1e-300
        factor = work.fold[g] * work.inverse[first] if last > first else 0.0
        for a in range(count):
            i = int(used[a])
            for c in range(count):
                j = int(used[c])
                if j <= i:
                    matrix[i, j] += factor * along[i] * along[j]
        for a in range(count):
            along[int(used[a])] = 0.0


@shared
def _direction(H: np.ndarray, terms: Terms, work: Work, system: System, damped: bool) -> None:
    """dw and dy for the right-hand sides -slope and -rest."""
    matrix, scratch, lapack = system.matrix, system.scratch, system.lapack
    n, rows = H.shape[0], terms.offset.size
    right, weighed, answer = work.dw, scratch[0, :rows], scratch[1, :n]
    weigh(terms, work, work.rest, weighed)
    for j in range(n):
        right[j] = -work.slope[j]
    add_adjoint(terms, weighed, -1.0, right)
    for j in range(n):
        answer[j] = right[j]
    cholesky_solve(lapack, matrix, answer)
    if damped:
        # Two rounds of refinement with the true matrix take out what damping and rounding have put into the factor.
        left = scratch[2, :n]
        for _ in range(2):
            multiply(H, answer, left)
            times(terms, answer, work.move_image)
            weigh(terms, work, work.move_image, weighed)
            add_adjoint(terms, weighed, 1.0, left)
            for j in range(n):
                left[j] = right[j] - left[j]
            cholesky_solve(lapack, matrix, left)
            for j in range(n):
                answer[j] += left[j]
    for j in range(n):
        work.dw[j] = answer[j]
    times(terms, work.dw, work.move_image)
    for e in range(rows):
        weighed[e] = work.move_image[e] + work.rest[e]
    weigh(terms, work, weighed, work.dy)


@shared
def _residuals(H: np.ndarray, b: np.ndarray, terms: Terms, point: Point, work: Work) -> tuple[float, float]:
    """Image and slope at a point; returns what the slope may cost and the size of the terms of the objective."""
    times(terms, point.w, work.image)
    multiply(H, point.w, work.slope)
    size = largest = residual = 0.0
    for j in range(b.size):
        size += 0.5 * point.w[j] * work.slope[j] + abs(b[j] * point.w[j])
        largest = max(largest, abs(point.w[j]))
        work.slope[j] -= b[j]
    add_adjoint(terms, point.y, 1.0, work.slope)
    for j in range(b.size):
        residual += abs(work.slope[j])
    for e in range(work.image.size):
        size += abs(point.y[e]) * (abs(work.image[e]) + abs(terms.offset[e]))
        work.image[e] -= terms.offset[e]
    return residual * max(largest, SMALL), size


@shared
def _factor(H: np.ndarray, terms: Terms, work: Work, system: System, damping: float) -> float:
    """Factor H + K^T D^-1 K with as little damping as possible, at least that given; infinite if all was in vain."""
    matrix, scratch = system.matrix, system.scratch
    while damping <= MOST_DAMPING:
        _assemble(H, terms, work, system)
        _fold_groups(terms, work, scratch[3], scratch[4], matrix)
        for j in range(H.shape[0]):
            # Relative to the diagonal: variables that barriers hold fast have diagonals that are larger by many orders.
            matrix[j, j] += LEAST + damping * matrix[j, j]
        if cholesky(system.lapack, matrix):
            return damping
        damping = max(damping * TIGHTER, LEAST_DAMPING)
    return np.inf


@shared
def _nudge(terms: Terms, point: Point, work: Work, sign: float) -> None:
    """A step that corrects the slope and keeps the slacks, none of which loses more than half; or back again."""
    for e in range(terms.up.size):
        if terms.above[e] * sign > 0.0:
            work.dy[e] = min(work.dy[e], 0.5 * point.u[e])
        if terms.below[e] * sign > 0.0:
            work.dy[e] = max(work.dy[e], -0.5 * point.v[e])
        point.u[e] -= sign * terms.above[e] * work.dy[e]
        point.v[e] += sign * terms.below[e] * work.dy[e]
    for j in range(point.w.size):
        point.w[j] += sign * work.dw[j]
    for e in range(point.y.size):
        point.y[e] += sign * work.dy[e]


@shared
def follow(
    H: np.ndarray,
    b: np.ndarray,
    terms: Terms,
    point: Point,
    best: Point,
    work: Work,
    system: System,
    accuracy: float,
) -> tuple[float, float, int]:
    """The run from `point`, whose best point goes to `best`; what is left there, in what size, and the steps."""
    fill_full(terms, system.full)
    pairs = float(terms.weight.size)
    for e in range(terms.up.size):
        pairs += terms.above[e] + terms.below[e]
    least, least_size, rises, damping, steps = np.inf, 0.0, 0, 0.0, 0
    here, polishing, last_residual = point, 0, np.inf
    refine = terms.weight.size > 0  # the scaling of cones is hard on a factorisation
    for _ in range(MOST_STEPS + POLISHING + 2):
        residual, size = _residuals(H, b, terms, here, work)
        gap, cost = measure(terms, here, work)
        # Where H is singular a correction of the slope may go far and spoil the rest.
        if polishing > 1 and not (residual < last_residual and gap + cost <= max(2.0 * least, accuracy * least_size)):
            _nudge(terms, here, work, -1.0)
            break
        if polishing > 0:
            last_residual = residual
            if polishing > POLISHING:
                break
        else:
            short, size = gap + cost + residual, max(size, FLOOR)
            # Steps may be worse before they are better, far from the solution above all; near it no progress means
            # rounding.
            rises = 0 if short < PROGRESS * least else rises + 1
            ended = not short < HUGE or far(terms, point) > FAR or steps == MOST_STEPS
            if short < least and not ended:
                least, least_size = short, size
                copy_point(point, best)
            patience = NEAR_RISES if least <= NEAR * least_size else MOST_RISES
            patience = CLOSE_RISES if least <= CLOSE * least_size else patience
            if ended or short <= accuracy * size or rises >= patience:
                # Now only the slope is taken down to rounding, at the best point.
                here, polishing = best, 1
                continue
        if polishing <= 1:
            damping = _factor(H, terms, work, system, damping)
        if damping == np.inf:
            break
        target = second = step = 0.0
        for stage in range(3):
            aim(terms, here, work, target, second)
            if polishing > 0:
                # Slacks stay as they are: only the slope is to be corrected.
                for e in range(work.rest.size):
                    work.rest[e] = 0.0
            _direction(H, terms, work, system, refine or damping > 0.0 or polishing > 0)
            if polishing > 0:
                break
            step = complete(terms, here, work)
            if pairs == 0.0 or (stage == 1 and step > SHORT) or stage == 2:
                break
            if stage == 0:
                left = max(products_after(terms, here, work, min(1.0, step)), 0.0)
                # Mehrotra: the better the affine step did, the closer to the border the next one may aim.
                target = gap / pairs * min(1.0, left / gap) ** 3
                second = 1.0
            else:  # second-order terms have led astray
                target, second = CENTRAL * gap / pairs, 0.0
        if not length(work) < HUGE:
            break
        if polishing > 0:
            _nudge(terms, here, work, 1.0)
            polishing += 1
        else:
            move(terms, here, work, min(1.0, ALMOST * step))
            steps += 1
    return least, least_size, steps


@kernel
def _run(
    H: np.ndarray,
    b: np.ndarray,
    terms: Terms,
    point: Point,
    best: Point,
    work: Work,
    system: System,
    accuracy: float,
) -> tuple[float, float, int]:
    return follow(H, b, terms, point, best, work, system, accuracy)
