"""No penalty."""

import numpy as np

from ..kernels import jit
from .base import Packed, Penalty, in_dual_domain, no_parameters


class Zero(Penalty):
    """r = 0."""

    separable = True
    homogeneous = True

    def value(self, v: np.ndarray) -> float:
        return 0.0

    def conjugate(self, u: np.ndarray) -> float:
        return 0.0 if in_dual_domain(u, 0.0, 0.0) else np.inf

    def pack(self, size: int) -> Packed:
        return no_parameters()

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        for j in range(point.size):
            out[j] = point[j]

    @jit.prox
    def kernel_dual_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        for j in range(point.size):
            out[j] = 0.0
