"""Blocks of rows: where they are, a sample of them, and the sums over one, of which those over all rows are made."""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ..data import Block, Dense, Tables
from ..data.blocks import pick_rows
from ..data.sources import file_of
from ..kernels.jit import CHUNK, Term
from ..kernels.lapack import ROUTINES
from ..kernels.row_sums import adjoint, column_squares, squared_lengths
from ..kernels.row_sums import margins as row_margins
from ..kernels.rows import Rows
from ..kernels.sweeps import Ahead, AtRows, DenseChunk, Labelled, outer_sum, read_margins, sweep
from ..losses import Loss
from . import threads

BLOCK_ENTRIES = 1 << 22
"""Numbers in a block: enough to make adding up its sums cheap, few enough for many threads. Smaller data are one."""

_SHARED_BY = 4
"""Blocks come in multiples of it, so that two or four threads have the same number of them each."""

_PAGE = 4096
"""Bytes that a disk is read by; touching one number of each reads it all."""

_RUNS = 32
"""Places in a block on a disk that a sample is read from."""

MEAN_ROWS = 256
"""Rows whose means are near those of all; second moments are taken about them."""

_FRACTION = 0.02
"""Fraction of the rows in the sample, unless there are many coordinates."""
_ROWS_PER_COORDINATE = 20
"""Rows in the sample for each coordinate, at least."""
MOST_ENTRIES = 1 << 24
"""Numbers that the sample may hold."""
_LARGEST_FRACTION = 0.125
"""Fraction of the rows beyond which a sample does not pay."""
_LEAST_PER_COORDINATE = 4
"""Rows for each coordinate below which there is no such start."""

_SCATTERED = 0.28
"""Cost of a product of two entries of a sparse row that is added to a matrix; nanoseconds, say."""

_WRITTEN, _MULTIPLIED = 2.2, 0.02
"""Cost of an entry, zeros included, where rows are written out and BLAS adds up their products: by itself, and for each
of its products with the others of its row."""

_NO_MATRIX = np.zeros((0, 0))
_NOTHING = np.zeros(0)
_NO_ROOM = DenseChunk(_NO_MATRIX, ROUTINES)


class RowBlocks(Protocol):
    """Blocks of rows in a fixed order.

    Attributes
    ----------
    starts : list of int
        The first row of each block, and the number of all rows.
    width : int
        Columns, without that of an intercept.
    bias : float
    is_sparse : bool
    n_entries : int
    resident : bool
        Rows need not be read from anywhere; otherwise the next block is read while one is worked on.
    """

    starts: Sequence[int]
    width: int
    bias: float
    is_sparse: bool
    n_entries: int
    resident: bool

    def blocks(self) -> Iterator[Rows]:
        """All blocks, in order."""

    def some(self, n_rows: int) -> Iterator[tuple[np.ndarray, Rows, int]] | None:
        """About so many rows from all over the data, which ones they are, and how many were read for them.

        None if that would read them all.
        """


class InMemory:
    """Blocks that are there already."""

    resident = True

    def __init__(self, blocks: Sequence[Rows], starts: Sequence[int]) -> None:
        self._blocks, self.starts = blocks, starts
        self.width, self.bias = blocks[0].width, blocks[0].bias
        self.is_sparse = blocks[0].indptr.size > 0
        self.n_entries = sum(_entries(rows) for rows in blocks)

    def blocks(self) -> Iterator[Rows]:
        """All blocks, in order."""
        return iter(self._blocks)

    def some(self, n_rows: int) -> Iterator[tuple[np.ndarray, Rows, int]]:
        """Rows drawn at random, always the same ones: neighbours may be alike."""

        def of(block: tuple[Rows, int, int]) -> tuple[np.ndarray, Rows, int]:
            rows, start, stop = block
            chosen = self._drawn(stop - start, max(1, n_rows * (stop - start) // self.starts[-1]))
            return start + chosen, pick_rows(rows, chosen), chosen.size

        yield from threads.in_order(of, zip(self._blocks, self.starts[:-1], self.starts[1:], strict=True))

    def _drawn(self, there: int, wanted: int) -> np.ndarray:
        """Places of about so many rows of a block, in increasing order."""
        # The number of rows is the seed, so that the same data always give the same sample.
        return np.unique(np.random.default_rng(there).integers(there, size=wanted))


class Mapped(InMemory):
    """Blocks of a memory map."""

    resident = False

    def some(self, n_rows: int) -> Iterator[tuple[np.ndarray, Rows, int]]:
        """Runs of rows, without those after them, which a disk would read ahead."""
        maps = {id(found): found for found in map(file_of, (self._blocks[0].values, self._blocks[0].indices)) if found}
        _advise(maps.values(), "MADV_RANDOM")
        try:
            yield from super().some(n_rows)
        finally:
            _advise(maps.values(), "MADV_NORMAL")

    def blocks(self) -> Iterator[Rows]:
        """All blocks, each read from the disk before it is handed out."""
        for rows in self._blocks:
            first, last = (rows.indptr[0], rows.indptr[-1]) if rows.indptr.size else (0, rows.values.size)
            for vector in (rows.values[first:last], rows.indices[first:last] if rows.indptr.size else rows.indices):
                # One entry of each page: touching it makes the system read the page, ahead of those who compute with
                # it.
                np.add.reduce(vector[:: max(1, _PAGE // vector.itemsize)])
            yield rows

    def _drawn(self, there: int, wanted: int) -> np.ndarray:
        """The same in runs of rows, as a disk is slow at reading one row here, one there."""
        length = max(1, wanted // _RUNS)
        first = length * super()._drawn(max(1, there // length), min(wanted, _RUNS))
        return np.concatenate([np.arange(start, min(start + length, there)) for start in first])


class Read:
    """Blocks of a source that is read again each time."""

    resident, is_sparse = False, False

    def __init__(self, source: Tables, bias: float) -> None:
        self._source, self.width, self.bias = source, source.n_features, bias
        self.starts: Sequence[int] = [*range(0, source.n_samples, source.block_rows), source.n_samples]
        self.n_entries = source.n_samples * source.n_features

    def blocks(self) -> Iterator[Rows]:
        """All blocks, in order."""
        return map(self._rows, self._source.blocks())

    def some(self, n_rows: int) -> Iterator[tuple[np.ndarray, Rows, int]] | None:
        """Rows from places that can be reached without reading those before them, if there are any."""
        if self._source.parts is None:
            return None
        parts = self._source.parts(n_rows)
        return ((np.arange(start, start + table.shape[0]), self._rows(table), read) for start, table, read in parts)

    def _rows(self, table: np.ndarray) -> Rows:
        return Dense(table).rows._replace(bias=self.bias)


def cut(rows: Rows, n_rows: int, on_disk: bool = False) -> InMemory:
    """Rows in memory, or on a memory map, cut into blocks without a copy."""
    kind = Mapped if on_disk else InMemory
    count = -(-_entries(rows) // BLOCK_ENTRIES)
    if count <= 1:
        return kind([rows], [0, n_rows])
    count = min(_SHARED_BY * -(-count // _SHARED_BY), n_rows)
    starts = [int(start) for start in np.linspace(0, n_rows, count + 1)]
    return kind([_slice(rows, *ends) for ends in pairwise(starts)], starts)


def _advise(maps: Iterable[mmap.mmap], advice: str) -> None:
    """Tell the system how files will be read, where it listens."""
    for found in maps:
        if hasattr(mmap, advice):
            found.madvise(getattr(mmap, advice))


def _entries(rows: Rows) -> int:
    return int(rows.indptr[-1] - rows.indptr[0]) if rows.indptr.size else rows.values.size


def _slice(rows: Rows, start: int, stop: int) -> Rows:
    if rows.indptr.size:
        return rows._replace(indptr=rows.indptr[start : stop + 1])
    return rows._replace(values=rows.values[start * rows.width : stop * rows.width])


def sample_size(n_rows: int, n_columns: int) -> int:
    """Rows of a sample to find a start on; 0 if no sample pays."""
    wanted = int(max(_FRACTION * n_rows, min(_ROWS_PER_COORDINATE * n_columns, _LARGEST_FRACTION * n_rows)))
    wanted = min(wanted, MOST_ENTRIES // n_columns)
    return wanted if wanted >= _LEAST_PER_COORDINATE * n_columns else 0


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


def sums_over(block: Block, request: Request, here: AtRows, model: AtRows | None, u: np.ndarray) -> BlockSums:
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


def margins_of(rows: Rows, n_rows: int, x: np.ndarray) -> np.ndarray:
    """A x for the rows of a block, with the same bits as `sums_over` has them."""
    out = np.empty(n_rows)
    row_margins(rows, x, out)
    return out


def rows_at_margins(block: Block, loss: Loss, known: np.ndarray) -> AtRows:
    """Slopes and curvatures of a block's rows at known margins."""
    here = AtRows(known, np.empty(known.size), np.empty(known.size))
    read_margins(Labelled(*block, loss.read_term, loss.curvatures_term), here)
    return here


def adjoint_of(rows: Rows, weights: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Means of w u_i a_i."""
    out = np.empty(rows.width + (rows.bias != 0.0))
    adjoint(rows, weights, u, out)
    return out


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
    return is_faster_dense(least, n_rows, d) or is_faster_dense(float(squared_lengths(rows.indptr)), n_rows, d)


def is_faster_dense(squares: float, n_rows: int, width: int) -> bool:
    """Whether BLAS adds up outer products faster, zeros included, than entries are scattered."""
    return _SCATTERED * squares > _dense_time(n_rows, width)


def _dense_time(n_rows: int, width: int) -> float:
    return n_rows * width * (_WRITTEN + _MULTIPLIED * width)


def gram_time(rows: Rows, n_rows: int) -> float:
    """Nanoseconds that the sum of outer products of all rows takes, about."""
    dense = _dense_time(n_rows, rows.width)
    return dense if rows.indptr.size == 0 else min(dense, _SCATTERED * float(squared_lengths(rows.indptr)))
