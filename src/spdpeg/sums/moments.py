"""Second moments of rows and labels, from one read: all that the squared loss depends on.

    Moments             sum of w v v^T over rows, v = (a - m, 1, b - mu); they add up over blocks and folds
    DiagonalMoments     the same where every row has a single entry, as those of a signal: one number for each column
    ShiftedSignal       that beside an intercept, where all entries are the same

Numbers are taken from a place m, mu near their means, so that a large common level costs no digits. From then on the
loss at every x is known up to rounding, of which `error` is a bound: rounding errors of a sum of n terms grow like
sqrt(n), up to a factor that is exceeded with a probability of 1e-13 (Higham, Mary, SIAM Journal on Scientific
Computing 41, 2019).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import blas

from ..data import Block
from ..data.blocks import data_matrix
from ..kernels.row_sums import adjoint
from .blocks import gram

_BLOCK_ENTRIES = 1 << 17
"""Entries of dense rows that are worked on at a time."""

_UNIT = 0.5 * np.finfo(float).eps
_SIGMAS = 8.0
"""Rounding unit, and the factor on sqrt(n) of them."""

_SAME = 8.0 * np.finfo(float).eps
"""Relative difference up to which the entries of a diagonal count as equal."""


class Quadratic(Protocol):
    """The mean squared loss as a function of x, from moments: 1/2 w^T H w - b^T w + constant.

    w is x, but for an intercept, which is taken from the place that the moments are about.
    """

    @property
    def H(self) -> Any:
        """Dense, or sparse and diagonal."""

    @property
    def b(self) -> np.ndarray:
        """Minus the slope at w = 0."""

    @property
    def uniform_curvature(self) -> float | None:
        """The one number on the diagonal; None if there are several, or H is not diagonal."""

    def encoded(self, x: np.ndarray) -> np.ndarray:
        """w, from x."""

    def decoded(self, w: np.ndarray) -> np.ndarray:
        """x, from w."""

    def value(self, x: np.ndarray) -> float:
        """Mean loss at x."""

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Its gradient at x."""

    def error(self, x: np.ndarray) -> float:
        """Bound on the rounding error of the value."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments of rows and labels about a place.

    Attributes
    ----------
    matrix : array of shape (d + 2, d + 2)
        Sum of w v v^T.
    place : array of shape (d + 1,)
        m and mu.
    total : float
        Sum of w.
    squares : array of shape (d + 2,)
        Diagonals of all matrices that were added or subtracted to make this one: the scale of its rounding errors.
    count : int
        Rows that were added or subtracted.
    """

    matrix: np.ndarray
    place: np.ndarray
    total: float
    squares: np.ndarray
    count: int

    @classmethod
    def of(cls, block: Block, place: np.ndarray) -> "Moments":
        """The moments of a block's rows about a point; one read."""
        rows = block.rows._replace(bias=0.0)
        n, d = block.labels.size, rows.width
        weights = block.weights if block.weights.size else np.ones(n)
        matrix = np.zeros((d + 2, d + 2))
        if rows.indptr.size:
            _fill_sparse(block._replace(rows=rows), weights, place, matrix)
        else:
            _fill_dense(block._replace(rows=rows), weights, place, matrix)
        return cls(matrix, place, float(weights.sum()), matrix.diagonal().copy(), n)

    def __add__(self, other: "Moments") -> "Moments":
        """The moments of both sets of rows; both must be taken about the same point."""
        return replace(
            self,
            matrix=self.matrix + other.matrix,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            count=self.count + other.count,
        )

    def __sub__(self, other: "Moments") -> "Moments":
        """The moments without the rows of `other`, which must be a subset."""
        return replace(
            self,
            matrix=self.matrix - other.matrix,
            total=self.total - other.total,
            # Sizes add up in a difference too: rounding errors of what is subtracted stay.
            squares=self.squares + other.squares,
            count=self.count + other.count,
        )

    def loss(self, bias: float) -> "MomentLoss":
        """The mean loss, with an intercept's column of entries `bias` unless that is 0."""
        return MomentLoss(self, bias)


class MomentLoss:
    """`Quadratic` of moments. With v = (x, m^T x + bias t - mu, -1) the mean loss is v^T M v / 2."""

    uniform_curvature: float | None = None

    def __init__(self, moments: Moments, bias: float) -> None:
        self._M = moments.matrix / moments.total
        self._means, self._level, self._bias = moments.place[:-1], float(moments.place[-1]), bias
        self._sizes = np.sqrt(moments.squares / moments.total)
        self._unit = _SIGMAS * _UNIT * math.sqrt(moments.count + moments.squares.size)
        d = self._means.size
        own, beside = self._M[:d, :d], self._M[:d, d]
        if bias:
            self.H = np.empty((d + 1, d + 1))
            self.H[:d, :d], self.H[:d, d], self.H[d, :d] = own, bias * beside, bias * beside
            self.H[d, d] = bias * bias * self._M[d, d]
        else:
            # Without an intercept nothing absorbs the shift to the means, so that it is taken back here.
            across = np.outer(self._means, beside)
            self.H = own + across + across.T + self._M[d, d] * np.outer(self._means, self._means)
        start = np.zeros(d + int(bias != 0.0))
        slope = self._slope(self._M @ self._row(start))
        if bias:
            slope[:d] -= self._means * (slope[d] / bias)  # in w, moving x leaves the level alone
        self.b = -slope

    def encoded(self, x: np.ndarray) -> np.ndarray:
        """w, from x."""
        w = x.copy()
        if self._bias:
            w[-1] += float(self._means @ x[:-1]) / self._bias
        return w

    def decoded(self, w: np.ndarray) -> np.ndarray:
        """x, from w."""
        x = w.copy()
        if self._bias:
            x[-1] -= float(self._means @ w[:-1]) / self._bias
        return x

    def value(self, x: np.ndarray) -> float:
        """Mean loss at x."""
        v = self._row(x)
        # A sum of squares; rounding may say otherwise where the fit is perfect.
        return max(0.5 * float(v @ (self._M @ v)), 0.0)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Its gradient at x."""
        return self._slope(self._M @ self._row(x))

    def error(self, x: np.ndarray) -> float:
        """Bound on the rounding error of the value: of the sums in M, of the level, and of v^T M v."""
        v = np.abs(self._row(x))
        size = float(np.abs(self._means) @ np.abs(x[: self._means.size])) + abs(self._level)
        slope = np.abs(self._M) @ v
        total = self._unit * float(np.sum((self._sizes * v) ** 2)) + 4.0 * _UNIT * (float(v @ slope) + size * slope[-2])
        return float(total)

    def _row(self, x: np.ndarray) -> np.ndarray:
        d = self._means.size
        level = float(self._means @ x[:d]) + (self._bias * x[-1] if self._bias else 0.0) - self._level
        return np.concatenate([x[:d], [level, -1.0]])

    def _slope(self, back: np.ndarray) -> np.ndarray:
        d = self._means.size
        slope = back[:d] + self._means * back[d]
        return np.append(slope, self._bias * back[d]) if self._bias else slope


@dataclass(frozen=True, eq=False)
class DiagonalMoments:
    """`Quadratic` of rows with at most one entry each: sum_j curvature_j (x_j - target_j)^2 / 2 + rest.

    Attributes
    ----------
    curvature, target : array
        One number for each column; both 0 for a column without entries.
    rest : float
        Least mean loss.
    """

    curvature: np.ndarray
    target: np.ndarray
    rest: float

    @classmethod
    def of(cls, block: Block) -> "DiagonalMoments":
        """The moments of a block that `is_diagonal`; one read."""
        rows, labels, weights = block
        n, d = labels.size, rows.width
        mean_weights = weights / n if weights.size else np.full(n, 1.0 / n)
        places, entries = _single_entries(block)
        curvature = np.bincount(places, mean_weights * entries * entries, minlength=d)
        products = np.bincount(places, mean_weights * entries * labels, minlength=d)
        used = curvature > 0.0
        target = np.divide(products, curvature, out=np.zeros(d), where=used)
        left = entries * target[places] - labels
        return cls(curvature, target, 0.5 * float(np.sum(mean_weights * left * left)))

    @property
    def H(self) -> Any:
        """The Hessian, a sparse matrix of order d."""
        return sp.diags_array(self.curvature, format="csr")

    @property
    def b(self) -> np.ndarray:
        """Minus the slope at 0."""
        return self.curvature * self.target

    @cached_property
    def uniform_curvature(self) -> float | None:
        """The one number on the diagonal; None if there are several."""
        most = float(self.curvature.max(initial=0.0))
        same = float(np.ptp(self.curvature)) <= _SAME * most if self.curvature.size else False
        return most if same and most > 0.0 else None

    def encoded(self, x: np.ndarray) -> np.ndarray:
        """x."""
        return x

    def decoded(self, w: np.ndarray) -> np.ndarray:
        """w."""
        return w

    def value(self, x: np.ndarray) -> float:
        """Mean loss at x."""
        residual = x - self.target
        return self.rest + 0.5 * float(np.sum(self.curvature * residual * residual))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Its gradient at x."""
        return self.curvature * (x - self.target)

    def error(self, x: np.ndarray) -> float:
        """Bound on the rounding error of the value, whose terms are squares."""
        size = np.abs(x) + np.abs(self.target)
        return self.rounding(self.value(x), float(np.sum(self.curvature * np.abs(x - self.target) * size)))

    def rounding(self, value: float, cancelled: float) -> float:
        """The same from the value at x and the sum of curvature |x - target| (|x| + |target|)."""
        return _SIGMAS * _UNIT * (math.sqrt(self.target.size + 1.0) * value + 4.0 * cancelled)


@dataclass(frozen=True, eq=False)
class ShiftedSignal:
    """Mean squared loss of rows with the same single entry each and an intercept, which shifts all of the signal.

    Attributes
    ----------
    signal : DiagonalMoments
        Without the intercept.
    unit : float
        What the last coordinate of x adds to each of the others if it is 1.
    """

    signal: DiagonalMoments
    unit: float

    @classmethod
    def of(cls, block: Block) -> "ShiftedSignal | None":
        """The moments of a diagonal with equal entries beside an intercept, by one read; None for other rows."""
        alone = block._replace(rows=block.rows._replace(bias=0.0))
        if not block.rows.bias or not is_diagonal(alone):
            return None
        _, entries = _single_entries(alone)
        if entries[0] == 0.0 or np.any(entries != entries[0]):
            return None
        return cls(DiagonalMoments.of(alone), block.rows.bias / float(entries[0]))

    def shifted(self, x: np.ndarray) -> np.ndarray:
        """All coordinates but the last, shifted by its contribution to them."""
        return x[:-1] + self.unit * x[-1]

    def value(self, x: np.ndarray) -> float:
        """Mean loss at x."""
        return self.signal.value(self.shifted(x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Its gradient at x."""
        slopes = self.signal.gradient(self.shifted(x))
        return np.append(slopes, self.unit * np.sum(slopes))

    def error(self, x: np.ndarray) -> float:
        """Bound on the rounding error of the value."""
        point = self.shifted(x)
        size = np.abs(x[:-1]) + abs(self.unit * x[-1])
        moved = float(np.sum(np.abs(self.signal.gradient(point)) * size))
        return self.signal.error(point) + _SIGMAS * _UNIT * 4.0 * moved


def near_means(block: Block) -> np.ndarray:
    """The means of the columns and of the labels of some rows: 0 for sparse columns, which others would fill."""
    rows, labels, _ = block
    dense = None if rows.indptr.size else data_matrix(rows._replace(bias=0.0))
    means = np.zeros(rows.width) if dense is None else dense.mean(axis=0, dtype=float)
    return np.append(means, labels.mean())


def is_diagonal(block: Block) -> bool:
    """Whether no row has more than one entry, and there is no intercept, as for signals: X = identity."""
    rows, labels, _ = block
    if rows.bias or rows.width == 0 or labels.size == 0:
        return False
    if rows.indptr.size:
        return bool(np.diff(rows.indptr).max(initial=0) <= 1)
    if labels.size != rows.width:
        return False
    dense = rows.values.reshape(-1, rows.width)
    # Most designs are full, and tell so in their first row.
    return bool(np.count_nonzero(dense[0]) <= 1 and np.count_nonzero(dense, axis=1).max() <= 1)


def _single_entries(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Column and value of the entry of each row; 0 where it has none."""
    rows, labels, _ = block
    if rows.indptr.size == 0:
        dense = rows.values.reshape(-1, rows.width)
        places = np.argmax(dense != 0.0, axis=1)
        return places, dense[np.arange(labels.size), places].astype(float)
    places, entries = np.zeros(labels.size, dtype=np.int64), np.zeros(labels.size)
    filled = np.diff(rows.indptr) > 0
    places[filled], entries[filled] = rows.indices, rows.values
    return places, entries


def _fill_dense(block: Block, weights: np.ndarray, place: np.ndarray, out: np.ndarray) -> None:
    dense = data_matrix(block.rows)
    d = block.rows.width
    size = max(1, _BLOCK_ENTRIES // (d + 2))
    augmented = np.empty((size, d + 2))
    for start in range(0, block.labels.size, size):
        some = slice(start, start + size)
        part = augmented[: block.labels[some].size]
        np.subtract(dense[some], place[:-1], out=part[:, :d])
        part[:, d], part[:, d + 1] = 1.0, block.labels[some] - place[-1]
        part *= np.sqrt(weights[some])[:, None]
        # In Fortran's order the transpose is out itself, which is filled in place.
        blas.dsyrk(1.0, part.T, beta=1.0, c=out.T, lower=1, overwrite_c=1)
    out[:] = np.triu(out) + np.triu(out, 1).T


def _fill_sparse(block: Block, weights: np.ndarray, place: np.ndarray, out: np.ndarray) -> None:
    rows, d, n = block.rows, block.rows.width, block.labels.size
    labels = block.labels - place[-1]
    out[:d, :d] = gram(rows, weights)
    for k, values in ((d, np.ones(n)), (d + 1, labels)):
        column = np.empty(d)
        adjoint(rows, weights, values, column)
        out[:d, k] = out[k, :d] = column * n
    out[d, d], out[d + 1, d + 1] = weights.sum(), weights @ (labels * labels)
    out[d, d + 1] = out[d + 1, d] = weights @ labels
