"""Sums over rows in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas

from ..data import Block
from ..data.matrix import data_matrix
from ..kernels.jit import STRETCH
from ..kernels.rows import sum_stretches
from ..kernels.sweeps import Ahead, AtRows, Labelled, outer_sum, read_margins, sweep
from ..losses import Loss

_BLOCK_ENTRIES = 1 << 17
"""Entries of dense rows that are worked on at a time, so that all products with them find them in the cache."""

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
