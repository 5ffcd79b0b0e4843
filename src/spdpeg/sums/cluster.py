"""Sums over rows that live on the workers of a dask cluster."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data import Block
from ..data.blocks import join, pick
from ..errors import UnsupportedError
from . import tasks
from .base import Evaluation, RowStatistics, Sample, Sweep
from .blocks import MEAN_ROWS
from .moments import Moments, near_means
from .rounds import Rounds

_NEARLY = 1e-10
"""What a factor on slopes may be short of 1 as if it were rounding."""

_ABOUT = 0.9
"""Fraction of the rows wanted for a sample that will do."""


class Known(NamedTuple):
    """Sums over slopes that came along with others."""

    mean_square: float
    conjugate: float
    """At the slopes as they are."""


class AtZero(NamedTuple):
    """Means at margins and slopes of 0, which depend on the labels alone."""

    loss: float
    conjugate: float


class Remote(NamedTuple):
    """A token: futures of what stays with the rows of each partition, and which field of it is meant."""

    futures: list[Any]
    field: str = ""
    known: Known | None = None


class ClusterSums:
    """Sums over partitions, for a loss; the class of `Sums` for a cluster.

    Each partition has sums of its own, those of `LocalSums`, which a tree adds up. Margins and slopes stay on the
    workers: the driver holds sums and futures alone.

    Parameters
    ----------
    rounds : Rounds
    residents : list of futures
        Of the partitions, `tasks.Resident`; none without rows.
    n_rows, n_entries : int
        Of all partitions together.
    sample : Block
        Some rows from all of them, in the memory of this process.
    at_zero : AtZero
    """

    block: Block | None = None
    resident = False

    def __init__(
        self, rounds: Rounds, residents: list[Any], n_rows: int, n_entries: int, sample: Block, at_zero: AtZero
    ) -> None:
        self.n_rows, self.n_entries, self.reads = n_rows, n_entries, 0
        self.n_columns = sample.rows.width + (sample.rows.bias != 0.0)
        self.is_sparse = sample.rows.indptr.size > 0
        self._rounds, self._residents, self._sample, self._at_zero = rounds, residents, sample, at_zero
        self._rows_alone: tasks.Summand | None = None

    @property
    def rounds(self) -> int:
        """How often the driver has waited for the workers."""
        return self._rounds.done

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
        if model is None or ahead is None:
            return self._swept(self._each(tasks.at, (x, curvature, floor)))
        return self._swept(self._each(tasks.ahead, (x, curvature, floor, ahead), model.at_rows))

    def at_margins(self, margins: Remote, *, curvature: bool = False, floor: float = 0.0) -> Sweep:
        """The same at a point whose margins are known. One read."""
        return self._swept(self._each(tasks.at_margins, (curvature, floor, margins.field), margins))

    def losses_between(self, start: Sweep, end: Sweep, lengths: np.ndarray) -> np.ndarray:
        """Mean losses at parts of the way from one point to the other; reads margins only."""
        return np.asarray(self._mean(tasks.losses_between, (lengths,), start.at_rows, end.at_rows))

    def between(self, start: Sweep, end: Sweep, length: float, floor: float = 0.0) -> Sweep:
        """All sums, curvature too, at one of these points. One read."""
        return self._swept(self._each(tasks.between, (length, floor), start.at_rows, end.at_rows))

    def evaluate(self, x: np.ndarray, margins: Remote | None = None, shift: float = 0.0) -> Evaluation:
        """Mean loss and gradient in two parts at x, or at known margins plus `shift`. One read."""
        self.reads += 1
        if margins is None:
            kept = self._each(tasks.evaluate, (x,))
        else:
            kept = self._each(tasks.evaluate_from, (x, shift, margins.field), margins)
        loss, gradient, positive = self._total(
            self._rounds.each(tasks.sums_of_evaluation, kept, n_rows=self.n_rows)
        ).sums
        return Evaluation(float(loss), Remote(kept, "margins"), gradient, positive)

    def loss(self, x: np.ndarray) -> float:
        """Mean loss alone. One read."""
        return float(self._mean(tasks.loss, (x,))) if x.any() else self._at_zero.loss

    # ------------------------------------------------------------------------------------------ for lower bounds

    def slopes(self, margins: Remote, shift: float, up: float, down: float) -> Remote:
        """phi' at margins + shift, positive slopes times `up`, the others times `down`."""
        return Remote(self._each(tasks.slopes, (shift, up, down, margins.field), margins))

    def scaled(self, u: Remote, up: float, down: float) -> Remote:
        """u, its positive entries times `up`, the others times `down`."""
        return u if up == down == 1.0 else Remote(self._each(tasks.scaled, (up, down, u.field), u))

    def adjoint(self, u: Remote) -> np.ndarray:
        """A^T W u / N. One read."""
        return np.asarray(self._mean(tasks.adjoint, (u.field,), u))

    def margins_at_zero(self) -> Remote:
        """Margins at x = 0."""
        return Remote(self._each(tasks.zeros, ()))

    def mean_square(self, u: Remote) -> float:
        """Mean of w u^2."""
        if u.known is not None:
            return u.known.mean_square
        return float(self._mean(tasks.mean_square, (u.field,), u))

    def mean_slopes(self, margins: Remote, shifts: np.ndarray) -> np.ndarray:
        """Means of w phi'(margin + shift), for several shifts at once."""
        return np.asarray(self._mean(tasks.mean_slopes, (shifts, margins.field), margins))

    def conjugate(self, u: Remote, scale: float) -> float:
        """Mean of w phi*(scale u)."""
        if scale == 0.0:
            return self._at_zero.conjugate
        if u.known is not None and 0.0 <= 1.0 - scale <= _NEARLY:
            # A round for what rounding took from 1 is saved: phi* is convex, so that this is not less, and what follows
            # from it is a bound all the same.
            rest = (1.0 - scale) * self._at_zero.conjugate if scale < 1.0 else 0.0
            return scale * u.known.conjugate + rest
        return float(self._mean(tasks.conjugate, (scale, u.field), u))

    def conjugate_at(self, margins: Remote, shift: float, up: float, down: float) -> float:
        """The same for `slopes(margins, shift, up, down)`, which are not kept."""
        return float(self._mean(tasks.conjugate_at, (shift, up, down, margins.field), margins))

    # ---------------------------------------------------------------------------------------- of the data alone

    def statistics(self) -> RowStatistics:
        """Sizes of the rows. One read, unless a sweep has brought them."""
        (square, noise, _), largest = self._known_rows()
        return RowStatistics(float(largest[0]), float(square), float(noise))

    def moments(self) -> Moments:
        """Second moments of rows and labels, all that the squared loss depends on. One read."""
        self.reads += 1
        [found] = self._total(self._each(tasks.moments, (near_means(self.sample(MEAN_ROWS).block),))).sums
        return found

    def column_squares(self) -> np.ndarray:
        """Means of w a_ij^2. One read, unless a sweep has brought them."""
        return np.asarray(self._known_rows().sums[2])

    def sample(self, n_rows: int) -> Sample:
        """About so many rows from all over the data, in memory; the same ones each time."""
        here = self._sample.labels.size
        if here >= _ABOUT * min(n_rows, self.n_rows):
            block = pick(self._sample, np.arange(0, here, max(1, here // n_rows)))
        else:
            parts = self._rounds.gathered(self._each(tasks.sample, (self.n_rows, n_rows)))
            block = join(list(map(tasks.readable, parts)))
        return Sample(block, block.labels.size)

    def collapse(self, labels: np.ndarray, count: int) -> "ClusterSums":
        """The same rows with columns added up over `count` pieces; labels[j] is the piece of column j, or -1. One read.

        They are made when they are first needed, and stay on the workers as long as they are in use.
        """
        residents = self._each(tasks.collapse, (labels, count))
        sample = tasks.collapsed(self._sample, labels, count)
        return ClusterSums(self._rounds, residents, self.n_rows, self.n_rows * count, sample, self._at_zero)

    # -------------------------------------------------------------------------- of single rows, and between runs

    def vector(self, token: Remote) -> np.ndarray:
        """Refused: nothing of the rows comes here."""
        raise UnsupportedError("X lives on a cluster, so that numbers of its rows stay there. Compute a sample.")

    def kept(self, token: Remote) -> np.ndarray:
        """Nothing: tokens stay on the workers."""
        return np.zeros(0)

    def length_kept(self) -> int:
        """Length of the vectors that `kept` returns."""
        return 0

    # --------------------------------------------------------------------------------------------------- private

    def _known_rows(self) -> tasks.Summand:
        """Statistics of the rows that depend on no point x."""
        if self._rows_alone is None:
            self.reads += 1
            self._rows_alone = self._total(self._each(tasks.rows_alone, (self.n_rows,)))
        return self._rows_alone

    def _each(self, task: Callable[..., Any], request: tuple[Any, ...], *tokens: Remote) -> list[Any]:
        """Futures of a task on each partition and what stays with its rows."""
        items = [token.futures for token in tokens]
        common = self._rounds.common(tasks.only, request)
        return self._rounds.each(tasks.run, self._residents, *items, task=task, request=common)

    def _mean(self, task: Callable[..., Any], request: tuple[Any, ...], *tokens: Remote) -> Any:
        """The one sum that a task makes."""
        self.reads += task in (tasks.loss, tasks.adjoint)
        [value] = self._total(self._each(task, (self.n_rows, *request), *tokens)).sums
        return value

    def _swept(self, kept: list[Any]) -> Sweep:
        self.reads += 1
        asked = {"n_rows": self.n_rows, "with_rows": self._rows_alone is None}
        found = self._total(self._rounds.each(tasks.sums_of_sweep, kept, self._residents, **asked))
        loss, gradient, curvature, predicted, mean_square, conjugate, *of_rows = found.sums
        least, largest, *of_largest = found.largest
        if of_rows:
            self._rows_alone = tasks.Summand(tuple(of_rows), np.array(of_largest))
        sweep = Sweep(
            float(loss), gradient, curvature, Remote(kept, "margins"), Remote(kept), (float(-least), float(largest))
        )
        if predicted is not None:
            known = Known(float(mean_square), float(conjugate))
            sweep.predicted, sweep.predicted_gradient = Remote(kept, "predicted", known), predicted
        return sweep

    def _total(self, leaves: list[Any]) -> tasks.Summand:
        return self._rounds.total(leaves)
