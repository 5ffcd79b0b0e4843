"""No smooth loss."""

import numpy as np

from ..kernels import jit
from .base import Loss


class Zero(Loss):
    """phi = 0: the problem is r1(x) + r2(Fx) alone, with the data, if any, inside F."""

    bounded_slope = True

    @property
    def curvature(self) -> float:
        return 0.0

    @jit.scalar
    def kernel_value(t, b, reals, ints):  # type: ignore[no-untyped-def]
        return 0.0

    @jit.scalar
    def kernel_derivative(t, b, reals, ints):  # type: ignore[no-untyped-def]
        return 0.0

    @jit.scalar
    def kernel_conjugate(u, b, reals, ints):  # type: ignore[no-untyped-def]
        return 0.0 if u == 0.0 else np.inf
