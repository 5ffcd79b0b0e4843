"""Non-smooth losses, for the methods that take a loss by its prox. As r2 of the data: `spdpeg.penalties.Hinge`."""

import numbers

import numpy as np

from .. import penalties
from ..errors import InputError
from ..kernels import jit
from ..penalties import Penalty
from .base import Loss, Shifted, TwoLines

_ROUNDING = 1e-12
"""Rounding by which a slope from a prox may leave its interval."""


class Hinge(Loss):
    """max(0, 1 - b t) for labels b of two classes: the support vector machine, exactly.

    Not smooth: of the solvers, "interior-point", "lp", "sdca-admm", "spdhg-cers" and "online-admm" take it.

    See Also
    --------
    SmoothedHinge, SquaredHinge : Smooth relatives, for all other solvers.
    spdpeg.penalties.Hinge : The same as r2 of the data.

    Examples
    --------
    >>> import spdpeg
    >>> from spdpeg import losses, penalties
    >>> X, y, _ = spdpeg.datasets.piecewise_constant(100, 10)
    >>> result = spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Hinge(), r1=penalties.L1(0.01)))
    >>> result.stages[0].method
    'interior-point'
    """

    binary = True
    bounded_slope = True

    @property
    def curvature(self) -> float:
        return np.inf

    def lines(self, labels: np.ndarray) -> TwoLines:
        ones = np.ones(labels.size)
        return TwoLines(labels, ones, ones, np.zeros(labels.size))

    def as_penalty(self, labels: np.ndarray, weights: np.ndarray) -> Penalty:
        return penalties.Hinge(labels, weights)

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(-labels, 0.0), np.maximum(-labels, 0.0)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return max(1.0 - b * t, 0.0)

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return -b if b * t < 1.0 else 0.0

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return b * u if -1.0 - _ROUNDING <= b * u <= _ROUNDING else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t + b * min(max(1.0 - b * t, 0.0), step)


class Quantile(Loss):
    """The pinball loss: level * (b - t) above the prediction, (1 - level) * (t - b) below.

    Not smooth: of the solvers, "interior-point", "lp", "sdca-admm", "spdhg-cers" and "online-admm" take it.

    Parameters
    ----------
    level : float
        The quantile, between 0 and 1; 0.5 gives half the absolute error.

    See Also
    --------
    Huber : A smooth and robust loss.
    spdpeg.penalties.Quantile : The same as r2 of the data.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import losses
    >>> y = np.arange(11.0)
    >>> result = spdpeg.solve(spdpeg.Problem(np.ones((11, 1)), y, loss=losses.Quantile(0.5)))
    >>> round(float(result.x[0]), 6)
    5.0
    """

    bounded_slope = True

    def __init__(self, level: float = 0.5) -> None:
        self.level = level

    @property
    def quantile(self) -> float:
        return float(self.level)

    @property
    def curvature(self) -> float:
        return np.inf

    def pack(self) -> np.ndarray:
        if not isinstance(self.level, numbers.Real) or not 0.0 < self.level < 1.0:
            raise InputError(f"level of Quantile is {self.level!r}. It must lie strictly between 0 and 1.")
        return np.array([float(self.level)])

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        return Shifted(labels - offset, None)

    def lines(self, labels: np.ndarray) -> TwoLines:
        ones, level = np.ones(labels.size), float(self.pack()[0])
        return TwoLines(ones, labels, level * ones, (1.0 - level) * ones)

    def as_penalty(self, labels: np.ndarray, weights: np.ndarray) -> Penalty:
        return penalties.Quantile(labels, self.level, weights)

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(labels.size, -float(self.level)), np.full(labels.size, 1.0 - float(self.level))

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return max(reals[0] * (b - t), (reals[0] - 1.0) * (b - t))

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return -reals[0] if t < b else (1.0 - reals[0] if t > b else 0.0)

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return b * u if -reals[0] - _ROUNDING <= u <= 1.0 - reals[0] + _ROUNDING else np.inf

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t + min(max(b - t, -step * (1.0 - reals[0])), step * reals[0])
