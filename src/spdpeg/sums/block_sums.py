"""The sums over one block of rows, from which those over all rows are added up."""

from typing import Any, NamedTuple

import numpy as np

from ..data import Block
from ..data.blocks import dense_rows
from ..kernels.collapse import collapse_dense, collapse_sparse, collapsed_counts, select
from ..kernels.jit import CHUNK, Term, frozen
from ..kernels.lapack import ROUTINES
from ..kernels.row_sums import column_squares, squared_lengths
from ..kernels.row_sums import margins as row_margins
from ..kernels.rows import Rows
from ..kernels.sweeps import Ahead, AtRows, DenseChunk, Labelled, outer_sum, read_margins, sweep
from ..losses import Loss

_SCATTERED = 0.28
"""Cost of a product of two entries of a sparse row that is added to a matrix; nanoseconds, say."""

_WRITTEN, _MULTIPLIED = 2.2, 0.02
"""Cost of an entry, zeros included, where rows are written out and BLAS adds up their products: by itself, and for each
of its products with the others of its row."""

_NO_MATRIX = np.zeros((0, 0))
_NOTHING = np.zeros(0)
_NO_ROOM = DenseChunk(_NO_MATRIX, ROUTINES)


class BlockSums(NamedTuple):
    """A block's part of means over all rows; arrays that were not asked for are empty."""

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray
    predicted_gradient: np.ndarray
    least_curvature: float
    largest_curvature: float


class Request(NamedTuple):
    """The sums to compute over each block."""

    x: np.ndarray
    known: bool
    """Margins are known."""
    curvature: bool
    floor: float
    """The least curvature of a row."""
    ahead: np.ndarray
    """The point whose slopes a model predicts, or nothing."""
    losses: Term
    curvatures: Term
    """The loss with its slopes, and its curvature, as kernels take them."""
    n_rows: int
    """Rows of all blocks."""


def read(block: Block, request: Request, here: AtRows, model: AtRows | None, u: np.ndarray) -> BlockSums:
    """Fill what belongs to the rows of a block, and return its sums."""
    d = block.rows.width + (block.rows.bias != 0.0)
    out = np.empty((d, d)) if request.curvature else _NO_MATRIX
    gradient = np.empty(d)
    step = Ahead(*[_NOTHING] * 6) if model is None else Ahead(request.ahead, *model, u, np.empty(d))
    data = Labelled(*block, request.losses, request.curvatures)
    room = _room(block.rows, d) if request.curvature else _NO_ROOM
    value = float(sweep(data, request.n_rows, request.x, request.known, request.floor, room, here, step, gradient, out))
    curvatures = here.curvatures
    least, largest = float(np.minimum.reduce(curvatures)), float(np.maximum.reduce(curvatures))
    return BlockSums(value, gradient, out, step.gradient, least, largest)


def margins(rows: Rows, n_rows: int, x: np.ndarray) -> np.ndarray:
    """A x for the rows of a block, with the same bits as `read` has them."""
    out = np.empty(n_rows)
    row_margins(rows, x, out)
    return out


def at_margins(block: Block, loss: Loss, known: np.ndarray) -> AtRows:
    """Slopes and curvatures of a block's rows at known margins."""
    here = AtRows(known, np.empty(known.size), np.empty(known.size))
    read_margins(Labelled(*block, loss.read_term, loss.curvatures_term), here)
    return here


def column_squares_of(block: Block) -> np.ndarray:
    """Means of w a_ij^2."""
    out = np.empty(block.rows.width + (block.rows.bias != 0.0))
    column_squares(block.rows, block.weights, out)
    return out


def gram(rows: Rows, factors: np.ndarray) -> np.ndarray:
    """The sum of factor_i a_i a_i^T, factors at least 0."""
    d = rows.width + (rows.bias != 0.0)
    room, out = _room(rows, d), np.empty((d, d))
    outer_sum(rows, factors, room, out)
    return out


def _room(rows: Rows, d: int) -> DenseChunk:
    """Work space in which sparse rows are written out, where that makes their outer products cheaper."""
    dense = rows.indptr.size == 0 or _are_long(rows, d)
    return DenseChunk(np.empty((CHUNK, d)), ROUTINES) if dense else _NO_ROOM


def _are_long(rows: Rows, d: int) -> bool:
    """Whether sparse rows have so many entries that BLAS adds up their outer products faster."""
    n_rows = rows.indptr.size - 1
    # Rows of the same length have the least sum of squares, for which nothing has to be counted.
    least = float(rows.indptr[-1] - rows.indptr[0]) ** 2 / max(n_rows, 1)
    return _is_dense(least, n_rows, d) or _is_dense(float(squared_lengths(rows.indptr)), n_rows, d)


def _is_dense(squares: float, n_rows: int, width: int) -> bool:
    """Whether BLAS adds up outer products faster, zeros included, than entries are scattered."""
    return _SCATTERED * squares > _dense_time(n_rows, width)


def _dense_time(n_rows: int, width: int) -> float:
    return n_rows * width * (_WRITTEN + _MULTIPLIED * width)


def gram_time(rows: Rows, n_rows: int) -> float:
    """Nanoseconds that the sum of outer products of all rows takes, about."""
    dense = _dense_time(n_rows, rows.width)
    return dense if rows.indptr.size == 0 else min(dense, _SCATTERED * float(squared_lengths(rows.indptr)))


def collapsed(rows: Rows, labels: np.ndarray, pieces: int) -> Rows:
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
    """`collapsed` where each piece is one column."""
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
    dense = _is_dense(sum(float(squared_lengths(rows.indptr)) for rows in blocks), n_rows, pieces)
    return [densified(rows) for rows in blocks] if dense else blocks


def densified(rows: Rows) -> Rows:
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
