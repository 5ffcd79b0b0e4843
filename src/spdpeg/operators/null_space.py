"""Directions that a linear map does not see."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

_DENSE = 400
"""Inputs up to which the null space of any matrix is found by its singular values."""

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
