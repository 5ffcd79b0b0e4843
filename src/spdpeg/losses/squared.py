"""Squared loss."""

import numpy as np

from ..kernels import jit
from .base import Loss, Shifted, TwoLines


class Squared(Loss):
    """(t - b)^2 / 2 for labels b that are numbers: least squares.

    See Also
    --------
    Huber : The same for small errors, linear for large ones.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.Squared().value([0.0, 3.0], 1.0).tolist()
    [0.5, 2.0]
    """

    quadratic = True

    @property
    def curvature(self) -> float:
        return 1.0

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        return Shifted(labels - offset, None)

    def lines(self, labels: np.ndarray) -> TwoLines:
        ends = np.full(labels.size, np.inf)
        return TwoLines(np.ones(labels.size), labels, ends, ends, 1.0)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 0.5 * (t - b) * (t - b)

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t - b

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 1.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return u * (0.5 * u + b)

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
        total = 0.0
        for i in range(margins.size):
            slopes[i] = margins[i] - labels[i]
        if weights.size:
            for i in range(margins.size):
                total += weights[i] * slopes[i] * slopes[i]
        else:
            for i in range(margins.size):
                total += slopes[i] * slopes[i]
        return 0.5 * total

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
        out[:] = 1.0
        return 0.0

    @jit.chunk
    @staticmethod
    def kernel_conjugates(
        u: np.ndarray, labels: np.ndarray, weights: np.ndarray, reals: np.ndarray, ints: np.ndarray, spare: np.ndarray
    ) -> float:
        total = 0.0
        if weights.size:
            for i in range(u.size):
                total += weights[i] * u[i] * (0.5 * u[i] + labels[i])
        else:
            for i in range(u.size):
                total += u[i] * (0.5 * u[i] + labels[i])
        return total

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return (t + step * b) / (1.0 + step)
