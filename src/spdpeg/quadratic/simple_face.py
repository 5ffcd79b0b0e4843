"""The face of a dense model whose vanishing lines all fix a variable or join two: one call, for small models."""

import numpy as np

from ..kernels.jit import allocating, allocating_kernel
from ..kernels.lapack import ROUTINES, Routines, cholesky, cholesky_solve
from ..kernels.unions import root
from .dense import multiply
from .model import Model, ModelSolution

_SHIFTS = (1e-14, 1e-10)
"""Added to the unit diagonal; the second where the first does not make the matrix positive."""


def fits(model: Model) -> bool:
    """Whether the model is dense and made of lines alone."""
    whole = model.b.size == model.width and not model.form.curved
    return isinstance(model.H, np.ndarray) and whole and not model.form.weight.size


def solve(model: Model, solution: ModelSolution) -> np.ndarray | None:
    """The minimiser on the face; None if a vanishing line does not fit, or two contradict each other."""
    form = model.form
    pointers, _, columns, values = form.entries
    base, label = np.full(model.width, np.nan), np.full(model.width, -1)
    count = _pieces(pointers, columns, values, form.offset, solution.active, label, base)
    if count <= 0:
        return base if count == 0 else None
    slopes = np.where(solution.active, 0.0, np.where(form.image(solution.w) > 0.0, form.up, -form.down))
    found = _among_pieces(model.H, model.right() - form.adjoint(slopes), label, base, count, ROUTINES)
    return base if found else None


def collapsed(H: np.ndarray, b: np.ndarray, labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """H and b among points that are constant on `count` pieces, and 0 where the label is -1."""
    matrix, right = np.zeros((count, count)), np.zeros(count)
    _collapsed(H, b, np.zeros(b.size), labels, matrix, right)
    return matrix, right


@allocating
def pieces(
    pointers: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    offset: np.ndarray,
    active: np.ndarray,
    label: np.ndarray,
    base: np.ndarray,
) -> int:
    """Numbers of the pieces, -1 in those of a known value, which is written to `base`; returns how many are free.

    -1 is returned where a line has more entries or contradicts another. `label` and `base` are -1 and NaN before.
    """
    parent = np.arange(label.size)
    for e in range(active.size):
        first, last = pointers[e], pointers[e + 1]
        if not active[e]:
            continue
        one = root(parent, columns[first])
        value = offset[e] / values[first]
        if last - first == 2 and offset[e] == 0.0 and values[first] == -values[first + 1]:
            other = root(parent, columns[first + 1])
            parent[other] = one
            value = base[other]
        elif last - first != 1:
            return -1
        if not np.isnan(value):
            if not np.isnan(base[one]) and base[one] != value:
                return -1
            base[one] = value
    count = 0
    for j in range(parent.size):
        if parent[j] == j and np.isnan(base[j]):
            label[j] = count
            count += 1
    for j in range(parent.size):
        own = root(parent, j)
        label[j] = label[own]
        base[j] = base[own]
    for j in range(parent.size):
        if label[j] >= 0:
            base[j] = 0.0
    return count


@allocating
def among_pieces(
    H: np.ndarray, linear: np.ndarray, label: np.ndarray, base: np.ndarray, count: int, lapack: Routines
) -> bool:
    """Write the minimiser of 1/2 w^T H w - linear^T w to `base`, which holds the known values; False if none is found.

    Coordinates of one label are equal.
    """
    matrix, right, scale = np.zeros((count, count)), np.zeros(count), np.ones(count)
    _collapse(H, linear, base, label, matrix, right)
    for i in range(count):
        if matrix[i, i] > 0.0:
            scale[i] = 1.0 / np.sqrt(matrix[i, i])
    for i in range(count):
        right[i] *= scale[i]
        for j in range(count):
            matrix[i, j] *= scale[i] * scale[j]
    factor, v, rest = np.empty((count, count)), np.zeros(count), np.empty(count)
    for shift in _SHIFTS:
        factor[:] = matrix
        for i in range(count):
            factor[i, i] += shift
        if not cholesky(lapack, factor):
            continue
        for _ in range(3):
            multiply(matrix, v, rest)
            for i in range(count):
                rest[i] = right[i] - rest[i]
            cholesky_solve(lapack, factor, rest)
            for i in range(count):
                v[i] += rest[i]
        for j in range(label.size):
            if label[j] >= 0:
                base[j] = scale[label[j]] * v[label[j]]
        return True
    return False


@allocating
def _collapse(
    H: np.ndarray, linear: np.ndarray, base: np.ndarray, label: np.ndarray, matrix: np.ndarray, right: np.ndarray
) -> None:
    """Sums of H and of the linear term over pieces; coordinates without one stay at `base`, which is 0 elsewhere."""
    n = label.size
    # The coordinates in the order of their pieces: the rows of one are added up before their entries differ.
    ends = np.zeros(right.size + 1, dtype=np.int64)
    for i in range(n):
        if label[i] >= 0:
            right[label[i]] += linear[i]
            ends[label[i] + 1] += 1
    for row in range(right.size):
        ends[row + 1] += ends[row]
    members, filled = np.empty(ends[right.size], dtype=np.int64), ends[:-1].copy()
    for i in range(n):
        if label[i] >= 0:
            members[filled[label[i]]] = i
            filled[label[i]] += 1
    total = np.empty(n)
    for row in range(right.size):
        total[:] = 0.0
        for k in range(ends[row], ends[row + 1]):
            i = members[k]
            for j in range(n):
                total[j] += H[i, j]
        for j in range(n):
            if label[j] >= 0:
                matrix[row, label[j]] += total[j]
            else:
                right[row] -= total[j] * base[j]


@allocating_kernel
def _collapsed(
    H: np.ndarray, linear: np.ndarray, base: np.ndarray, label: np.ndarray, matrix: np.ndarray, right: np.ndarray
) -> None:
    _collapse(H, linear, base, label, matrix, right)


@allocating_kernel
def _pieces(
    pointers: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    offset: np.ndarray,
    active: np.ndarray,
    label: np.ndarray,
    base: np.ndarray,
) -> int:
    return pieces(pointers, columns, values, offset, active, label, base)


@allocating_kernel
def _among_pieces(
    H: np.ndarray, linear: np.ndarray, label: np.ndarray, base: np.ndarray, count: int, lapack: Routines
) -> bool:
    return among_pieces(H, linear, label, base, count, lapack)
