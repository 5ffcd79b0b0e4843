"""A working set of groups: which of them may be non-zero, and the penalties of those alone.

The counterpart of `pieces` and `identify` for Euclidean norms of disjoint groups of coordinates, beside weighted
absolute values and squares. Without groups it is the working set of single coordinates. Those in use are open, and of
the others those first whose slope their penalties hold least.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..kernels.jit import kernel
from ..penalties.conic import ConicForm, broken_lines, group_norms, identity, norms, squares
from .block_terms import Blocks
from .identify import Identified
from .pieces import Pieces, diagonal_of

_BISECTIONS = 12
"""Digits, to the base of 2, of the factors that groups are ordered by."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Penalties of the form sum_j weight_j |x_j| + sum_j ridge_j x_j^2 / 2 + sum_g cost_g |x_g|.

    Attributes
    ----------
    weight, ridge : array
        One number for each coordinate.
    members : array of int
        Coordinates that belong to groups, group by group.
    starts : array of int
        Where the groups start among them.
    cost : array
    """

    weight: np.ndarray
    ridge: np.ndarray
    members: np.ndarray
    starts: np.ndarray
    cost: np.ndarray

    @classmethod
    def of(cls, form: ConicForm) -> "Groups | None":
        """The groups of a conic form; None if it holds anything else."""
        K, lines, ridge = form.K, form.n_lines, diagonal_of(form)
        single = K.nnz == K.shape[0] and np.all(np.diff(K.indptr) == 1)
        if not single or form.bounded or form.rounded or ridge is None:
            return None
        symmetric = np.array_equal(form.up, form.down) and bool(np.all(np.isfinite(form.up)))
        if form.width != form.size or form.offset.any() or form.linear.any() or not symmetric:
            return None
        members, entries = K.indices[lines:].astype(np.int64), np.abs(K.data[lines:])
        starts = form.starts - lines
        first = np.repeat(entries[starts[:-1]], np.diff(starts))
        if np.unique(members).size < members.size or not np.array_equal(entries, first):
            return None
        weight = np.bincount(K.indices[:lines], form.up * np.abs(K.data[:lines]), minlength=form.size)
        return cls(weight, ridge, members, starts, form.weight * entries[starts[:-1]])

    @classmethod
    def single(cls, weight: np.ndarray, ridge: np.ndarray) -> "Groups":
        """No groups, only coordinates of their own."""
        return cls(weight, ridge, np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(0))

    def holds(self, n_features: int) -> bool:
        """Whether each of the first coordinates has a weight, of its own or of its group."""
        held = self.weight > 0.0
        held[self.members[np.repeat(self.cost > 0.0, np.diff(self.starts))]] = True
        return bool(np.all(held[:n_features]))

    @property
    def form(self) -> ConicForm:
        """The penalties as a conic form, for interior points."""
        d = self.weight.size
        groups = norms(np.split(self.members, self.starts[1:-1]), self.cost, d)
        own = np.flatnonzero(self.weight)
        lines = broken_lines(sp.csr_array(identity(d)[own]), 0.0, self.weight[own], self.weight[own])
        return groups + lines + squares(self.ridge, d)

    def value(self, x: np.ndarray) -> float:
        """The penalties at x."""
        lengths = group_norms(x[self.members], self.starts)
        return float(self.weight @ np.abs(x) + self.cost @ lengths + 0.5 * (self.ridge @ (x * x)))

    def count(self, x: np.ndarray) -> int:
        """Coordinates that are not 0, and those that share a group with them."""
        used = x != 0.0
        if self.members.size:
            sizes = np.diff(self.starts)
            used[self.members] = np.repeat(np.logical_or.reduceat(used[self.members], self.starts[:-1]), sizes)
        return int(np.count_nonzero(used))

    def collapsed(self, pieces: Pieces) -> "Groups":
        """The same penalties of the coordinates that are open: whole groups first, then the others."""
        inside = np.flatnonzero(pieces.labels >= 0)
        order = np.empty(inside.size, dtype=np.int64)
        order[pieces.labels[inside]] = inside
        grouped = pieces.labels[self.members] >= 0
        kept = np.flatnonzero(grouped[self.starts[:-1]])
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[kept])])
        members = np.arange(starts[-1])
        return Groups(self.weight[order], self.ridge[order], members, starts, self.cost[kept])

    @property
    def blocks(self) -> Blocks:
        """The groups as compiled steps take them, which need the groups to be the first coordinates, in order."""
        alone = np.arange(self.members.size + 1, self.weight.size + 1)
        cost = np.concatenate([self.cost, np.zeros(alone.size)])
        return Blocks(self.weight, self.ridge, np.concatenate([self.starts, alone]), cost)


class GroupIdentifier:
    """Finds the groups, and the coordinates outside of them, that may be non-zero."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        grouped = np.zeros(groups.weight.size, dtype=bool)
        grouped[groups.members] = True
        self._alone = np.flatnonzero(~grouped)
        self._sizes = np.diff(groups.starts)

    def __call__(self, x: np.ndarray, gradient: np.ndarray, step: float, most: int, wanted: int = 0) -> Identified:
        """About `most` open coordinates as pieces: those in use, and then those that are held least; at any step, and
        whatever is wanted."""
        groups, number = self._groups, self._groups.cost.size
        # A coordinate stays 0 while its slope is below its weight, a group while what the weights leave of its slopes
        # is shorter than its cost. The ratio is that of weights and cost which would only just hold it, to the true
        # ones. What has one above 1 would move.
        ratio = np.empty(x.size)
        _ratios(x, gradient, groups.weight, groups.ridge, ratio)
        if number:
            members, starts = groups.members, groups.starts
            needed = self._needed(np.abs(gradient[members] + groups.ridge[members] * x[members]))
            needed[np.logical_or.reduceat(x[members] != 0.0, starts[:-1])] = np.inf
            ratio = np.concatenate([needed, ratio[self._alone]])
        opened = self._first(ratio, most)
        inside = self._alone[opened[number:]]
        if number:
            inside = np.concatenate([groups.members[np.repeat(opened[:number], self._sizes)], inside])
        labels = np.full(x.size, -1)
        labels[inside] = np.arange(inside.size)
        capped = bool(np.any(ratio[~opened] > 1.0))
        return Identified(Pieces(labels, inside.size), np.zeros(0), capped)

    def _needed(self, slope: np.ndarray) -> np.ndarray:
        """The factor on weights and cost of each group that would hold such slopes of its members; up to digits that do
        not matter."""
        groups = self._groups
        weight, sizes = groups.weight[groups.members], np.diff(groups.starts)
        low = np.zeros(sizes.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            high = group_norms(slope, groups.starts) / groups.cost
        high[np.isnan(high)] = 0.0
        # Without a cost of its own a group is held by the weights of its members alone, which may be 0 too.
        free = np.isinf(high)
        high[free] = 1.0
        for _ in range(_BISECTIONS if weight.any() else 0):
            middle = 0.5 * (low + high)
            excess = np.maximum(slope - np.repeat(middle, sizes) * weight, 0.0)
            held = group_norms(excess, groups.starts) <= middle * groups.cost
            low, high = np.where(held, low, middle), np.where(held, middle, high)
        return np.where(free, np.inf, high)

    def _first(self, ratio: np.ndarray, most: int) -> np.ndarray:
        """Which blocks are open: all in use, then one at least of the others, by size of their slopes to penalties."""
        opened, groups = ratio == np.inf, self._sizes.size
        many = int(np.count_nonzero(opened))
        left = most - int(self._sizes @ opened[:groups]) - (many - int(np.count_nonzero(opened[:groups])))
        number = many + max(1, int(left * ratio.size / self._groups.weight.size))
        if number >= ratio.size:
            return np.ones(ratio.size, dtype=bool)
        opened[np.argpartition(ratio, ratio.size - number)[ratio.size - number :]] = True
        return opened


@kernel
def _ratios(x: np.ndarray, gradient: np.ndarray, weight: np.ndarray, ridge: np.ndarray, out: np.ndarray) -> None:
    """The factor on the weight of each coordinate that would only just hold it at 0; infinite for those in use."""
    for j in range(x.size):
        slope = abs(gradient[j] + ridge[j] * x[j])
        out[j] = np.inf if x[j] != 0.0 or weight[j] == 0.0 else slope / weight[j]
