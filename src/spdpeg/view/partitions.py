"""Rows that live on the workers of a dask cluster: partitions read, checked and given labels and weights there."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..data import Block, Source, as_source
from ..data.base import check_width, no_weights
from ..data.blocks import data_matrix, join, pick
from ..errors import InputError, UnsupportedError
from ..kernels.jit import CHUNK, as_reals
from ..kernels.losses import sum_chunks
from ..kernels.rows import Rows
from ..losses import Loss
from ..parameters import is_dask
from ..sparse import first_not_finite
from ..sums.cluster import AtZero, ClusterSums
from ..sums.portions import MEAN_ROWS, MOST_ENTRIES, sample_size
from ..sums.rounds import Rounds, active_client
from ..sums.tasks import Kept, Resident, Summand, only, readable
from ..sums.threads import one_blas_thread
from .labels import as_labels, as_numbers, checked_weights, different

_LABELS, _WEIGHTS = "\x00y", "\x00sample_weight"
"""Names that no column of a user has."""

_MOST_CLASSES = 1000
"""Different labels beyond which they are no names of classes."""


class Positive(NamedTuple):
    """A class against all others, in the place of labels."""

    label: Any


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
        """Which of the rows with these numbers are meant."""
        return (_folds(rows, self.n_folds) == self.number) == self.held


class Partitions(Source):
    """Rows, labels and weights of dask collections, computed once and kept by the workers.

    Partitions without rows, or whose weights are all 0, are left out, and so are single rows of weight 0.

    Attributes
    ----------
    n_samples, n_features : int
    names : list or None
        Of the columns of a data frame.
    classes : array
        The different labels, if they are classes.
    totals : array
        The weights of their rows, up to a common factor.
    """

    name = "X on the cluster"

    def __init__(self, X: Any, y: Any, sample_weight: Any, loss: Loss) -> None:
        if y is None and loss.curvature > 0.0:
            raise InputError(f"y is missing. {type(loss).__name__} needs one label per row of X.")
        client = active_client("X")
        self.n_features, self.names = columns_of(X)
        self._loss = loss
        parts = client.compute(of_each(_part, X, y, sample_weight, self.n_features, loss.binary))
        found, samples = _met(Rounds(client, range(len(parts))), parts, self.n_features + 1, loss)
        used = [number for number, summary in enumerate(found) if summary.n_rows]
        self.n_samples = sum(summary.n_rows for summary in found)
        check_width(self.n_samples, self.n_features)
        self._rounds = Rounds(client, used)
        self._parts = [parts[number] for number in used]
        found = [found[number] for number in used]
        self._set_totals(found)
        self.n_entries = sum(summary.n_entries for summary in found)
        self.is_sparse = found[0].is_sparse
        square = sum(summary.square for summary in found) / self.n_samples
        self.typical_bias = math.sqrt(square) if 0.0 < square < math.inf else 1.0
        self._of_class, self._weighted = np.zeros(0), sample_weight is not None
        self._fold: Fold | None = None
        self._firsts = np.cumsum([0, *(summary.n_rows for summary in found)])[:-1].tolist()
        self._sample, self._sampled = _joined([samples[number] for number in used], self._firsts)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_samples, self.n_features

    @property
    def rows(self) -> Rows:  # type: ignore[override]
        """Not here."""
        raise UnsupportedError(
            "X lives on a cluster, so that single rows of it cannot be had. Use a smooth loss with "
            '"auto", "prox-newton" or "working-set", stream the partitions with "spdpeg", or compute() a sample.'
        )

    def reweighted(self, of_class: np.ndarray) -> Self:
        """The same rows with weights of classes that multiply those of the rows."""
        other = copy.copy(self)
        other._of_class = of_class
        if not np.any(of_class * self.totals > 0.0):
            raise InputError("The weights of all rows are 0, those of their classes included. One row must count.")
        return other

    def folds(self, count: int) -> list[tuple[Self, Self]]:
        """The same rows in folds, each as those to learn from and those held out: all others have weight 0."""
        asked = {"count": count, "classes": self.classes, "exponent": self._exponent, "loss": self._loss}
        leaves = self._rounds.each(_fold_totals, self._parts, self._firsts, **asked)
        totals, at_zero = self._rounds.total(leaves).sums
        pairs = []
        for number in range(count):
            if not (totals[number].sum() > 0.0 and (self.totals - totals[number]).sum() > 0.0):
                raise InputError(f"Fold {number} of {count} has no rows, or all of them. Take fewer folds.")
            inside, outside = copy.copy(self), copy.copy(self)
            inside._fold, inside.totals = Fold(number, count, held=False), self.totals - totals[number]
            outside._fold, outside.totals = Fold(number, count, held=True), totals[number]
            outside._at_zero = at_zero[number]
            with np.errstate(invalid="ignore"):  # a conjugate that nobody knows is infinite everywhere
                inside._at_zero = np.where(np.isinf(self._at_zero), np.inf, self._at_zero - at_zero[number])
            pairs.append((inside, outside))
        return pairs

    def mean(self, function: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        """Mean over partitions, by weight, of what a function makes of the rows, labels and weights that count."""
        shared = self._rounds.common(only, (function, arguments, self._fold))
        leaves = self._rounds.each(_judged, self._parts, self._firsts, [shared] * len(self._parts))
        total, weight = self._rounds.total(leaves).sums
        return np.asarray(total / weight)

    @property
    def total_weight(self) -> float:
        """Total weight of the rows, class weights included; the number of rows if they have no weights."""
        return math.ldexp(self._total, self._exponent)

    @property
    def _total(self) -> float:
        return float(self.totals @ self._of_class if self._of_class.size else self.totals.sum())

    def sums(self, bias: float, positive: Any) -> ClusterSums:
        """Sums over the rows for the loss; `positive` is the label of +1, or None if labels are numbers."""
        encoding = self._encoding(bias, positive)
        shared = self._rounds.common(only, encoding)
        residents = self._rounds.each(_encoded, self._parts, self._firsts, [shared] * len(self._parts))
        sample = _labelled(self._sample, self._sampled, encoding)
        at_zero = self._at_zero
        if positive is not None:
            signs = np.where(self.classes == positive, 1.0, -1.0)
            at_zero = _at_zero(self._loss, signs, self.totals * self._of_class if self._of_class.size else self.totals)
        known = AtZero(*map(float, at_zero / self._total))
        return ClusterSums(self._rounds, residents, self.n_samples, self.n_entries, sample, known)

    def chunks(self, positive: Any) -> Iterator[tuple[Any, np.ndarray, np.ndarray | None]]:
        """One partition after the other in the memory of this process: rows, labels, weights."""
        encoding = self._encoding(0.0, positive)
        following = self._chunk(0, encoding)
        for number in range(1, len(self._parts) + 1):
            here = following
            # The next one is made while this one is used.
            following = self._chunk(number, encoding) if number < len(self._parts) else None
            [(X, labels, weights)] = Rounds(self._rounds.client, [self._rounds.numbers[number - 1]]).gathered(here)
            yield X, labels, weights if weights.size else None

    def _chunk(self, number: int, encoding: Encoding) -> Any:
        return self._rounds.each(_as_chunk, [self._parts[number]], [self._firsts[number]], [encoding])

    def _set_totals(self, found: Sequence[Summary]) -> None:
        self._exponent = max(summary.exponent for summary in found)
        self.classes = different(np.concatenate(_alike([summary.classes for summary in found])), "y")
        self.totals, self._at_zero = np.zeros(self.classes.size), np.zeros(2)
        for summary in found:
            self._at_zero += np.ldexp(summary.at_zero, summary.exponent - self._exponent)
            places = np.searchsorted(self.classes, summary.classes)
            self.totals[places] += np.ldexp(summary.totals, summary.exponent - self._exponent)

    def _encoding(self, bias: float, positive: Any) -> Encoding:
        weighted = self._weighted or self._of_class.size or self._fold is not None
        factor = self.n_samples / self._total if weighted else 0.0
        return Encoding(self._loss, bias, positive, self._exponent, factor, self.classes, self._of_class, self._fold)


# ---------------------------------------------------------------------------------------------------- on the driver


def _met(rounds: Rounds, parts: list[Any], width: int, loss: Loss) -> tuple[list[Summary], list[tuple[Block, Any]]]:
    """Summaries of all partitions, and rows of each for a sample of all, with their places: one round."""
    summaries = rounds.each(_summary, parts, loss=loss)
    # How many rows there are, and so how many a sample has of them, is found out on the way.
    stride = rounds.common(_stride, summaries, width, loss.quadratic)
    return rounds.gathered_with(summaries, rounds.each(_drawn, parts, [stride] * len(parts)))


def _joined(parts: list[tuple[Block, np.ndarray]], firsts: list[int]) -> tuple[Block, np.ndarray]:
    """Rows of several partitions as one block, and their numbers among all rows."""
    labels = _alike([block.labels for block, _ in parts])
    blocks = [readable(block._replace(labels=some)) for (block, _), some in zip(parts, labels, strict=True)]
    return join(blocks), np.concatenate([first + places for first, (_, places) in zip(firsts, parts, strict=True)])


def _alike(labels: list[np.ndarray]) -> list[np.ndarray]:
    """Labels of several partitions, of one kind: or numbers beside text would become text."""
    mixed = len({part.dtype.kind in "biuf" for part in labels}) > 1
    return [part.astype(object) for part in labels] if mixed else labels


def columns_of(X: Any) -> tuple[int, list[Any] | None]:
    """Number and names of the columns."""
    if hasattr(X, "columns"):
        names = list(X.columns)
        return len(names), names if all(isinstance(name, str) for name in names) else None
    if getattr(X, "ndim", None) != 2:
        raise InputError(
            f"X is a {type(X).__name__} of dask that is no table. Give a data frame or an array of two dimensions."
        )
    return int(X.shape[1]), None


def computed(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """One partition after the other, computed on the cluster and brought here; those without rows are left out.

    The next one is computed while one is worked on.
    """
    client = active_client("X")
    parts = of_each(_together, X, y, sample_weight)
    following = client.compute(parts[:1])
    for number in range(len(parts)):
        here, following = following, client.compute(parts[number + 1 : number + 2])
        [chunk] = Rounds(client, [number]).gathered(here)
        if chunk[0].shape[0]:
            yield chunk


def of_each(function: Any, X: Any, y: Any, sample_weight: Any, *arguments: Any) -> list[Any]:
    """function(rows, labels, weights, *arguments) of each partition, not computed yet."""
    from dask import delayed

    columns_of(X)
    if not hasattr(X, "chunks"):
        beside = {_LABELS: y, _WEIGHTS: sample_weight}
        columns = {name: part for name, part in beside.items() if is_dask(part) and hasattr(part, "npartitions")}
        columns = {name: part for name, part in columns.items() if not hasattr(part, "chunks")}
        if len(columns) == sum(part is not None for part in beside.values()):
            # Together they are read once, and cut alike: dask cuts a file by the sizes of the columns that are wanted.
            frame = _assigned(X, columns)
            return [delayed(_of_own_columns, pure=False)(function, part, *arguments) for part in frame.to_delayed()]
    lengths = None
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        lengths = X.chunks[0]
    tables = list(np.ravel(X.to_delayed()))
    labels = _beside("y", y, tables, lengths)
    weights = _beside("sample_weight", sample_weight, tables, lengths)
    together = zip(tables, labels, weights, strict=True)
    return [delayed(function, pure=False)(*part, *arguments) for part in together]


def _assigned(X: Any, columns: dict[str, Any]) -> Any:
    """The frame with more columns."""
    for name, part in columns.items():
        if part.ndim != 1:
            raise InputError(f"{name[1:]} is a {type(part).__name__} of dask that is no vector. Give one column.")
    try:
        return X.assign(**columns)
    except (ValueError, NotImplementedError, AssertionError) as error:
        raise InputError(
            f"y or sample_weight has other partitions than X ({error}). Take all of them from one data frame."
        ) from None


def _beside(name: str, vector: Any, tables: list[Any], lengths: Any) -> list[Any]:
    """The parts of labels or weights that belong to the partitions."""
    if vector is None:
        return [None] * len(tables)
    known = lengths is not None and not any(math.isnan(length) for length in lengths)
    if not is_dask(vector):
        import dask.array as da

        vector = np.asarray(vector)
        if not known or vector.shape != (sum(lengths),):
            raise InputError(
                f"{name} is no collection of dask, has shape {vector.shape}, and does not fit X, whose partitions have "
                f"{'other' if known else 'unknown'} lengths. Give a column or an array that is cut like X."
            )
        vector = da.from_array(vector, chunks=(lengths,))
    if getattr(vector, "ndim", None) != 1:
        raise InputError(f"{name} is a {type(vector).__name__} of dask that is no vector. Give one column.")
    if known and hasattr(vector, "chunks") and not any(map(math.isnan, vector.chunks[0])):
        if vector.shape[0] != sum(lengths):
            raise InputError(f"{name} has {vector.shape[0]} entries where X has {sum(lengths)} rows.")
        vector = vector.rechunk((lengths,))
    parts = list(np.ravel(vector.to_delayed()))
    if len(parts) != len(tables):
        raise InputError(
            f"{name} has {len(parts)} partitions where X has {len(tables)}. Take both from one collection, or "
            "repartition them alike."
        )
    return parts


# --------------------------------------------------------------------------------------------------- on the workers


def _together(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    return X, y, weights


def _of_own_columns(function: Any, frame: Any, *arguments: Any) -> Any:
    """The function of a frame's own columns and of those that were added to it."""
    added = [frame[name] if name in frame.columns else None for name in (_LABELS, _WEIGHTS)]
    own = frame.drop(columns=[name for name in (_LABELS, _WEIGHTS) if name in frame.columns])
    return function(own, *added, *arguments)


def _part(X: Any, y: Any, weights: Any, width: int, has_classes: bool) -> Kept:
    """A block with labels of any kind and weights as they were given; nothing if there are no rows."""
    n = X.shape[0]
    labels = np.zeros(n) if y is None else as_labels(y, "y")
    if labels.shape != (n,):
        raise InputError(f"X has {n} rows and y has shape {labels.shape}. Cut both in the same way.")
    given = no_weights() if weights is None else as_reals(checked_weights(weights, n))
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


def _summary(kept: Kept, loss: Loss) -> Summary:
    block: Block | None = kept.value
    if block is None:
        return Summary(0, 0, False, 0.0, 0, np.zeros(0), np.zeros(0), np.zeros(2))
    rows, labels, weights = block
    exponent = math.frexp(float(weights.max()))[1] if weights.size else 0
    # Numbers are as many as the rows, and nobody asks which they are.
    classes, codes = np.zeros(1), np.zeros(labels.size, dtype=np.int64)
    scale, at_zero = np.ldexp(weights, -exponent), np.zeros(2)
    if not loss.binary:
        at_zero = _at_zero(loss, labels, scale)
    else:
        classes = different(labels, "y")
        codes = np.searchsorted(classes, labels)
        if classes.size > _MOST_CLASSES:
            raise InputError(f"y has {classes.size} different labels, too many for classes. Choose a regression.")
    with one_blas_thread():
        square = float(np.vdot(rows.values, rows.values))
    totals = np.bincount(codes, scale if scale.size else None).astype(float)
    return Summary(labels.size, rows.values.size, rows.indptr.size > 0, square, exponent, classes, totals, at_zero)


def _at_zero(loss: Loss, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums of the loss and of its conjugate at 0, which the labels alone tell."""
    labels, weights, nothing = as_reals(labels), as_reals(weights), np.zeros(labels.size)
    value = sum_chunks(loss.read_term, nothing, labels, weights, np.empty(CHUNK))
    return np.array([value, loss.conjugate_sum(nothing, labels, weights)])


def _stride(summaries: list[Summary], width: int, quadratic: bool) -> int:
    """Every how many-th row a sample has. A squared loss asks for means only."""
    n_rows = sum(summary.n_rows for summary in summaries)
    wanted = min(MEAN_ROWS, MOST_ENTRIES // width) if quadratic else sample_size(n_rows, width)
    return max(1, n_rows // max(1, wanted))


def _drawn(kept: Kept, stride: int) -> tuple[Block, np.ndarray] | None:
    """Rows from all over a partition, at least one, and their places in it; nothing if it has none."""
    if kept.value is None:
        return None
    n_rows = kept.value.labels.size
    places = np.arange(0, n_rows, min(n_rows, stride))
    return pick(kept.value, places), places


def _encoded(kept: Kept, first: int, encoding: Encoding) -> Resident:
    return Resident(_checked(kept.value, first, encoding), encoding.loss)


def _checked(block: Block, first: int, encoding: Encoding) -> Block:
    """All of a partition, whose first row has this number, as the problem has it."""
    if encoding.positive is None:
        encoding.loss.check_labels(block.labels, "y")
    return _labelled(block, first + np.arange(block.labels.size), encoding)


def _labelled(block: Block, numbers: np.ndarray, encoding: Encoding) -> Block:
    """The block with labels, weights and intercept as the problem has them; its rows have these numbers among all."""
    rows, labels, weights = block
    scale: Any = np.ldexp(weights, -encoding.exponent) if weights.size else np.ones(labels.size)
    if encoding.fold is not None:
        scale = scale * encoding.fold.marks(numbers)
    if encoding.of_class.size:
        scale = scale * encoding.of_class[np.searchsorted(encoding.classes, labels)]
    weights = as_reals(encoding.factor * scale) if encoding.factor else no_weights()
    if encoding.positive is not None:
        labels = np.where(labels == encoding.positive, 1.0, -1.0)
    return Block(rows._replace(bias=encoding.bias), as_reals(labels), weights)


def _as_chunk(kept: Kept, first: int, encoding: Encoding) -> tuple[Any, np.ndarray, np.ndarray]:
    rows, labels, weights = _checked(kept.value, first, encoding)
    return data_matrix(rows), labels, weights


def _folds(rows: np.ndarray, count: int) -> np.ndarray:
    """Folds of rows by their numbers, mixed so well that no order of the rows matters (the finalizer of splitmix64)."""
    z = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) % np.uint64(count)


def _fold_totals(kept: Kept, first: int, count: int, classes: np.ndarray, exponent: int, loss: Loss) -> Summand:
    """Weights of the rows of each class, and sums at 0, fold by fold."""
    _, labels, weights = kept.value
    codes = np.searchsorted(classes, labels) if classes.size > 1 else np.zeros(labels.size, dtype=np.int64)
    folds = _folds(first + np.arange(labels.size), count).astype(np.int64)
    scale, at_zero = np.ldexp(weights, -exponent), np.zeros((count, 2))
    totals = np.bincount(folds * classes.size + codes, scale if scale.size else None, count * classes.size)
    if not loss.binary:
        inside = [folds == number for number in range(count)]
        at_zero = np.array([_at_zero(loss, labels[some], scale[some] if scale.size else scale) for some in inside])
    return Summand((totals.reshape(count, -1).astype(float), at_zero), np.zeros(0))


def _judged(kept: Kept, first: int, shared: tuple[Any, ...]) -> Summand:
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
