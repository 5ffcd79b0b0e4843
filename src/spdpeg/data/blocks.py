"""Blocks of rows joined, selected, saved and turned into matrices, whatever their layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import StateError
from ..kernels.jit import as_reals, frozen
from ..kernels.rows import Rows
from .base import Block, Source, no_weights
from .csr import CSR
from .dense import Dense


def join(blocks: Sequence[Block]) -> Block:
    """All rows, one block after the other; a copy unless there is only one. A sparse block makes the outcome sparse."""
    if len(blocks) == 1:
        return blocks[0]
    labels = frozen(np.concatenate([block.labels for block in blocks]))
    weights = no_weights()
    if any(block.weights.size for block in blocks):
        weights = as_reals(np.concatenate([_weights(block) for block in blocks]))
    return Block(_stacked([block.rows for block in blocks]), labels, weights)


def pick(block: Block, places: np.ndarray) -> Block:
    """A copy of the rows at these places, in this order."""
    rows, labels, weights = block
    kept = as_reals(weights[places]) if weights.size else no_weights()
    return Block(_picked(rows, places), frozen(labels[places]), kept)


def to_arrays(block: Block) -> dict[str, np.ndarray]:
    """The block as arrays that can be saved."""
    rows, labels, weights = block
    return {"values": rows.values, "indices": rows.indices, "indptr": rows.indptr, "labels": labels, "weights": weights}


def from_arrays(arrays: dict[str, np.ndarray], width: int, bias: float) -> Block:
    """What `to_arrays` was given; refused if it does not fit data of this width."""
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
        whole: Source = Dense(np.concatenate([_table(rows) for rows in parts]))
    else:
        whole = CSR.from_scipy(sp.vstack([sp.csr_array(_table(rows)) for rows in parts], format="csr"))
    return whole.rows._replace(bias=parts[0].bias)


def _picked(rows: Rows, places: np.ndarray) -> Rows:
    chosen = _table(rows)[places]
    source: Source = Dense(chosen) if rows.indptr.size == 0 else CSR.from_scipy(chosen)
    return source.rows._replace(bias=rows.bias)


def _table(rows: Rows) -> Any:
    return data_matrix(rows._replace(bias=0.0))
