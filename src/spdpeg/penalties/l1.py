"""The l1 norm."""

from typing import Any

import numpy as np

from ..kernels import jit
from .base import Groups, Packed, Penalty
from .conic import ConicForm, broken_lines, identity
from .shared import ends, in_dual_domain, interval_scale, weighted_sum, weights_of


class DualBox(Penalty):
    """A penalty that grows like weight_j |v_j| far out, so that its conjugate is finite for |u_j| <= weight_j."""

    separable = True

    weight: Any

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        weight = np.asarray(self.weight, dtype=float)
        return ends(-weight, weight, size)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.where(np.asarray(self.weight) == 0.0, 0.0, u)

    def dual_scale(self, u: np.ndarray) -> float:
        weight = np.asarray(self.weight, dtype=float)
        return interval_scale(u, -weight, weight)


class L1(DualBox):
    """Sum of weight_j |v_j|: few non-zero entries.

    Parameters
    ----------
    weight : float or array
        One number or one per coordinate; 0 leaves a coordinate free.

    See Also
    --------
    ElasticNet : With a ridge.
    GroupL2 : Whole groups become 0.
    FusedL1 : With differences of neighbours.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.L1(1.0).prox([3.0, -0.5, -2.0]).tolist()
    [2.0, 0.0, -1.0]
    """

    homogeneous = True

    def __init__(self, weight: Any = 1.0) -> None:
        self.weight = weight

    def value(self, v: np.ndarray) -> float:
        return weighted_sum(self.weight, np.abs(v))

    def conjugate(self, u: np.ndarray) -> float:
        weight = np.asarray(self.weight)
        return 0.0 if in_dual_domain(u, -weight, weight) else np.inf

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        return np.where(np.abs(u) <= np.asarray(self.weight), 0.0, np.copysign(np.inf, u))

    def free(self, size: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.weight) == 0.0, (size,))

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        return np.diag((np.abs(point) > step * np.asarray(self.weight)).astype(float))

    def l1_weights(self, size: int) -> np.ndarray:
        return np.full(size, weights_of(self, "weight", self.weight, size))

    def group_lengths(self, size: int) -> Groups:
        return Groups(np.arange(size), np.asarray(self.weight, dtype=float))

    def scaled(self, factors: np.ndarray) -> Penalty:
        return L1(factors * np.asarray(self.weight))

    def conic_form(self, size: int) -> ConicForm:
        weight = weights_of(self, "weight", self.weight, size)
        return broken_lines(identity(size), 0.0, weight, weight)

    def pack(self, size: int) -> Packed:
        return Packed(weights_of(self, "weight", self.weight, size), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 1:
            limit = step * reals[0]
            for j in range(point.size):
                out[j] = point[j] - min(max(point[j], -limit), limit)
        else:
            for j in range(point.size):
                limit = step * reals[j]
                out[j] = point[j] - min(max(point[j], -limit), limit)

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 1:
            limit = reals[0]
            for j in range(point.size):
                out[j] = min(max(point[j], -limit), limit)
        else:
            for j in range(point.size):
                out[j] = min(max(point[j], -reals[j]), reals[j])

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = reals[j if reals.size > 1 else 0] * np.sign(point[j])
