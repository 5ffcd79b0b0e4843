"""Counts, and rates of them: the Poisson family with the log link."""

import numpy as np

from ..kernels import jit
from ..kernels.exponentials import above_tangent, log_omega
from .base import Shifted
from .exponential import Exponential


class Poisson(Exponential):
    """exp(t) - b t + b log b - b for counts b >= 0 with mean exp(t): half the deviance of the Poisson family.

    It is 0 where the mean is b, and grows exponentially: phi'' has no bound, so that methods with steps from a
    Lipschitz constant do not apply. Newton's do ("prox-newton", "working-set"), and those that take a loss by its prox
    ("sdca-admm", "spdhg-cers").

    See Also
    --------
    Gamma : For positive numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import losses
    >>> losses.Poisson().value(np.log([2.0, 4.0, 4.0]), [2.0, 2.0, 0.0]).round(6).tolist()
    [0.0, 0.613706, 4.0]
    """

    variance_power = 1

    _least, _labels = 0.0, "counts or rates of at least 0"

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -labels, np.full(labels.size, np.inf)

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        exposure = np.exp(offset)
        return Shifted(labels / exposure, exposure)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return b * above_tangent(t - np.log(b), np.exp(t) / b) if b > 0.0 else np.exp(t)

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return np.exp(t) - b

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return np.exp(t)

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        mean = u + b
        if mean < 0.0:
            return np.inf
        if b == 0.0:
            return u * np.log(u) - u if u > 0.0 else 0.0
        rest = mean * np.log1p(u / b) if mean > 0.0 else 0.0
        return rest + u * (np.log(b) - 1.0)

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        # s + step exp(s) = t + step b; with v = step exp(s), log v + v is known.
        end = t + step * b
        log_v = log_omega(np.log(step) + end)
        return end - np.exp(log_v) if log_v < 0.0 else log_v - np.log(step)
