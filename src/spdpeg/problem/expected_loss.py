"""E[l(x, xi)]: rows, labels and weights under a loss, scaled in one place."""

import copy
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..data import Block, Source, Stream, Tables, as_source
from ..data.base import no_weights
from ..data.selection import pieces
from ..data.stream import Chunk
from ..errors import InputError, UnsupportedError
from ..kernels.jit import CHUNK, as_reals
from ..kernels.rows import gradient_sum, sum_chunks
from ..losses import Loss
from ..parameters import numbers
from ..sums import FarSums, LocalSums, RowStatistics, Sums
from ..sums.moments import Moments, Quadratic, ShiftedSignal
from ..sums.portions import Read
from .gram_norm import gram_norm, rough_gram_norm
from .kept_moments import KeptMoments
from .labels import AT_A_TIME, as_labels, as_numbers, as_signs, classes_of_stream, shifted, two_classes
from .partitions import Partitions, Positive
from .weights import checked_weights, normalized

_SAMPLED_ROWS = 10_000
"""Rows that stand for all of them where those are read from far away."""


class ExpectedLoss:
    """The smooth part of a problem: (1 / sum w) sum_i w_i phi(<a_i, x>, b_i), and what is known of it.

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

    loss: Loss
    source: Source | Stream
    bias: float
    n_samples: int | None
    n_features: int
    n_coordinates: int
    classes: np.ndarray | None = None

    _block: Block | None
    _first_chunk: Chunk | None = None
    """Of a stream: it makes `block`, and was checked with it."""

    def _set_rows(self, y: Any, sample_weight: Any, intercept: bool | float, offset: Any) -> None:
        """Labels, weights and the column of the intercept; `source`, `loss` and `bias` are there already."""
        if isinstance(self.source, Stream):
            if y is not None or sample_weight is not None or offset is not None:
                raise InputError(
                    "X is a stream and brings its labels and weights itself. Leave y, sample_weight and offset out."
                )
            self.n_samples = None
            chunk = self._first_chunk = self.source.peek()
            if self.loss.binary:
                self.classes = classes_of_stream(chunk[1], self.source.classes)
            self._block = self.encode(*chunk)
        elif isinstance(self.source, Partitions):
            if offset is not None:
                raise UnsupportedError("offset is given, and X lives on a cluster, where rows have none. Leave it out.")
            self.n_samples, self._block = self.source.n_samples, None
            self._positive = self._positive_class(self.source, y)
        else:
            self.n_samples = self.source.n_samples
            self._labels = self._encode_labels(self.source.labels if y is None else y)
            self._weights = normalized(sample_weight, self.source.n_samples)
            if offset is not None:
                self._labels, self._weights = shifted(self.loss, self._labels, self._weights, offset)
            self._block = None
            if not isinstance(self.source, Tables):
                self._block = Block(self.source.rows._replace(bias=self.bias), self._labels, self._weights)
        if isinstance(intercept, bool | np.bool_) and intercept:
            self._choose_bias()
        if self._block is not None and not self.on_disk:  # rows on a disk are checked when they are first read
            self.check_block(self._block)
        self._moments = KeptMoments()

    # ------------------------------------------------------------------------------------------------ evaluation

    def loss_value(self, x: np.ndarray, block: Block | None = None) -> float:
        """Mean loss at x over the data, or over one block of a stream."""
        if block is None:
            self._require_finite_sum("objective and loss")
            if not x.any():
                return self.loss_at_zero
            return self.sums.loss(x)
        return LocalSums.of(block, self.loss).loss(x)

    def gradient(self, x: Any) -> np.ndarray:
        """Gradient of the mean loss at x."""
        self._require_finite_sum("gradient")
        point = self._point(x)
        if self._block is None:
            return self.sums.evaluate(point).gradient
        out = np.empty(self.n_coordinates)
        rows, labels, weights = self._block
        gradient_sum(rows, labels, weights, self.loss.derivative_term, point, out)
        out /= labels.size
        return out

    @cached_property
    def loss_at_zero(self) -> float:
        """Mean loss at x = 0, which reads no data."""
        return self.loss_of_constant(0.0)

    # ------------------------------------------------------------------------------------------------------ rows

    @property
    def n_rows(self) -> int:
        """Rows of the data; those of the first chunk, for a stream."""
        return self.sums.n_rows

    @cached_property
    def sums(self) -> Sums:
        """The data as the exact methods and the certificate see them: sums over rows."""
        if isinstance(self.source, Partitions):
            return self.source.sums(self.bias, self._positive)
        if isinstance(self.source, Tables):
            return FarSums(Read(self.source, self.bias), self._labels, self._weights, self.loss)
        return (FarSums if self.on_disk else LocalSums).of(self.block, self.loss)

    @property
    def labels(self) -> np.ndarray:
        """Of all rows, as the loss takes them; of the first chunk, for a stream. Refused where they are not here."""
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

    @property
    def is_signal(self) -> bool:
        """The loss is squared and no row of X has more than one entry: X is the identity, or diagonal."""
        return self.n_samples is not None and self._moments.is_signal(self._block, self.loss)

    @property
    def shifted_signal(self) -> ShiftedSignal | None:
        """The mean loss of a signal with an intercept: rows with the same single entry each; None for other rows."""
        return None if self.n_samples is None else self._moments.shifted(self._block, self.loss)

    @property
    def quadratic(self) -> Quadratic:
        """The mean squared loss from its second moments: one read, kept for all problems `with_penalties`."""
        return self._moments.loss(self.sums, self._block, self.loss, self.bias)

    @property
    def knows_moments(self) -> bool:
        """Whether `quadratic` reads nothing."""
        return self._moments.known

    def adopt_moments(self, moments: Moments) -> None:
        """Take second moments that are known to be those of the rows, as those of a fold follow from the others."""
        self._moments.adopt(moments, self.bias)

    def uncounted_rows(self) -> int:
        """Rows that were read for `quadratic` since it was last asked here; a run counts them as its own."""
        return self._moments.uncounted_rows()

    # ---------------------------------------------------------------------------------------------------- bounds

    @cached_property
    def statistics(self) -> RowStatistics:
        """Sizes of the rows."""
        return self.sums.statistics()

    @cached_property
    def lipschitz(self) -> float:
        """Upper bound on the Lipschitz constant of the gradient of the mean loss (of the first chunk, for a stream)."""
        if self.loss.curvature == 0.0 or self.statistics.mean_square == 0.0:
            return 0.0
        if not math.isfinite(self.loss.curvature):
            return math.inf
        block = self._block
        if block is None:
            sample = self.sums.sample(_SAMPLED_ROWS)
            block = None if sample is None else sample.block
        norm = math.inf if block is None else gram_norm(block, self.n_coordinates)
        return self.loss.curvature * min(norm, self.statistics.mean_square)

    @property
    def lipschitz_max(self) -> float:
        """Largest Lipschitz constant of a single row's gradient: curvature * max w_i |a_i|^2."""
        return self.loss.curvature * self.statistics.max_square if self.statistics.max_square > 0.0 else 0.0

    @cached_property
    def rough_gram_norm(self) -> float:
        """Largest eigenvalue of A^T W A / N, roughly: eight products and no guarantee."""
        return self.rough_norm(np.ones(self.n_coordinates))

    def rough_norm(self, scale: np.ndarray) -> float:
        """Largest eigenvalue of S A^T W A S / N, S = diag(scale)^(1/2), as roughly."""
        return rough_gram_norm(self.block, scale)

    @cached_property
    def column_sizes(self) -> np.ndarray:
        """Root of the mean of w a_ij^2, for each column."""
        return np.sqrt(self.sums.column_squares())

    # ---------------------------------------------------------------------------------------- streams, checked rows

    def encode(self, X: Any, y: np.ndarray, weights: np.ndarray | None = None) -> Block:
        """A chunk of a stream as a block."""
        source = as_source(X)
        scale = no_weights() if weights is None else as_reals(checked_weights(weights, source.n_samples))
        return Block(source.rows._replace(bias=self.bias), self._encode_labels(y, "y of a chunk"), scale)

    def checked_chunk(self, chunk: Chunk) -> Block:
        """A chunk of a stream as a block without NaN or infinite entries; the first one was looked at before."""
        if chunk is self._first_chunk and self._block is not None:
            return self._block
        block = self.encode(*chunk)
        self.check_block(block)
        return block

    def streamed(self) -> Self:
        """The same problem with its rows as a stream, each traversal of which is a pass; for data read in blocks."""
        signs = (-1.0, 1.0) if self.loss.binary else None
        stream = Stream(self._chunks, self.n_features, signs)
        other = copy.copy(self)
        for name in ("sums", "statistics", "lipschitz", "column_sizes", "loss_at_zero", "rough_gram_norm"):
            vars(other).pop(name, None)
        other.source, other.n_samples = stream, None
        other.classes = None if signs is None else np.array(signs)
        other._block = other.encode(*stream.peek())
        return other

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

    def check_rows(self) -> None:
        """Refuse rows that hold NaN or infinite entries, if nobody has looked yet."""
        if "statistics" not in vars(self):
            self.statistics = self.sums.statistics()

    def check_block(self, block: Block) -> None:
        """Refuse rows that hold NaN or infinite entries, such as those of a chunk of a stream."""
        statistics = LocalSums.of(block, self.loss).statistics()
        if block is self._block:
            self.statistics = statistics

    # --------------------------------------------------------------------------------------------------- private

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

    def _choose_bias(self) -> None:
        """As long a column as the rows are on average; 1 if all of them are empty."""
        if isinstance(self.source, Partitions):
            self.bias = self.source.typical_bias
            return
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
            square = LocalSums.of(alone, self.loss).statistics().mean_square
        self.bias = math.sqrt(square) if 0.0 < square < math.inf else 1.0
        if self._block is not None:
            self._block = self._block._replace(rows=self._block.rows._replace(bias=self.bias))

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

    def _point(self, x: Any) -> np.ndarray:
        fitting = isinstance(x, np.ndarray) and x.dtype == np.float64
        point = np.ascontiguousarray(x) if fitting else numbers("x", x)
        if point.shape != (self.n_coordinates,):
            raise InputError(f"x has shape {point.shape}. The problem has {self.n_coordinates} coordinates.")
        # Kernels are compiled once, for writable vectors; a read-only x is copied rather than compiled for.
        return point if point.flags.writeable else point.copy()

    def _require_finite_sum(self, what: str) -> None:
        if isinstance(self.source, Stream):
            raise UnsupportedError(
                f"A stream has no {what} of its own. Build a Problem on held-out rows and evaluate x there."
            )
