"""Sources of rows that can be read in any order: dense ones and compressed sparse ones, in memory or memory-mapped."""

import mmap
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.jit import NO_REALS, frozen, kernel
from ..kernels.rows import Rows
from ..parameters import refuse_dask, whole_number
from ..sparse import sound

NO_INDEX = frozen(np.empty(0, dtype=np.int32))
"""Columns and starts of dense rows."""

NO_WEIGHTS = NO_REALS
"""Weight 1 everywhere, without a vector of ones."""


class Block(NamedTuple):
    """Rows with their labels and weights: all a kernel ever sees of the data. No weights means weight 1 everywhere.

    See Also
    --------
    Source : Where the rows come from.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import data
    >>> block = data.Block(data.Dense(np.eye(2)).rows, np.array([1.0, 2.0]), np.empty(0))
    >>> block.labels.tolist(), block.weights.size
    ([1.0, 2.0], 0)
    """

    rows: Rows
    labels: np.ndarray
    weights: np.ndarray


class Source:
    """A finite set of rows that can be read in any order.

    Attributes
    ----------
    rows : Rows
        The record kernels read.
    n_samples, n_features : int
    labels : array or None
        Of the rows, for sources that bring their own.
    names : list of str or None
        Of the columns, likewise.
    on_disk : bool
        Rows are read through a memory map, so solvers visit them block by block rather than one here, one there.

    See Also
    --------
    Dense, CSR : Rows in memory or memory-mapped.
    Tables : Rows that are read in blocks, again in every pass.
    as_source : Anything that `Problem` takes as X, as a source.

    Examples
    --------
    >>> from spdpeg import data
    >>> source = data.as_source([[1.0, 2.0], [3.0, 4.0]])
    >>> isinstance(source, data.Source), source.on_disk
    (True, False)
    """

    rows: Rows
    n_samples: int
    n_features: int
    on_disk: bool = False
    labels: np.ndarray | None = None
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_samples, self.n_features

    @property
    def filled(self) -> Rows:
        """The rows; dense ones where sparse rows store every entry."""
        return self.rows


class Dense(Source):
    """A two-dimensional array, read where it is.

    float64 and float32 arrays stored row by row are not copied, whether read-only, memory-mapped or neither; other
    types and orders are converted once, into memory.

    See Also
    --------
    CSR : The same for sparse matrices.
    open_dense : Rows that `write_dense` wrote.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import data
    >>> X = np.ones((4, 2))
    >>> rows = data.Dense(X)
    >>> rows.shape, np.shares_memory(rows.rows.values, X)
    ((4, 2), True)
    """

    def __init__(self, X: Any) -> None:
        array = as_table(X)
        if sp.issparse(array):
            raise InputError("X is a sparse matrix. Pass it to CSR.from_scipy, or X.toarray() here.")
        if array.ndim != 2:
            raise InputError(
                f"X has {array.ndim} dimension(s) and shape {array.shape}. It must have two, samples by features; "
                "use X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one sample."
            )
        check_width(*array.shape)
        self.n_samples, self.n_features = array.shape
        values = np.ascontiguousarray(values_of(array))
        self.on_disk = memory_mapped(values)
        self.rows = Rows(frozen(values.reshape(-1)), NO_INDEX, NO_INDEX, self.n_features)


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


def as_table(X: Any) -> Any:
    """X as an array or a SciPy sparse matrix; one that is so already is returned as it is, if it is sound."""
    if sp.issparse(X):
        return sound(X)
    refuse_dask("X", X)
    if np.ma.is_masked(X):
        raise InputError("X is a masked array with masked entries. Impute them or drop their rows.")
    # Only a data frame whose columns are all sparse has this accessor; np.asarray would fill in the zeros.
    sparse: Any = getattr(X, "sparse", None)
    try:
        return sparse.to_coo() if hasattr(sparse, "to_coo") and X.size else np.asarray(X)
    # What a foreign object's __array__ raises is up to it.
    except Exception as error:
        raise InputError(f"X is a {type(X).__name__} that is no table of numbers ({error}). Rebuild it.") from None


def values_of(array: np.ndarray) -> np.ndarray:
    """float64 and float32 numbers as they are, anything else as float64 in C order."""
    if array.dtype in (np.float64, np.float32):
        return array
    try:
        if array.dtype.kind not in "biufO":
            raise TypeError(f"type {array.dtype}")
        return array.astype(np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"X has entries that are not real numbers ({error}). Encode text, dates and categories as numbers first."
        ) from None


def memory_mapped(array: Any) -> bool:
    """Whether the array, or what it is a view of, lives in a file."""
    return file_of(array) is not None


def file_of(array: Any) -> mmap.mmap | None:
    """The map of the file that the array, or what it is a view of, lives in."""
    while array is not None:
        if isinstance(array, mmap.mmap):
            return array
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return None


def check_width(n_samples: int, n_features: int) -> None:
    """Refuse data with no rows or no columns."""
    if n_samples == 0 or n_features == 0:
        raise InputError(
            f"X has {n_samples} rows and {n_features} columns. At least one row and one column are needed; "
            "check the file or the selection that made it."
        )
