"""Differences along a chain: the fused lasso's F and, at higher orders, trend filtering's."""

import math

import numpy as np
import scipy.sparse as sp

from ..kernels import jit
from .base import Operator


class FirstDifference(Operator):
    """(Fx)_j = x_{j+1} - x_j, a stencil that reads x once.

    The paper prints the opposite sign; no penalty of this package that is even, such as the l1 norm, sees the
    difference. The norm is exact: 2 cos(pi / 2d).

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.FirstDifference().bind(4) @ [1.0, 1.0, 4.0, 2.0]).tolist()
    [0.0, 3.0, -2.0]
    """

    @property
    def n_outputs(self) -> int:
        return self.n_inputs - 1

    @property
    def squared_norm(self) -> float:
        return 4.0 * math.cos(math.pi / (2 * self.n_inputs)) ** 2

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return jit.NO_REALS, jit.NONE

    def matrix(self) -> sp.csr_array:
        d = self.n_inputs
        return sp.csr_array(sp.diags_array([-np.ones(d - 1), np.ones(d - 1)], offsets=[0, 1], shape=(d - 1, d)))

    @jit.linear
    def kernel_forward(vector, reals, ints, out):  # type: ignore[no-untyped-def]
        for j in range(out.size):
            out[j] = vector[j + 1] - vector[j]

    @jit.linear
    def kernel_adjoint(vector, reals, ints, out):  # type: ignore[no-untyped-def]
        last = vector.size
        if last == 0:
            out[0] = 0.0
            return
        out[0] = -vector[0]
        for j in range(1, last):
            out[j] = vector[j - 1] - vector[j]
        out[last] = vector[last - 1]
