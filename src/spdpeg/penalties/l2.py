"""The squared l2 norm (ridge)."""

from typing import Any

import numpy as np

from ..kernels import jit
from .base import Packed, Penalty, weights_of


class L2Squared(Penalty):
    """Half the sum of weight_j v_j^2: ridge. Strongly convex with modulus min_j weight_j."""

    separable = True

    def __init__(self, weight: Any = 1.0) -> None:
        self.weight = weight

    @property
    def strong_convexity(self) -> float:
        return float(np.min(self.weight))

    def value(self, v: np.ndarray) -> float:
        return 0.5 * float(np.sum(np.asarray(self.weight) * np.square(v)))

    def conjugate(self, u: np.ndarray) -> float:
        weight = np.broadcast_to(np.asarray(self.weight, dtype=float), np.shape(u))
        free = weight == 0.0
        if np.any(u[free] != 0.0):
            return np.inf
        return 0.5 * float(np.sum(np.square(u[~free]) / weight[~free]))

    def pack(self, size: int) -> Packed:
        return Packed(weights_of(self, "weight", self.weight, size), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        if reals.size == 1:
            shrink = 1.0 / (1.0 + step * reals[0])
            for j in range(point.size):
                out[j] = shrink * point[j]
        else:
            for j in range(point.size):
                out[j] = point[j] / (1.0 + step * reals[j])
