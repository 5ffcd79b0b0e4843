"""The interface of data sources, and the checks that all of them share."""

import mmap
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.rows import Rows
from ..parameters import refuse_dask
from ..sparse import sound

NO_INDEX = jit.frozen(np.empty(0, dtype=np.int32))
"""Columns and starts of dense rows."""

NO_WEIGHTS = jit.NO_REALS
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
