"""Sums over rows in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas

from ..data import Block, Dense
from ..data.matrix import data_matrix
from ..kernels.collapse import collapse_dense, collapse_sparse, collapsed_counts
from ..kernels.jit import STRETCH, frozen
from ..kernels.rows import Rows, sum_stretches
from ..kernels.sweeps import Ahead, AtRows, Labelled, outer_sum, read_margins, sweep
from ..losses import Loss

_BLOCK_ENTRIES = 1 << 17
"""Entries of dense rows that are worked on at a time, so that all products with them find them in the cache."""

_SCATTERED = 0.5
"""Time of half an outer product of a sparse row with itself, per entry, relative to"""

_DENSE_FLOPS = 15.0
"""as many flops of a dense product."""

_NOTHING = np.zeros(0)
_NO_MATRIX = np.zeros((0, 0))


@dataclass
class Sweep:
    """What one read of the data tells at a point."""

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray | None
    """A^T W diag(phi'') A / N, symmetric; None unless asked for."""
    at_rows: AtRows
    foretold: np.ndarray | None = None
    foretold_gradient: np.ndarray | None = None
    """Slopes that the model before foretold, and A^T W of them over N: a dual point."""


class LocalSums:
    """Sums over the rows of a block, for a loss."""

    def __init__(self, block: Block, loss: Loss) -> None:
        self.block = block
        self.n_rows = block.labels.size
        self.n_columns = block.rows.width + (block.rows.bias != 0.0)
        self.is_sparse = block.rows.indptr.size > 0
        self._loss = loss
        self._data = Labelled(*block, loss.read_term, loss.curvature_term)
        self._dense: Any = None if self.is_sparse else data_matrix(block.rows)

    def at(self, x: np.ndarray, *, curvature: bool = False, model: Sweep | None = None, ahead: Any = None) -> Sweep:
        """All sums at x in one read; `ahead` is where the model of an earlier sweep has its minimum."""
        here = AtRows(np.empty(self.n_rows), np.empty(self.n_rows), np.empty(self.n_rows))
        return self._read(x, here, False, curvature, model, ahead)

    def at_margins(self, margins: np.ndarray, *, curvature: bool = False) -> Sweep:
        """The same at a point whose margins are known."""
        here = AtRows(margins, np.empty(self.n_rows), np.empty(self.n_rows))
        return self._read(np.zeros(self.n_columns), here, True, curvature, None, None)

    def loss_at(self, margins: np.ndarray) -> float:
        """Mean loss at known margins; reads no rows."""
        term = self._loss.read_term
        total = sum_stretches(term, margins, self.block.labels, self.block.weights, np.empty(STRETCH))
        return float(total) / self.n_rows

    def curvature(self, bends: np.ndarray) -> np.ndarray:
        """A^T W diag(bends) A / N: one read."""
        factors = bends * self.block.weights / self.n_rows if self.block.weights.size else bends / self.n_rows
        out = np.zeros((self.n_columns, self.n_columns))
        if self.is_sparse:
            outer_sum(self.block.rows, factors, 1, out)
            return out + out.T
        for rows, some in self._blocks():
            _add_gram(rows, factors[some], out)
        return _symmetric(out)

    def collapse(self, labels: np.ndarray, count: int) -> "LocalSums":
        """The same rows with columns added up over `count` pieces; labels[j] is the piece of column j, or -1. One read.

        The result is dense where that makes its curvature cheaper. An intercept's column must be a piece of its own,
        the last.
        """
        rows = self.block.rows
        pieces = count - (rows.bias != 0.0)
        own = labels[: rows.width].astype(np.int64)
        if self.is_sparse:
            sparse = self._collapse_sparse(own, pieces)
            counts = np.diff(sparse.indptr).astype(float)
            if _SCATTERED * float(counts @ counts) > self.n_rows * pieces * (pieces / _DENSE_FLOPS + 1.0):
                table = np.zeros((self.n_rows, pieces))
                collapse_dense(rows, own, table)
                return LocalSums(self.block._replace(rows=Dense(table).rows._replace(bias=rows.bias)), self._loss)
            return LocalSums(self.block._replace(rows=sparse), self._loss)
        inside = np.flatnonzero(own >= 0)
        table = self._dense[:, : rows.width][:, inside]
        if pieces < inside.size:
            order = np.argsort(own[inside], kind="stable")
            starts = np.searchsorted(own[inside][order], np.arange(pieces))
            table = np.add.reduceat(table[:, order], starts, axis=1)
        else:
            table = table[:, np.argsort(own[inside], kind="stable")]
        return LocalSums(self.block._replace(rows=Dense(table).rows._replace(bias=rows.bias)), self._loss)

    def _collapse_sparse(self, labels: np.ndarray, pieces: int) -> Rows:
        rows = self.block.rows
        counts = np.empty(self.n_rows, dtype=np.int64)
        collapsed_counts(rows, labels, np.full(pieces, -1), counts)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        collapse_sparse(rows, labels, np.full(pieces, -1), np.empty(pieces, np.int64), indptr, indices, values)
        return Rows(frozen(values), frozen(indices), frozen(indptr), pieces, rows.bias)

    def _read(
        self, x: np.ndarray, here: AtRows, known: bool, curvature: bool, model: Sweep | None, ahead: Any
    ) -> Sweep:
        d = self.n_columns
        gradient = np.zeros(d)
        out = np.zeros((d, d)) if curvature else _NO_MATRIX
        step = Ahead(*[_NOTHING] * 6)
        if model is not None and ahead is not None:
            step = Ahead(ahead, *model.at_rows, np.empty(self.n_rows), np.zeros(d))
        if self.is_sparse:
            loss = float(sweep(self._data, x, known, 1, here, step, gradient, out))
            out = out + out.T
        else:
            loss = self._read_dense(x, here, known, step, gradient, out)
        sums = Sweep(loss, gradient, out if curvature else None, here)
        if step.point.size:
            sums.foretold, sums.foretold_gradient = step.foretold, step.gradient
        return sums

    def _read_dense(
        self, x: np.ndarray, here: AtRows, known: bool, step: Ahead, gradient: np.ndarray, out: np.ndarray
    ) -> float:
        """Block by block, so that the products with a block find it in the cache."""
        total = 0.0
        weights = self.block.weights / self.n_rows if self.block.weights.size else None
        for rows, some in self._blocks():
            part = AtRows(*(vector[some] for vector in here))
            if not known:
                part.margins[:] = rows @ x
            block = Labelled(
                self._data.rows,
                self._data.labels[some],
                self._data.weights[some],
                self._data.read,
                self._data.bend,
            )
            total += float(read_margins(block, part)) * part.margins.size
            share = 1.0 / self.n_rows if weights is None else weights[some]
            gradient += (share * part.slopes) @ rows
            if step.point.size:
                step.foretold[some] = step.slopes[some] + step.bends[some] * (rows @ step.point - step.margins[some])
                step.gradient[:] += (share * step.foretold[some]) @ rows
            if out.size:
                _add_gram(rows, share * part.bends, out)
        if out.size:
            out[:] = _symmetric(out)
        return total / self.n_rows

    def _blocks(self) -> Any:
        size = max(1, _BLOCK_ENTRIES // max(self.n_columns, 1))
        for start in range(0, self.n_rows, size):
            some = slice(start, start + size)
            yield self._dense[some], some


def _add_gram(rows: np.ndarray, factors: np.ndarray, out: np.ndarray) -> None:
    """The upper triangle of out += rows^T diag(factors) rows, factors at least 0."""
    scaled = np.sqrt(factors)[:, None] * rows
    # In Fortran's order the transpose is out itself, which is filled in place.
    blas.dsyrk(1.0, scaled.T, beta=1.0, c=out.T, lower=1, overwrite_c=1)


def _symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T
