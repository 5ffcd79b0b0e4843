"""Systems of the central path solved as they stand, for models on which the products K^T D^-1 K lose their digits.

Columns that almost depend on each other, or sizes that differ by many orders, leave nothing of K^T D^-1 K but its
largest terms. The whole matrix [[H, K^T], [K, -D]], factored with pivots and brought to rows of size 1, keeps them; the
residuals of its solutions are taken in extended precision. It has a row for each variable, line and entry of a group,
so that this is for small models.
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from .central_path import Terms, Work
from .linear_algebra import NotPositive
from .sparse import Parts
from .stopping import LEAST

MOST_ROWS = 800
"""Rows of the whole matrix up to which it is factored."""
_BALANCING = 4
"""Rounds that bring rows and columns to size 1."""
_REFINEMENTS = 3
SHIFTS = (LEAST, 1e-25)
"""Added to the unit diagonal of H: for directions without curvature, or only for variables without any entries.
With the first, a step along a direction in which there is next to no curvature is too short for ever."""

_Long = np.longdouble


class WholeSystem:
    """Solves H dw + K^T dy = -slope, K dw - D dy = -rest for the scaling in `work`."""

    def __init__(self, H: Parts, terms: Terms, shift: float) -> None:
        n, rows = H.sparse.shape[0], terms.offset.size
        self.H, self.terms, self._shift = H, terms, shift
        self.K = sp.csr_array((terms.values, terms.columns, terms.pointers), shape=(rows, n))
        self.KT = sp.csr_array(self.K.T)
        self._base = np.zeros((n + rows, n + rows))
        self._base[:n, :n] = H.sparse.toarray() + H.V.T @ (H.signs[:, None] * H.V)
        self._base[n:, :n] = self.K.toarray()
        self._base[:n, n:] = self._base[n:, :n].T

    def factor(self, work: Work, damping: float) -> None:
        """Factor for the scaling in `work`."""
        n, terms = work.dw.size, self.terms
        matrix = self._base.copy()
        corner = matrix[n:, n:]
        corner[np.diag_indices(work.dy.size)] = -1.0 / work.inverse
        for g in range(terms.weight.size):
            own = slice(terms.starts[g], terms.starts[g + 1])
            if own.stop > own.start:
                bar = work.bar[own]
                fold = work.fold[g] / (1.0 + work.fold[g] * float(bar @ bar))
                corner[own, own] += fold / work.inverse[own.start] * np.outer(bar, bar)
        self._exact = matrix.astype(_Long)
        every = np.arange(n)
        matrix[every, every] += self._shift + damping * matrix[every, every]
        self._scale = np.ones(len(matrix))
        for _ in range(_BALANCING):
            largest = np.sqrt(np.abs(matrix).max(axis=1))
            factors = 1.0 / np.where(largest > 0.0, largest, 1.0)
            self._scale *= factors
            matrix *= factors[:, None] * factors
        self._factors, self._pivots, flag = lapack.dsytrf(matrix, lower=1)
        if flag or not np.all(np.isfinite(self._factors)):
            raise NotPositive

    def direction(self, work: Work, rounds: int) -> None:
        """dw, K dw and dy, improved against the matrix itself."""
        n = work.dw.size
        right = -np.concatenate([work.slope, work.rest]).astype(_Long)
        found, left = np.zeros(right.size, dtype=_Long), right
        size = np.inf
        for _ in range(1 + max(rounds, _REFINEMENTS)):
            move = (
                self._scale * lapack.dsytrs(self._factors, self._pivots, self._scale * left.astype(float), lower=1)[0]
            )
            trial = found + move
            after = right - self._exact @ trial
            missed = float(np.max(np.abs(self._scale * after), initial=0.0))
            if not missed < size:
                break
            found, left, size = trial, after, missed
        work.dw[:], work.dy[:] = found[:n], found[n:]
        work.move_image[:] = self.K @ work.dw
