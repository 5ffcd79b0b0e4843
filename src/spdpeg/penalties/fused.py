"""The l1 norm and total variation along the vector together: the fused lasso's penalty in one piece."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import chain, jit
from ..kernels.chain import MEMORY, chain_prox
from ..kernels.jit import as_reals
from .base import Packed, Penalty
from .conic import ConicForm, broken_lines
from .l1 import L1
from .shared import weight_of, weights_of

_ROUNDING = 4.0 * np.finfo(float).eps
"""Relative error of sums along the chain."""


class FusedL1(Penalty):
    """l1 sum_j |v_j| + sum_j l2_j |v_{j+1} - v_j|: few non-zero entries and few jumps between neighbours.

    The same as r1 = L1(l1) and r2 = L1(l2) after F = FirstDifference(), but as one proximable term, so that no dual
    variable is needed. The prox is exact and takes time proportional to the length of the vector: total variation
    first, then the soft threshold, which keeps the order of neighbours and so leaves the first part optimal (Friedman,
    Hastie, Hoefling, Tibshirani, 2007).

    Parameters
    ----------
    l1 : float
        One number: with a different threshold for each coordinate the two steps would not give the prox.
    l2 : float or array
        One number or one per pair of neighbours; 0 lets them differ freely.

    See Also
    --------
    L1 : With F = FirstDifference as r2, the same in two parts.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.FusedL1(l1=0.5, l2=1.0).prox([5.0, 4.0, 3.0, -1.0, 1.0]).tolist()
    [3.5, 3.5, 2.5, 0.0, 0.0]
    """

    homogeneous = True

    def __init__(self, l1: Any = 1.0, l2: Any = 1.0) -> None:
        self.l1 = l1
        self.l2 = l2

    def value(self, v: np.ndarray) -> float:
        jumps = np.asarray(self.l2) * np.abs(v[1:] - v[:-1])
        return float(self.l1 * np.add.reduce(np.abs(v), axis=None) + np.add.reduce(jumps, axis=None))

    def conjugate(self, u: np.ndarray) -> float:
        l1, l2 = self._weights(u.size)
        rounding = _ROUNDING * float(np.sum(np.abs(u)))
        return 0.0 if chain.dual_scale(as_reals(u), l1 + rounding, as_reals(l2 + rounding)) == 1.0 else np.inf

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return self.nearest_dual_by(u, np.ones(u.size))

    def nearest_dual_by(self, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        # Without l1 the entries between two edges of weight 0 must add up to 0.
        l1, l2 = self._weights(u.size)
        if l1 > 0.0 or u.size == 0:
            return u
        pieces = np.concatenate([[0], np.cumsum(l2 == 0.0)])
        total = np.bincount(pieces, sizes)
        return u - sizes * (np.bincount(pieces, u) / np.where(total > 0.0, total, 1.0))[pieces]

    def dual_scale(self, u: np.ndarray) -> float:
        l1, l2 = self._weights(u.size)
        if l1 == 0.0:
            l1 = _ROUNDING * float(np.sum(np.abs(u)))  # what is left of their sums after `nearest_dual`
        return float(chain.dual_scale(as_reals(u), l1, as_reals(l2)))

    def conic_form(self, size: int) -> ConicForm:
        l1, l2 = self._weights(size)
        edges = l2.size
        columns = (np.arange(2 * edges) + 1) // 2
        jumps = sp.csr_array((np.tile([-1.0, 1.0], edges), columns, 2 * np.arange(edges + 1)), shape=(edges, size))
        return L1(l1).conic_form(size) + broken_lines(jumps, 0.0, l2, l2)

    def free(self, size: int) -> np.ndarray:
        l1, l2 = self._weights(size)
        alone = np.concatenate([[True], l2 == 0.0]) & np.concatenate([l2 == 0.0, [True]])
        return (alone & (l1 == 0.0))[:size]

    def pack(self, size: int) -> Packed:
        # l1, one l2 per edge, and the working memory of the prox.
        l1, l2 = self._weights(size)
        return Packed(np.concatenate([[l1], l2, np.zeros(MEMORY * size)]), jit.NONE)

    def _weights(self, size: int) -> tuple[float, np.ndarray]:
        edges = max(size - 1, 0)
        l2 = weights_of(self, "l2", self.l2, edges, "pairs of neighbours")
        return float(weight_of(self, "l1", self.l1)[0]), np.full(edges, l2)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        chain_prox(point, step, reals[1:size], reals[size:], out)
        limit = step * reals[0]
        for j in range(size):
            out[j] -= min(max(out[j], -limit), limit)

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        # Moreau's identity would leave the domain of r* by the rounding error of a large point. Its two parts, the
        # flow between neighbours and what the threshold takes, are cut off at their weights instead.
        size = point.size
        for j in range(size):
            out[j] = point[j] / step
        chain_prox(out, 1.0 / step, reals[1:size], reals[size:], out)
        flow = 0.0
        for j in range(size):
            flat = step * out[j]
            limit = reals[1 + j] if j < size - 1 else 0.0
            onwards = min(max(flow + (point[j] - flat), -limit), limit)
            out[j] = (onwards - flow) + min(max(flat, -reals[0]), reals[0])
            flow = onwards

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = reals[0] * np.sign(point[j])
        for j in range(point.size - 1):
            jump = reals[1 + j] * np.sign(point[j + 1] - point[j])
            out[j] -= jump
            out[j + 1] += jump
