"""Sparse positive definite matrices of one pattern, filled and factored again and again.

A pattern whose entries lie near the diagonal, in the given order or after reverse Cuthill-McKee (chains, trend filters,
narrow grids), is kept as a band and factored by LAPACK in time proportional to its length. Every other pattern is
factored by SuperLU in an order of minimum degree that is found once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg.lapack
import scipy.sparse as sp
import scipy.sparse.linalg
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..kernels import deadline
from ..kernels.jit import kernel

Solve = Callable[[np.ndarray], np.ndarray]
Saddle = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_NARROW = 12
"""Bandwidth up to which no other order is tried."""
_WIDE = 100
"""Bandwidth beyond which a band costs more than the fill of a good order."""


_FASTEST = 1e11
"""Operations of `band_flops` a second that no factorisation does: one in a good order takes a tenth of them or less."""


class NotPositive(Exception):
    """A matrix that should be positive definite is not, by rounding."""


class Pairs(NamedTuple):
    """Products of entries of rows: values[k] times the weight of row owner[k] belong to entry (i[k], j[k])."""

    i: np.ndarray
    j: np.ndarray
    values: np.ndarray
    owner: np.ndarray


def pairs_of(K: sp.csr_array) -> Pairs:
    """All products of two entries of one row."""
    counts = np.diff(K.indptr).astype(np.int64)
    squares = counts * counts
    owner = np.repeat(np.arange(counts.size), squares)
    within = np.arange(owner.size) - np.repeat(np.cumsum(squares) - squares, squares)
    first = K.indptr[owner] + within // counts[owner]
    second = K.indptr[owner] + within % counts[owner]
    return Pairs(
        K.indices[first].astype(np.int64), K.indices[second].astype(np.int64), K.data[first] * K.data[second], owner
    )


class Assembly:
    """base + sum over pairs of weight[owner] * value, ready to be factored.

    Parameters
    ----------
    base : csr_array
        Symmetric.
    pairs : Pairs
        Symmetric too: each product comes as (i, j) and as (j, i).
    """

    def __init__(self, base: sp.csr_array, pairs: Pairs) -> None:
        entries = base.tocoo()
        self.size = n = base.shape[0]
        every = np.arange(n)
        i = np.concatenate([every, entries.row, pairs.i])
        j = np.concatenate([every, entries.col, pairs.j])
        fixed = np.concatenate([np.zeros(n), entries.data])
        self.order, self.width = _order(n, i, j)
        place = np.empty(n, dtype=np.int64)
        place[self.order] = every
        i, j = place[i], place[j]
        self.pointers = self.rows = np.zeros(0, dtype=np.int64)
        if self.width >= 0:
            used = i >= j
            slots = np.where(used, j * (self.width + 1) + i - j, -1)
            self.entries, self.diagonal = n * (self.width + 1), place * (self.width + 1)
        else:
            keys, slots = np.unique(j * n + i, return_inverse=True)
            self.entries, self.diagonal = keys.size, slots[:n]
            self.pointers = np.searchsorted(keys, n * np.arange(n + 1)).astype(np.int32)
            self.rows = (keys % n).astype(np.int32)
        self.base = np.zeros(self.entries)
        known = slots[: fixed.size]
        np.add.at(self.base, known[known >= 0], fixed[known >= 0])
        slots = slots[fixed.size :]
        kept = slots >= 0
        self.slots, self.values, self.owner = slots[kept], pairs.values[kept], pairs.owner[kept]
        self._ready = False

    def factor(self, weight: np.ndarray, shift: float, damping: float) -> Solve:
        """A solver for the matrix with `shift` and `damping` times the diagonal added to its diagonal."""
        data = self.base.copy()
        _scatter(self.slots, self.values, self.owner, weight, data)
        data[self.diagonal] += shift + damping * data[self.diagonal]
        return self._band(data) if self.width >= 0 else self._general(data)

    def _band(self, data: np.ndarray) -> Solve:
        band = data.reshape(self.size, self.width + 1).T  # Fortran order, as LAPACK wants it
        factors, flag = scipy.linalg.lapack.dpbtrf(band, lower=1, overwrite_ab=1)
        if flag or not np.isfinite(factors[0, -1]):
            raise NotPositive
        return lambda x: self._ordered(lambda y: scipy.linalg.lapack.dpbtrs(factors, y, lower=1)[0], x)

    def _general(self, data: np.ndarray) -> Solve:
        matrix = sp.csc_array((data, self.rows, self.pointers), shape=(self.size, self.size))
        if deadline.seconds_left() < np.inf:
            deadline.check(0.0 if self._ready else band_flops(matrix) / _FASTEST)
        how = "NATURAL" if self._ready else "MMD_AT_PLUS_A"
        try:
            factors = scipy.sparse.linalg.splu(
                matrix, permc_spec=how, diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError as error:  # singular
            raise NotPositive from error
        if not self._ready:
            self._reorder(np.argsort(factors.perm_c))
        elif not float(np.min(factors.U.diagonal())) > 0.0:
            raise NotPositive
        else:
            return lambda x: self._ordered(factors.solve, x)
        return self._general_again(data)

    def _reorder(self, order: np.ndarray) -> None:
        """Keep the order of the first factorisation: finding it takes as long as the factorisation itself."""
        n = self.size
        columns = np.repeat(np.arange(n), np.diff(self.pointers))
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        keys = place[columns] * n + place[self.rows]
        new = np.argsort(keys)
        self.pointers = np.searchsorted(keys[new], n * np.arange(n + 1)).astype(np.int32)
        self.rows = (keys[new] % n).astype(np.int32)
        where = np.empty(new.size, dtype=np.int64)
        where[new] = np.arange(new.size)
        self._moved = new
        self.base, self.slots, self.diagonal = self.base[new], where[self.slots], where[self.diagonal]
        self.order = self.order[order]
        self._ready = True

    def _general_again(self, data: np.ndarray) -> Solve:
        return self._general(data[self._moved])

    def _ordered(self, solve: Solve, x: np.ndarray) -> np.ndarray:
        out = np.empty_like(x)
        out[self.order] = solve(np.ascontiguousarray(x[self.order]))
        return out


class BandedSaddle:
    """H x + K^T y = a, K x - D y = b for many D, as it stands: products K^T K would square the condition of K.

    Only for matrices that are a band in a good order, as those of trend filters (see `fits`).
    """

    def __init__(self, H: sp.csr_array, K: sp.csr_array) -> None:
        self.lengths = m, n = K.shape
        own, links = H.tocoo(), K.tocoo()
        every = np.arange(n + m)
        i = np.concatenate([every, own.row, n + links.row, links.col])
        j = np.concatenate([every, own.col, links.col, n + links.row])
        values = np.concatenate([np.zeros(n + m), own.data, links.data, links.data])
        self.order, self.width = _order(n + m, i, j)
        self.fits = 0 <= self.width <= _NARROW
        if self.fits:
            place = np.empty(n + m, dtype=np.int64)
            place[self.order] = every
            slots = place[j] * (3 * self.width + 1) + 2 * self.width + place[i] - place[j]
            self.base = np.zeros((n + m) * (3 * self.width + 1))
            np.add.at(self.base, slots, values)
            self.diagonal = slots[: n + m]

    def factor(self, D: np.ndarray, shift: float) -> Saddle:
        """A solver for one D, with `shift` added to the diagonal of H."""
        m, n = self.lengths
        width, data = self.width, self.base.copy()
        data[self.diagonal[:n]] += shift
        data[self.diagonal[n:]] = -D
        band = data.reshape(n + m, 3 * width + 1).T
        factors, pivots, flag = scipy.linalg.lapack.dgbtrf(band, width, width, overwrite_ab=1)
        if flag:
            raise NotPositive

        def solve(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            both = np.empty(n + m)
            right = np.concatenate([a, b])[self.order]
            both[self.order] = scipy.linalg.lapack.dgbtrs(factors, width, width, right, pivots)[0]
            return both[:n], both[n:]

        return solve


def band_flops(matrix: Any) -> float:
    """Operations of a Cholesky factorisation within the band of each row, in the order of reverse Cuthill and McKee.

    A bound on those in the best order, known at once: on graphs that fill in it is large, whatever the order.
    """
    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    place, widths = np.empty(order.size, dtype=np.int64), np.zeros(order.size)
    place[order] = np.arange(order.size)
    entries = matrix.tocoo()
    ends = place[entries.row], place[entries.col]
    np.maximum.at(widths, np.maximum(*ends), np.abs(ends[0] - ends[1]))
    return float(widths @ widths)


def _order(n: int, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, int]:
    """An order, and the bandwidth in it; -1 where it is too wide."""
    natural = int(np.max(np.abs(i - j), initial=0))
    if natural <= _NARROW:
        return np.arange(n), natural
    pattern = sp.csr_array((np.ones(i.size, dtype=np.int8), (i, j)), shape=(n, n))
    order = np.asarray(reverse_cuthill_mckee(sp.csr_matrix(pattern), symmetric_mode=True)).astype(np.int64)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    width = int(np.max(np.abs(place[i] - place[j]), initial=0))
    if natural <= min(width, _WIDE):
        return np.arange(n), natural
    return (order, width) if width <= _WIDE else (np.arange(n), -1)


@kernel
def _scatter(slots: Any, values: Any, owner: Any, weight: Any, data: Any) -> None:
    for k in range(slots.size):
        data[slots[k]] += values[k] * weight[owner[k]]


def dense_solver(matrix: np.ndarray, shift: float) -> Solve:
    """A solver for a dense matrix with `shift` added to its diagonal."""
    matrix = np.array(matrix, order="F")
    matrix.flat[:: matrix.shape[0] + 1] += shift
    factors, flag = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
    if flag:
        raise NotPositive
    return lambda x: scipy.linalg.lapack.dpotrs(factors, x, lower=1)[0]
