"""Positive numbers with errors in proportion to their size: the Gamma family with the log link."""

import numpy as np

from ..kernels import jit
from ..kernels.exponentials import above_tangent, log_omega
from .base import Shifted
from .exponential import Exponential


class Gamma(Exponential):
    """b exp(-t) + t - 1 - log b for labels b > 0 with mean exp(t): half the deviance of the Gamma family.

    It is 0 where the mean is b. phi'' has no bound, so that methods with steps from a Lipschitz constant do not apply.
    Newton's do ("prox-newton", "working-set"), and those that take a loss by its prox ("sdca-admm", "spdhg-cers").

    See Also
    --------
    Poisson : For counts.
    Squared : For numbers of any sign.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import losses
    >>> losses.Gamma().value(np.log([2.0, 4.0, 1.0]), 2.0).round(6).tolist()
    [0.0, 0.193147, 0.306853]
    """

    variance_power = 2

    _least, _labels = np.finfo(float).tiny, "positive numbers"

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(labels.size, -np.inf), np.ones(labels.size)

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        return Shifted(labels * np.exp(-offset), None)

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return above_tangent(np.log(b) - t, b * np.exp(-t))

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 1.0 - b * np.exp(-t)

    @jit.scalar
    @staticmethod
    def kernel_curvature(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return b * np.exp(-t)

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        if u > 1.0:
            return np.inf
        rest = (1.0 - u) * np.log1p(-u) if u < 1.0 else 0.0
        return rest + u * (1.0 + np.log(b))

    @jit.scalar_prox
    @staticmethod
    def kernel_prox(t: float, step: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        # s - step b exp(-s) = t - step; with v = step b exp(-s), log v + v is known.
        start, log_scale = t - step, np.log(step) + np.log(b)
        log_v = log_omega(log_scale - start)
        return start + np.exp(log_v) if log_v < 0.0 else log_scale - log_v
