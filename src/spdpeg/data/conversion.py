"""How anything that a user may hold becomes a source of data."""

from collections.abc import Iterable, Mapping, Set
from os import PathLike
from typing import Any

import scipy.sparse as sp

from ..errors import InputError
from ..parameters import refuse_dask
from .arrow import from_arrow
from .sources import CSR, Dense, Source, as_table
from .stream import Stream


def as_source(X: Any) -> Any:
    """Anything that `Problem` takes as X, as the source that it reads from.

    Parameters
    ----------
    X : array, sparse matrix, data frame, memory map, source, or iterable of chunks

    Returns
    -------
    Source or Stream

    See Also
    --------
    Problem : Does this with its X.
    Stream : Rows that arrive in chunks.

    Examples
    --------
    >>> from spdpeg import data
    >>> data.as_source([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    if isinstance(X, Source | Stream):
        return X
    refuse_dask("X", X)
    if sp.issparse(X) or hasattr(X, "__array__") or (isinstance(X, list | tuple) and not _holds_chunks(X)):
        # A CSR source makes sure of what it is given; once is enough.
        table = X if sp.issparse(X) else as_table(X)
        return CSR.from_scipy(table) if sp.issparse(table) else Dense(table)
    if hasattr(X, "collect_batches") or hasattr(X, "__arrow_c_stream__"):
        return from_arrow(X, labelled=False)
    if (isinstance(X, Iterable) and not isinstance(X, str | bytes | Mapping | Set | PathLike)) or callable(X):
        return Stream(X)
    raise InputError(
        f"X is a {type(X).__name__}. Give an array, a SciPy sparse matrix, a data frame, a memory map, "
        "an iterable of (X chunk, y chunk), or what data.open_csr returns for a directory."
    )


def _holds_chunks(X: Any) -> bool:
    """A list of (X chunk, y chunk) pairs rather than a list of rows."""
    if not X or not isinstance(X[0], tuple | list) or len(X[0]) not in (2, 3):
        return False
    return bool(as_table(X[0][0]).ndim == 2)
