"""Pieces: sets of coordinates that are equal, so that many coordinates become few.

A point whose rows K_e x vanish for chosen rows of one entry (zeros) or of two opposite ones (equal neighbours) is given
by one number for each connected piece. The penalties of such points are again weighted absolute values, with rows
added up; `AbsolutePenalties.collapsed` makes them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..kernels.jit import kernel
from ..kernels.unions import number_parts
from ..penalties.conic import ConicForm, is_clean, squares

_OPPOSITE = 1e-12
"""Relative difference of sizes up to which two entries of a row are opposite."""

_VANISHES = 1e-11
"""A row vanishes at x if K_e x is smaller than this fraction of the sum of its absolute terms."""

_SOLVED = 1e-12
"""The same of what the terms would be if all were as large as the largest of x, for rows that are equations among the
pieces: these are met up to rounding of the whole system."""


class Pieces(NamedTuple):
    """Coordinates by piece."""

    labels: np.ndarray
    """The piece of each coordinate, or -1 if the coordinate is 0."""
    number: int
    """Number of pieces."""

    def expand(self, w: np.ndarray) -> np.ndarray:
        """x, from one number for each piece."""
        return np.append(w, 0.0)[self.labels]  # the label -1 is the place of the last number

    def reduce(self, x: np.ndarray) -> np.ndarray:
        """One number for each piece, from an x that is constant on pieces."""
        w = np.zeros(self.number)
        inside = self.labels >= 0
        w[self.labels[inside]] = x[inside]
        return w


class Source(NamedTuple):
    """Rows of any length and their costs."""

    K: sp.csr_array
    cost: np.ndarray
    single: np.ndarray
    """Rows of one entry."""
    rest: np.ndarray
    """Rows of more; all others are empty."""


@dataclass(frozen=True, eq=False)
class AbsolutePenalties:
    """Penalties of the form sum_j weight_j |x_j| + sum_j ridge_j x_j^2 / 2 + sum_e cost_e |K_e x|.

    Attributes
    ----------
    weight, ridge : array
        One number for each coordinate.
    K : csr_array
        Rows of at least two entries.
    cost : array
    pairs : array of bool
        Rows of two opposite entries.
    source : Source, optional
        The rows that this was made of.
    """

    weight: np.ndarray
    ridge: np.ndarray
    K: sp.csr_array
    cost: np.ndarray
    pairs: np.ndarray
    source: Source | None = None

    @classmethod
    def of(cls, *forms: ConicForm) -> "AbsolutePenalties | None":
        """The lines of a sum of conic forms, one after the other; None if one of them holds anything else."""
        ridge = np.zeros(forms[0].size)
        for form in forms:
            symmetric = np.array_equal(form.up, form.down) and bool(np.all(np.isfinite(form.up)))
            if form.width != form.size or form.weight.size or form.rounded or not symmetric:
                return None
            # With an offset or a slope at 0 the kink is not where x vanishes, and pieces would be the wrong ones.
            own = diagonal_of(form)
            if np.any(form.offset) or np.any(form.linear) or own is None:
                return None
            ridge = ridge + own if form.curved else ridge
        rows = [form for form in forms if form.n_lines] or [forms[0]]
        K = rows[0].K if len(rows) == 1 else sp.csr_array(sp.vstack([form.K for form in rows], format="csr"))
        return cls.made(K, np.concatenate([form.up for form in rows]), np.zeros(ridge.size), ridge)

    @classmethod
    def made(cls, K: sp.csr_array, cost: np.ndarray, weight: np.ndarray, ridge: np.ndarray) -> "AbsolutePenalties":
        """Penalties from rows of any length: rows of one entry become weights, parallel pairs become one."""
        if not is_clean(K):
            K = sp.csr_array(K, copy=True)
            K.sum_duplicates()
            K.eliminate_zeros()
        # Rows of one entry are an l1 norm. In graphs that were estimated from data they are most rows; as weights they
        # cost nothing.
        weight, kept = weight.copy(), np.empty((2, cost.size), dtype=np.int64)
        counts = _add_single(K.indptr, K.indices, K.data, cost, weight, kept)
        single, rest = kept[0, : counts[0]], kept[1, : counts[1]]
        source = Source(K, cost, single, rest)
        K = sp.csr_array(K[rest])
        return cls(weight, ridge, *_joined(K, cost[rest], _opposite_pairs(K)), source)

    @property
    def form(self) -> ConicForm:
        """The penalties as a conic form, for interior points."""
        d = self.weight.size
        own = np.flatnonzero(self.weight)
        cost = np.concatenate([self.weight[own], self.cost])
        pointers = np.concatenate([np.arange(own.size), own.size + self.K.indptr])
        columns, values = np.concatenate([own, self.K.indices]), np.concatenate([np.ones(own.size), self.K.data])
        return replace(
            squares(self.ridge, d),
            K=sp.csr_array((values, columns, pointers), shape=(cost.size, d)),
            offset=np.zeros(cost.size),
            up=cost,
            down=cost,
            starts=np.array([cost.size]),
            smoothing=np.zeros(cost.size),
        )

    def value(self, x: np.ndarray) -> float:
        """The penalties at x."""
        return float(self.weight @ np.abs(x) + self.cost @ np.abs(self.K @ x) + 0.5 * (self.ridge @ (x * x)))

    def count(self, x: np.ndarray) -> int:
        """Pieces of x that are not 0."""
        return self.pieces(x == 0.0, self.vanishing(x)).number

    def restored(self, slopes: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rows that this was made of.

        `slopes` are elements of the subdifferentials of weight_j |x_j|, `multipliers` those of cost_e |K_e x|. Rows
        that were added up share them by their costs.
        """
        assert self.source is not None
        out = np.zeros(self.source.cost.size)
        _share(*self._places, slopes, multipliers, out)
        return out

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The rows of the source that are not empty, where each went, among weights and then rows of K, its share there
        with its sign, and its cost."""
        assert self.source is not None
        (K, cost, single, rest), d = self.source, self.weight.size
        pairs, first = _opposite_pairs(K, rest), K.indptr[rest]
        place, sign = np.empty(rest.size, dtype=np.int64), np.ones(rest.size)
        starts = self.K.indptr[np.flatnonzero(self.pairs)]
        keys = self.K.indices[starts].astype(np.int64) * d + self.K.indices[starts + 1]
        # Entries are sorted, and a joined row is the larger coordinate minus the smaller one.
        own = first[pairs]
        place[pairs] = d + np.searchsorted(keys, K.indices[own].astype(np.int64) * d + K.indices[own + 1])
        sign[pairs] = np.sign(K.data[own + 1])
        place[~pairs] = d + np.arange(keys.size, self.cost.size)
        at = K.indptr[single]
        place, sign = np.concatenate([K.indices[at], place]), np.concatenate([np.sign(K.data[at]), sign])
        rows = np.concatenate([single, rest])
        whole = np.concatenate([self.weight[place[: single.size]], self.cost[place[single.size :] - d]])
        own_cost = cost[rows]
        share = np.divide(sign * own_cost, whole, out=np.zeros(rows.size), where=whole > 0.0)
        return rows, place, share, own_cost

    def vanishing(self, x: np.ndarray) -> np.ndarray:
        """Which rows of K vanish at x, up to rounding."""
        # Relative to the terms of the sum: what rounding leaves of equal entries is in proportion to them.
        size = _VANISHES * (abs(self.K) @ np.abs(x))
        if not self.pairs.all():
            largest = float(np.max(np.abs(x), initial=0.0))
            size = np.maximum(size, np.where(self.pairs, 0.0, _SOLVED * largest * self._row_sums))
        return np.abs(self.K @ x) <= size

    def without_rounding(self, x: np.ndarray) -> np.ndarray:
        """x, 0 where a coordinate with a weight is no more than what equations leave of one that they hold at 0."""
        if self.pairs.all():
            return x
        least = _SOLVED * float(np.max(np.abs(x), initial=0.0))
        return np.where((np.abs(x) <= least) & (self.weight > 0.0) & self._in_equations, 0.0, x)

    @cached_property
    def _row_sums(self) -> np.ndarray:
        return np.asarray(abs(self.K).sum(axis=1)).ravel()

    @cached_property
    def _in_equations(self) -> np.ndarray:
        """Which coordinates take part in rows that are not pairs."""
        lengths = np.diff(self.K.indptr)
        return np.bincount(self.K.indices, np.repeat(~self.pairs, lengths), minlength=self.weight.size) > 0.0

    def pieces(self, zero: np.ndarray, fused: np.ndarray) -> Pieces:
        """Pieces of the points with x_j = 0 for `zero` and K_e x = 0 for `fused` rows that are pairs."""
        first, second = self.ends
        joined = fused[self.pairs]
        labels = np.zeros(zero.size, dtype=np.int64)
        count = number_parts(first[joined], second[joined], zero, np.arange(zero.size), labels)
        return Pieces(labels, int(count))

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The two coordinates of each pair."""
        at = self.K.indptr[:-1][self.pairs]
        return self.K.indices[at].astype(np.int64), self.K.indices[at + 1].astype(np.int64)

    def collapsed(self, pieces: Pieces) -> "AbsolutePenalties":
        """The same penalties as functions of one number for each piece."""
        inside = np.flatnonzero(pieces.labels >= 0)
        labels = pieces.labels[inside]
        weight = np.bincount(labels, self.weight[inside], minlength=pieces.number)
        ridge = np.bincount(labels, self.ridge[inside], minlength=pieces.number)
        if self.pairs.all():
            return self._collapsed_pairs(pieces, weight, ridge)
        B = sp.csr_array((np.ones(inside.size), (inside, labels)), shape=(pieces.labels.size, pieces.number))
        K = sp.csr_array(self.K @ B)
        # Entries that cancel within a piece leave rounding behind, which would tie pieces that have nothing to do with
        # each other.
        K.data[np.abs(K.data) <= _OPPOSITE * float(np.max(np.abs(K.data), initial=0.0))] = 0.0
        return AbsolutePenalties.made(K, self.cost, weight, ridge)

    def _collapsed_pairs(self, pieces: Pieces, weight: np.ndarray, ridge: np.ndarray) -> "AbsolutePenalties":
        """`collapsed` where all rows are pairs: within a piece they vanish, beside zeros they are weights."""
        first, second = (pieces.labels[ends] for ends in self.ends)
        for own, other in ((first, second), (second, first)):
            alone = (own >= 0) & (other < 0)
            weight += np.bincount(own[alone], self.cost[alone], minlength=pieces.number)
        parted = (first != second) & (first >= 0) & (second >= 0)
        K, cost = _pair_rows(first[parted], second[parted], self.cost[parted], pieces.number)
        return AbsolutePenalties(weight, ridge, K, cost, np.ones(cost.size, dtype=bool))


def diagonal_of(form: ConicForm) -> np.ndarray | None:
    """The squares of a form as one number for each coordinate; None if they are mixed."""
    if not form.curved:
        return np.zeros(form.width)
    Q = form.quadratic
    rows = np.repeat(np.arange(form.width), np.diff(Q.indptr))
    columns, values = Q.indices[: rows.size], Q.data[: rows.size]
    mixed = np.any(values[columns != rows])
    return None if mixed else np.bincount(rows, values, minlength=form.width)


def _opposite_pairs(K: sp.csr_array, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Which of some rows of at least two entries have two that are opposite."""
    first, last = K.indptr[:-1][rows], K.indptr[1:][rows]
    return (last - first == 2) & (np.abs(K.data[first] + K.data[first + 1]) <= _OPPOSITE * np.abs(K.data[first]))


@kernel
def _share(
    rows: np.ndarray,
    place: np.ndarray,
    share: np.ndarray,
    cost: np.ndarray,
    slopes: np.ndarray,
    multipliers: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill the multipliers of rows by their shares of those at these places, within their intervals."""
    d = slopes.size
    for i in range(rows.size):
        whole = slopes[place[i]] if place[i] < d else multipliers[place[i] - d]
        out[rows[i]] = min(max(share[i] * whole, -cost[i]), cost[i])


@kernel
def _add_single(
    pointers: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    cost: np.ndarray,
    weight: np.ndarray,
    kept: np.ndarray,
) -> tuple[int, int]:
    """Add rows of one entry to the weights; fill `kept` with these rows, and with longer ones, and count both."""
    single = rest = 0
    for e in range(cost.size):
        first = pointers[e]
        length = pointers[e + 1] - first
        if length == 1:
            weight[columns[first]] += cost[e] * abs(values[first])
            kept[0, single] = e
            single += 1
        elif length > 1:
            kept[1, rest] = e
            rest += 1
    return single, rest


def _pair_rows(first: np.ndarray, second: np.ndarray, cost: np.ndarray, width: int) -> tuple[sp.csr_array, np.ndarray]:
    """One row for all pairs between the same two coordinates: the larger one minus the smaller one."""
    keys, inverse = np.unique(np.minimum(first, second) * width + np.maximum(first, second), return_inverse=True)
    columns = np.column_stack([keys // width, keys % width]).ravel()
    pointers = 2 * np.arange(keys.size + 1)
    K = sp.csr_array((np.tile([-1.0, 1.0], keys.size), columns, pointers), shape=(keys.size, width))
    return K, np.bincount(inverse, cost, minlength=keys.size)


def _joined(K: sp.csr_array, cost: np.ndarray, pairs: np.ndarray) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Pairs between the same two coordinates as one row each, before all other rows."""
    rows, others = np.flatnonzero(pairs), np.flatnonzero(~pairs)
    if rows.size == 0:
        return K, cost, pairs
    at = K.indptr[rows]
    ends = K.indices[at].astype(np.int64), K.indices[at + 1].astype(np.int64)
    joined, total = _pair_rows(*ends, cost[rows] * np.abs(K.data[at]), K.shape[1])
    if others.size == 0:
        return joined, total, np.ones(total.size, dtype=bool)
    kept = np.arange(total.size + others.size) < total.size
    return sp.csr_array(sp.vstack([joined, K[others]], format="csr")), np.concatenate([total, cost[others]]), kept
