"""The curvature of few rows and many coordinates, kept as rows.

A model of d coordinates then costs N^2 d operations for each step of interior points instead of d^3, and no memory of
d^2. It is the matrix inversion lemma on H + K^T D^-1 K, whose second part is sparse (quadratic.sparse).
"""

import numpy as np

from ..data.blocks import data_matrix
from ..kernels.jit import frozen
from ..losses import Loss
from ..quadratic import LowRank
from ..sums import LocalSums, Sums, Sweep
from ..sums.blocks import Request

_MOST_ROWS, _COLUMNS = 400, 4
"""Rows, and columns for each of them at least, for which that pays."""
_FEWEST_COLUMNS = 1500
"""Columns up to which one dense matrix takes less time: its models are compiled as a whole."""
_MOST_ENTRIES = 8_000_000
"""Entries of the rows, zeros included."""


def are_few(sums: Sums) -> bool:
    """Whether the curvature should be kept as rows."""
    n, d = sums.n_rows, sums.n_columns
    wide = d > max(_FEWEST_COLUMNS, _COLUMNS * n)
    return wide and n <= _MOST_ROWS and n * d <= _MOST_ENTRIES and sums.resident and sums.block is not None


def kept(sums: Sums, loss: Loss) -> Sums:
    """The same sums, with the curvature as rows where these are few."""
    if not are_few(sums):
        return sums
    assert sums.block is not None
    return FewRows.of(sums.block, loss)


class FewRows(LocalSums):
    """Sums with such curvatures, over rows in memory."""

    _dense: np.ndarray | None = None

    def _swept(self, margins: np.ndarray, request: Request, model: Sweep | None = None) -> Sweep:
        sweep = super()._swept(margins, request._replace(curvature=False), model)
        if request.curvature:
            factors = sweep.at_rows.curvatures / self.n_rows
            if self._weights.size:
                factors = factors * self._weights
            used = factors > 0.0
            V = np.sqrt(factors[used])[:, None] * self._rows()[used]
            sweep.curvature = LowRank(np.zeros(self.n_columns), V, np.ones(len(V)))
        return sweep

    def _rows(self) -> np.ndarray:
        if self._dense is None:
            assert self.block is not None
            matrix = data_matrix(self.block.rows)
            self._dense = frozen(np.ascontiguousarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix))
        return self._dense
