"""Dense models whose penalties are absolute values of linear functions: from scaling to the exact face in one call.

l1 norms, fused and graph-fused penalties and trend filters make such models, with or without a ridge. Newton's methods
solve dozens of them in a run, most with some tens of variables, where calls of NumPy would take longer than the
arithmetic. What is done is what `minimize`, `to_face` and `refined` do, for this one kind of model; where a doubt is
left, those take over.
"""

import numpy as np

from ..kernels.jit import allocating, allocating_kernel, shared
from ..kernels.lapack import ROUTINES, Routines, cholesky, cholesky_solve
from .absolute_values import (
    COVERED,
    AbsoluteValues,
    FaceSolution,
    absolute_values,
    add_adjoint,
    fill_image,
    holds,
    is_exact,
    measured,
)
from .central_path import Point, Terms, Work
from .dense import CHUNK, FullRows, System, follow, multiply
from .minimization import ACCURACY, ENOUGH, LEAST_W, padded
from .model import Model, ModelSolution
from .refinement import NOISE, refine
from .scaling import TINY
from .simple_face import among_pieces, pieces
from .stationary import FARTHEST, LEAST, ROUNDS

_FAILS, _HOLDS, _IS_NOT_SIMPLE = 0, 1, 2
"""What is known of a face."""

_FINER = 1e-3
"""Fraction of the accuracy down to which the path is followed where no face holds."""


def minimized(model: Model) -> FaceSolution | None:
    """The minimum of a dense model; None if its penalties are others, or if what was found is doubtful."""
    penalty = absolute_values(model.form)
    if penalty is None or not isinstance(model.H, np.ndarray):
        return None
    sure, held, face, w, y, active, exact_w, exact_y, numbers = _minimized(
        padded(model), model.right(), penalty, ROUTINES, ACCURACY
    )
    if not sure:
        return None
    value, gap, steps = numbers
    none = np.zeros(0)
    solution = ModelSolution(w, y, none, value, 0.0, gap, active, none.astype(bool), int(steps), "optimal")
    return FaceSolution(solution, face if held == _HOLDS else None, held != _IS_NOT_SIMPLE, exact_w, exact_y)


@allocating_kernel
def _minimized(
    H: np.ndarray, b: np.ndarray, penalty: AbsoluteValues, lapack: Routines, accuracy: float
) -> tuple[
    bool, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, tuple[float, float, float]
]:
    n, m = b.size, penalty.up.size
    w, y, exact_w, exact_y = np.zeros(n), np.zeros(m), np.zeros(n), np.zeros(m)
    active, base = np.zeros(m, dtype=np.bool_), np.empty(n)
    columns, rows = np.ones(n), np.ones(m)
    unit = _scaling(H, b, penalty, columns, rows)
    value = gap = np.inf
    sure, held, steps = False, _FAILS, 0
    if unit > 0.0:
        terms = _terms(penalty, columns, rows, unit)
        point, best = _start(n, terms), _start(n, terms)
        scaled, right = np.empty((n, n)), np.empty(n)
        for i in range(n):
            right[i] = columns[i] * b[i] / unit
            for j in range(n):
                scaled[i, j] = columns[i] * H[i, j] * columns[j]
        full = FullRows(
            np.zeros((penalty.full.size, n)),
            penalty.full,
            penalty.marks,
            np.zeros((min(penalty.full.size, 1) * CHUNK, n)),
        )
        system = System(np.zeros((n, n)), np.zeros((5, max(n, m))), full, lapack)
        work, image, target = _work(n, m), np.empty(m), np.empty(n)
        for finer in (1.0, _FINER):
            short, size, more = follow(scaled, right, terms, point, best, work, system, finer * accuracy)
            steps += more
            for j in range(n):
                w[j] = columns[j] * unit * best.w[j]
            for e in range(m):
                y[e] = min(max(rows[e] * unit * best.y[e], -penalty.down[e]), penalty.up[e])
            _correct(H, b, penalty, w, y, lapack)
            value, gap, sure = measured(H, b, penalty, w, y, image, unit * unit)
            sure = sure and short <= ENOUGH * size
            if not sure:
                break
            _find_active(terms, best, active)
            held = _face(H, b, penalty, image, value, active, base, lapack)
            exact_w[:] = w
            for e in range(m):
                exact_y[e] = y[e] if abs(y[e]) > NOISE * (penalty.up[e] + penalty.down[e]) else 0.0
            target[:] = b
            add_adjoint(penalty, exact_y, -1.0, target)
            refine(H, target, exact_w, lapack)
            sure = is_exact(H, b, penalty, exact_w, exact_y, target, COVERED)
            if held != _FAILS:
                break  # otherwise rows that hardly vanish, or hardly do not, show which they are farther along the path
    return sure, held, base, w, y, active, exact_w, exact_y, (value, gap, float(steps))


@allocating
def _scaling(H: np.ndarray, b: np.ndarray, penalty: AbsoluteValues, columns: np.ndarray, rows: np.ndarray) -> float:
    """Powers of two for unit diagonal and unit rows; returns the size of b and of w in them, 0 where H is 0."""
    n, top = b.size, 0.0
    for j in range(n):
        top = max(top, H[j, j])
    if top == 0.0:
        return 0.0
    known = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        known[j] = H[j, j] > TINY * top
        if known[j]:
            columns[j] = 1.0 / np.sqrt(H[j, j])
    if not known.all():
        _scale_unseen(penalty, known, columns)
    largest = 0.0
    for j in range(n):
        columns[j] = 2.0 ** np.rint(np.log2(columns[j]))
        largest = max(largest, abs(columns[j] * b[j]))
    for e in range(rows.size):
        size = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            size = max(size, abs(penalty.values[k]) * columns[penalty.columns[k]])
        rows[e] = 2.0 ** np.rint(-np.log2(size))
    return 2.0 ** np.rint(np.log2(largest)) if largest > 0.0 else 1.0


@allocating
def _scale_unseen(penalty: AbsoluteValues, known: np.ndarray, columns: np.ndarray) -> None:
    """Sizes of variables that H does not see: the largest that a row of K suggests, or 1 / their largest entry."""
    suggested, entries = np.zeros(known.size), np.zeros(known.size)
    for e in range(penalty.up.size):
        implied = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            if known[penalty.columns[k]]:
                implied = max(implied, abs(penalty.values[k]) * columns[penalty.columns[k]])
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            j, size = penalty.columns[k], abs(penalty.values[k])
            suggested[j] = max(suggested[j], implied / size)
            entries[j] = max(entries[j], size)
    for j in range(known.size):
        if not known[j]:
            columns[j] = suggested[j] if suggested[j] > 0.0 else 1.0 / entries[j] if entries[j] > 0.0 else 1.0


@allocating
def _terms(penalty: AbsoluteValues, columns: np.ndarray, rows: np.ndarray, unit: float) -> Terms:
    """The penalties in scaled variables."""
    m, none = rows.size, np.zeros(0)
    values, up, down = np.empty(penalty.values.size), np.empty(m), np.empty(m)
    for e in range(m):
        up[e], down[e] = penalty.up[e] / (rows[e] * unit), penalty.down[e] / (rows[e] * unit)
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            values[k] = penalty.values[k] * rows[e] * columns[penalty.columns[k]]
    offset, both, sharp = np.zeros(m), np.ones(m), np.zeros(m)
    no_groups = np.zeros(0, dtype=np.int64)
    return Terms(
        penalty.pointers,
        penalty.columns,
        values,
        offset,
        up,
        down,
        both,
        both,
        np.full(1, m),
        none,
        none,
        no_groups,
        sharp,
    )


@allocating
def _start(n: int, terms: Terms) -> Point:
    """The start, as in `central_path.start`."""
    m = terms.up.size
    y, p, q, u, v = np.zeros(m), np.ones(m), np.ones(m), np.empty(m), np.empty(m)
    for e in range(m):
        room = min(0.5 * (terms.up[e] + terms.down[e]), 1.0)
        y[e] = min(max(0.0, room - terms.down[e]), terms.up[e] - room)
        u[e], v[e] = terms.up[e] - y[e], terms.down[e] + y[e]
    return Point(np.zeros(n), y, p, q, u, v, np.zeros(m), np.zeros(0), np.zeros(0))


@allocating
def _work(n: int, m: int) -> Work:
    """Memory for a run: see `central_path.new_work`."""
    none, each = np.zeros(0), np.zeros((12, m))
    return Work(
        each[0], np.zeros(n), each[1], each[2], each[3], none, none, each[4], none, none, each[5],
        each[6], each[7], each[8], none, np.zeros(n), each[9], each[10], each[11], np.zeros(m), none, none,
    )  # fmt: skip


@allocating
def _correct(
    H: np.ndarray, b: np.ndarray, penalty: AbsoluteValues, w: np.ndarray, y: np.ndarray, lapack: Routines
) -> None:
    """Take out what is left of the optimality condition by a small change of w and y: see `stationary`."""
    n, m = b.size, y.size
    target = b.copy()
    add_adjoint(penalty, y, -1.0, target)
    if is_exact(H, b, penalty, w, y, target, 0.0):
        return
    freedom, G, scale = np.empty(m), np.zeros((n, n)), np.empty(n)
    stiff = loose = largest = 0.0
    for e in range(m):
        freedom[e] = max(min(penalty.up[e] - y[e], y[e] + penalty.down[e]), 0.0) ** 2
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            loose += freedom[e] * penalty.values[k] ** 2
    for j in range(n):
        stiff += H[j, j]
        largest = max(largest, abs(w[j]))
    balance = stiff / loose if loose > LEAST * stiff else 1.0
    for i in range(n):
        for j in range(i + 1):
            G[i, j] = H[i, j]
    for e in range(m):
        freedom[e] *= balance
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            for other in range(penalty.pointers[e], k + 1):
                product = freedom[e] * penalty.values[k] * penalty.values[other]
                G[penalty.columns[k], penalty.columns[other]] += product
    for i in range(n):
        scale[i] = 1.0 / np.sqrt(G[i, i]) if G[i, i] > 0.0 else 1.0
        for j in range(i + 1):
            G[i, j] *= scale[i] * scale[j]
        G[i, i] += LEAST
    if not cholesky(lapack, G):
        return
    rest, moved, image, level = np.empty(n), np.empty(n), np.empty(m), np.inf
    for round_ in range(ROUNDS + 1):
        multiply(H, w, rest)
        residual = 0.0
        for j in range(n):
            rest[j] = target[j] - rest[j]
            residual = max(residual, abs(rest[j]))
        if round_ == ROUNDS or not residual < 0.5 * level:
            return
        level = residual
        for j in range(n):
            moved[j] = scale[j] * rest[j]
        cholesky_solve(lapack, G, moved)
        for j in range(n):
            moved[j] *= scale[j]
            if not abs(moved[j]) <= FARTHEST * largest:
                return
        fill_image(penalty, moved, image)
        for j in range(n):
            w[j] += moved[j]
            target[j] = b[j]
        for e in range(m):
            y[e] = min(max(y[e] + freedom[e] * image[e], -penalty.down[e]), penalty.up[e])
        add_adjoint(penalty, y, -1.0, target)


@shared
def _find_active(terms: Terms, point: Point, active: np.ndarray) -> None:
    """Which rows vanish: their primal part is smaller, in its units, than the room of their multiplier."""
    size = LEAST_W
    for j in range(point.w.size):
        size = max(size, abs(point.w[j]))
    for e in range(active.size):
        half = max(0.5 * (terms.up[e] + terms.down[e]), 1e-300)
        active[e] = (point.p[e] + point.q[e]) / size < min(point.u[e], point.v[e]) / half


@allocating
def _face(
    H: np.ndarray,
    b: np.ndarray,
    penalty: AbsoluteValues,
    image: np.ndarray,
    value: float,
    active: np.ndarray,
    base: np.ndarray,
    lapack: Routines,
) -> int:
    """The minimiser on the face where active rows vanish; `image` and `value` are those of the interior point."""
    label = np.full(b.size, -1)
    base[:] = np.nan
    count = pieces(penalty.pointers, penalty.columns, penalty.values, np.zeros(active.size), active, label, base)
    if count < 0:
        return _IS_NOT_SIMPLE
    if count > 0:
        linear, slopes = b.copy(), np.zeros(active.size)
        for e in range(active.size):
            if not active[e]:
                slopes[e] = penalty.up[e] if image[e] > 0.0 else -penalty.down[e]
        add_adjoint(penalty, slopes, -1.0, linear)
        if not among_pieces(H, linear, label, base, count, lapack):
            return _FAILS
    return _HOLDS if holds(H, b, penalty, image, value, active, base) else _FAILS
