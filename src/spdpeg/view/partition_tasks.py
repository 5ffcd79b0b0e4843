"""Tasks that the workers of a cluster run on a partition of a problem's rows, and the records that go with them."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..data import Block, as_source
from ..data.blocks import data_matrix, pick
from ..data.sources import NO_WEIGHTS
from ..errors import InputError
from ..kernels.jit import CHUNK, as_reals
from ..kernels.losses import sum_chunks
from ..losses import Loss
from ..sparse import first_not_finite
from ..sums.blocks import MEAN_ROWS, MOST_ENTRIES, sample_size
from ..sums.tasks import Kept, Resident, Summand
from ..sums.threads import one_blas_thread
from .labels import as_labels, as_numbers, checked_weights, different

_MOST_CLASSES = 1000
"""Different labels beyond which they are no names of classes."""


class Summary(NamedTuple):
    """Summary of a partition, sent to the driver."""

    n_rows: int
    n_entries: int
    is_sparse: bool
    square: float
    """Sum of the squares of all entries."""
    exponent: int
    """Weights are less than 2 to its power, and are divided by that here."""
    classes: np.ndarray
    """Different labels; one label for all rows where they are numbers."""
    totals: np.ndarray
    """Weights of the rows of each class."""
    at_zero: np.ndarray
    """Sums of the loss and of its conjugate at 0; of labels that are numbers."""


class Encoding(NamedTuple):
    """How the labels and weights of partitions become those of a problem."""

    loss: Loss
    bias: float
    positive: Any
    """The label of +1, all others being -1; None if labels are numbers."""
    exponent: int
    factor: float
    """Factor that gives the weights, divided by 2^exponent, a mean of 1."""
    classes: np.ndarray
    of_class: np.ndarray
    """Weights of classes; empty if they have none."""
    fold: "Fold | None"
    """The rows that count; None for all of them."""


class Fold(NamedTuple):
    """Some of the rows, drawn by their numbers: those of one of `n_folds`, or all others."""

    number: int
    n_folds: int
    held: bool

    def marks(self, rows: np.ndarray) -> np.ndarray:
        """Which of the rows with these numbers belong to the fold."""
        return (folds_of(rows, self.n_folds) == self.number) == self.held


def checked_block(X: Any, y: Any, weights: Any, width: int, has_classes: bool) -> Kept:
    """A block with labels of any kind and weights as they were given; nothing if there are no rows."""
    n = X.shape[0]
    labels = np.zeros(n) if y is None else as_labels(y, "y")
    if labels.shape != (n,):
        raise InputError(f"X has {n} rows and y has shape {labels.shape}. Cut both in the same way.")
    given = NO_WEIGHTS if weights is None else as_reals(checked_weights(weights, n))
    if n == 0 or (given.size and not given.any()):
        return Kept(None)
    table = X.to_scipy_sparse() if hasattr(X, "to_scipy_sparse") else X
    source = as_source(table)
    if source.n_features != width:
        raise InputError(f"It has {source.n_features} columns where {width} were expected.")
    row = first_not_finite(data_matrix(source.rows))
    if row is not None:
        raise InputError(f"X has a NaN or infinite entry in row {row} of it. Impute it or drop the row.")
    if not has_classes:
        labels = as_numbers(labels, "y")
    elif labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise InputError("y holds NaN or infinite labels. Drop those rows or repair them.")
    block = Block(source.rows, labels, given)
    used = np.flatnonzero(given) if given.size else given
    return Kept(pick(block, used) if used.size < given.size else block)


def summarize(kept: Kept, loss: Loss) -> Summary:
    """What the driver needs to know of a partition."""
    block: Block | None = kept.value
    if block is None:
        return Summary(0, 0, False, 0.0, 0, np.zeros(0), np.zeros(0), np.zeros(2))
    rows, labels, weights = block
    exponent = math.frexp(float(weights.max()))[1] if weights.size else 0
    # Numbers are as many as the rows, and nobody asks which they are.
    classes, codes = np.zeros(1), np.zeros(labels.size, dtype=np.int64)
    scale, at_zero = np.ldexp(weights, -exponent), np.zeros(2)
    if not loss.binary:
        at_zero = sums_at_zero(loss, labels, scale)
    else:
        classes = different(labels, "y")
        codes = np.searchsorted(classes, labels)
        if classes.size > _MOST_CLASSES:
            raise InputError(f"y has {classes.size} different labels, too many for classes. Choose a regression.")
    with one_blas_thread():
        square = float(np.vdot(rows.values, rows.values))
    totals = np.bincount(codes, scale if scale.size else None).astype(float)
    return Summary(labels.size, rows.values.size, rows.indptr.size > 0, square, exponent, classes, totals, at_zero)


def sums_at_zero(loss: Loss, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums of the loss and of its conjugate at 0, which depend on the labels alone."""
    labels, weights, nothing = as_reals(labels), as_reals(weights), np.zeros(labels.size)
    value = sum_chunks(loss.read_term, nothing, labels, weights, np.empty(CHUNK))
    return np.array([value, loss.conjugate_sum(nothing, labels, weights)])


def sample_stride(summaries: list[Summary], width: int, quadratic: bool) -> int:
    """Every how many-th row a sample has. A squared loss needs means only."""
    n_rows = sum(summary.n_rows for summary in summaries)
    wanted = min(MEAN_ROWS, MOST_ENTRIES // width) if quadratic else sample_size(n_rows, width)
    return max(1, n_rows // max(1, wanted))


def draw(kept: Kept, stride: int) -> tuple[Block, np.ndarray] | None:
    """Rows from all over a partition, at least one, and their places in it; nothing if it has none."""
    if kept.value is None:
        return None
    n_rows = kept.value.labels.size
    places = np.arange(0, n_rows, min(n_rows, stride))
    return pick(kept.value, places), places


def resident(kept: Kept, first: int, encoding: Encoding) -> Resident:
    """The sums over a partition, which stay with the worker."""
    return Resident(_checked(kept.value, first, encoding), encoding.loss)


def _checked(block: Block, first: int, encoding: Encoding) -> Block:
    """A whole partition, whose first row has this number, encoded and checked."""
    if encoding.positive is None:
        encoding.loss.check_labels(block.labels, "y")
    return encode(block, first + np.arange(block.labels.size), encoding)


def encode(block: Block, numbers: np.ndarray, encoding: Encoding) -> Block:
    """The block with labels, weights and intercept as the problem has them; its rows have these numbers among all."""
    rows, labels, weights = block
    scale: Any = np.ldexp(weights, -encoding.exponent) if weights.size else np.ones(labels.size)
    if encoding.fold is not None:
        scale = scale * encoding.fold.marks(numbers)
    if encoding.of_class.size:
        scale = scale * encoding.of_class[np.searchsorted(encoding.classes, labels)]
    weights = as_reals(encoding.factor * scale) if encoding.factor else NO_WEIGHTS
    if encoding.positive is not None:
        labels = np.where(labels == encoding.positive, 1.0, -1.0)
    return Block(rows._replace(bias=encoding.bias), as_reals(labels), weights)


def as_chunk(kept: Kept, first: int, encoding: Encoding) -> tuple[Any, np.ndarray, np.ndarray]:
    """A partition as a chunk of a stream: rows, labels, weights."""
    rows, labels, weights = _checked(kept.value, first, encoding)
    return data_matrix(rows), labels, weights


def folds_of(rows: np.ndarray, count: int) -> np.ndarray:
    """Folds of rows by their numbers, mixed so well that no order of the rows matters (the finalizer of splitmix64)."""
    z = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) % np.uint64(count)


def fold_totals(kept: Kept, first: int, count: int, classes: np.ndarray, exponent: int, loss: Loss) -> Summand:
    """Weights of the rows of each class, and sums at 0, fold by fold."""
    _, labels, weights = kept.value
    codes = np.searchsorted(classes, labels) if classes.size > 1 else np.zeros(labels.size, dtype=np.int64)
    folds = folds_of(first + np.arange(labels.size), count).astype(np.int64)
    scale, at_zero = np.ldexp(weights, -exponent), np.zeros((count, 2))
    totals = np.bincount(folds * classes.size + codes, scale if scale.size else None, count * classes.size)
    if not loss.binary:
        inside = [folds == number for number in range(count)]
        at_zero = np.array([sums_at_zero(loss, labels[some], scale[some] if scale.size else scale) for some in inside])
    return Summand((totals.reshape(count, -1).astype(float), at_zero), np.zeros(0))


def weighted_value(kept: Kept, first: int, shared: tuple[Any, ...]) -> Summand:
    """The value of a function on the rows of a partition, times their weight, and the weight."""
    function, arguments, fold = shared
    rows, labels, weights = kept.value
    counts = np.arange(labels.size) if fold is None else np.flatnonzero(fold.marks(first + np.arange(labels.size)))
    used = weights[counts] if weights.size else np.ones(counts.size)
    weight = float(used.sum())
    if not weight > 0.0:  # the shape of a mean of nothing
        return Summand((np.zeros(len(arguments[0])), 0.0), np.zeros(0))
    values = function(data_matrix(rows)[counts], labels[counts], used, *arguments)
    return Summand((weight * np.asarray(values), weight), np.zeros(0))
