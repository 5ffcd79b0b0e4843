"""Directions that a linear map does not see."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, structural_rank

_DENSE = 400
"""Inputs up to which the null space of any matrix is found by its singular values."""

_DENSE_RANK = 3000
"""Order of a matrix up to which its rank is found by its singular values."""

_ROUNDING = 1e-12


def null_space(F: sp.csr_array) -> sp.csc_array | None:
    """A basis of {v : F v = 0} as columns, or None where it is too expensive to find.

    If all rows are multiples of single entries or of differences of two, the basis is made of the connected parts that
    no single entry ties to 0.
    """
    F = sp.csr_array(F)
    F.eliminate_zeros()
    counts = np.diff(F.indptr)
    pairs, singles = np.flatnonzero(counts == 2), np.flatnonzero(counts == 1)
    d = F.shape[1]
    first, second = F.indptr[pairs], F.indptr[pairs] + 1
    if np.all(counts <= 2) and np.all(F.data[first] == -F.data[second]):
        # One more node stands for 0.
        i = np.concatenate([F.indices[first], F.indices[F.indptr[singles]]])
        j = np.concatenate([F.indices[second], np.full(singles.size, d)])
        edges = sp.csr_array((np.ones(i.size), (i, j)), shape=(d + 1, d + 1))
        n_parts, part = connected_components(edges, directed=False)
        labels = np.full(n_parts, -1)
        alive = np.setdiff1d(np.arange(n_parts), part[d])
        labels[alive] = np.arange(alive.size)
        labels = labels[part[:d]]
        rows = np.flatnonzero(labels >= 0)
        return sp.csc_array((np.ones(rows.size), (rows, labels[rows])), shape=(d, alive.size))
    if d > _DENSE:
        return None
    lengths = np.sqrt(np.asarray(F.multiply(F).sum(axis=1)).ravel())
    lengths[lengths == 0.0] = 1.0
    return sp.csc_array(scipy.linalg.null_space(F.toarray() / lengths[:, None], rcond=_ROUNDING))


def nullity(F: sp.csr_array) -> int:
    """Dimension of {v : F v = 0}.

    Parts of F that have no column in common are taken one by one. Of a part of more than 3000 rows and columns the rank
    is taken to be what its pattern allows.
    """
    F = sp.csr_array(F, copy=True)
    F.eliminate_zeros()
    F = sp.csr_array(F[np.diff(F.indptr) > 0])
    if F.nnz == 0:
        return int(F.shape[1])
    F.sort_indices()
    ends = (F.indices[F.indptr[:-1]], F.indices[F.indptr[1:] - 1])
    if any(np.unique(end).size == end.size for end in ends):
        return int(F.shape[1] - F.shape[0])  # rows of an echelon form
    if np.diff(F.indptr).max() <= 2:
        basis = null_space(F)
        if basis is not None:
            return int(basis.shape[1])
    return int(F.shape[1]) - sum(map(_rank, _parts(F)))


def _parts(F: sp.csr_array) -> list[sp.csr_array]:
    """The parts of a matrix that have no column in common."""
    n_parts, part = connected_components(sp.csr_array(F.T @ F), directed=False)
    of_row = part[F.indices[F.indptr[:-1]]]
    return [sp.csr_array(F[of_row == k][:, part == k]) for k in range(n_parts) if np.any(of_row == k)]


def _rank(F: sp.csr_array) -> int:
    if min(F.shape) > _DENSE_RANK:
        return int(structural_rank(F))
    lengths = np.sqrt(np.asarray(F.multiply(F).sum(axis=1)).ravel())
    dense = F.toarray() / lengths[:, None]
    return int(np.linalg.matrix_rank(dense, tol=_ROUNDING * np.sqrt(max(dense.shape))))
