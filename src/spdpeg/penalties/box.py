"""Bounds on single coordinates."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from .base import Packed, Penalty
from .conic import ConicForm, broken_lines
from .shared import FEASIBLE, ends, numbers_of, vector_of


class Box(Penalty):
    """The set lower <= v <= upper.

    Parameters
    ----------
    lower, upper : float or array
        One number or one per coordinate each, infinite where there is no bound.

    See Also
    --------
    NonNegative : Bounds at 0 alone.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.Box(lower=-1.0, upper=[1.0, 2.0, 3.0]).prox([5.0, 5.0, -5.0]).tolist()
    [1.0, 2.0, -1.0]
    """

    separable = True
    indicator = True

    def __init__(self, lower: Any = -np.inf, upper: Any = np.inf) -> None:
        self.lower = lower
        self.upper = upper

    @property
    def homogeneous(self) -> bool:  # type: ignore[override]
        bounds = [numbers_of(self, "lower", self.lower), numbers_of(self, "upper", self.upper)]
        return all(bool(np.all((bound == 0.0) | np.isinf(bound))) for bound in bounds)

    def value(self, v: np.ndarray) -> float:
        bounds = np.abs([np.broadcast_to(self.lower, v.shape), np.broadcast_to(self.upper, v.shape)])
        size = max(np.max(np.abs(v), initial=0.0), np.max(bounds, initial=0.0, where=np.isfinite(bounds)))
        slack = FEASIBLE * size
        inside = np.all(v >= np.asarray(self.lower) - slack) and np.all(v <= np.asarray(self.upper) + slack)
        return 0.0 if inside else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        bound = np.where(u > 0, self.upper, self.lower)
        counts = u != 0.0
        return float(u[counts] @ bound[counts])

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        return np.where(u == 0.0, np.clip(0.0, self.lower, self.upper), np.where(u > 0.0, self.upper, self.lower))

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        return ends(np.where(np.isinf(self.lower), 0.0, -np.inf), np.where(np.isinf(self.upper), 0.0, np.inf), size)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.clip(u, *self.dual_ends(u.size))

    def inwards(self, direction: np.ndarray) -> np.ndarray:
        # A bound of 0 stops what leads beyond it; entries that cannot be 0 are left as they are.
        kept = np.where(np.asarray(self.lower) == 0.0, np.maximum(direction, 0.0), direction)
        return np.where(np.asarray(self.upper) == 0.0, np.minimum(kept, 0.0), kept)

    def free(self, size: int) -> np.ndarray:
        return np.broadcast_to(np.isinf(self.lower) & np.isinf(self.upper), (size,))

    def scaled(self, factors: np.ndarray) -> Penalty:
        return self

    def conic_form(self, size: int) -> ConicForm:
        lower, upper = (np.broadcast_to(bound, (size,)) for bound in np.split(self.pack(size).reals, 2))
        fixed = lower == upper
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper) & ~fixed)
        columns = np.concatenate([low, high])
        K = sp.csr_array((np.ones(columns.size), columns, np.arange(columns.size + 1)), shape=(columns.size, size))
        offset = np.concatenate([lower[low], upper[high]])
        up = np.concatenate([np.where(fixed[low], np.inf, 0.0), np.full(high.size, np.inf)])
        down = np.concatenate([np.full(low.size, np.inf), np.zeros(high.size)])
        return broken_lines(K, offset, up, down)

    def pack(self, size: int) -> Packed:
        lower, upper = np.broadcast_arrays(
            vector_of(self, "lower", self.lower, size), vector_of(self, "upper", self.upper, size)
        )
        if not np.all((lower <= upper) & (lower < np.inf) & (upper > -np.inf)):
            raise InputError(
                f"{type(self).__name__} is empty: a lower bound is NaN, infinite or above its upper bound. "
                "Swap or repair the bounds."
            )
        return Packed(np.concatenate([lower, upper]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 2:
            lower, upper = reals[0], reals[1]
            for j in range(point.size):
                out[j] = min(max(point[j], lower), upper)
        else:
            size = point.size
            for j in range(size):
                out[j] = min(max(point[j], reals[j]), reals[size + j])

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        if reals.size == 2:
            lower, upper = step * reals[0], step * reals[1]
            for j in range(point.size):
                out[j] = point[j] - min(max(point[j], lower), upper)
        else:
            size = point.size
            for j in range(size):
                out[j] = point[j] - min(max(point[j], step * reals[j]), step * reals[size + j])


class NonNegative(Box):
    """The set v >= 0.

    See Also
    --------
    Box : Any bounds.
    Simplex : With a given sum.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.NonNegative().prox([5.0, 0.0, -5.0]).tolist()
    [5.0, 0.0, 0.0]
    """

    def __init__(self) -> None:
        super().__init__(lower=0.0)
