"""Smooth relatives of the hinge loss. The hinge itself has a kink and is a penalty: `spdpeg.penalties.Hinge`."""

import numpy as np

from ..kernels import jit
from ..parameters import positive
from .base import Loss, TwoLines


class SquaredHinge(Loss):
    """max(0, 1 - b t)^2 / 2 for labels b of two classes: the L2 support vector machine.

    See Also
    --------
    Hinge : Not squared, and not smooth.
    SmoothedHinge : Linear far from the margin.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.SquaredHinge().value(0.0, 1.0)
    array(0.5)
    """

    binary = True
    curvature_jumps = True

    @property
    def curvature(self) -> float:
        return 1.0

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.where(labels > 0.0, -np.inf, 0.0), np.where(labels > 0.0, 0.0, np.inf)

    def lines(self, labels: np.ndarray) -> TwoLines:
        return TwoLines(labels, np.ones(labels.size), np.full(labels.size, np.inf), np.zeros(labels.size), 1.0)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        lack = max(1.0 - b * t, 0.0)
        return 0.5 * lack * lack

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return -b * max(1.0 - b * t, 0.0)

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 1.0 if b * t <= 1.0 else 0.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return u * (0.5 * u + b) if b * u <= 0.0 else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t + b * step / (1.0 + step) * max(1.0 - b * t, 0.0)


class SmoothedHinge(Loss):
    """The hinge max(0, 1 - b t) with its kink rounded over 1 - width < b t < 1, for labels b of two classes.

    With m = 1 - b t it is 0 for m <= 0, m^2 / (2 width) up to m = width, and m - width / 2 beyond. It lies below the
    hinge by at most width / 2.

    Parameters
    ----------
    width : float
        Curvature is at most 1 / width.

    See Also
    --------
    Hinge : The limit of no smoothing.
    SquaredHinge : Its square.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.SmoothedHinge(width=0.5).value([2.0, 1.0, 0.0], 1.0).tolist()
    [0.0, 0.0, 0.75]
    """

    binary = True
    curvature_jumps = True
    bounded_slope = True

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    @property
    def curvature(self) -> float:
        return 1.0 / positive(self, "width", self.width)

    def pack(self) -> np.ndarray:
        return np.array([positive(self, "width", self.width)])

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(-labels, 0.0), np.maximum(-labels, 0.0)

    def lines(self, labels: np.ndarray) -> TwoLines:
        ones = np.ones(labels.size)
        return TwoLines(labels, ones, ones, np.zeros(labels.size), float(self.pack()[0]))

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        lack = max(1.0 - b * t, 0.0)
        slope = min(lack / reals[0], 1.0)
        return slope * (lack - 0.5 * reals[0] * slope)

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return -b * min(max((1.0 - b * t) / reals[0], 0.0), 1.0)

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 1.0 / reals[0] if 0.0 <= 1.0 - b * t <= reals[0] else 0.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return u * (0.5 * reals[0] * u + b) if -1.0 <= b * u <= 0.0 else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t + b * min(step / (reals[0] + step) * max(1.0 - b * t, 0.0), step)
