"""Compressed sparse rows, in memory or memory-mapped."""

from typing import Any, Self

import numpy as np

from ..errors import InputError
from ..kernels.jit import frozen
from ..kernels.rows import Rows
from .base import Source, check_width, memory_mapped, values_of


class CSR(Source):
    """The three arrays of a CSR matrix, with 32- or 64-bit indices, read where they are.

    `from_scipy` copies a matrix only to sum repeated entries or to convert another format or number type.
    """

    def __init__(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_features: int) -> None:
        if indptr.ndim != 1 or indptr.size < 1 or int(indptr[0]) != 0 or int(indptr[-1]) > min(data.size, indices.size):
            raise InputError(
                f"The CSR arrays do not fit together: indptr has shape {indptr.shape}, data {data.shape}, indices "
                f"{indices.shape}. indptr must start at 0 and end at the number of stored entries."
            )
        check_width(indptr.size - 1, n_features)
        self.n_samples, self.n_features = indptr.size - 1, int(n_features)
        self.on_disk = memory_mapped(data)
        self.rows = Rows(
            frozen(np.ascontiguousarray(values_of(data))),
            frozen(np.ascontiguousarray(indices)),
            frozen(np.ascontiguousarray(indptr)),
            self.n_features,
        )

    @classmethod
    def from_scipy(cls, matrix: Any) -> Self:
        """From any SciPy sparse matrix or array."""
        if matrix.ndim != 2:
            raise InputError(f"X is a sparse array of shape {matrix.shape}. It must have two dimensions.")
        csr = matrix.tocsr()
        if not csr.has_canonical_format:
            csr = csr.copy() if csr is matrix else csr
            csr.sum_duplicates()
        source = cls(csr.data, csr.indices, csr.indptr, csr.shape[1])
        if csr.nnz and (int(csr.indices.min()) < 0 or int(csr.indices.max()) >= csr.shape[1]):
            raise InputError(
                f"X holds column numbers outside 0..{csr.shape[1] - 1}. The matrix is damaged; rebuild it."
            )
        return source
