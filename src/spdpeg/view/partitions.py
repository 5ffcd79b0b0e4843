"""Rows on the workers of a dask cluster as a source: partitions read, checked and given labels and weights there."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..data import Block, Source
from ..data.blocks import join
from ..data.sources import check_width
from ..errors import InputError, UnsupportedError
from ..kernels.rows import Rows
from ..losses import Loss
from ..sums.cluster import AtZero, ClusterSums
from ..sums.rounds import Rounds, active_client
from ..sums.tasks import only, readable
from .dask_collections import columns_of, of_each
from .labels import different
from .partition_tasks import (
    Encoding,
    Fold,
    Summary,
    as_chunk,
    checked_block,
    draw,
    encode,
    fold_totals,
    resident,
    sample_stride,
    summarize,
    sums_at_zero,
    weighted_value,
)


class Positive(NamedTuple):
    """A class against all others, in the place of labels."""

    label: Any


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
        parts = client.compute(of_each(checked_block, X, y, sample_weight, self.n_features, loss.binary))
        found, samples = _summaries_and_sample(Rounds(client, range(len(parts))), parts, self.n_features + 1, loss)
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
        leaves = self._rounds.each(fold_totals, self._parts, self._firsts, **asked)
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
        leaves = self._rounds.each(weighted_value, self._parts, self._firsts, [shared] * len(self._parts))
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
        residents = self._rounds.each(resident, self._parts, self._firsts, [shared] * len(self._parts))
        sample = encode(self._sample, self._sampled, encoding)
        at_zero = self._at_zero
        if positive is not None:
            signs = np.where(self.classes == positive, 1.0, -1.0)
            at_zero = sums_at_zero(
                self._loss, signs, self.totals * self._of_class if self._of_class.size else self.totals
            )
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
        return self._rounds.each(as_chunk, [self._parts[number]], [self._firsts[number]], [encoding])

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


def _summaries_and_sample(
    rounds: Rounds, parts: list[Any], width: int, loss: Loss
) -> tuple[list[Summary], list[tuple[Block, Any]]]:
    """Summaries of all partitions, and rows of each for a sample of all, with their places: one round."""
    summaries = rounds.each(summarize, parts, loss=loss)
    # How many rows there are, and so how many a sample has of them, is found out on the way.
    stride = rounds.common(sample_stride, summaries, width, loss.quadratic)
    return rounds.gathered_with(summaries, rounds.each(draw, parts, [stride] * len(parts)))


def _joined(parts: list[tuple[Block, np.ndarray]], firsts: list[int]) -> tuple[Block, np.ndarray]:
    """Rows of several partitions as one block, and their numbers among all rows."""
    labels = _alike([block.labels for block, _ in parts])
    blocks = [readable(block._replace(labels=some)) for (block, _), some in zip(parts, labels, strict=True)]
    return join(blocks), np.concatenate([first + places for first, (_, places) in zip(firsts, parts, strict=True)])


def _alike(labels: list[np.ndarray]) -> list[np.ndarray]:
    """Labels of several partitions, of one kind: or numbers beside text would become text."""
    mixed = len({part.dtype.kind in "biuf" for part in labels}) > 1
    return [part.astype(object) for part in labels] if mixed else labels
