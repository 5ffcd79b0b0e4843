"""A working set of groups: which of them may be non-zero, and the penalties of those alone.

The counterpart of `pieces` and `identify` for Euclidean norms of disjoint groups of coordinates, beside weighted
absolute values and squares. A group stays 0 if what its l1 weights leave of the slope is no longer than its weight. In
the others a coordinate stays 0 if its own l1 weight holds it.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..penalties.conic import ConicForm, broken_lines, group_norms, identity, norms, squares
from .identify import Identified, capped
from .pieces import Pieces, diagonal_of


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
        """That of a conic form; None if it has no groups, or holds anything else."""
        K, lines, ridge = form.K, form.n_lines, diagonal_of(form)
        single = K.nnz == K.shape[0] and np.all(np.diff(K.indptr) == 1)
        if not form.weight.size or not single or form.bounded or form.rounded or ridge is None:
            return None
        if form.width != form.size or form.offset.any() or form.linear.any() or not np.array_equal(form.up, form.down):
            return None
        members, entries = K.indices[lines:].astype(np.int64), np.abs(K.data[lines:])
        starts = form.starts - lines
        first = np.repeat(entries[starts[:-1]], np.diff(starts))
        if np.unique(members).size < members.size or not np.array_equal(entries, first):
            return None
        weight = np.bincount(K.indices[:lines], form.up * np.abs(K.data[:lines]), minlength=form.size)
        return cls(weight, ridge, members, starts, form.weight * entries[starts[:-1]])

    @property
    def form(self) -> ConicForm:
        """As interior points take them."""
        d = self.weight.size
        groups = norms(np.split(self.members, self.starts[1:-1]), self.cost, d)
        own = np.flatnonzero(self.weight)
        lines = broken_lines(sp.csr_array(identity(d)[own]), 0.0, self.weight[own], self.weight[own])
        return groups + lines + squares(self.ridge, d)

    def value(self, x: np.ndarray) -> float:
        """The penalties at x."""
        lengths = group_norms(x[self.members], self.starts)
        return float(self.weight @ np.abs(x) + self.cost @ lengths + 0.5 * (self.ridge @ (x * x)))

    def collapsed(self, pieces: Pieces) -> "Groups":
        """The same penalties of the coordinates that are open, each a piece of its own."""
        places = pieces.labels[self.members]
        counts = np.add.reduceat(places >= 0, self.starts[:-1]) if places.size else np.zeros(0, dtype=np.int64)
        kept = np.flatnonzero(counts)
        inside = np.flatnonzero(pieces.labels >= 0)
        starts = np.concatenate([[0], np.cumsum(counts[kept])])
        return Groups(self.weight[inside], self.ridge[inside], places[places >= 0], starts, self.cost[kept])


class GroupIdentifier:
    """Finds the coordinates that may be non-zero."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._labels = np.repeat(np.arange(groups.cost.size), np.diff(groups.starts))

    def __call__(self, x: np.ndarray, gradient: np.ndarray, step: float, most: int) -> Identified:
        """The open coordinates as pieces, about `most` at most; no step is needed for it."""
        return capped(lambda factor: Identified(self._open(x, gradient, factor), np.zeros(0)), most)

    def _open(self, x: np.ndarray, gradient: np.ndarray, factor: float) -> Pieces:
        groups = self._groups
        excess = np.maximum(np.abs(gradient + groups.ridge * x) - factor * groups.weight, 0.0)
        stays = (x == 0.0) & (excess == 0.0)
        at_zero = group_norms(x[groups.members], groups.starts) == 0.0
        held = at_zero & (group_norms(excess[groups.members], groups.starts) <= factor * groups.cost)
        stays[groups.members] |= held[self._labels]
        labels = np.where(stays, -1, np.cumsum(~stays) - 1)
        return Pieces(labels, int(np.count_nonzero(~stays)))
