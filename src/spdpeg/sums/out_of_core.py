"""Sums over rows that are read again each time, where nothing but one number stays with each row.

A token is a recipe: the points from which the numbers of the rows follow. The numbers made last are kept in one vector,
8 bytes a row; those of any other token follow from the rows of a block while it is read, or take a read of their own.
"""

import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from ..data import Block
from ..kernels.jit import CHUNK
from ..kernels.losses import sum_chunks
from ..kernels.sweeps import AtRows
from ..losses import Loss
from .base import Evaluation, Sweep
from .blocks import BlockSums, Request, column_squares_of, cut, margins_of, rows_at_margins, sums_over
from .local import LocalSums, Values

_AT_A_TIME = 1 << 18
"""Numbers of rows that are made from others at a time."""

_NOTHING = np.zeros(0)


class Margins(NamedTuple):
    """A x."""

    x: np.ndarray

    def made(self, block: Block, some: slice, loss: Loss, values: Values) -> np.ndarray:
        """The numbers of a block's rows."""
        return margins_of(block.rows, block.labels.size, self.x)


class Between(NamedTuple):
    """Margins at a fraction of the way from one point to another."""

    start: "Recipe"
    end: "Recipe"
    length: float

    def made(self, block: Block, some: slice, loss: Loss, values: Values) -> np.ndarray:
        """The numbers of a block's rows."""
        start = values(self.start, block, some)
        return np.asarray(start + self.length * (values(self.end, block, some) - start))


class ModelAt(NamedTuple):
    """Where a model of the loss was made; curvatures are raised to the floor."""

    margins: "Recipe"
    floor: float

    def at_rows(self, block: Block, some: slice, loss: Loss, values: Values) -> AtRows:
        """Margins, slopes and curvatures of a block."""
        found = rows_at_margins(block, loss, values(self.margins, block, some))
        np.maximum(found.curvatures, self.floor, out=found.curvatures)
        return found


class Predicted(NamedTuple):
    """Slopes that a model predicts for a point."""

    model: ModelAt
    point: np.ndarray

    def made(self, block: Block, some: slice, loss: Loss, values: Values) -> np.ndarray:
        """The numbers of a block's rows."""
        margins, slopes, curvatures = self.model.at_rows(block, some, loss, values)
        return np.asarray(slopes + curvatures * (margins_of(block.rows, margins.size, self.point) - margins))


class Derived(NamedTuple):
    """Numbers that follow from others row by row, with the label."""

    base: "Recipe"
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]


Recipe = Margins | Between | Predicted | Derived | np.ndarray
"""A vector of all rows is its own recipe."""


class _Slot(threading.local):
    """The numbers made last, for each thread that solves a problem."""

    recipe: Recipe | None = None
    vector = _NOTHING


class OutOfCoreSums(LocalSums):
    """Sums over rows on a disk or anywhere else that reading takes time; the class of `Sums` for one machine."""

    @classmethod
    def of(cls, block: Block, loss: Loss) -> Self:
        """Sums over the rows of a memory-mapped block."""
        return cls(cut(block.rows, block.labels.size, on_disk=True), block.labels, block.weights, loss, block)

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
        """All sums at x; `ahead` is where the model of an earlier sweep has its minimum. One read.

        The slopes that are predicted are kept, the margins elsewhere.
        """
        here = Margins(x.copy())
        if model is None or ahead is None:
            return self._met(here, self._request(x, False, curvature, floor))
        # There is room for one vector. What a bound asks for next are the predicted slopes; margins follow from x.
        predicted, kept = Predicted(model.at_rows, ahead.copy()), self._emptied()
        request, values = self._request(x, False, curvature, floor, predicted.point), self._values()

        def one(block: Block, some: slice) -> BlockSums:
            based = predicted.model.at_rows(block, some, self._loss, values)
            return sums_over(block, request, _blank(np.empty(some.stop - some.start)), based, kept[some])

        sweep = self._sweep(one, request)
        self._keep(predicted, kept)
        sweep.margins, sweep.at_rows, sweep.predicted = here, ModelAt(here, floor), predicted
        return sweep

    def at_margins(self, margins: Recipe, *, curvature: bool = False, floor: float = 0.0) -> Sweep:
        """The same at a point whose margins are known. One read."""
        return self._met(margins, self._request(np.zeros(self.n_columns), True, curvature, floor))

    def losses_between(self, start: Sweep, end: Sweep, lengths: np.ndarray) -> np.ndarray:
        """Mean losses at parts of the way from one point to the other. One read."""
        term, values = self._loss.read_term, self._values()

        def one(block: Block, some: slice) -> np.ndarray:
            first, last = (values(sweep.margins, block, some) for sweep in (start, end))
            spare = np.empty(CHUNK)
            points = (first + length * (last - first) for length in lengths)
            sums = [sum_chunks(term, margins, block.labels, block.weights, spare) for margins in points]
            return np.array(sums) / first.size

        return self._added(one)

    def between(self, start: Sweep, end: Sweep, length: float, floor: float = 0.0) -> Sweep:
        """All sums, curvature too, at one of these points. One read."""
        first, last = start.margins, end.margins
        if isinstance(first, Margins) and isinstance(last, Margins):
            # Margins are linear in x: one product with the rows instead of two.
            return self.at(first.x + length * (last.x - first.x), curvature=True, floor=floor)
        return self.at_margins(Between(first, last, length), curvature=True, floor=floor)

    def evaluate(self, x: np.ndarray, margins: Recipe | None = None, shift: float = 0.0) -> Evaluation:
        """Mean loss and gradient in two parts at x, or at known margins plus `shift`. One read."""
        if margins is None:
            margins, kept = Margins(x.copy()), self._emptied()
            found = self._evaluated(x, lambda block, some: kept[some], False)
            self._keep(margins, kept)
            return found._replace(margins=margins)
        moved = Derived(margins, lambda t, labels: t + shift) if shift else margins
        values = self._values()
        return self._evaluated(x, lambda block, some: values(moved, block, some), True)._replace(margins=moved)

    # ------------------------------------------------------------------------------------------ for lower bounds

    def slopes(self, margins: Recipe, shift: float, up: float, down: float) -> Recipe:
        """phi' at margins + shift, positive slopes times `up`, the others times `down`."""
        derivative = self._loss.derivative
        return self.scaled(Derived(margins, lambda values, labels: derivative(values + shift, labels)), up, down)

    def scaled(self, u: Recipe, up: float, down: float) -> Recipe:
        """u, its positive entries times `up`, the others times `down`."""
        if up == down == 1.0:
            return u
        return Derived(u, lambda values, labels: np.where(values > 0.0, up * values, down * values))

    def margins_at_zero(self) -> Margins:
        """Margins at x = 0."""
        return Margins(np.zeros(self.n_columns))

    # -------------------------------------------------------------------------- of single rows, and between runs

    def vector(self, token: Recipe) -> np.ndarray:
        """A token as a vector, for what needs single rows. One read unless its numbers are kept."""
        return np.array(self._numbers(token, slice(0, self.n_rows)))

    def kept(self, token: Recipe) -> np.ndarray:
        """Nothing: points tell all."""
        return _NOTHING.copy()

    def length_kept(self) -> int:
        """Length of the vectors that `kept` returns."""
        return 0

    # --------------------------------------------------------------------------------------------------- private

    @cached_property
    def _slot(self) -> _Slot:
        return _Slot()

    def _met(self, margins: Recipe, request: Request) -> Sweep:
        """Sums at margins, which are kept; the first read brings the squares of the columns with it."""
        held = isinstance(margins, np.ndarray) or self._slot.recipe is margins
        kept, values = _NOTHING if held else self._emptied(), self._values()
        squares: dict[int, np.ndarray] | None = {} if self._column_squares is None else None

        def one(block: Block, some: slice) -> BlockSums:
            if squares is not None:
                squares[some.start] = column_squares_of(block)
            here = _blank(values(margins, block, some) if request.known else np.empty(some.stop - some.start))
            sums = sums_over(block, request, here, None, _NOTHING)
            if not held:
                kept[some] = here.margins
            return sums

        sweep = self._sweep(one, request)
        if not held:
            self._keep(margins, kept)
        if squares is not None:
            shares = zip(self._fractions, self._ranges, strict=True)
            self._column_squares = np.sum([fraction * squares[some.start] for fraction, some in shares], axis=0)
        sweep.margins, sweep.at_rows = margins, ModelAt(margins, request.floor)
        return sweep

    def _values(self) -> Values:
        """A function that returns the numbers of a block's rows, from those kept or from the rows."""
        held, vector = self._slot.recipe, self._slot.vector  # here, since blocks are worked on by other threads

        def values(token: Recipe, block: Block, some: slice) -> np.ndarray:
            if token is held:
                return vector[some]
            if isinstance(token, np.ndarray):
                return token[some]
            if isinstance(token, Derived):
                return token.function(values(token.base, block, some), block.labels)
            return token.made(block, some, self._loss, values)

        return values

    def _mean(self, token: Recipe, sums: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]) -> Any:
        """Mean over rows of what follows from their numbers, some rows at a time."""
        total: Any = 0.0
        for some in self._stretches():
            total = total + sums(self._numbers(token, some), self._labels[some], self._weights[some])
        return total / self.n_rows

    def _numbers(self, token: Recipe, some: slice) -> np.ndarray:
        """The numbers of some rows; reads all rows unless they are kept."""
        if isinstance(token, np.ndarray):
            return token[some]
        if isinstance(token, Derived):
            return token.function(self._numbers(token.base, some), self._labels[some])
        if isinstance(token, Margins) and not token.x.any():  # known without a read
            return np.zeros(len(range(*some.indices(self.n_rows))))
        if self._slot.recipe is not token:
            self._make(token)
        return self._slot.vector[some]

    def _make(self, token: Recipe) -> None:
        kept, values = self._emptied(), self._values()

        def one(block: Block, some: slice) -> None:
            kept[some] = values(token, block, some)

        for _ in self._each(one):
            pass
        self._keep(token, kept)

    def _stretches(self) -> Iterator[slice]:
        return (slice(start, start + _AT_A_TIME) for start in range(0, self.n_rows, _AT_A_TIME))

    def _emptied(self) -> np.ndarray:
        """The vector, whose numbers are no longer those of any token."""
        self._slot.recipe = None
        if not self._slot.vector.size:
            self._slot.vector = np.empty(self.n_rows)
        return self._slot.vector

    def _keep(self, token: Recipe, vector: np.ndarray) -> None:
        self._slot.recipe, self._slot.vector = token, vector


def _blank(margins: np.ndarray) -> AtRows:
    """Room for what is made of the margins."""
    return AtRows(margins, np.empty(margins.size), np.empty(margins.size))
