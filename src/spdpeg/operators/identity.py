"""The identity, and the map onto nothing."""

import numpy as np
import scipy.sparse as sp

from ..kernels import jit
from .base import Operator


class Identity(Operator):
    """F x = x.

    See Also
    --------
    Empty : No output at all.

    Examples
    --------
    >>> from spdpeg.operators import Identity
    >>> (Identity().bind(2) @ [3.0, 4.0]).tolist()
    [3.0, 4.0]
    """

    is_identity = True

    @property
    def n_outputs(self) -> int:
        return self.n_inputs

    @property
    def squared_norm(self) -> float:
        return 1.0

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return jit.NO_REALS, jit.NONE

    def matrix(self) -> sp.csr_array:
        return sp.csr_array(sp.eye_array(self.n_inputs))

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(out.size):
            out[j] = vector[j]

    kernel_adjoint = kernel_forward


class Empty(Operator):
    """The map onto R^0: what F is when there is no r2.

    See Also
    --------
    Identity : What F is by default where there is an r2.

    Examples
    --------
    >>> from spdpeg.operators import Empty
    >>> Empty().bind(2).n_outputs
    0
    """

    @property
    def n_outputs(self) -> int:
        return 0

    @property
    def squared_norm(self) -> float:
        return 0.0

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return jit.NO_REALS, jit.NONE

    def matrix(self) -> sp.csr_array:
        return sp.csr_array((0, self.n_inputs))

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        pass

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
