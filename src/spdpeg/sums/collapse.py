"""Rows with columns added up over pieces, and whether they are better dense then."""

from typing import Any

import numpy as np

from ..data.blocks import dense_rows
from ..kernels.collapse import collapse_dense, collapse_sparse, collapsed_counts, select
from ..kernels.jit import frozen
from ..kernels.row_sums import squared_lengths
from ..kernels.rows import Rows
from .blocks import is_faster_dense


def collapsed_rows(rows: Rows, labels: np.ndarray, pieces: int) -> Rows:
    """The rows with columns added up over pieces; labels[j] is the piece of column j, or -1."""
    if rows.indptr.size == 0:
        return _collapsed_dense(rows, labels, pieces)
    if np.count_nonzero(labels >= 0) == pieces:
        return _selected(rows, labels.astype(np.int32), pieces)
    counts = np.empty(rows.indptr.size - 1, dtype=np.int64)
    collapsed_counts(rows, labels, np.full(pieces, -1), counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    size = int(indptr[-1])
    indices, values = np.empty(size, dtype=np.int32), np.empty(size)
    indptr = indptr.astype(_index_type(size))
    collapse_sparse(rows, labels, np.full(pieces, -1), np.empty(pieces, np.int64), indptr, indices, values)
    return Rows(frozen(values), frozen(indices), frozen(indptr), pieces, rows.bias)


def _selected(rows: Rows, places: np.ndarray, pieces: int) -> Rows:
    """`collapsed_rows` where each piece is one column."""
    entries = int(rows.indptr[-1] - rows.indptr[0])
    indptr = np.empty(rows.indptr.size, dtype=_index_type(entries))
    # Room for all entries and one more, of which the system hands out what is written to: counting takes longer.
    indices, values = np.empty(entries + 1, dtype=np.int32), np.empty(entries + 1)
    size = int(select(rows, places, indptr, indices, values))
    if 2 * size < entries:
        indices, values = indices[:size].copy(), values[:size].copy()
    return Rows(frozen(values[:size]), frozen(indices[:size]), frozen(indptr), pieces, rows.bias)


def _index_type(size: int) -> np.dtype[Any]:
    return np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def cheaper(blocks: list[Rows], n_rows: int, pieces: int) -> list[Rows]:
    """Collapsed rows as they are, or dense where that makes their curvature cheaper."""
    if blocks[0].indptr.size == 0:
        return blocks
    # Pieces gather entries, so that collapsed rows may be nearly full.
    dense = is_faster_dense(sum(float(squared_lengths(rows.indptr)) for rows in blocks), n_rows, pieces)
    return [_densified(rows) for rows in blocks] if dense else blocks


def _densified(rows: Rows) -> Rows:
    """Sparse rows as dense ones."""
    table = np.zeros((rows.indptr.size - 1, rows.width))
    collapse_dense(rows, np.arange(rows.width), table)
    return dense_rows(table, rows.bias)


def _collapsed_dense(rows: Rows, labels: np.ndarray, pieces: int) -> Rows:
    inside = np.flatnonzero(labels >= 0)
    order = inside[np.argsort(labels[inside], kind="stable")]
    table = rows.values.reshape(-1, rows.width)[:, order]
    if pieces < inside.size:
        table = np.add.reduceat(table, np.searchsorted(labels[order], np.arange(pieces)), axis=1)
    return dense_rows(table, rows.bias)
