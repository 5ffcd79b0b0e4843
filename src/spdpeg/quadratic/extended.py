"""Systems of the central path in twice the digits, for small models on which doubles lose all of theirs.

Columns that almost depend on each other, or sizes that differ by many orders, leave nothing of H + K^T D^-1 K but its
largest terms where 16 digits are kept. With 32 its factors are good to the last of the 16 that a direction needs. What
a point leaves of the optimality conditions is computed in the same way, so that rounding there does not send w along
directions without curvature. The point itself, slacks included, stays in doubles.
"""

import numpy as np
import scipy.sparse as sp

from ..kernels.double_double import add, divide, multiply, root, two_product
from ..kernels.jit import kernel, shared
from .central_path import Point, Terms, Work
from .linear_algebra import NotPositive
from .model import Model
from .sparse import Parts

_MOST_WORK = 2e7
"""Products of a step up to which it is affordable."""
_EQUATION = 1e15
"""1 / D of an equation, which is 0 in truth."""
_SHIFT = 1e-25
"""Fraction of the diagonal that is added, for variables without any entries."""
_SPREAD = 1e6
"""Size of the slacks that a run begins with. Where a solution is far away, slacks of size 1 vanish on the way to it,
and the steps with them; digits that large ones take are there."""
_SINGULAR = 1e-28
"""Fraction of the diagonal at which a pivot counts as none."""


def fits(model: Model) -> bool:
    """Whether a model is small enough."""
    return affordable(model.width, model.form.K.shape[0])


def affordable(width: int, rows: int) -> bool:
    """Whether a model of so many variables and rows of K is affordable."""
    return width * width * (rows + width / 3.0) <= _MOST_WORK


class ExtendedSystem:
    """Solves H dw + K^T dy = -slope, K dw - D dy = -rest for the scaling in `work`."""

    def __init__(self, H: Parts, terms: Terms, near: bool = False) -> None:
        # Beside cones, runs from large slacks end farther from the solution.
        self.spread = 1.0 if near or terms.weight.size else _SPREAD
        n, rows = H.sparse.shape[0], terms.offset.size
        self.H, self.terms = H, terms
        self.K = sp.csr_array((terms.values, terms.columns, terms.pointers), shape=(rows, n))
        self.KT = sp.csr_array(self.K.T)
        self._dense = np.ascontiguousarray(H.sparse.toarray() + H.V.T @ (H.signs[:, None] * H.V))
        self._matrix = np.empty((2, n, n))
        self._equations = np.flatnonzero(terms.above + terms.below + terms.smoothing == 0.0)
        self._slope, self._move, self._across = np.zeros((2, n)), np.empty((2, n)), np.empty((3, max(n, rows)))

    def observe(self, b: np.ndarray, point: Point, work: Work) -> float:
        """Image and slope at a point, written into `work`; returns w^T H w."""
        _reconcile(self.terms, point)
        _observe(self._dense, self.terms, b, point, work, self._slope)
        return float(point.w @ (self._dense @ point.w))

    def factor(self, work: Work, damping: float) -> None:
        """Factor for the scaling in `work`."""
        work.inverse[self._equations] = _EQUATION
        if not _factor(self._dense, self.terms, work, _SHIFT + damping, self._matrix, self._across):
            raise NotPositive

    def direction(self, work: Work, rounds: int) -> None:
        """dw, K dw and dy."""
        _direct(self.terms, work, self._matrix, self._slope, self._move, self._across)


@kernel
def _reconcile(terms: Terms, point: Point) -> None:
    """Make multipliers and their slacks agree again: rounding of first steps, which are long, drives them apart.

    The smaller slack has the digits that count.
    """
    for e in range(terms.up.size):
        both = terms.above[e] * terms.below[e] > 0.0
        if terms.above[e] > 0.0 and not (both and point.v[e] < point.u[e]):
            point.y[e] = terms.up[e] - point.u[e]
            if both:
                point.v[e] = terms.down[e] + point.y[e]
        elif terms.below[e] > 0.0:
            point.y[e] = point.v[e] - terms.down[e]
            if both:
                point.u[e] = terms.up[e] - point.y[e]


@kernel
def _observe(H: np.ndarray, terms: Terms, b: np.ndarray, point: Point, work: Work, slope: np.ndarray) -> None:
    """The slope keeps its low digits: rounded alone, it would send w along directions that no row depends on."""
    n = b.size
    for i in range(n):
        high, low = -b[i], 0.0
        for j in range(n):
            more, less = two_product(H[i, j], point.w[j])
            high, low = add(high, low, more, less)
        slope[0, i], slope[1, i] = high, low
    for e in range(terms.offset.size):
        high, low = -terms.offset[e], 0.0
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            j = terms.columns[k]
            more, less = two_product(terms.values[k], point.w[j])
            high, low = add(high, low, more, less)
            more, less = two_product(terms.values[k], point.y[e])
            slope[0, j], slope[1, j] = add(slope[0, j], slope[1, j], more, less)
        work.image[e] = high
    for i in range(n):
        work.slope[i] = slope[0, i]


@kernel
def _factor(H: np.ndarray, terms: Terms, work: Work, shift: float, matrix: np.ndarray, across: np.ndarray) -> bool:
    """The lower half of `matrix` becomes the Cholesky factor of H + K^T D^-1 K; says whether there is one."""
    n = H.shape[0]
    high, low = matrix[0], matrix[1]
    for i in range(n):
        for j in range(i + 1):
            high[i, j], low[i, j] = H[i, j], 0.0
    for e in range(terms.offset.size):
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            i = terms.columns[k]
            value, rest = two_product(terms.values[k], work.inverse[e])
            for m in range(terms.pointers[e], terms.pointers[e + 1]):
                j = terms.columns[m]
                if j <= i:
                    more, less = multiply(value, rest, terms.values[m], 0.0)
                    high[i, j], low[i, j] = add(high[i, j], low[i, j], more, less)
    for g in range(terms.weight.size):
        first, last = terms.starts[g], terms.starts[g + 1]
        if last > first:
            _fold(terms, work, g, high, low, across)
    for i in range(n):
        high[i, i] += shift * high[i, i] if high[i, i] > 0.0 else 1.0
    return _cholesky(high, low, across)


@shared
def _fold(terms: Terms, work: Work, g: int, high: np.ndarray, low: np.ndarray, across: np.ndarray) -> None:
    """Add the rank-one part of a group."""
    n = high.shape[0]
    for j in range(n):
        across[0, j] = across[1, j] = 0.0
    first, last = terms.starts[g], terms.starts[g + 1]
    for e in range(first, last):
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            j = terms.columns[k]
            more, less = two_product(terms.values[k], work.bar[e])
            across[0, j], across[1, j] = add(across[0, j], across[1, j], more, less)
    scale, scale_low = two_product(work.fold[g], work.inverse[first])
    for i in range(n):
        if across[0, i] != 0.0:
            value, rest = multiply(scale, scale_low, across[0, i], across[1, i])
            for j in range(i + 1):
                more, less = multiply(value, rest, across[0, j], across[1, j])
                high[i, j], low[i, j] = add(high[i, j], low[i, j], more, less)


@shared
def _cholesky(high: np.ndarray, low: np.ndarray, across: np.ndarray) -> bool:
    n = high.shape[0]
    for k in range(n):
        across[2, k] = high[k, k]
    for k in range(n):
        if not high[k, k] > _SINGULAR * across[2, k]:
            return False
        pivot, pivot_low = root(high[k, k], low[k, k])
        high[k, k], low[k, k] = pivot, pivot_low
        for i in range(k + 1, n):
            value, rest = divide(high[i, k], low[i, k], pivot, pivot_low)
            high[i, k], low[i, k] = value, rest
            across[0, i], across[1, i] = value, rest
            if value != 0.0:
                for j in range(k + 1, i + 1):
                    more, less = multiply(-value, -rest, across[0, j], across[1, j])
                    high[i, j], low[i, j] = add(high[i, j], low[i, j], more, less)
    return True


@kernel
def _direct(
    terms: Terms, work: Work, matrix: np.ndarray, slope: np.ndarray, move: np.ndarray, across: np.ndarray
) -> None:
    n = work.dw.size
    for e in range(work.rest.size):
        across[0, e], across[1, e] = work.rest[e], 0.0
    _weigh(terms, work, across)
    for j in range(n):
        move[0, j], move[1, j] = -slope[0, j], -slope[1, j]
    for e in range(work.rest.size):
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            j = terms.columns[k]
            more, less = multiply(across[0, e], across[1, e], -terms.values[k], 0.0)
            move[0, j], move[1, j] = add(move[0, j], move[1, j], more, less)
    _substitute(matrix[0], matrix[1], move)
    for j in range(n):
        work.dw[j] = move[0, j]
    for e in range(work.rest.size):
        high, low = 0.0, 0.0
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            j = terms.columns[k]
            more, less = multiply(move[0, j], move[1, j], terms.values[k], 0.0)
            high, low = add(high, low, more, less)
        work.move_image[e] = high
        across[0, e], across[1, e] = add(high, low, work.rest[e], 0.0)
    _weigh(terms, work, across)
    for e in range(work.rest.size):
        work.dy[e] = across[0, e]


@shared
def _weigh(terms: Terms, work: Work, vector: np.ndarray) -> None:
    """D^-1 times a vector, in place."""
    for e in range(terms.up.size):
        vector[0, e], vector[1, e] = multiply(vector[0, e], vector[1, e], work.inverse[e], 0.0)
    for g in range(terms.weight.size):
        high, low = 0.0, 0.0
        for e in range(terms.starts[g], terms.starts[g + 1]):
            more, less = multiply(vector[0, e], vector[1, e], work.bar[e], 0.0)
            high, low = add(high, low, more, less)
        high, low = multiply(high, low, work.fold[g], 0.0)
        for e in range(terms.starts[g], terms.starts[g + 1]):
            more, less = multiply(high, low, work.bar[e], 0.0)
            more, less = add(vector[0, e], vector[1, e], more, less)
            vector[0, e], vector[1, e] = multiply(more, less, work.inverse[e], 0.0)


@shared
def _substitute(high: np.ndarray, low: np.ndarray, x: np.ndarray) -> None:
    """Solve with the factor and its transpose, in place."""
    n = high.shape[0]
    for i in range(n):
        value, rest = x[0, i], x[1, i]
        for j in range(i):
            more, less = multiply(high[i, j], low[i, j], -x[0, j], -x[1, j])
            value, rest = add(value, rest, more, less)
        x[0, i], x[1, i] = divide(value, rest, high[i, i], low[i, i])
    for i in range(n - 1, -1, -1):
        value, rest = x[0, i], x[1, i]
        for j in range(i + 1, n):
            more, less = multiply(high[j, i], low[j, i], -x[0, j], -x[1, j])
            value, rest = add(value, rest, more, less)
        x[0, i], x[1, i] = divide(value, rest, high[i, i], low[i, i])
