"""The rows of any source some at a time, and some of its rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import data_matrix
from .sources import CSR, Dense, Source
from .tables import Tables

_ENTRIES_AT_ONCE = 10_000_000
"""Most entries of a piece, zeros counted."""


def pieces(source: Source) -> Iterator[Any]:
    """All rows in order, as arrays or CSR matrices that fit into memory.

    Parameters
    ----------
    source : Source

    Yields
    ------
    array or CSR matrix
    """
    if isinstance(source, Tables):
        yield from source.blocks()
        return
    values, indices, indptr, width, _ = source.rows
    step = max(1, _ENTRIES_AT_ONCE // width)
    for start in range(0, source.n_samples, step):
        stop = min(start + step, source.n_samples)
        if indptr.size == 0:
            yield values[start * width : stop * width].reshape(-1, width)
        else:
            first, last = indptr[start], indptr[stop]
            rows = values[first:last], indices[first:last], indptr[start : stop + 1] - first
            yield sp.csr_array(rows, shape=(stop - start, width))


def take(source: Source, rows: np.ndarray) -> Source:
    """Some rows of a source, by number or by a mark for each; on a disk they stay there, unless they are sparse.

    Parameters
    ----------
    source : Source
    rows : array of int or bool

    Returns
    -------
    Source
    """
    if isinstance(source, Tables):
        return source.take(rows)
    if not source.on_disk or source.rows.indptr.size:
        chosen = data_matrix(source.rows)[rows]
        return CSR.from_scipy(chosen) if sp.issparse(chosen) else Dense(chosen)
    return Tables("A part of a memory map", lambda: pieces(source), *source.shape).take(rows)
