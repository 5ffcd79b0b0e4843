"""Dense rows, in memory or memory-mapped."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.jit import frozen
from ..kernels.rows import Rows
from .base import NO_INDEX, Source, as_table, check_width, memory_mapped, values_of


class Dense(Source):
    """A two-dimensional array, read where it is.

    float64 and float32 arrays stored row by row are not copied, whether read-only, memory-mapped or neither; other
    types and orders are converted once, into memory.

    See Also
    --------
    CSR : The same for sparse matrices.
    open_dense : Rows that `write_dense` wrote.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import data
    >>> X = np.ones((4, 2))
    >>> rows = data.Dense(X)
    >>> rows.shape, np.shares_memory(rows.rows.values, X)
    ((4, 2), True)
    """

    def __init__(self, X: Any) -> None:
        array = as_table(X)
        if sp.issparse(array):
            raise InputError("X is a sparse matrix. Pass it to CSR.from_scipy, or X.toarray() here.")
        if array.ndim != 2:
            raise InputError(
                f"X has {array.ndim} dimension(s) and shape {array.shape}. It must have two, samples by features; "
                "use X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one sample."
            )
        check_width(*array.shape)
        self.n_samples, self.n_features = array.shape
        values = np.ascontiguousarray(values_of(array))
        self.on_disk = memory_mapped(values)
        self.rows = Rows(frozen(values.reshape(-1)), NO_INDEX, NO_INDEX, self.n_features)
