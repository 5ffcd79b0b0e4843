"""The l1 norm and ridge together."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import jit
from ..kernels.jit import inner
from .base import Packed, Penalty
from .conic import ConicForm
from .l1 import L1
from .l2 import L2Squared
from .shared import ends, half_square, in_dual_domain, interval_scale, weighted_sum, weights_of


@inner
def _shrunk(v: float, limit: float, shrink: float) -> float:
    """shrink times the soft threshold of v: the prox."""
    return shrink * (v - min(max(v, -limit), limit))


@inner
def _clipped(v: float, limit: float, slope: float) -> float:
    """v up to `limit`, rising with `slope` beyond: the prox of the conjugate."""
    inside = min(max(v, -limit), limit)
    return inside + slope * (v - inside)


class ElasticNet(Penalty):
    """Sum of l1_j |v_j| + l2_j v_j^2 / 2: few non-zero entries, correlated ones kept together.

    Strongly convex with modulus min_j l2_j.

    Parameters
    ----------
    l1, l2 : float or array
        One number or one per coordinate each; 0 switches a term off.

    See Also
    --------
    L1, L2Squared : Its parts.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.ElasticNet(l1=1.0, l2=1.0).prox([3.0, -0.5, -2.0]).tolist()
    [1.0, 0.0, -0.5]
    """

    separable = True

    def __init__(self, l1: Any = 1.0, l2: Any = 1.0) -> None:
        self.l1 = l1
        self.l2 = l2

    @property
    def homogeneous(self) -> bool:  # type: ignore[override]
        return not np.any(self.l2)

    @property
    def strong_convexity(self) -> float:
        return float(np.min(self.l2))

    def value(self, v: np.ndarray) -> float:
        return weighted_sum(self.l1, np.abs(v)) + half_square(v, self.l2)

    def conjugate(self, u: np.ndarray) -> float:
        if np.ndim(self.l2) == 0 and self.l2 > 0.0:
            return half_square(np.maximum(np.abs(u) - np.asarray(self.l1), 0.0), 1.0 / self.l2)
        l1, l2 = (np.broadcast_to(np.asarray(weight, dtype=float), u.shape) for weight in (self.l1, self.l2))
        ridged = l2 > 0.0
        if not in_dual_domain(u[~ridged], -l1[~ridged], l1[~ridged]):
            return np.inf
        return half_square(np.maximum(np.abs(u[ridged]) - l1[ridged], 0.0), 1.0 / l2[ridged])

    def scaled(self, factors: np.ndarray) -> Penalty:
        return ElasticNet(factors * np.asarray(self.l1), factors * np.asarray(self.l2))

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        l1, l2 = (np.broadcast_to(np.asarray(weight, dtype=float), u.shape) for weight in (self.l1, self.l2))
        outside = np.sign(u) * np.maximum(np.abs(u) - l1, 0.0)
        at_infinity = np.where(outside == 0.0, 0.0, np.copysign(np.inf, u))
        return np.divide(outside, l2, out=at_infinity, where=l2 > 0.0)

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        limit = np.where(np.asarray(self.l2) > 0.0, np.inf, self.l1)
        return ends(-limit, limit, size)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        held = (np.asarray(self.l1) != 0.0) | (np.asarray(self.l2) != 0.0)
        return u if np.all(held) else np.where(held, u, 0.0)

    def dual_scale(self, u: np.ndarray) -> float:
        limit = np.where(np.asarray(self.l2) > 0.0, np.inf, self.l1)
        return interval_scale(u, -limit, limit)

    def entry_weights(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        return (
            np.full(size, weights_of(self, "l1", self.l1, size)),
            np.full(size, weights_of(self, "l2", self.l2, size)),
        )

    def conic_form(self, size: int) -> ConicForm:
        return replace(L1(self.l1).conic_form(size), quadratic=L2Squared(self.l2).conic_form(size).quadratic)

    def pack(self, size: int) -> Packed:
        l1, l2 = np.broadcast_arrays(weights_of(self, "l1", self.l1, size), weights_of(self, "l2", self.l2, size))
        return Packed(np.concatenate([l1, l2]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        if reals.size == 2:
            limit, shrink = step * reals[0], 1.0 / (1.0 + step * reals[1])
            for j in range(size):
                out[j] = _shrunk(point[j], limit, shrink)
        else:
            for j in range(size):
                out[j] = _shrunk(point[j], step * reals[j], 1.0 / (1.0 + step * reals[size + j]))

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        if reals.size == 2:
            limit, slope = reals[0], reals[1] / (step + reals[1])
            for j in range(size):
                out[j] = _clipped(point[j], limit, slope)
        else:
            for j in range(size):
                out[j] = _clipped(point[j], reals[j], reals[size + j] / (step + reals[size + j]))

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        half = reals.size // 2
        for j in range(point.size):
            k = j if half > 1 else 0
            out[j] = reals[k] * np.sign(point[j]) + reals[half + k] * point[j]
