"""The data of a problem, row by row: labels and weights checked, and scaled in one place."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Block, Source, Stream, Tables, as_source
from ..data.selection import pieces
from ..data.sources import NO_WEIGHTS
from ..data.stream import Chunk
from ..errors import InputError, UnsupportedError
from ..kernels.jit import CHUNK, as_reals
from ..kernels.losses import sum_chunks
from ..kernels.row_sums import square_sum
from ..losses import Loss
from ..sums import LocalSums, OutOfCoreSums, RowStatistics, Sums
from ..sums.blocks import Read
from .labels import (
    AT_A_TIME,
    as_labels,
    as_numbers,
    as_signs,
    checked_weights,
    classes_of_stream,
    normalized,
    shifted,
    two_classes,
)
from .partitions import Partitions, Positive


class LabelledRows:
    """Rows, labels and weights under a loss; weights have mean 1, so that a mean over rows is the weighted one.

    Attributes
    ----------
    loss : Loss
    source : Source or Stream
    bias : float
        What the column of the intercept, the last, holds in every row; 0 if there is none.
    n_samples : int or None
        None for a stream.
    n_features, n_coordinates : int
        Columns of X; length of x, which is one more with an intercept.
    classes : array of two labels, or None
        Negative and positive class.
    """

    classes: np.ndarray | None = None
    _first_chunk: Chunk | None = None
    """The first chunk of a stream, which `block` is made of."""

    def __init__(
        self, source: Source | Stream, loss: Loss, y: Any, sample_weight: Any, intercept: bool | float, offset: Any
    ) -> None:
        self.source, self.loss = source, loss
        self.n_features = source.n_features
        self.bias = float(intercept)
        self.n_coordinates = self.n_features + int(self.bias != 0.0)
        self._block: Block | None = None
        self.n_samples: int | None = None
        if isinstance(self.source, Stream):
            if y is not None or sample_weight is not None or offset is not None:
                raise InputError(
                    "X is a stream and brings its labels and weights itself. Leave y, sample_weight and offset out."
                )
            chunk = self._first_chunk = self.source.peek()
            if self.loss.binary:
                self.classes = classes_of_stream(chunk[1], self.source.classes)
            self._block = self.encode(*chunk)
        elif isinstance(self.source, Partitions):
            if offset is not None:
                raise UnsupportedError("offset is given, and X lives on a cluster, where rows have none. Leave it out.")
            self.n_samples = self.source.n_samples
            self._positive = self._positive_class(self.source, y)
        else:
            self.n_samples = self.source.n_samples
            self._labels = self._encode_labels(self.source.labels if y is None else y)
            self._weights = normalized(sample_weight, self.source.n_samples)
            if offset is not None:
                self._labels, self._weights = shifted(self.loss, self._labels, self._weights, offset)
            if not isinstance(self.source, Tables):
                self._block = Block(self.source.filled._replace(bias=self.bias), self._labels, self._weights)
        known = self._choose_bias() if isinstance(intercept, bool | np.bool_) and intercept else None
        if known is not None:
            self.statistics = known
        elif self._block is not None and not self.on_disk:  # rows on a disk are checked when they are first read
            self._require_finite(self._block)

    @cached_property
    def sums(self) -> Sums:
        """The data as the exact methods and the certificate see them: sums over rows."""
        if isinstance(self.source, Partitions):
            return self.source.sums(self.bias, self._positive)
        if isinstance(self.source, Tables):
            return OutOfCoreSums(Read(self.source, self.bias), self._labels, self._weights, self.loss)
        return (OutOfCoreSums if self.on_disk else LocalSums).of(self.block, self.loss)

    @property
    def labels(self) -> np.ndarray:
        """Labels of all rows as the loss takes them; for a stream, of its first chunk. Refused on a cluster."""
        return self._labels if isinstance(self.source, Tables) else self.block.labels

    @property
    def block(self) -> Block:
        """All rows, as kernels take them; refused where they are not in memory."""
        if self._block is None:
            assert isinstance(self.source, Source)
            return Block(self.source.rows, self._labels, self._weights)  # which refuses
        return self._block

    @property
    def on_disk(self) -> bool:
        """Rows are read through a memory map."""
        return not isinstance(self.source, Stream) and self.source.on_disk

    @property
    def in_memory(self) -> bool:
        """Rows can be had one by one."""
        return self._block is not None

    @cached_property
    def statistics(self) -> RowStatistics:
        """Sizes of the rows; rows that hold NaN or infinite entries are refused."""
        return self.sums.statistics()

    @cached_property
    def loss_at_zero(self) -> float:
        """Mean loss at x = 0, which reads no data."""
        return self.loss_of_constant(0.0)

    def loss_of_constant(self, margin: float) -> float:
        """Mean loss where all margins are the same."""
        if isinstance(self.source, Partitions):
            x = np.zeros(self.n_coordinates)
            return self.sums.evaluate(x, self.sums.margins_at_zero(), margin).loss if margin else self.sums.loss(x)
        labels, weights = self.labels, self._weights if self._block is None else self._block.weights
        margins, term, total = np.full(min(labels.size, AT_A_TIME), margin), self.loss.read_term, 0.0
        for start in range(0, labels.size, AT_A_TIME):
            some = slice(start, start + AT_A_TIME)
            total += sum_chunks(term, margins[: labels[some].size], labels[some], weights[some], np.empty(CHUNK))
        return total / labels.size

    def require_finite_sum(self, what: str) -> None:
        """Refuse what a stream does not have."""
        if isinstance(self.source, Stream):
            raise UnsupportedError(
                f"A stream has no {what} of its own. Build a Problem on held-out rows and evaluate x there."
            )

    # ---------------------------------------------------------------------------------------- streams, checked rows

    def encode(self, X: Any, y: np.ndarray, weights: np.ndarray | None = None) -> Block:
        """A chunk of a stream as a block."""
        source = as_source(X)
        scale = NO_WEIGHTS if weights is None else as_reals(checked_weights(weights, source.n_samples))
        return Block(source.rows._replace(bias=self.bias), self._encode_labels(y, "y of a chunk"), scale)

    def checked_chunk(self, chunk: Chunk) -> Block:
        """A chunk of a stream as a block without NaN or infinite entries; the first one was checked before."""
        if chunk is self._first_chunk and self._block is not None:
            return self._block
        block = self.encode(*chunk)
        self._require_finite(block)
        return block

    def streamed(self) -> "LabelledRows":
        """The same rows as a stream, each traversal of which is a pass; for data read in blocks."""
        signs = (-1.0, 1.0) if self.loss.binary else None
        stream = Stream(self._chunks, self.n_features, signs)
        return LabelledRows(stream, self.loss, None, None, self.bias, None)

    def _chunks(self) -> Iterator[tuple[Any, np.ndarray, np.ndarray | None]]:
        if isinstance(self.source, Partitions):
            yield from self.source.chunks(self._positive)
            return
        assert isinstance(self.source, Tables)
        start = 0
        for table in self.source.blocks():
            some = slice(start, start + table.shape[0])
            start = some.stop
            yield table, self._labels[some], self._weights[some] if self._weights.size else None

    # --------------------------------------------------------------------------------------------------- private

    def _require_finite(self, block: Block) -> None:
        """Refuse NaN and infinite entries."""
        if not math.isfinite(square_sum(block.rows.values)):
            LocalSums.of(block, self.loss).statistics()  # which says where they are, if they are within rows

    def _choose_bias(self) -> RowStatistics | None:
        """Make the intercept's column as large as the rows are on average; 1 if all of them are empty.

        Returns the statistics of the rows with that column, if they follow from those without it.
        """
        statistics = None
        if isinstance(self.source, Partitions):
            self.bias = self.source.typical_bias
            return None
        if isinstance(self.source, Source) and self.source.on_disk:
            # Any number will do; that of some rows saves a read of all of them.
            table = next(pieces(self.source))
            squares = table.power(2).sum(axis=1) if sp.issparse(table) else np.square(table, dtype=float).sum(axis=1)
            weights = self._weights[: table.shape[0]] if self._weights.size else np.ones(table.shape[0])
            square = (
                float(np.average(np.asarray(squares, dtype=float).ravel(), weights=weights)) if weights.any() else 0.0
            )
        else:
            alone = self.block._replace(rows=self.block.rows._replace(bias=0.0))
            statistics = LocalSums.of(alone, self.loss).statistics()
            square = statistics.mean_square
        self.bias = math.sqrt(square) if 0.0 < square < math.inf else 1.0
        if self._block is not None:
            self._block = self._block._replace(rows=self._block.rows._replace(bias=self.bias))
        if statistics is None or self.block.weights.size:
            return None
        largest, mean, noise, slope = statistics
        square = self.bias * self.bias
        return RowStatistics(largest + square, mean + square, noise + square * slope, slope)

    def _encode_labels(self, y: Any, name: str = "y") -> np.ndarray:
        if isinstance(self.source, Source) and y is None:
            if self.loss.curvature > 0.0:
                raise InputError(f"y is missing. {type(self.loss).__name__} needs one label per row of X.")
            return as_reals(np.zeros(self.source.n_samples))
        labels = as_labels(y, name)
        if labels.ndim != 1 or (isinstance(self.source, Source) and labels.size != self.source.n_samples):
            expected = self.source.n_samples if isinstance(self.source, Source) else "as many as X"
            raise InputError(f"{name} has shape {labels.shape}. It must be a vector of {expected} entries.")
        if not self.loss.binary:
            found = as_numbers(labels, name)
            self.loss.check_labels(found, name)
            return as_reals(found)
        if self.classes is None:
            self.classes = two_classes(labels, name, self.loss)
        return as_signs(labels, self.classes, name)

    def _positive_class(self, source: Partitions, y: Any) -> Any:
        """The label of +1 among those on the cluster."""
        if isinstance(y, Positive):
            self.classes = np.array([-1.0, 1.0])
            return y.label
        if not self.loss.binary:
            return None
        self.classes = two_classes(source.classes, "y", self.loss)
        return self.classes[1]
