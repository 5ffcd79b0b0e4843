"""The face of a dense model whose vanishing lines all fix a variable or join two: few calls, for small models."""

import numpy as np

from ..kernels.jit import kernel
from ..kernels.unions import root
from .linear_algebra import NotPositive, dense_solver
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
    parent, label, base = np.arange(model.width), np.full(model.width, -1), np.full(model.width, np.nan)
    count = _pieces(pointers, columns, values, form.offset, solution.active, parent, label, base)
    if count <= 0:
        return base if count == 0 else None
    image = form.image(solution.w)
    slopes = np.where(solution.active, 0.0, np.where(image > 0.0, form.up, -form.down))
    linear = model.right() - form.adjoint(slopes)
    if base.any():
        linear -= model.H @ base
    matrix, right = np.zeros((count, count)), np.zeros(count)
    _collapse(model.H, linear, label, matrix, right)
    diagonal = matrix.diagonal()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = matrix * scale[:, None] * scale
    for shift in _SHIFTS:
        try:
            solver = dense_solver(scaled, shift)
        except NotPositive:
            continue
        v = solver(scale * right)
        for _ in range(2):
            v += solver(scale * right - scaled @ v)
        free = label >= 0
        base[free] = (scale * v)[label[free]]
        return base
    return None


@kernel
def _pieces(
    pointers: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    offset: np.ndarray,
    active: np.ndarray,
    parent: np.ndarray,
    label: np.ndarray,
    base: np.ndarray,
) -> int:
    """Numbers of the pieces, -1 in those of a known value, which is written to `base`; returns how many are free.

    -1 is returned where a line has more entries or contradicts another. `label` and `base` are -1 and NaN before.
    """
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


@kernel
def _collapse(H: np.ndarray, linear: np.ndarray, label: np.ndarray, matrix: np.ndarray, right: np.ndarray) -> None:
    """Sums of H and of the linear term over pieces."""
    for i in range(label.size):
        row = label[i]
        if row < 0:
            continue
        right[row] += linear[i]
        for j in range(label.size):
            if label[j] >= 0:
                matrix[row, label[j]] += H[i, j]
