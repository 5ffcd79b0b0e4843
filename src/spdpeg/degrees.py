"""Degrees of freedom of a fit whose coefficients are sparse, and sparse after F.

Tibshirani, Taylor: Degrees of freedom in lasso problems, Annals of Statistics 40 (2012): where the coefficients x are
unique, the degrees of freedom of the fitted values are the expectation of the dimension of the space that x moves in
when the data change a little, which is that of all v with v_j = 0 where x_j = 0 and (F v)_i = 0 where (F x)_i = 0.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .errors import InputError, UnsupportedError
from .operators import Operator, as_operator
from .operators.null_space import null_space
from .parameters import numbers, whole_number

_ZERO = 1e-8
"""Part of what was added up in F x, and of the largest coefficient, that counts as nothing."""

_DENSE = 3000
"""Order of a matrix whose rank is found by its singular values."""

_ROUNDING = 1e-10


def degrees_of_freedom(F: Any, coef: Any, sparse: Any = True, n_samples: int | None = None) -> int:
    """The dimension of the space that the coefficients move in: pieces of a fused fit, say, that are not 0.

    Parameters
    ----------
    F : Operator, matrix or None
        What should be sparse is F x; None if there is no such term.
    coef : array of shape (n_features,)
        x.
    sparse : bool or array of bools of shape (n_features,), default=True
        Whether an l1 norm may have made a coefficient 0; without one, a 0 is a value as any other.
    n_samples : int, optional
        Rows of the data. Columns that are in no special position give no more degrees of freedom than that.

    Returns
    -------
    int
        Without the intercept, which is one more.

    Examples
    --------
    >>> from spdpeg import operators
    >>> from spdpeg.degrees import degrees_of_freedom
    >>> degrees_of_freedom(operators.FirstDifference(), [0.0, 0.0, 2.0, 2.0, 2.0, -1.0])
    2
    >>> degrees_of_freedom(operators.Difference(2), [0.0, 1.0, 2.0, 3.0, 2.0, 1.0], sparse=False)
    3
    """
    x = numbers("coef", coef)
    if x.ndim != 1:
        raise InputError(f"coef has shape {x.shape}. Give a vector, the coefficients of one output.")
    size = np.abs(x)
    may_vanish = np.broadcast_to(np.asarray(sparse, dtype=bool), x.shape)
    moves = ~may_vanish | (size > _ZERO * np.max(size, initial=0.0))
    free = int(np.count_nonzero(moves))
    if F is not None and free:
        operator: Operator = as_operator(F).bind(x.size)
        matrix = operator.matrix()
        still = np.abs(matrix @ x) <= _ZERO * (abs(matrix) @ size)
        free = _nullity(sp.csr_array(matrix[still][:, moves]))
    return free if n_samples is None else min(free, whole_number("n_samples", n_samples, least=0))


def _nullity(A: sp.csr_array) -> int:
    """Dimension of {v : A v = 0}."""
    A.eliminate_zeros()
    A = sp.csr_array(A[np.diff(A.indptr) > 0])
    A.sort_indices()
    ends = (A.indices[A.indptr[:-1]], A.indices[A.indptr[1:] - 1])
    if any(np.unique(end).size == end.size for end in ends):
        return int(A.shape[1] - A.shape[0])  # rows of an echelon form
    if np.diff(A.indptr).max() <= 2:
        basis = null_space(A)
        if basis is not None:
            return int(basis.shape[1])
    return int(A.shape[1]) - sum(map(_rank, _blocks(A)))


def _blocks(A: sp.csr_array) -> list[sp.csr_array]:
    """The parts of a matrix that have no column in common."""
    n_parts, part = connected_components(sp.csr_array(A.T @ A), directed=False)
    of_row = part[A.indices[A.indptr[:-1]]]
    return [A[of_row == k][:, part == k] for k in range(n_parts) if np.any(of_row == k)]


def _rank(A: sp.csr_array) -> int:
    if min(A.shape) > _DENSE:
        raise UnsupportedError(
            f"The degrees of freedom need the rank of a matrix of shape {A.shape}. It is found up to order {_DENSE}."
        )
    lengths = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    dense = A.toarray() / lengths[:, None]
    return int(np.linalg.matrix_rank(dense, tol=_ROUNDING * np.sqrt(max(dense.shape))))
