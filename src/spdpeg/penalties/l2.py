"""The squared l2 norm (ridge)."""

from typing import Any

import numpy as np

from ..kernels import jit
from .base import Packed, Penalty
from .conic import ConicForm, squares
from .shared import half_square, weights_of


class L2Squared(Penalty):
    """Half the sum of weight_j v_j^2: ridge. Strongly convex with modulus min_j weight_j.

    Parameters
    ----------
    weight : float or array
        One number or one per coordinate; 0 leaves a coordinate free.

    See Also
    --------
    ElasticNet : With an l1 norm.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.L2Squared(1.0).prox([3.0, -0.5], step=1.0).tolist()
    [1.5, -0.25]
    """

    separable = True

    def __init__(self, weight: Any = 1.0) -> None:
        self.weight = weight

    @property
    def strong_convexity(self) -> float:
        return float(np.min(self.weight))

    def value(self, v: np.ndarray) -> float:
        return half_square(v, self.weight)

    def conjugate(self, u: np.ndarray) -> float:
        if np.ndim(self.weight) == 0 and self.weight > 0.0:
            return half_square(u, 1.0 / self.weight)
        weight = np.broadcast_to(np.asarray(self.weight, dtype=float), u.shape)
        free = weight == 0.0
        return np.inf if np.any(u[free]) else half_square(u[~free], 1.0 / weight[~free])

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        weight = np.broadcast_to(np.asarray(self.weight, dtype=float), u.shape)
        at_infinity = np.where(u == 0.0, 0.0, np.copysign(np.inf, u))
        return np.divide(u, weight, out=at_infinity, where=weight > 0.0)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        held = np.asarray(self.weight) != 0.0
        return u if np.all(held) else np.where(held, u, 0.0)

    def free(self, size: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.weight) == 0.0, (size,))

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        return np.diag(np.broadcast_to(1.0 / (1.0 + step * np.asarray(self.weight, dtype=float)), point.shape))

    def scaled(self, factors: np.ndarray) -> Penalty:
        return L2Squared(factors * np.asarray(self.weight))

    def entry_weights(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(size), np.full(size, weights_of(self, "weight", self.weight, size))

    def conic_form(self, size: int) -> ConicForm:
        return squares(weights_of(self, "weight", self.weight, size), size)

    def pack(self, size: int) -> Packed:
        return Packed(weights_of(self, "weight", self.weight, size), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 1:
            shrink = 1.0 / (1.0 + step * reals[0])
            for j in range(point.size):
                out[j] = shrink * point[j]
        else:
            for j in range(point.size):
                out[j] = point[j] / (1.0 + step * reals[j])

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 1:
            shrink = reals[0] / (reals[0] + step)
            for j in range(point.size):
                out[j] = shrink * point[j]
        else:
            for j in range(point.size):
                out[j] = point[j] * (reals[j] / (reals[j] + step))

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = reals[j if reals.size > 1 else 0] * point[j]
