"""The l1 norm with its kink rounded."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import jit
from ..parameters import positive
from .base import Packed, Penalty
from .conic import ConicForm, broken_lines
from .l1 import DualBox
from .shared import half_square, in_dual_domain, weights_of


class HuberL1(DualBox):
    """Sum of weight_j h(v_j) with h(t) = t^2 / (2 delta) for |t| <= delta and |t| - delta / 2 beyond.

    Like the l1 norm for large entries, like ridge for small ones: small differences are smoothed, jumps survive.

    Parameters
    ----------
    weight : float or array
        One number or one per coordinate; 0 leaves a coordinate free.
    delta : float
        Where the parabola goes over into the line.

    See Also
    --------
    L1 : The limit of a small delta.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.HuberL1(1.0, delta=1.0).prox([3.0, 1.0, -3.0]).tolist()
    [2.0, 0.5, -2.0]
    """

    def __init__(self, weight: Any = 1.0, delta: float = 1.0) -> None:
        self.weight = weight
        self.delta = delta

    def value(self, v: np.ndarray) -> float:
        near = np.clip(v, -self.delta, self.delta)
        return float(np.sum(np.asarray(self.weight) * (near / self.delta) * (v - 0.5 * near)))

    def conjugate(self, u: np.ndarray) -> float:
        weight = np.broadcast_to(np.asarray(self.weight, dtype=float), u.shape)
        if not in_dual_domain(u, -weight, weight):
            return np.inf
        used = weight > 0.0
        return half_square(u[used], self.delta / weight[used])

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        weight = np.broadcast_to(np.asarray(self.weight, dtype=float), u.shape)
        inside = np.divide(u * self.delta, weight, out=np.zeros(u.shape), where=weight > 0.0)
        return np.where(np.abs(u) <= weight, inside, np.copysign(np.inf, u))

    def scaled(self, factors: np.ndarray) -> Penalty:
        return HuberL1(factors * np.asarray(self.weight), self.delta)

    def conic_form(self, size: int) -> ConicForm:
        # The smallest weight_j (s_j^2 / (2 delta) + |v_j - s_j|) over s.
        weight = np.broadcast_to(weights_of(self, "weight", self.weight, size), (size,))
        used = np.flatnonzero(weight)
        part = sp.csr_array((np.ones(used.size), used, np.arange(used.size + 1)), shape=(used.size, size))
        K = sp.hstack([part, -sp.eye_array(used.size)])
        curvature = np.concatenate([np.zeros(size), weight[used] / positive(self, "delta", self.delta)])
        return broken_lines(K, 0.0, weight[used], weight[used], size, curvature=curvature)

    def pack(self, size: int) -> Packed:
        delta = positive(self, "delta", self.delta)
        return Packed(np.concatenate([weights_of(self, "weight", self.weight, size), [delta]]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        delta = reals[reals.size - 1]
        if reals.size == 2:
            limit = step * reals[0]
            shrinkage = limit / (delta + limit)
            for j in range(point.size):
                out[j] = point[j] - min(max(shrinkage * point[j], -limit), limit)
        else:
            for j in range(point.size):
                limit = step * reals[j]
                shrinkage = limit / (delta + limit)
                out[j] = point[j] - min(max(shrinkage * point[j], -limit), limit)

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        spread = step * reals[reals.size - 1]
        if reals.size == 2:
            limit = reals[0]
            shrink = limit / (limit + spread)
            for j in range(point.size):
                out[j] = min(max(shrink * point[j], -limit), limit)
        else:
            for j in range(point.size):
                limit = reals[j]
                out[j] = min(max(limit / (limit + spread) * point[j], -limit), limit)

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        delta = reals[reals.size - 1]
        for j in range(point.size):
            limit = reals[j if reals.size > 2 else 0]
            out[j] = min(max(limit / delta * point[j], -limit), limit)
