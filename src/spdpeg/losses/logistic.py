"""Logistic loss."""

import numpy as np

from ..kernels import jit
from ..kernels.exponentials import complemented, decay, log_of_product, x_log_x
from .base import Loss


class Logistic(Loss):
    """log(1 + exp(-b t)) for labels b of two classes.

    Curvature at most 1/4; exact in floating point for margins of any size.

    See Also
    --------
    SquaredHinge, SmoothedHinge, Hinge : Other losses of two classes.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.Logistic().value([0.0, 1e4, -1e4], 1.0).round(6).tolist()
    [0.693147, 0.0, 10000.0]
    """

    log_odds = True

    binary = True
    attained = False
    bounded_slope = True

    @property
    def curvature(self) -> float:
        return 0.25

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(-labels, 0.0), np.maximum(-labels, 0.0)

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
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        e = np.exp(-abs(t))
        return e / ((1.0 + e) * (1.0 + e))

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

    @jit.chunk
    @staticmethod
    def kernel_read(
        margins: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        reals: np.ndarray,
        ints: np.ndarray,
        slopes: np.ndarray,
    ) -> float:
        for i in range(margins.size):
            slopes[i] = decay(abs(margins[i]))
        total = 0.0
        if weights.size:
            for i in range(margins.size):
                total += weights[i] * (max(-labels[i] * margins[i], 0.0) + np.log1p(slopes[i]))
        else:
            for i in range(margins.size):
                total += max(-labels[i] * margins[i], 0.0)
            total += log_of_product(slopes)
        for i in range(margins.size):
            e = slopes[i]
            large = 1.0 / (1.0 + e)
            slopes[i] = -labels[i] * (e * large if labels[i] * margins[i] > 0.0 else large)
        return total

    @jit.chunk
    @staticmethod
    def kernel_curvatures(
        margins: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        reals: np.ndarray,
        ints: np.ndarray,
        out: np.ndarray,
    ) -> float:
        for i in range(margins.size):
            e = decay(abs(margins[i]))
            large = 1.0 / (1.0 + e)
            out[i] = e * large * large
        return 0.0

    @jit.chunk
    @staticmethod
    def kernel_conjugates(
        u: np.ndarray, labels: np.ndarray, weights: np.ndarray, reals: np.ndarray, ints: np.ndarray, spare: np.ndarray
    ) -> float:
        outside = 0
        for i in range(u.size):
            spare[i] = -labels[i] * u[i]
            outside += not 0.0 <= spare[i] <= 1.0
        if outside:
            return np.inf
        total = 0.0
        for turn in range(2):  # p log p, then (1 - p) log(1 - p)
            if weights.size:
                for i in range(u.size):
                    total += weights[i] * x_log_x(spare[i])
            else:
                for i in range(u.size):
                    total += x_log_x(spare[i])
            if turn == 0:
                total += complemented(spare, weights)
        return total
