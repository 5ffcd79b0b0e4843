"""Dense models of absolute values from a guess of the minimiser: which rows vanish, by a few linear systems.

A guess names a face: rows of K that vanish, and signs of all others. The minimum on it solves

    H w + K_Z^T y = b - (slopes of the other rows),     K_Z w = 0,

which takes one factor of H and a system as large as there are vanishing rows. A row whose multiplier leaves its
interval gets a sign, one whose sign comes out wrong vanishes or gets the other sign, and the system is solved again
until all are as assumed: a semismooth Newton method. From the last Newton step's minimiser, or where few rows vanish,
one to four systems are all it takes; interior points factor a dozen matrices of the same order. The result counts only
where all optimality conditions hold; elsewhere interior points take over.

Hintermueller, Ito, Kunisch: The primal-dual active set strategy as a semismooth Newton method, SIAM J. Optimization 13,
2002.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import allocating, allocating_kernel, shared
from ..kernels.lapack import ROUTINES, Routines, cholesky, cholesky_solve
from .absolute_values import (
    COVERED,
    AbsoluteValues,
    FaceSolution,
    absolute_values,
    add_adjoint,
    holds,
    is_exact,
    measured,
)
from .dense import multiply
from .minimization import ACCURACY, padded
from .model import Model, ModelSolution
from .refinement import NOISE
from .simple_face import pieces

_MOST_FACES, _MOST_IDLE = 16, 2
"""Faces that are tried, at most and without fewer wrong rows than before."""

_FEW = 32
"""Wrong rows up to which it is computed how far they give; of more it is estimated."""

_VANISHES = 1e-11
"""What is left of a row that vanishes at the guess, relative to its terms."""

_OUTSIDE = 1e-12
"""Fraction of its interval by which a multiplier may be outside; it is brought back, at the same relative cost."""

_NO_SIGN = 1e-13
"""What a row with a wrong sign may have, relative to its terms: the sign of rounding."""

_SHIFT, _ROUNDS = 1e-11, 3
"""Fraction of its largest entry that is added to the diagonal of the system of vanishing rows, which may depend on each
other, and the corrections that undo it. Of many multipliers these are the nearest to the middle of their intervals."""

_REFINEMENTS = 2
"""Corrections of w by the residual that rounding has left."""


class Rows(NamedTuple):
    """Rows of K in the variables L^T w, and their products with each other; `place` is -1 for those not known yet."""

    place: np.ndarray
    values: np.ndarray
    products: np.ndarray


def minimized(model: Model, guess: np.ndarray) -> FaceSolution | None:
    """The minimum of a dense model; None if its penalties are others, or if it was not found in a few faces."""
    penalty = absolute_values(model.form)
    if penalty is None or not isinstance(model.H, np.ndarray):
        return None
    sure, simple, held, face, w, y, active, numbers = _minimized(
        padded(model), model.right(), penalty, np.ascontiguousarray(guess, dtype=float), ROUTINES
    )
    if not sure:
        return None
    value, gap, faces = numbers
    none = np.zeros(0)
    solution = ModelSolution(w, y, none, value, 0.0, gap, active, none.astype(bool), int(faces), "optimal")
    return FaceSolution(solution, face if held else None, simple, w, y)


@allocating_kernel
def _minimized(
    H: np.ndarray, b: np.ndarray, penalty: AbsoluteValues, guess: np.ndarray, lapack: Routines
) -> tuple[bool, bool, bool, np.ndarray, np.ndarray, np.ndarray, np.ndarray, tuple[float, float, float]]:
    n, m = b.size, penalty.up.size
    w, y, image, base = guess.copy(), np.zeros(m), np.empty(m), np.full(n, np.nan)
    active, factor, sign = np.zeros(m, dtype=np.bool_), H.copy(), np.zeros(m)
    value = gap = np.inf
    sure, simple, held, faces = False, False, False, 0
    if cholesky(lapack, factor):
        known = bool(np.any(guess))
        if not known:
            w[:] = b
            cholesky_solve(lapack, factor, w)
        _first_signs(H, penalty, w, known, sign)
        faces = _search(H, b, penalty, factor, sign, w, y, lapack)
    if faces > 0:
        target, size = b.copy(), 0.0
        for e in range(m):
            active[e] = sign[e] == 0.0
            y[e] = min(max(y[e], -penalty.down[e]), penalty.up[e])
            if abs(y[e]) <= NOISE * (penalty.up[e] + penalty.down[e]):
                y[e] = 0.0
        add_adjoint(penalty, y, -1.0, target)
        _refine(H, factor, target, w, lapack)
        for j in range(n):
            size += abs(b[j] * w[j])
        value, gap, _ = measured(H, b, penalty, w, y, image, 1.0)
        sure = gap <= ACCURACY * (abs(value) + size) and is_exact(H, b, penalty, w, y, target, COVERED)
    if sure:
        simple = _make_equal(penalty, active, w, base)
        held = simple and holds(H, b, penalty, image, value, active, base)
    return sure, simple, held, base, w, y, active, (value, gap, float(faces))


@shared
def _first_signs(H: np.ndarray, penalty: AbsoluteValues, w: np.ndarray, known: bool, sign: np.ndarray) -> None:
    """Signs of the rows at a point, 0 where they vanish; at the minimiser without penalties, where they would."""
    for e in range(sign.size):
        value = size = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            term = penalty.values[k] * w[penalty.columns[k]]
            value += term
            size += abs(term)
        if known:
            sign[e] = np.sign(value) if abs(value) > _VANISHES * size else 0.0
        else:
            sign[e] = _sign_for(penalty, e, value / _give(H, penalty, e))


@shared
def _give(H: np.ndarray, penalty: AbsoluteValues, e: int) -> float:
    """A lower bound on how far a row moves when its multiplier moves by 1; usually close."""
    give = 0.0
    for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
        give += penalty.values[k] ** 2 / H[penalty.columns[k], penalty.columns[k]]
    return give


@shared
def _sign_for(penalty: AbsoluteValues, e: int, y: float) -> float:
    """The sign of a row that vanishes if its multiplier is y: 0 if that is in its interval."""
    outside = _OUTSIDE * (penalty.up[e] + penalty.down[e])
    return 1.0 if y > penalty.up[e] + outside else -1.0 if y < -penalty.down[e] - outside else 0.0


@allocating
def _search(
    H: np.ndarray,
    b: np.ndarray,
    penalty: AbsoluteValues,
    factor: np.ndarray,
    sign: np.ndarray,
    w: np.ndarray,
    y: np.ndarray,
    lapack: Routines,
) -> int:
    """Change signs, and w and y with them, until all are as assumed; returns the number of faces, 0 if they never are.

    With H = L L^T, unknowns are L^T w: there H is the identity.
    """
    n, m = b.size, sign.size
    most = min(n // 2 + 1, m)  # with more, interior points are as quick
    known, vanishing = 0, np.empty(m, dtype=np.int64)
    rows = Rows(np.full(m, -1), np.empty((most, n)), np.empty((most, most)))
    least, idle = m + 1, 0
    for faces in range(1, _MOST_FACES + 1):
        count = 0
        w[:] = b
        for e in range(m):
            y[e] = penalty.up[e] if sign[e] > 0.0 else -penalty.down[e]
            if sign[e] == 0.0:
                y[e] = 0.5 * (penalty.up[e] - penalty.down[e])
                vanishing[count] = e
                count += 1
        known = _add_rows(penalty, factor, rows, vanishing[:count], known)
        if known < 0:
            return 0
        add_adjoint(penalty, y, -1.0, w)
        _forward(factor, w, 0)
        if count > 0 and not _hold(penalty, vanishing[:count], rows, w, y, lapack):
            return 0
        _backward(factor, w)
        wrong = _check_signs(penalty, w, y, sign, vanishing)
        if wrong == 0:
            return faces
        idle = 0 if wrong < least else idle + 1
        if idle > _MOST_IDLE:
            return 0
        least = min(least, wrong)
        if wrong <= _FEW:
            known = _add_rows(penalty, factor, rows, vanishing[:wrong], known)
            if known < 0:
                return 0
        _change_signs(H, penalty, rows, w, y, vanishing[:wrong], sign)
    return 0


@shared
def _forward(factor: np.ndarray, x: np.ndarray, first: int) -> None:
    """Overwrite x by L^-1 x, of which the entries before the first are 0."""
    for i in range(first, x.size):
        total = x[i]
        for j in range(first, i):
            total -= factor[i, j] * x[j]
        x[i] = total / factor[i, i]


@shared
def _backward(factor: np.ndarray, x: np.ndarray) -> None:
    """Overwrite x by L^-T x."""
    for i in range(x.size - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]


@shared
def _add_rows(penalty: AbsoluteValues, factor: np.ndarray, rows: Rows, wanted: np.ndarray, known: int) -> int:
    """Make these rows known, if they are not; returns how many are known then, or -1 if there is no room for them."""
    n, more = factor.shape[0], 0
    for e in wanted:
        more += rows.place[e] < 0
    if known + more > rows.products.shape[0]:
        return -1
    for e in wanted:
        if rows.place[e] >= 0:
            continue
        row, first = rows.values[known], n
        row[:] = 0.0
        for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
            row[penalty.columns[k]] = penalty.values[k]
            first = min(first, penalty.columns[k])
        _forward(factor, row, first)
        for other in range(known + 1):
            product = 0.0
            for j in range(first, n):
                product += row[j] * rows.values[other, j]
            rows.products[known, other] = rows.products[other, known] = product
        rows.place[e] = known
        known += 1
    return known


@allocating
def _hold(
    penalty: AbsoluteValues, vanishing: np.ndarray, rows: Rows, w: np.ndarray, y: np.ndarray, lapack: Routines
) -> bool:
    """Multipliers of the rows that are to vanish, and the change of L^T w that they bring; False if there are none."""
    count = vanishing.size
    matrix, right, half = np.empty((count, count)), np.empty(count), np.empty(count)
    largest = 0.0
    for a in range(count):
        e = vanishing[a]
        half[a] = 0.5 * (penalty.up[e] + penalty.down[e])
        right[a] = 0.0
        for j in range(w.size):
            right[a] += half[a] * rows.values[rows.place[e], j] * w[j]
        for c in range(a + 1):
            matrix[a, c] = matrix[c, a] = half[a] * rows.products[rows.place[e], rows.place[vanishing[c]]] * half[c]
        largest = max(largest, matrix[a, a])
    factor, part, rest = matrix.copy(), np.zeros(count), np.empty(count)
    for a in range(count):
        factor[a, a] += _SHIFT * largest
    if not cholesky(lapack, factor):
        return False
    for _ in range(_ROUNDS):
        multiply(matrix, part, rest)
        for a in range(count):
            rest[a] = right[a] - rest[a]
        cholesky_solve(lapack, factor, rest)
        for a in range(count):
            part[a] += rest[a]
    for a in range(count):
        e, moved = vanishing[a], half[a] * part[a]
        y[e] += moved
        for j in range(w.size):
            w[j] -= moved * rows.values[rows.place[e], j]
    return True


@shared
def _check_signs(penalty: AbsoluteValues, w: np.ndarray, y: np.ndarray, sign: np.ndarray, wrong: np.ndarray) -> int:
    """List the rows whose sign does not agree with w and y; returns how many there are."""
    count = 0
    for e in range(sign.size):
        if sign[e] == 0.0:
            disagrees = _sign_for(penalty, e, y[e]) != 0.0
        else:
            value = size = 0.0
            for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
                term = penalty.values[k] * w[penalty.columns[k]]
                value += term
                size += abs(term)
            disagrees = value * sign[e] < -_NO_SIGN * size
        if disagrees:
            wrong[count] = e
            count += 1
    return count


@shared
def _change_signs(
    H: np.ndarray,
    penalty: AbsoluteValues,
    rows: Rows,
    w: np.ndarray,
    y: np.ndarray,
    wrong: np.ndarray,
    sign: np.ndarray,
) -> None:
    """Give each of these rows the sign that it would have if it were the only one to change."""
    for e in wrong:
        value, place = 0.0, rows.place[e]
        if sign[e] != 0.0:
            for k in range(penalty.pointers[e], penalty.pointers[e + 1]):
                value += penalty.values[k] * w[penalty.columns[k]]
            value /= rows.products[place, place] if place >= 0 else _give(H, penalty, e)
        sign[e] = _sign_for(penalty, e, y[e] + value)


@allocating
def _refine(H: np.ndarray, factor: np.ndarray, target: np.ndarray, w: np.ndarray, lapack: Routines) -> None:
    """Bring H w close to the target."""
    rest = np.empty(w.size)
    for _ in range(_REFINEMENTS):
        multiply(H, w, rest)
        for j in range(w.size):
            rest[j] = target[j] - rest[j]
        cholesky_solve(lapack, factor, rest)
        for j in range(w.size):
            w[j] += rest[j]


@allocating
def _make_equal(penalty: AbsoluteValues, active: np.ndarray, w: np.ndarray, base: np.ndarray) -> bool:
    """Write to `base` w with exact zeros and equal entries; False where a row of another kind vanishes."""
    label = np.full(w.size, -1)
    base[:] = np.nan
    count = pieces(penalty.pointers, penalty.columns, penalty.values, np.zeros(active.size), active, label, base)
    if count < 0:
        return False
    total, members = np.zeros(count), np.zeros(count)
    for j in range(w.size):
        if label[j] >= 0:
            total[label[j]] += w[j]
            members[label[j]] += 1.0
    for j in range(w.size):
        if label[j] >= 0:
            base[j] = total[label[j]] / members[label[j]]
    return True
