"""A problem most of whose columns are empty, reduced to the others.

Without F an empty column has the coefficient 0. Along a chain with one weight, a run of m empty columns may as well be
constant: at the smallest of its values in size, l1 costs no more, and neither does the way from one end to the other.
So it is one coordinate with m times the weight. What a chain's multiplier does within a run follows from its ends, in
steps of equal size, none of which is larger than l1.
"""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from ..kernels.jit import kernel
from ..operators import FirstDifference
from ..penalties import L1
from ..problem import Problem
from ..view import View

_EMPTY = 2
"""Columns for each entry of the data from which on a problem is condensed."""


@dataclass(frozen=True, eq=False)
class Condensed:
    """The smaller problem, and the maps to it and back.

    Attributes
    ----------
    problem : View
        The smaller one, an intercept included.
    columns : array of int
        Where the columns with entries are in the large problem.
    places : array of int
        Where they are in the small one.
    lengths : array of int
        Columns that each feature of the small one stands for, along a chain; empty without one.
    n_features : int
        Of the large one.
    """

    problem: View
    columns: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    n_features: int

    @classmethod
    def of(cls, problem: View) -> "Condensed | None":
        """The small problem, made once; None if there are too few empty columns, or other penalties than l1 norms."""
        if problem not in _known:
            _known[problem] = _made(problem) if _is_empty(problem) else None
        return _known[problem]

    def reduced(self, x: np.ndarray) -> np.ndarray:
        """The coordinates of a point of the large problem that the small one has."""
        own = np.zeros(self.problem.rows.n_features)
        if self.lengths.size:
            own[:] = x[self._ends]
        else:
            own[:] = x[self.columns]
        return np.append(own, x[self.n_features :])

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of the small problem in the large one."""
        own, rest = x[: self.problem.rows.n_features], x[self.problem.rows.n_features :]
        if self.lengths.size:
            return np.concatenate([np.repeat(own, self.lengths), rest])
        out = np.zeros(self.n_features + rest.size)
        out[self.columns], out[self.n_features :] = own, rest
        return out

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient of the loss in the large problem."""
        rest = gradient[self.problem.rows.n_features :]
        out = np.zeros(self.n_features + rest.size)
        out[self.columns], out[self.n_features :] = gradient[self.places], rest
        return out

    def multiplier(self, y: np.ndarray) -> np.ndarray:
        """The multiplier of the chain in the large problem."""
        if not self.lengths.size:
            return y
        out = np.zeros(self.n_features - 1)
        _fill(self._ends, y, out)
        return out

    @cached_property
    def _ends(self) -> np.ndarray:
        """The last column of each feature."""
        return np.cumsum(self.lengths) - 1


_known: WeakKeyDictionary[View, Condensed | None] = WeakKeyDictionary()


def _is_empty(problem: View) -> bool:
    """Whether most columns must be empty, by the number of entries, but not all."""
    if not problem.rows.in_memory or problem.rows.on_disk or not problem.sums.is_sparse:
        return False
    if problem.loss.binary and np.ptp(problem.rows.labels) == 0.0:
        return False
    return problem.rows.n_features > _EMPTY * problem.rows.block.rows.values.size > 0


def _made(problem: View) -> Condensed | None:
    chain = not problem.r2.vanishes
    fused = problem.penalty.fused if chain else None
    l1 = None if chain or problem.penalty.domain is not None else problem.regularizer.l1_weights(problem.n_coordinates)
    if fused is None and l1 is None:
        return None
    rows, labels, weights = problem.rows.block
    columns = np.unique(rows.indices).astype(np.int64)
    places, lengths = np.arange(columns.size), np.zeros(0, dtype=np.int64)
    r1 = L1(l1[columns]) if l1 is not None else None
    r2 = F = None
    if fused is not None:
        steps = np.asarray(fused.l2)
        if np.any(steps != steps[0]):
            return None
        lengths, places = _runs(columns, problem.rows.n_features)
        r1, r2, F = L1(float(fused.l1) * lengths), L1(float(steps[0])), FirstDifference()
    width = lengths.size or columns.size
    indices = places[np.searchsorted(columns, rows.indices)].astype(np.int32)
    X = sp.csr_array((rows.values, indices, rows.indptr), shape=(labels.size, width))
    X.has_sorted_indices = True
    small = Problem(
        X,
        labels,
        problem.loss,
        r1,
        r2,
        F,
        sample_weight=weights if weights.size else None,
        intercept=problem.rows.bias or False,
    )
    return Condensed(small.view, columns, places, lengths, problem.rows.n_features)


def _runs(columns: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the pieces, columns with entries and the runs between them, and which of them have entries."""
    gaps = np.diff(np.concatenate([[-1], columns, [d]])) - 1
    lengths = np.ones(2 * columns.size + 1, dtype=np.int64)
    lengths[::2] = gaps
    kept = lengths > 0
    return lengths[kept], (np.cumsum(kept) - 1)[1::2]


@kernel
def _fill(ends: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Multipliers between the features as they are, within one from that before it to that after it in equal steps."""
    before, first = 0.0, 0
    for r in range(ends.size):
        after = y[r] if r < y.size else 0.0
        length = ends[r] - first + 1
        for k in range(first, min(ends[r] + 1, out.size)):
            out[k] = before + (after - before) * ((k - first + 1) / length)
        before, first = after, ends[r] + 1
