"""No penalty."""

import numpy as np

from ..kernels import jit
from .base import Packed, Penalty
from .conic import ConicForm, squares


class Zero(Penalty):
    """r = 0.

    See Also
    --------
    L1, L2Squared : The usual penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.penalties import Zero
    >>> Zero().value(np.ones(3))
    0.0
    """

    separable = True
    homogeneous = True
    vanishes = True

    def value(self, v: np.ndarray) -> float:
        return 0.0

    def conjugate(self, u: np.ndarray) -> float:
        return np.inf if np.any(u) else 0.0

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        return np.where(u == 0.0, 0.0, np.copysign(np.inf, u))

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.zeros_like(u)

    def free(self, size: int) -> np.ndarray:
        return np.ones(size, dtype=bool)

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        return np.eye(point.size)

    def l1_weights(self, size: int) -> np.ndarray:
        return np.zeros(size)

    def scaled(self, factors: np.ndarray) -> Penalty:
        return self

    def conic_form(self, size: int) -> ConicForm:
        return squares(0.0, size)

    def pack(self, size: int) -> Packed:
        return Packed(jit.NO_REALS, jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = point[j]

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = 0.0

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(point.size):
            out[j] = 0.0
