"""The nuclear norm of a matrix."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import jit
from ..parameters import shown
from .base import Packed, Penalty
from .conic import ConicForm, norms, nuclear_norm
from .shared import in_dual_domain, weight_of


class Nuclear(Penalty):
    """weight times the sum of the singular values of v as a matrix: low rank.

    Parameters
    ----------
    weight : float
    shape : tuple of two ints
        Rows and columns; v holds the matrix row after row.

    See Also
    --------
    L1 : The same for the entries instead of the singular values.

    Notes
    -----
    One prox is one singular value decomposition: rows * columns * min(rows, columns) operations.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.Nuclear(1.0, shape=(2, 2)).prox([3.0, 0.0, 0.0, 0.5]).round(6).tolist()
    [2.0, 0.0, 0.0, 0.0]
    """

    homogeneous = True

    def __init__(self, weight: Any, shape: tuple[int, int]) -> None:
        self.weight = weight
        self.shape = shape

    def value(self, v: np.ndarray) -> float:
        return float(self.weight * np.sum(self._singular_values(v)))

    def conjugate(self, u: np.ndarray) -> float:
        largest = np.max(self._singular_values(u), initial=0.0)
        return 0.0 if in_dual_domain(largest, -self.weight, self.weight) else np.inf

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return u if np.any(self.weight) else np.zeros_like(u)

    def free(self, size: int) -> np.ndarray:
        return np.broadcast_to(not np.any(self.weight), (size,))

    def dual_scale(self, u: np.ndarray) -> float:
        size = float(self._singular_values(u).max(initial=0.0))
        return min(1.0, float(np.squeeze(self.weight)) / size) if size > 0.0 else 1.0

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        # In the basis of the singular vectors, with f the thresholded singular values s, the symmetric part of a
        # direction is multiplied by (f_i - f_j) / (s_i - s_j), the antisymmetric one by (f_i + f_j) / (s_i + s_j), and
        # what lies outside the square part by f_i / s_i (Lewis and Sendov's formula for singular values).
        rows, columns = self.shape
        left, values, right = np.linalg.svd(point.reshape(self.shape), full_matrices=True)
        r, limit = values.size, step * float(np.squeeze(self.weight))
        kept = np.maximum(values - limit, 0.0)
        differences, sums = values[:, None] - values, values[:, None] + values
        close = np.abs(differences) <= 1e-12 * max(float(values[0]), 1e-300)
        tied = np.broadcast_to((values > limit).astype(float), (r, r))
        even = np.where(close, tied, (kept[:, None] - kept) / np.where(close, 1.0, differences))
        odd = (kept[:, None] + kept) / np.where(sums > 0.0, sums, 1.0)
        own = np.zeros((rows, columns))
        own[:r, :r] = 0.5 * (even + odd)
        own[r:, :] = own[:, r:] = 0.0
        outer = kept / np.where(values > 0.0, values, 1.0)
        own[r:, :r] = outer
        own[:r, r:] = outer[:, None]
        middle = np.diag(own.ravel())
        index = np.arange(rows * columns).reshape(rows, columns)[:r, :r]
        middle[index.ravel(), index.T.ravel()] += (0.5 * (even - odd)).ravel()
        basis = np.kron(left, right.T)
        return basis @ middle @ basis.T

    def conic_form(self, size: int) -> ConicForm:
        weight = weight_of(self, "weight", self.weight)
        if min(self.shape) > 1 and np.any(weight):
            return nuclear_norm(float(np.squeeze(weight)), self.shape[1], size)
        # The one singular value of a single row or column is the Euclidean norm.
        return norms([np.arange(size)], np.broadcast_to(weight, (1,)), size)

    def pack(self, size: int) -> Packed:
        weight = weight_of(self, "weight", self.weight)
        try:
            shape = np.asarray(self.shape if isinstance(self.shape, tuple | list | np.ndarray) else ())
        except ValueError:  # of lists of different lengths
            shape = np.empty(0)
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or np.any(shape < 1) or shape.prod() != size:
            raise InputError(
                f"shape of Nuclear is {shown(self.shape)} but the vector has {size} entries. "
                "Give (rows, columns) with rows * columns entries."
            )
        return Packed(weight, shape)

    def _singular_values(self, v: np.ndarray) -> np.ndarray:
        if not np.all(np.isfinite(v)):  # of a loss that overflows, for which LAPACK has no answer
            return np.array([np.inf])
        return np.linalg.svd(v.reshape(self.shape), compute_uv=False)

    @jit.allocating_prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        # The decomposition refuses numbers that are not finite; handing them on lets the solver see that it diverged.
        if not np.all(np.isfinite(point)):
            out[:] = point
            return
        left, values, right = np.linalg.svd(point.reshape((ints[0], ints[1])), full_matrices=False)
        kept = np.maximum(values - step * reals[0], 0.0)
        out[:] = np.dot(left * kept, right).reshape(-1)

    @jit.allocating_prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if not np.all(np.isfinite(point)):
            out[:] = point
            return
        left, values, right = np.linalg.svd(point.reshape((ints[0], ints[1])), full_matrices=False)
        out[:] = np.dot(left * np.minimum(values, reals[0]), right).reshape(-1)
