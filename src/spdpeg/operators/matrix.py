"""Any sparse or dense matrix as F."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import as_ints, as_reals
from ..sparse import sound
from .base import Operator
from .spectrum import eigenvalue_bound


class Matrix(Operator):
    """F given as a SciPy sparse matrix or a dense array, applied as CSR.

    The squared norm is the smallest of |F|_1 |F|_inf, the squared Frobenius norm and `eigenvalue_bound`: at most 3 per
    cent above the truth.

    See Also
    --------
    as_operator : Makes one of any matrix.
    Stack : Several operators below each other.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.operators import Matrix
    >>> F = Matrix(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    >>> (F @ [3.0, 1.0, 1.0]).tolist()
    [2.0, 0.0]
    """

    def __init__(self, F: Any) -> None:
        self.F = F

    @cached_property
    def _csr(self) -> sp.csr_array:
        F = sound(self.F, "F") if sp.issparse(self.F) else _array(self.F)
        if F.ndim != 2:
            raise InputError(f"F has {F.ndim} dimension(s). A matrix has two: rows of Fx by coordinates of x.")
        if F.dtype.kind not in "biuf":
            raise InputError(f"F has entries of type {F.dtype}. They must be real numbers.")
        csr = sp.csr_array(F, dtype=np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        if not np.all(np.isfinite(csr.data)):
            raise InputError("F holds NaN or infinite entries. Repair or drop those rows of F.")
        return csr

    def _own_inputs(self) -> int | None:
        return int(self._csr.shape[1])

    @property
    def n_outputs(self) -> int:
        return int(self._csr.shape[0])

    @cached_property
    def squared_norm(self) -> float:
        csr = self._csr
        scale = float(np.max(np.abs(csr.data), initial=0.0))
        if scale == 0.0:
            return 0.0
        if scale > 1e140:
            raise InputError(f"F has an entry of size {scale:.1e}, whose square overflows. Scale F down.")
        # Entries of size 1 neither overflow nor vanish when squared.
        F = csr / scale
        tall = F if F.shape[0] >= F.shape[1] else F.T.tocsr()
        wide = tall.T
        absolute = abs(F)
        bound = min(
            float(absolute.sum(axis=0).max() * absolute.sum(axis=1).max()),
            float(np.square(F.data).sum()),
            eigenvalue_bound(lambda v: np.asarray(wide @ (tall @ v)), tall.shape[1]),
        )
        return max(scale * scale * bound, np.finfo(float).tiny)

    @cached_property
    def _packed(self) -> tuple[np.ndarray, np.ndarray]:
        return as_reals(self._csr.data), as_ints(np.concatenate([self._csr.indptr, self._csr.indices]))

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return self._packed

    def matrix(self) -> sp.csr_array:
        return self._csr

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        columns = ints[out.size + 1 :]
        for i in range(out.size):
            total = 0.0
            # Unsigned numbers spare the test for indices counted from the end.
            for k in range(np.uint64(ints[i]), np.uint64(ints[i + 1])):
                total += reals[k] * vector[np.uint64(columns[k])]
            out[i] = total

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        columns = ints[vector.size + 1 :]
        out[:] = 0.0
        for i in range(vector.size):
            for k in range(np.uint64(ints[i]), np.uint64(ints[i + 1])):
                out[np.uint64(columns[k])] += reals[k] * vector[i]


def as_operator(F: Any) -> Operator:
    """An operator as it is; a sparse matrix, an array or a data frame as `Matrix`.

    Parameters
    ----------
    F : Operator, sparse matrix, array or data frame

    Returns
    -------
    Operator

    See Also
    --------
    Matrix : What it makes of a matrix.

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.as_operator([[1.0, -1.0]]) @ [3.0, 1.0]).tolist()
    [2.0]
    """
    if isinstance(F, Operator):
        return F
    if sp.issparse(F) or isinstance(F, list | tuple) or hasattr(F, "__array__"):
        return Matrix(F)
    raise InputError(
        f"F is {F!r}. Give one of spdpeg.operators, such as operators.FirstDifference(), a SciPy sparse matrix or an "
        "array."
    )


def _array(F: Any) -> np.ndarray:
    try:
        return np.asarray(F)
    # What a foreign object's __array__ raises is up to it.
    except Exception as error:
        raise InputError(f"F is no matrix ({error}). Its rows must have the same length.") from None
