"""Sums over rows that this process reads, block by block."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from ..data import Block
from ..data.blocks import join
from ..errors import InputError
from ..kernels.jit import CHUNK, frozen
from ..kernels.lanes import LANES
from ..kernels.losses import conjugates_at, slope_sum, sum_chunks
from ..kernels.row_sums import adjoint, evaluate, first_bad_row, loss_sum, row_statistics
from ..kernels.rows import Rows
from ..kernels.several_models import Minima, Room, RowsAndLoss, SlopesOfModel, at_minima
from ..kernels.sweeps import AtRows
from ..losses import Loss
from . import threads
from .base import Evaluation, RowStatistics, Sample, Sweep, Token
from .blocks import BLOCK_ENTRIES, MEAN_ROWS, BlockSums, InMemory, Request, RowBlocks, column_squares_of, cut, sums_over
from .collapse import cheaper, collapsed_rows
from .moments import Moments, near_means

_NOTHING = np.zeros(0)

Values = Callable[[Any, Block, slice], np.ndarray]
"""The numbers that a token means for the rows of a block."""


class ModelMinimum(NamedTuple):
    """The minimum of a quadratic model of the loss, and the move from where its slopes s are.

    There the model predicts slopes u = s + h <a, move> with curvatures h, to be multiplied by `scale` in conjugates.
    """

    point: np.ndarray
    move: np.ndarray
    slopes: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Three vectors, of which s is the sum of the first two without the third."""
    scale: float


class AtMinimum(NamedTuple):
    """Mean loss, slopes and gradient at such a point; means of w u^2, and of w phi*(scale u)."""

    loss: float
    slopes: np.ndarray
    gradient: np.ndarray
    square: float
    conjugate: float


class LocalSums:
    """Sums over rows in blocks, for a loss; the class of `Sums` for one machine.

    A token is a vector with a number for each row.

    Parameters
    ----------
    row_blocks : RowBlocks
        The rows.
    labels, weights : array
        Of all rows; no weights means weight 1 everywhere.
    loss : Loss
    block : Block, optional
        All rows at once, if they are in memory or mapped into it.

    Attributes
    ----------
    resident : bool
        Rows need not be read from anywhere.
    reads : int
        How often all blocks were gone through.
    """

    def __init__(
        self, row_blocks: RowBlocks, labels: np.ndarray, weights: np.ndarray, loss: Loss, block: Block | None = None
    ) -> None:
        self.block = block
        self.resident, self.reads = row_blocks.resident, 0
        self.n_rows = labels.size
        self.n_columns = row_blocks.width + (row_blocks.bias != 0.0)
        self.n_entries, self.is_sparse = row_blocks.n_entries, row_blocks.is_sparse
        self._row_blocks, self._labels, self._weights, self._loss = row_blocks, labels, weights, loss
        self._column_squares: np.ndarray | None = None
        starts = row_blocks.starts
        self._ranges = [slice(start, stop) for start, stop in pairwise(starts)]
        # Kernels return means over their block, so that their sizes do not depend on how rows are cut.
        self._fractions = [(some.stop - some.start) / self.n_rows for some in self._ranges]
        self._alone: Block | None = None
        """All rows, where they are in memory and one block."""
        if len(self._ranges) == 1 and self.resident:
            self._alone = self._block(0, next(row_blocks.blocks()))

    @classmethod
    def of(cls, block: Block, loss: Loss) -> Self:
        """Sums over the rows of a block in memory."""
        return cls(cut(block.rows, block.labels.size), block.labels, block.weights, loss, block)

    # ----------------------------------------------------------------------------------------------- at a point

    def at(
        self,
        x: np.ndarray,
        *,
        curvature: bool = False,
        floor: float = 0.0,
        model: Sweep | None = None,
        ahead: np.ndarray | None = None,
    ) -> Sweep:
        """All sums at x; `ahead` is where the model of an earlier sweep has its minimum. One read."""
        known = not x.any()  # margins of 0 take no product
        margins = np.zeros(self.n_rows) if known else np.empty(self.n_rows)
        return self._swept(margins, self._request(x, known, curvature, floor, ahead), model)

    def at_margins(self, margins: Token, *, curvature: bool = False, floor: float = 0.0) -> Sweep:
        """The same at a point whose margins are known. One read."""
        return self._swept(margins, self._request(np.zeros(self.n_columns), True, curvature, floor))

    def losses_between(self, start: Sweep, end: Sweep, lengths: np.ndarray) -> np.ndarray:
        """Mean losses at parts of the way from one point to the other; reads margins only."""
        return np.array([self._loss_at(_point_between(start, end, length)) for length in lengths])

    def between(self, start: Sweep, end: Sweep, length: float, floor: float = 0.0) -> Sweep:
        """All sums, curvature too, at one of these points. One read."""
        return self.at_margins(_point_between(start, end, length), curvature=True, floor=floor)

    def evaluate(self, x: np.ndarray, margins: Token = None, shift: float = 0.0) -> Evaluation:
        """Mean loss and gradient in two parts at x, or at known margins plus `shift`. One read."""
        known = margins is not None
        t = np.empty(self.n_rows) if margins is None else margins + shift if shift else margins
        return self._evaluated(x, lambda block, some: t[some], known)._replace(margins=t)

    def at_minima(self, models: Sequence[ModelMinimum], curvatures: np.ndarray) -> list[AtMinimum]:
        """The sums at minima of models with the same curvatures of the rows. One read for LANES of them."""
        found: list[AtMinimum] = []
        for first in range(0, len(models), LANES):
            found += self._at_minima(models[first : first + LANES], curvatures)
        return found

    def _at_minima(self, models: Sequence[ModelMinimum], curvatures: np.ndarray) -> list[AtMinimum]:
        used, size = len(models), self.n_columns * LANES
        places = np.zeros((2, self.n_columns, LANES))
        places[:, :, :used] = np.transpose([(model.point, model.move) for model in models], (1, 2, 0))
        minima = Minima(places[0].reshape(-1), places[1].reshape(-1), np.array([model.scale for model in models]))
        of_rows = [SlopesOfModel(*model.slopes, np.empty(self.n_rows)) for model in models]
        padded = (*of_rows, *of_rows[:1] * (LANES - used))
        terms = self._loss.read_term, self._loss.conjugates_term

        def one(block: Block, some: slice) -> tuple[np.ndarray, np.ndarray]:
            means, gradients = np.empty((used, 3)), np.empty(size)
            data, room = RowsAndLoss(*block, *terms), Room.new()
            at_minima(data, minima, padded, curvatures, some.start, room, gradients, means)
            return means, gradients

        total, gradient = np.zeros((used, 3)), np.zeros(size)
        for fraction, (means, gradients) in zip(self._fractions, self._each(one), strict=True):
            total += fraction * means
            gradient += fraction * gradients
        of_point = np.ascontiguousarray(gradient.reshape(-1, LANES).T)
        return [
            AtMinimum(loss, rows.reached, of_point[k], square, conjugate)
            for k, (rows, (loss, square, conjugate)) in enumerate(zip(of_rows, total.tolist(), strict=True))
        ]

    def loss(self, x: np.ndarray) -> float:
        """Mean loss alone. One read."""
        term = self._loss.value_term
        values = self._each(lambda block, _: float(loss_sum(block.rows, block.labels, block.weights, term, x)))
        return sum(values) / self.n_rows

    # ------------------------------------------------------------------------------------------ for lower bounds

    def slopes(self, margins: Token, shift: float, up: float, down: float) -> Token:
        """phi' at margins + shift, positive slopes times `up`, the others times `down`."""
        return self.scaled(self._loss.derivative(margins + shift, self._labels), up, down)

    def scaled(self, u: Token, up: float, down: float) -> Token:
        """u, its positive entries times `up`, the others times `down`."""
        return u if up == down == 1.0 else np.where(u > 0.0, up * u, down * u)

    def adjoint(self, u: Token) -> np.ndarray:
        """A^T W u / N. One read."""
        values = self._values()

        def one(block: Block, some: slice) -> np.ndarray:
            out = np.empty(self.n_columns)
            adjoint(block.rows, block.weights, values(u, block, some), out)
            return out

        return self._added(one)

    def margins_at_zero(self) -> Token:
        """Margins at x = 0."""
        return np.zeros(self.n_rows)

    def mean_square(self, u: Token) -> float:
        """Mean of w u^2."""
        return float(self._mean(u, _square_sum))

    def mean_slopes(self, margins: Token, shifts: np.ndarray) -> np.ndarray:
        """Means of w phi'(margin + shift), for several shifts at once."""
        term = self._loss.read_term

        def sums(t: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
            spare, slopes = np.empty(CHUNK), np.empty(CHUNK)
            return np.array([slope_sum(term, t, shift, labels, weights, spare, slopes) for shift in shifts])

        return np.asarray(self._mean(margins, sums))

    def conjugate(self, u: Token, scale: float) -> float:
        """Mean of w phi*(scale u)."""
        conjugate_sum = self._loss.conjugate_sum
        return float(self._mean(u, lambda values, labels, weights: conjugate_sum(scale * values, labels, weights)))

    def conjugate_at(self, margins: Token, shift: float, up: float, down: float) -> float:
        """The same for `slopes(margins, shift, up, down)`, which are not kept."""
        terms = self._loss.read_term, self._loss.conjugates_term  # not before they are needed: a loss may lack one

        def sums(t: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
            spare = np.empty(CHUNK), np.empty(CHUNK)
            return float(conjugates_at(*terms, t, shift, up, down, labels, weights, *spare))

        return float(self._mean(margins, sums))

    # ---------------------------------------------------------------------------------------- of the data alone

    def statistics(self) -> RowStatistics:
        """Sizes of the rows; those with NaN or infinite entries are refused. One read."""
        term = self._loss.derivative_term

        def one(block: Block, some: slice) -> tuple[np.ndarray, int]:
            sums = np.empty(4)
            row_statistics(*block, term, sums)
            return sums, int(first_bad_row(block.rows)) if np.isnan(sums[0]) else -1

        largest, rest = 0.0, np.zeros(3)
        for some, (sums, bad) in zip(self._ranges, self._each(one), strict=True):
            if np.isnan(sums[0]):
                _refuse(some.start + bad if bad >= 0 else -1)
            largest = max(largest, float(sums[0]))
            rest += sums[1:]
        return RowStatistics(largest, *(rest / self.n_rows).tolist())

    def moments(self) -> Moments:
        """Second moments of rows and labels, all that the squared loss depends on. One read."""
        # Moving sparse rows to their means would make them dense. Dense ones lose digits where a mean is far larger
        # than the spread.
        columns = np.zeros(self._row_blocks.width) if self.is_sparse else near_means(self._some_rows(MEAN_ROWS))[:-1]
        place = np.append(np.nan_to_num(columns, posinf=0.0, neginf=0.0), self._labels.mean())
        parts = self._each(lambda block, some: Moments.of(block, place))
        found = next(parts)
        for part_found in parts:
            found = found + part_found
        # Checked here and not before: looking for bad entries first would be another read.
        if not np.all(np.isfinite(found.squares)):
            self.statistics()  # which says where the data are no numbers
        return found

    def _some_rows(self, n_rows: int) -> Block:
        """A sample, or the first block where that is all that can be had without a read of all rows."""
        sample = self.sample(n_rows)
        return self._block(0, next(self._row_blocks.blocks())) if sample is None else sample.block

    def column_squares(self) -> np.ndarray:
        """Means of w a_ij^2. One read."""

        if self._column_squares is None:
            self._column_squares = self._added(lambda block, some: column_squares_of(block))
        return self._column_squares

    def sample(self, n_rows: int) -> Sample | None:
        """About so many rows from all over the data, in memory; None if that would take a read of all rows."""
        parts = self._row_blocks.some(n_rows)
        if parts is None:
            return None
        labels, weights = self._labels, self._weights
        found = [
            (Block(rows, frozen(labels[at]), frozen(weights[at]) if weights.size else weights), read)
            for at, rows, read in parts
        ]
        return Sample(join([block for block, _ in found]), sum(read for _, read in found))

    def collapse(self, labels: np.ndarray, count: int) -> "LocalSums":
        """The same rows with columns added up over `count` pieces; labels[j] is the piece of column j, or -1. One read.

        The result is dense where that makes its curvature cheaper. An intercept's column must be a piece of its own,
        the last.
        """
        pieces = count - (self._row_blocks.bias != 0.0)
        own = labels[: self._row_blocks.width].astype(np.int64)
        assert int(own.max(initial=-1)) < pieces  # compiled code writes where they say
        blocks = list(self._each(lambda block, some: collapsed_rows(block.rows, own, pieces)))
        row_blocks = InMemory(cheaper(blocks, self.n_rows, pieces), self._row_blocks.starts)
        # Few entries are joined into one block, as every block costs calls of its own.
        if row_blocks.n_entries > BLOCK_ENTRIES:
            return LocalSums(row_blocks, self._labels, self._weights, self._loss)
        numbered = enumerate(row_blocks.blocks())
        return LocalSums.of(join([self._block(*item) for item in numbered]), self._loss)

    # -------------------------------------------------------------------------- of single rows, and between runs

    def vector(self, token: Token) -> np.ndarray:
        """A token as a vector."""
        return np.asarray(token)

    def kept(self, token: Token) -> np.ndarray:
        """A token as the vector that the state of a run keeps."""
        return np.asarray(token)

    def length_kept(self) -> int:
        """Length of the vectors that `kept` returns."""
        return self.n_rows

    # --------------------------------------------------------------------------------------------------- private

    def _swept(self, margins: np.ndarray, request: Request, model: Sweep | None = None) -> Sweep:
        predicts = model is not None and request.ahead.size > 0
        here = AtRows(margins, np.empty(self.n_rows), np.empty(self.n_rows))
        before: AtRows | None = model.at_rows if model is not None and predicts else None
        u = np.empty(self.n_rows if predicts else 0)

        def one(block: Block, some: slice) -> BlockSums:
            based = None if before is None else _cut(before, some)
            return sums_over(block, request, _cut(here, some), based, u[some])

        sweep = self._sweep(one, request)
        sweep.margins, sweep.at_rows, sweep.predicted = margins, here, u if predicts else None
        return sweep

    def _request(
        self, x: np.ndarray, known: bool, curvature: bool, floor: float, ahead: np.ndarray | None = None
    ) -> Request:
        loss, point = self._loss, _NOTHING if ahead is None else ahead
        return Request(x, known, curvature, floor, point, loss.read_term, loss.curvatures_term, self.n_rows)

    def _sweep(self, one: Callable[[Block, slice], BlockSums], request: Request) -> Sweep:
        """The sums over blocks, added up; without what stays with the rows."""
        parts = self._each(one)
        loss, gradient, H, predicted, least, largest = next(parts)
        for sums in parts:
            loss += sums.loss
            for total, vector in zip((gradient, H, predicted), sums[1:4], strict=True):
                total += vector
            least, largest = min(least, sums.least_curvature), max(largest, sums.largest_curvature)
        sweep = Sweep(loss, gradient, H if request.curvature else None, None, None, (least, largest))
        if request.ahead.size:
            sweep.predicted_gradient = predicted
        if not self.resident:
            self._learned(sweep)
        return sweep

    def _evaluated(self, x: np.ndarray, margins: Callable[[Block, slice], np.ndarray], known: bool) -> Evaluation:
        """Mean loss and gradient in two parts, where `margins` gives those of a block, to be filled unless known."""
        d = self.n_columns

        def one(block: Block, some: slice) -> tuple[float, np.ndarray, np.ndarray]:
            gradient, positive = np.empty(d), np.empty(d)
            term, spare, t = self._loss.read_term, np.empty(CHUNK), margins(block, some)
            return float(evaluate(*block, term, x, known, t, spare, gradient, positive)), gradient, positive

        loss, gradient, positive = 0.0, np.zeros(d), np.zeros(d)
        for fraction, (value, whole, up) in zip(self._fractions, self._each(one), strict=True):
            loss += fraction * value
            gradient += fraction * whole
            positive += fraction * up
        return Evaluation(loss, None, gradient, positive)

    def _values(self) -> Values:
        """A function that returns the numbers of a block's rows from a token."""
        return lambda token, block, some: token[some]

    def _mean(self, token: Any, sums: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]) -> Any:
        """Mean over rows of what follows from their numbers, labels and weights."""

        def of(some: slice) -> Any:
            return sums(token[some], self._labels[some], self._weights[some])

        parts = map(of, self._ranges) if len(self._ranges) == 1 else threads.in_order(of, self._ranges)
        return sum(parts) / self.n_rows

    def _learned(self, sweep: Sweep) -> None:
        """A hook after each read, which reports entries that are not finite."""
        if not np.all(np.isfinite(sweep.gradient)):
            self.statistics()  # which says where the data are no numbers

    def _loss_at(self, margins: np.ndarray) -> float:
        term = self._loss.read_term
        return float(self._mean(margins, lambda *some: sum_chunks(term, *some, np.empty(CHUNK))))

    def _added(self, one: Callable[[Block, slice], np.ndarray]) -> np.ndarray:
        """Means over blocks, added up to that over all rows."""
        total: Any = 0.0
        for fraction, mean in zip(self._fractions, self._each(one), strict=True):
            total = total + fraction * mean
        return np.asarray(total)

    def _each(self, one: Callable[[Block, slice], Any]) -> Iterator[Any]:
        """The results of a function of each block, in order."""
        self.reads += 1
        if self._alone is not None:
            # Small data: a thread would cost more than the work.
            yield one(self._alone, self._ranges[0])
            return
        numbered = enumerate(self._row_blocks.blocks())

        def work(item: tuple[int, Rows]) -> Any:
            return one(self._block(*item), self._ranges[item[0]])

        # Blocks are added up in their order, each by one thread of BLAS: the same bits for any number of threads.
        with threads.one_blas_thread():
            if self.resident:
                yield from threads.in_order(work, numbered)
                return
            number = self.reads
            for done, found in enumerate(threads.in_order(work, threads.ahead(numbered)), start=1):
                yield found
                threads.tell(number, done, len(self._ranges))

    def _block(self, number: int, rows: Rows) -> Block:
        some = self._ranges[number]
        return Block(rows, self._labels[some], self._weights[some])


def _square_sum(u: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """The sum of w u^2."""
    return float(np.sum(u * u * weights if weights.size else u * u))


def _cut(vectors: AtRows, some: slice) -> AtRows:
    return AtRows(vectors.margins[some], vectors.slopes[some], vectors.curvatures[some])


def _point_between(start: Sweep, end: Sweep, length: float) -> np.ndarray:
    return np.asarray(start.margins + length * (end.margins - start.margins))


def _refuse(row: int) -> None:
    if row >= 0:
        raise InputError(f"X has a NaN or infinite entry in row {row}. Impute it or drop the row.")
    raise InputError("X has entries so large that their squares overflow. Scale the columns of X down.")
