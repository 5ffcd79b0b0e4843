"""Which coordinates may become non-zero and which neighbours may part, found without data.

At x with gradient g of the loss, a proximal gradient step, or its limit for short steps, names the zeros that stay 0
and the fused rows that stay fused. All other rows of the penalty are opened in the next, reduced problem. With weights
made larger by a factor fewer rows are opened, and the step is still one of descent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..kernels import deadline
from ..penalties import FusedL1
from ..penalties.conic import ConicForm
from ..quadratic import Model, level_sets, minimize
from ..quadratic.multipliers import CostedRows, Inverse, descend
from .pieces import AbsolutePenalties, Pieces

_EXACT = 1e-14
"""Gap of the direction of steepest descent, relative to the square of the slope: about its rounding."""

_PRODUCTS = ((250, 1e-5), (750, 0.0))
"""Products with K that conjugate gradients may make, and the gap above which more of them would not help."""

_AT_END = 1e-12
"""Relative distance of a multiplier from the end of its interval that is rounding."""

_MOST_DOUBLINGS = 60
_BISECTIONS = 6
"""Doublings of the factor on the weights until few enough pieces are opened, and bisections after that: the number need
not be met exactly."""

_LEAST_FACTOR, _FILLS = 0.25, 3
"""Smallest factor on the weights by which pieces are opened in advance, and bisections on the way there."""


@dataclass(frozen=True)
class Identified:
    """The pieces that a step opens, and the multipliers of the rows of K that go with them."""

    pieces: Pieces
    multipliers: np.ndarray | None = None
    capped: bool = False
    """Whether more would have been opened, had that been allowed."""


class _Held(NamedTuple):
    """What stays as it is: coordinates that stay 0 and rows of K that stay fused; with the multipliers of all rows."""

    zero: np.ndarray
    fused: np.ndarray
    multipliers: np.ndarray | None = None


class Identifier:
    """Finds pieces for one set of penalties.

    Parameters
    ----------
    lines : AbsolutePenalties
    chain : FusedL1, optional
        The same penalties of the first coordinates, if they are those of a chain.
    """

    def __init__(self, lines: AbsolutePenalties, chain: FusedL1 | None) -> None:
        self._lines, self._chain = lines, chain
        counts = np.bincount(lines.K.indices, minlength=lines.weight.size)
        self._linked = np.flatnonzero(counts)
        self._graph = self._graph_of_pairs() if chain is None and lines.cost.size and lines.pairs.all() else None

    def _graph_of_pairs(self) -> level_sets.Graph:
        """The graph that K takes the differences along, if those are all that it holds."""
        place = np.zeros(self._lines.weight.size, dtype=np.int64)
        place[self._linked] = np.arange(self._linked.size)
        first, second = self._lines.ends
        return level_sets.Graph.of(place[first], place[second], self._linked.size)

    def __call__(self, x: np.ndarray, gradient: np.ndarray, step: float, most: int, wanted: int = 0) -> Identified:
        """Pieces of which about `most` at most are not 0, and about `wanted` may become so."""

        def held_with(factor: float) -> _Held:
            deadline.check()
            return self._with(x, gradient, step, factor)

        held = held_with(1.0)
        pieces = self._pieces(held)
        # The multipliers are those of the true weights: the dual point belongs to the problem, not to what is opened
        # of it.
        if pieces.number < wanted:
            return Identified(self._filled(held_with, held, wanted), held.multipliers)
        most = max(most, self._fewest(x))
        if pieces.number <= most:
            return Identified(pieces, held.multipliers)
        return Identified(self._capped(held_with, most), held.multipliers, capped=True)

    def _pieces(self, held: _Held) -> Pieces:
        return self._lines.pieces(held.zero, held.fused)

    def _filled(self, held_with: Callable[[float], _Held], held: _Held, wanted: int) -> Pieces:
        """The pieces, and those that lower weights would open, if they are at most `wanted`."""
        pieces, low, high = self._pieces(held), _LEAST_FACTOR, 1.0
        for _ in range(_FILLS):
            middle = float(np.sqrt(low * high))
            also = held_with(middle)
            tried = self._pieces(_Held(held.zero & also.zero, held.fused & also.fused))
            if tried.number > wanted:
                low = middle
            else:
                high, pieces = middle, tried
        return pieces

    def _capped(self, held_with: Callable[[float], _Held], most: int) -> Pieces:
        """The pieces, with weights raised by about the least factor that leaves at most `most` of them."""
        low, high = 1.0, 2.0
        pieces = self._pieces(held_with(high))
        for _ in range(_MOST_DOUBLINGS):
            if pieces.number <= most:
                break
            low, high = high, 2.0 * high
            pieces = self._pieces(held_with(high))
        for _ in range(_BISECTIONS):
            # Weights differ by factors, so the middle is that of the logarithms.
            middle = float(np.sqrt(low * high))
            tried = self._pieces(held_with(middle))
            if tried.number > most:
                low = middle
            else:
                high, pieces = middle, tried
        return pieces

    def _fewest(self, x: np.ndarray) -> int:
        """Pieces that are left however large the weights: the parts of a graph, and what has no weight."""
        if self._chain is not None or self._linked.size == 0:
            return 0
        return self._lines.pieces((x == 0.0) & (self._lines.weight > 0.0), self._lines.vanishing(x)).number

    def _with(self, x: np.ndarray, gradient: np.ndarray, step: float, factor: float) -> _Held:
        if self._chain is not None:
            return self._along_chain(self._chain, x, gradient, step, factor)
        return self._along_rows(x, gradient, factor)

    def _along_chain(self, chain: FusedL1, x: np.ndarray, gradient: np.ndarray, step: float, factor: float) -> _Held:
        size = self._lines.cost.size + 1
        there = chain.prox((x - step * gradient)[:size], factor * step)
        zero = np.zeros(x.size, dtype=bool)
        zero[:size] = (x[:size] == 0.0) & (there == 0.0)
        fused = (np.diff(x[:size]) == 0.0) & (np.diff(there) == 0.0)
        return _Held(zero, fused)

    def _along_rows(self, x: np.ndarray, gradient: np.ndarray, factor: float) -> _Held:
        lines = self._lines
        at_zero, vanishing = x == 0.0, lines.vanishing(x)
        image = lines.K @ x
        known = np.where(vanishing, 0.0, lines.cost * np.sign(image))
        slope = gradient + np.where(at_zero, 0.0, lines.weight * np.sign(x)) + lines.K.T @ known + lines.ridge * x
        # What has no weight is free, an intercept at 0 whose slope happens to vanish too.
        zero = at_zero & (lines.weight > 0.0) & (np.abs(slope) <= factor * lines.weight)
        if self._linked.size == 0:
            return _Held(zero, vanishing, known)
        # The limit of short proximal steps is the direction of steepest descent. Its model has the identity for a
        # Hessian, and of the penalties only the rows that vanish at x: all others are linear near x.
        own = self._linked
        weight = factor * np.where(at_zero, lines.weight, 0.0)[own]
        way = self._by_multipliers if self._graph is None else self._by_cuts
        known[vanishing], fused, stays = way(-slope[own], weight, vanishing, factor)
        zero[own] = at_zero[own] & stays
        return _Held(zero, fused, known)

    def _by_cuts(
        self, downhill: np.ndarray, weight: np.ndarray, vanishing: np.ndarray, factor: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Multipliers of the vanishing rows, which rows stay fused, and which coordinates of some weight stay 0."""
        assert self._graph is not None
        cost = np.where(vanishing, factor * self._lines.cost, 0.0)
        w, y = level_sets.minimized(self._graph, level_sets.Terms(np.ones(weight.size), downhill, weight, cost))
        there = np.zeros(self._lines.weight.size)
        there[self._linked] = w
        first, second = self._lines.ends
        return y[vanishing], vanishing & (there[first] == there[second]), (weight > 0.0) & (w == 0.0)

    def _by_multipliers(
        self, downhill: np.ndarray, weight: np.ndarray, vanishing: np.ndarray, factor: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for rows of any entries."""
        lines, rows = self._lines, np.flatnonzero(vanishing)
        small = AbsolutePenalties.made(
            sp.csr_array(lines.K[rows][:, self._linked]), factor * lines.cost[rows], weight, np.zeros(weight.size)
        )
        y, active = _steepest(small.form, downhill)
        own = np.flatnonzero(small.weight)
        stays, fused = np.zeros(weight.size, dtype=bool), np.zeros(vanishing.size, dtype=bool)
        stays[own], fused[rows] = active[: own.size], active[own.size :]
        return y[own.size : own.size + rows.size], fused, stays


def _steepest(form: ConicForm, downhill: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The multipliers of |w - downhill|^2 / 2 + sum up |K w| at its minimum, and which rows of K vanish there."""
    n, K, y, size = downhill.size, form.K, np.zeros(form.up.size), float(downhill @ downhill)
    identity = Inverse(np.ones(n), np.zeros((n, 0)), np.zeros((0, 0)), np.zeros(0))
    # No edge of a graph has to carry more than all slopes together; beside wider intervals the gap is but rounding.
    least = np.minimum.reduceat(np.abs(K.data), K.indptr[:-1]) if y.size else y
    enough = np.where(np.diff(K.indptr) <= 2, float(np.abs(downhill).sum()) / least, np.inf)
    rows = CostedRows(K.indptr.astype(np.int64), K.indices.astype(np.int64), K.data, np.minimum(form.up, enough))
    for products, promising in _PRODUCTS:
        gap = descend(identity, downhill, rows, np.zeros(n), y, _EXACT * size, products)[2]
        if gap <= _EXACT * size:
            return y, np.abs(y) < (1.0 - _AT_END) * form.up
        if gap > promising * size:
            break
    # Multipliers within long pieces are badly conditioned, and the matrices of such pieces easily factored.
    solution = minimize(Model(sp.eye_array(n, format="csr"), downhill, form))
    return solution.y, solution.active
