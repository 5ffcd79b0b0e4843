"""Rows as kernels take them, turned back into one matrix for linear algebra."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.rows import Rows


def data_matrix(rows: Rows) -> Any:
    """The rows as a SciPy or NumPy matrix, copied only to add an intercept's column."""
    if rows.indptr.size == 0:
        dense = rows.values.reshape(-1, rows.width)
        return np.hstack([dense, np.full((dense.shape[0], 1), rows.bias)]) if rows.bias else dense
    n = rows.indptr.size - 1
    matrix = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(n, rows.width))
    return sp.hstack([matrix, np.full((n, 1), rows.bias)], format="csr") if rows.bias else matrix
