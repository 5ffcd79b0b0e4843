"""Any sparse or dense matrix as F."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import as_ints, as_reals
from .base import Operator

_NORM_MARGIN = 1.05
"""Power iteration approaches the largest eigenvalue from below."""


class Matrix(Operator):
    """F given as a SciPy sparse matrix or a dense array, applied as CSR.

    The norm is the smaller of |F|_1 |F|_inf, the squared Frobenius norm (both bounds) and 1.05 times a power iteration.
    """

    def __init__(self, F: Any) -> None:
        self.F = F

    @cached_property
    def _csr(self) -> sp.csr_array:
        if not sp.issparse(self.F) and np.ndim(self.F) != 2:
            raise InputError(f"F has {np.ndim(self.F)} dimension(s). A matrix has two: rows of Fx by coordinates of x.")
        csr = sp.csr_array(self.F, dtype=np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        if not np.all(np.isfinite(csr.data)):
            raise InputError("F holds NaN or infinite entries. Repair or drop those rows of F.")
        return csr

    def _own_inputs(self) -> int | None:
        return int(self._csr.shape[1])

    @property
    def n_inputs(self) -> int:
        return int(self._csr.shape[1])

    @property
    def n_outputs(self) -> int:
        return int(self._csr.shape[0])

    @cached_property
    def squared_norm(self) -> float:  # type: ignore[override]
        csr = self._csr
        if csr.nnz == 0:
            return 0.0
        absolute = abs(csr)
        bound = min(float(absolute.sum(axis=0).max() * absolute.sum(axis=1).max()), float(np.square(csr.data).sum()))
        v = np.random.default_rng(0).standard_normal(csr.shape[1])
        v /= np.linalg.norm(v)
        norm = 0.0
        for _ in range(30):
            v = csr.T @ (csr @ v)
            previous, norm = norm, float(np.linalg.norm(v))
            if norm == 0.0:
                return bound
            v /= norm
            if abs(norm - previous) <= 0.01 * norm:
                break
        return min(bound, _NORM_MARGIN * norm)

    @cached_property
    def _packed(self) -> tuple[np.ndarray, np.ndarray]:
        return as_reals(self._csr.data), as_ints(np.concatenate([self._csr.indptr, self._csr.indices]))

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return self._packed

    def matrix(self) -> sp.csr_array:
        return self._csr

    @jit.linear
    def kernel_forward(vector, reals, ints, out):  # type: ignore[no-untyped-def]
        columns = ints[out.size + 1 :]
        for i in range(out.size):
            total = 0.0
            for k in range(ints[i], ints[i + 1]):
                total += reals[k] * vector[columns[k]]
            out[i] = total

    @jit.linear
    def kernel_adjoint(vector, reals, ints, out):  # type: ignore[no-untyped-def]
        columns = ints[vector.size + 1 :]
        out[:] = 0.0
        for i in range(vector.size):
            for k in range(ints[i], ints[i + 1]):
                out[columns[k]] += reals[k] * vector[i]


def as_operator(F: Any) -> Operator:
    """An operator as it is; a sparse matrix or array as `Matrix`."""
    if isinstance(F, Operator):
        return F
    if sp.issparse(F) or isinstance(F, np.ndarray | list | tuple):
        return Matrix(F)
    raise InputError(
        f"F is {F!r}. Give one of spdpeg.operators, such as operators.FirstDifference(), a SciPy sparse matrix or an array."
    )
