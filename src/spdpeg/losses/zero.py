"""No smooth loss."""

import numpy as np

from ..kernels import jit
from .base import Loss, TwoLines


class Zero(Loss):
    """phi = 0: the problem is r1(x) + r2(Fx) alone, with the data, if any, inside F.

    See Also
    --------
    Problem : With X=None it has this loss.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import penalties
    >>> problem = spdpeg.Problem(None, r1=penalties.L2Squared(1.0), r2=penalties.L1(1.0), F=np.eye(2))
    >>> problem.loss
    Zero()
    """

    bounded_slope = True

    @property
    def curvature(self) -> float:
        return 0.0

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(labels.size), np.zeros(labels.size)

    def lines(self, labels: np.ndarray) -> TwoLines:
        nothing = np.zeros(labels.size)
        return TwoLines(np.ones(labels.size), nothing, nothing, nothing)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 0.0

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 0.0

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 0.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 0.0 if u == 0.0 else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t
