"""What a source of data is, and how anything a user may hold becomes one."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.rows import Rows


class Block(NamedTuple):
    """Rows with their labels and weights: all a kernel ever sees of the data. No weights means weight 1 everywhere."""

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
    on_disk : bool
        Rows are read through a memory map, so solvers visit them block by block rather than one here, one there.
    """

    rows: Rows
    n_samples: int
    n_features: int
    on_disk: bool = False


def memory_mapped(array: Any) -> bool:
    """Whether the array, or what it is a view of, lives in a file."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


def as_source(X: Any) -> Any:
    """Dense array, sparse matrix, data frame, memory map, source or iterable of chunks -> `Source` or `Stream`."""
    from .csr import CSR
    from .dense import Dense
    from .stream import Stream

    if isinstance(X, Source | Stream):
        return X
    if sp.issparse(X):
        return CSR.from_scipy(X)
    if isinstance(X, np.ndarray) or hasattr(X, "__array__"):
        return Dense(X)
    if isinstance(X, list | tuple) and not _holds_chunks(X):
        return Dense(np.asarray(X))
    if isinstance(X, Iterable) or callable(X):
        return Stream(X)
    raise InputError(
        f"X is a {type(X).__name__}. Give an array, a SciPy sparse matrix, a data frame, a memory map, "
        "or an iterable of (X chunk, y chunk)."
    )


def _holds_chunks(X: Any) -> bool:
    """A list of (X chunk, y chunk) pairs rather than a list of rows."""
    return len(X) > 0 and isinstance(X[0], tuple) and len(X[0]) in (2, 3) and np.ndim(X[0][0]) == 2


def check_width(n_samples: int, n_features: int) -> None:
    """Refuse data with no rows or no columns."""
    if n_samples == 0 or n_features == 0:
        raise InputError(
            f"X has {n_samples} rows and {n_features} columns. At least one row and one column are needed; "
            "check the file or the selection that made it."
        )


def values_of(array: np.ndarray) -> np.ndarray:
    """float64 and float32 numbers as they are, anything else as float64."""
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind not in "biuf":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"X has entries of type {array.dtype} that are not numbers ({error}). "
                "Encode text and categories as numbers first."
            ) from None
    return array.astype(np.float64)


def no_weights() -> np.ndarray:
    """Weight 1 everywhere, without a vector of ones."""
    return jit.NO_REALS
