"""Huber's loss."""

import numpy as np

from ..kernels import jit
from ..parameters import positive
from .base import Loss, Shifted, TwoLines


class Huber(Loss):
    """r^2 / 2 for residuals r = t - b of at most delta, delta (|r| - delta / 2) beyond: robust least squares.

    Parameters
    ----------
    delta : float
        Size from which a residual counts as an outlier, in the units of the labels.

    See Also
    --------
    Squared : Without a limit on the slope.
    Quantile : Slopes of two sizes only.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.Huber(delta=1.0).value([0.5, 10.0], 0.0).tolist()
    [0.125, 9.5]
    """

    bounded_slope = True
    curvature_jumps = True

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = delta

    @property
    def curvature(self) -> float:
        return 1.0

    def pack(self) -> np.ndarray:
        return np.array([positive(self, "delta", self.delta)])

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        return Shifted(labels - offset, None)

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(labels.size, -float(self.delta)), np.full(labels.size, float(self.delta))

    def lines(self, labels: np.ndarray) -> TwoLines:
        ends = np.full(labels.size, float(self.pack()[0]))
        return TwoLines(np.ones(labels.size), labels, ends, ends, 1.0)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        residual = t - b
        slope = min(max(residual, -reals[0]), reals[0])
        return slope * (residual - 0.5 * slope)

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return min(max(t - b, -reals[0]), reals[0])

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 1.0 if abs(t - b) <= reals[0] else 0.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return u * (0.5 * u + b) if abs(u) <= reals[0] else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        limit = step * reals[0]
        move = step / (1.0 + step) * (t - b)
        return t - min(max(move, -limit), limit)
