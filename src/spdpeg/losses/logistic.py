"""Logistic loss."""

import numpy as np

from ..kernels import jit
from .base import Loss


class Logistic(Loss):
    """log(1 + exp(-b t)) for labels b of two classes.

    Curvature at most 1/4; exact in floating point for margins of any size.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.Logistic().value([0.0, 1e4, -1e4], 1.0).round(6).tolist()
    [0.693147, 0.0, 10000.0]
    """

    binary = True
    bounded_slope = True

    @property
    def curvature(self) -> float:
        return 0.25

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        s = b * t
        return max(-s, 0.0) + np.log1p(np.exp(-abs(s)))

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        e = np.exp(-abs(t))
        small, large = e / (1.0 + e), 1.0 / (1.0 + e)
        return -b * (small if b * t > 0.0 else large)

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        p = -b * u
        if p < 0.0 or p > 1.0:
            return np.inf
        entropy = 0.0
        if p > 0.0:
            entropy += p * np.log(p)
        if p < 1.0:
            entropy += (1.0 - p) * np.log1p(-p)
        return entropy
