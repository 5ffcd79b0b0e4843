"""Blocks of rows joined, selected, saved and turned into matrices, whatever their layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import StateError
from ..kernels.jit import as_reals, frozen
from ..kernels.rows import Rows, copy_sparse_rows
from .sources import CSR, NO_INDEX, NO_WEIGHTS, Block, Dense, Source


def join(blocks: Sequence[Block]) -> Block:
    """All rows, one block after the other; a copy unless there is only one. A sparse block makes the outcome sparse."""
    if len(blocks) == 1:
        return blocks[0]
    labels = frozen(np.concatenate([block.labels for block in blocks]))
    weights = NO_WEIGHTS
    if any(block.weights.size for block in blocks):
        weights = as_reals(np.concatenate([_weights(block) for block in blocks]))
    return Block(_stacked([block.rows for block in blocks]), labels, weights)


def pick(block: Block, places: np.ndarray) -> Block:
    """A copy of the rows at these places, in this order."""
    rows, labels, weights = block
    kept = as_reals(weights[places]) if weights.size else NO_WEIGHTS
    return Block(pick_rows(rows, places), frozen(labels[places]), kept)


def dense_rows(table: np.ndarray, bias: float) -> Rows:
    """The rows of an array of float64 or float32 numbers that is known to be sound."""
    values = np.ascontiguousarray(table).reshape(-1)
    return Rows(frozen(values), NO_INDEX, NO_INDEX, table.shape[1], bias)


def pick_rows(rows: Rows, places: np.ndarray) -> Rows:
    """The same of rows alone."""
    if rows.indptr.size == 0:
        return dense_rows(_table(rows)[places], rows.bias)
    lengths = rows.indptr[places + 1] - rows.indptr[places]
    total = int(lengths.sum())
    out = _compressed(rows, np.empty(total, rows.values.dtype), np.empty(total, rows.indices.dtype), lengths)
    copy_sparse_rows(rows, places, out)
    return out._replace(values=frozen(out.values), indices=frozen(out.indices))


def to_arrays(block: Block) -> dict[str, np.ndarray]:
    """The block as arrays that can be saved."""
    rows, labels, weights = block
    return {"values": rows.values, "indices": rows.indices, "indptr": rows.indptr, "labels": labels, "weights": weights}


def from_arrays(arrays: dict[str, np.ndarray], width: int, bias: float) -> Block:
    """The inverse of `to_arrays`; refuses arrays that do not fit data of this width."""
    try:
        values, indices, indptr, labels, weights = (
            arrays[name] for name in ("values", "indices", "indptr", "labels", "weights")
        )
        source: Source = CSR(values, indices, indptr, width) if indptr.size else Dense(values.reshape(-1, width))
        if labels.shape != (source.n_samples,) or weights.shape not in ((0,), labels.shape):
            raise ValueError(f"{source.n_samples} rows have {labels.size} labels and {weights.size} weights")
    except (KeyError, ValueError) as error:
        raise StateError(
            f"The rows that wait in the state do not fit this problem ({error}). Resume with the same problem."
        ) from None
    return Block(source.rows._replace(bias=bias), frozen(labels), frozen(weights))


def data_matrix(rows: Rows) -> Any:
    """The rows as a SciPy or NumPy matrix, copied only to add an intercept's column."""
    if rows.indptr.size == 0:
        dense = rows.values.reshape(-1, rows.width)
        return np.hstack([dense, np.full((dense.shape[0], 1), rows.bias)]) if rows.bias else dense
    n = rows.indptr.size - 1
    matrix = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(n, rows.width))
    return sp.hstack([matrix, np.full((n, 1), rows.bias)], format="csr") if rows.bias else matrix


def _weights(block: Block) -> np.ndarray:
    return block.weights if block.weights.size else np.ones(block.labels.size)


def _stacked(parts: list[Rows]) -> Rows:
    if all(rows.indptr.size == 0 for rows in parts):
        return dense_rows(np.concatenate([_table(rows) for rows in parts]), parts[0].bias)
    sparse = [rows if rows.indptr.size else CSR.from_scipy(sp.csr_array(_table(rows))).rows for rows in parts]
    ends = [(rows.indptr[0], rows.indptr[-1]) for rows in sparse]
    values = np.concatenate([rows.values[first:last] for rows, (first, last) in zip(sparse, ends, strict=True)])
    indices = np.concatenate([rows.indices[first:last] for rows, (first, last) in zip(sparse, ends, strict=True)])
    lengths = np.concatenate([np.diff(rows.indptr) for rows in sparse])
    return _compressed(parts[0], frozen(values), frozen(indices), lengths)


def _compressed(like: Rows, values: np.ndarray, indices: np.ndarray, lengths: np.ndarray) -> Rows:
    """Sparse rows of these lengths; they come from blocks, whose indices have been checked."""
    kind = indices.dtype if values.size <= np.iinfo(indices.dtype).max else np.int64
    indptr = np.zeros(lengths.size + 1, dtype=kind)
    np.cumsum(lengths, out=indptr[1:])
    return like._replace(values=values, indices=indices, indptr=frozen(indptr))


def _table(rows: Rows) -> Any:
    return data_matrix(rows._replace(bias=0.0))
