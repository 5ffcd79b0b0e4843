"""Compressed sparse rows, in memory or memory-mapped."""

from typing import Any, Self

import numpy as np

from ..errors import InputError
from ..kernels.jit import frozen, kernel
from ..kernels.rows import Rows
from ..parameters import whole_number
from ..sparse import sound
from .base import NO_INDEX, Source, as_table, check_width, memory_mapped, values_of


class _RepeatedColumn(InputError):
    """A row stores a column twice."""


class CSR(Source):
    """The three arrays of a CSR matrix, with 32- or 64-bit indices, read where they are.

    Columns need not be in order, but no row may store a column twice. The indices are read once to make sure of that
    and of their range, because compiled code follows them blindly.

    Parameters
    ----------
    data, indices, indptr : array
        float64 and float32 numbers and int32 and int64 indices are not copied; other types are converted.
    n_features : int
        Number of columns.

    See Also
    --------
    Dense : The same for arrays.
    open_csr : Rows that `write_csr` wrote.

    Examples
    --------
    >>> from spdpeg import data
    >>> rows = data.CSR([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3], n_features=3)
    >>> rows.shape
    (2, 3)
    """

    def __init__(self, data: Any, indices: Any, indptr: Any, n_features: int) -> None:
        data, indices, indptr = as_table(data), as_table(indices), as_table(indptr)
        whole = data.ndim == indices.ndim == indptr.ndim == 1 and indptr.size > 0 and data.size == indices.size
        if not whole or indptr[0] != 0 or indptr[-1] != data.size:
            raise InputError(
                f"The CSR arrays do not fit together: indptr has shape {indptr.shape}, data {data.shape}, indices "
                f"{indices.shape}. indptr must start at 0 and end at the number of stored entries."
            )
        check_width(indptr.size - 1, whole_number("n_features", n_features))
        self.n_samples, self.n_features = indptr.size - 1, int(n_features)
        self.rows = Rows(
            frozen(np.ascontiguousarray(values_of(data))),
            _index(indices, "indices"),
            _index(indptr, "indptr"),
            self.n_features,
        )
        self.on_disk = memory_mapped(self.rows.values)
        self._check()

    @classmethod
    def from_scipy(cls, matrix: Any) -> Self:
        """Rows of a SciPy sparse matrix or array.

        Parameters
        ----------
        matrix : sparse matrix or array
            Copied only to convert another format or to sum repeated entries.

        Returns
        -------
        CSR
        """
        if matrix.ndim != 2:
            raise InputError(f"X is a sparse array of shape {matrix.shape}. It must have two dimensions.")
        # Conversions follow the indices of what they convert; those of a CSR matrix are checked by the constructor.
        csr = matrix if matrix.format == "csr" else sound(matrix).tocsr()
        if np.shape(csr.indptr) != (csr.shape[0] + 1,):
            sound(csr)
        entries = int(csr.indptr[-1])
        try:
            return cls(csr.data[:entries], csr.indices[:entries], csr.indptr, csr.shape[1])
        except _RepeatedColumn:
            summed = sound(csr).copy()
            summed.sum_duplicates()
            return cls(summed.data, summed.indices, summed.indptr, csr.shape[1])

    @property
    def filled(self) -> Rows:
        values, _, _, width, _ = self.rows
        return Rows(values, NO_INDEX, NO_INDEX, width) if self._full else self.rows

    def _check(self) -> None:
        values, indices, indptr, width, _ = self.rows
        ordered = bool(_are_ordered(indices, indptr, width))
        # Rows in order that store every column are those of an array, which needs no index.
        self._full = ordered and width > 1 and values.size == self.n_samples * width
        if not ordered:
            # Rows that are only out of order are sound, which takes a vector of that length to tell.
            row = int(_first_fault(indices, indptr, width, np.full(width, -1)))
            if row >= 0:
                self._refuse(row)

    def _refuse(self, row: int) -> None:
        start, stop = (int(place) for place in self.rows.indptr[row : row + 2])
        if not start <= stop <= self.rows.indices.size:
            raise InputError(f"indptr goes from {start} to {stop} at row {row} of X. It must never fall; rebuild X.")
        columns = self.rows.indices[start:stop]
        outside = columns[(columns < 0) | (columns >= self.n_features)]
        if outside.size:
            raise InputError(
                f"Row {row} of X holds the column number {outside[0]}, outside 0..{self.n_features - 1}. "
                "X is damaged; rebuild it."
            )
        raise _RepeatedColumn(f"Row {row} of X stores a column twice. Sum repeated entries first.")


def _index(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} of a CSR matrix has type {array.dtype}. It must hold whole numbers.")
    return frozen(np.ascontiguousarray(array, dtype=array.dtype if array.dtype in (np.int32, np.int64) else np.int64))


@kernel
def _are_ordered(indices: np.ndarray, indptr: np.ndarray, width: int) -> bool:
    """Whether the columns of all rows rise and lie within the width."""
    n = indices.size
    between = falls = 0
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        if start > stop or stop > n:
            return False
        if start == stop:
            continue
        if indices[start] < 0 or indices[stop - 1] >= width:
            return False
        # Where one row ends and the next begins, columns may fall.
        between += start > 0 and indices[start] <= indices[start - 1]
    # One long loop without branches takes a fraction of the time of one for each row.
    for k in range(1, n):
        falls += indices[k] <= indices[k - 1]
    return bool(falls == between)


@kernel
def _first_fault(indices: np.ndarray, indptr: np.ndarray, width: int, seen: np.ndarray) -> int:
    """First row that ends before it starts, or has a column outside the width or twice; -1 if there is none.

    `seen` has an entry for each column, -1 at first, and keeps the last row that stored the column.
    """
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        if start > stop or stop > indices.size:
            return i
        for k in range(start, stop):
            j = indices[k]
            if j < 0 or j >= width or seen[j] == i:
                return i
            seen[j] = i
    return -1
