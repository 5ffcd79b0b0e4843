"""The covariance of the columns of X, block by block: wide data have too many columns to hold it whole."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..parameters import numbers, vector
from ..sparse import sound

_BLOCK_ENTRIES = 2**20
"""Entries of a block of S: 8 MiB, about what a processor's cache holds."""


class Covariance:
    """S = sum_i p_i (a_i - mean) (a_i - mean)^T for rows a_i and weights p_i of sum 1; correlations if `standardize`.

    A column whose standard deviation is below 1e-10 of its mean is constant: its row of S is zero.
    """

    def __init__(self, X: Any, standardize: bool = False, sample_weight: Any = None) -> None:
        self.X = as_columns(X)
        self.weights = normalized_weights(sample_weight, self.X.shape[0])
        self._standardize = standardize
        self.n_columns = int(self.X.shape[1])

    @cached_property
    def _means(self) -> np.ndarray:
        return np.asarray(self.X.T @ self.weights)

    @cached_property
    def _deviations(self) -> np.ndarray:
        """Standard deviations, exactly 0 for constant columns."""
        if sp.issparse(self.X):
            columns = np.repeat(np.arange(self.n_columns), np.diff(self.X.indptr))
            weights = self.weights[self.X.indices]
            squares = np.bincount(columns, weights * (self.X.data - self._means[columns]) ** 2, self.n_columns)
            # Zeros that are not stored deviate by the mean.
            squares += np.maximum(1.0 - np.bincount(columns, weights, self.n_columns), 0.0) * self._means**2
        else:
            squares = self.weights @ np.square(self.X - self._means)
        deviations = np.sqrt(squares)
        return np.where(deviations > 1e-10 * np.abs(self._means), deviations, 0.0)

    @cached_property
    def constant(self) -> np.ndarray:
        """Which columns are constant."""
        return self._deviations == 0.0

    @cached_property
    def _factors(self) -> np.ndarray:
        if not self._standardize:
            return np.where(self.constant, 0.0, 1.0)
        return np.divide(1.0, self._deviations, out=np.zeros(self.n_columns), where=~self.constant)

    @cached_property
    def _root(self) -> Any:
        """R with S = R^T R, or, where X is sparse and centring would fill it up, S = R^T R - m m^T (`_centre`)."""
        roots = np.sqrt(self.weights)
        if sp.issparse(self.X):
            return sp.csc_array(sp.diags_array(roots) @ self.X @ sp.diags_array(self._factors))
        return (self.X - self._means) * roots[:, None] * self._factors

    @cached_property
    def _centre(self) -> np.ndarray:
        return self._means * self._factors

    @cached_property
    def variances(self) -> np.ndarray:
        """The diagonal of S."""
        return np.square(self._deviations * self._factors)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        """S at these rows and columns, given as slices or arrays of numbers, as a dense array."""
        product = self._root[:, rows].T @ self._root[:, columns]
        if sp.issparse(product):
            product = product.toarray()
            product -= np.multiply.outer(self._centre[rows], self._centre[columns])
        return np.asarray(product)

    def strongest_pairs(self, floor: float, most: int) -> "Pairs":
        """The pairs of columns with |S_ij| > floor; if there are more than `most`, the floor is raised."""
        parts, count, start = [Pairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), floor)], 0, 0
        while start < self.n_columns:
            stop = start + max(1, _BLOCK_ENTRIES // (self.n_columns - start))
            block = np.abs(self.block(slice(start, stop), slice(start, None)))
            i, j = np.nonzero(block > parts[0].floor)
            i, j = i[i < j], j[i < j]
            parts.append(Pairs((i + start).astype(np.int32), (j + start).astype(np.int32), block[i, j], floor))
            count += i.size
            if count > 2 * most:
                parts = [Pairs.joined(parts).cut(most)]
                count = parts[0].sizes.size
            start = stop
        return Pairs.joined(parts).cut(most)


class GivenCovariance(Covariance):
    """A covariance that is known already; correlations if `standardize`."""

    def __init__(self, S: Any, standardize: bool = False) -> None:
        self._S = numbers("covariance", S.toarray() if sp.issparse(S) else S)
        if self._S.ndim != 2 or self._S.shape[0] != self._S.shape[1] or self._S.size == 0:
            raise InputError(f"covariance has shape {self._S.shape}. Give a square matrix.")
        sizes = np.abs(self._S)
        if not np.all(np.isfinite(self._S)) or np.any(np.abs(self._S - self._S.T) > 1e-10 * sizes.max()):
            raise InputError("covariance is not symmetric or holds NaN or infinite entries. Repair it.")
        if np.any(np.diag(self._S) < 0.0):
            raise InputError("covariance has a negative variance on its diagonal. Repair it.")
        self._S = (self._S + self._S.T) / 2.0
        self.X, self.weights = self._S, np.zeros(0)
        self._standardize = standardize
        self.n_columns = len(self._S)

    @cached_property
    def _deviations(self) -> np.ndarray:
        return np.sqrt(np.diag(self._S))

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        """S at these rows and columns, given as slices or arrays of numbers, as a dense array."""
        found = self._S[rows][:, columns] * np.multiply.outer(self._factors[rows], self._factors[columns])
        return np.asarray(found)


class Pairs(NamedTuple):
    """Pairs of columns i < j and the size of their covariance: all those above `floor`."""

    i: np.ndarray
    j: np.ndarray
    sizes: np.ndarray
    floor: float

    @classmethod
    def joined(cls, parts: "list[Pairs]") -> "Pairs":
        """Pairs from several places, with the floor of the first."""
        i, j, sizes = (np.concatenate(arrays) for arrays in zip(*(part[:3] for part in parts), strict=True))
        return cls(i, j, sizes, parts[0].floor)

    def cut(self, most: int) -> "Pairs":
        """The largest ones: those above the size of the first that is too many, so fewer than `most` if sizes tie."""
        if self.sizes.size <= most:
            return self
        floor = float(np.partition(self.sizes, -most - 1)[-most - 1])
        return self.above(floor)

    def above(self, floor: float) -> "Pairs":
        """The pairs larger than `floor`."""
        keep = self.sizes > floor
        return Pairs(self.i[keep], self.j[keep], self.sizes[keep], floor)


def as_columns(X: Any) -> Any:
    """X as finite float64 numbers, sparse by columns or dense; refused if it is no table of two rows or more."""
    try:
        matrix: Any = X if sp.issparse(X) else np.asarray(X)
    # What a foreign object's __array__ raises is up to it.
    except Exception as error:
        raise InputError(f"X is a {type(X).__name__} that is no table of numbers ({error}). Rebuild it.") from None
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise InputError(f"X has shape {matrix.shape}. At least two rows and one column are needed to relate columns.")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"X has entries of type {matrix.dtype}. They must be real numbers.")
    if sp.issparse(X):
        matrix = sp.csc_array(sound(X), dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = matrix.astype(np.float64, copy=False)
    if not np.all(np.isfinite(matrix.data if sp.issparse(X) else matrix)):
        raise InputError("X holds NaN or infinite entries. Impute them or drop those rows.")
    return matrix


def normalized_weights(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Weights of the rows, made to sum to 1; equal ones for None."""
    if sample_weight is None:
        return np.full(n_samples, 1.0 / n_samples)
    weights = vector("sample_weight", sample_weight, n_samples)
    if np.any(weights < 0.0) or not np.any(weights):
        raise InputError("sample_weight holds a negative entry or only zeros. Repair it.")
    # Numbers of size 1 have a sum that neither overflows nor vanishes.
    weights /= weights.max()
    return weights / weights.sum()
