"""Sets of bounded size: the Euclidean ball, the l1 ball and the simplex."""

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.thresholds import excess, largest, length, threshold
from ..parameters import positive
from .base import Packed, Penalty
from .conic import ConicForm, ball, broken_lines, identity
from .shared import FEASIBLE, norm


class L2Ball(Penalty):
    """The set |v|_2 <= radius.

    Parameters
    ----------
    radius : float
        Positive.

    See Also
    --------
    L1Ball, Box : Other sets.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.L2Ball(1.0).prox([3.0, 4.0]).round(6).tolist()
    [0.6, 0.8]
    """

    indicator = True

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def value(self, v: np.ndarray) -> float:
        return 0.0 if norm(v) <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        return self.radius * norm(u)

    def conic_form(self, size: int) -> ConicForm:
        return ball(positive(self, "radius", self.radius), size)

    def pack(self, size: int) -> Packed:
        return Packed(np.array([positive(self, "radius", self.radius)]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = length(point)
        shrink = reals[0] / size if size > reals[0] else 1.0
        for j in range(point.size):
            out[j] = shrink * point[j]

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = length(point)
        limit = step * reals[0]
        shrink = 1.0 - limit / size if size > limit else 0.0
        for j in range(point.size):
            out[j] = shrink * point[j]


class L1Ball(Penalty):
    """The set |v|_1 <= radius.

    Parameters
    ----------
    radius : float
        Positive.

    See Also
    --------
    L1 : The norm as a penalty.
    L2Ball, Simplex : Other sets.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.L1Ball(2.0).prox([3.0, -2.0, 0.5]).tolist()
    [1.5, -0.5, 0.0]
    """

    indicator = True

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def value(self, v: np.ndarray) -> float:
        return 0.0 if np.abs(v).sum() <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        return float(self.radius * np.max(np.abs(u), initial=0.0))

    def conic_form(self, size: int) -> ConicForm:
        # One more variable per coordinate, at least |v_j|; together they are at most the radius.
        each, none = sp.eye_array(size), sp.csr_array((1, size))
        K = sp.vstack([sp.hstack([each, -each]), sp.hstack([-each, -each]), sp.hstack([none, np.ones((1, size))])])
        offset = np.append(np.zeros(2 * size), positive(self, "radius", self.radius))
        return broken_lines(K, offset, np.inf, 0.0, size)

    def pack(self, size: int) -> Packed:
        return Packed(np.array([positive(self, "radius", self.radius)]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        top = largest(point, True)
        level = threshold(point, top, reals[0], True)
        if top + level <= 0.0:
            for j in range(point.size):
                out[j] = point[j]
        else:
            for j in range(point.size):
                left = excess(abs(point[j]), top, level)
                out[j] = left if point[j] > 0.0 else -left

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        top = largest(point, True)
        limit = max(top + threshold(point, top, step * reals[0], True), 0.0)
        for j in range(point.size):
            out[j] = min(max(point[j], -limit), limit)


class Simplex(Penalty):
    """The set v >= 0 with entries that add up to `total`: mixtures, portfolios, distributions.

    Parameters
    ----------
    total : float
        Positive.

    See Also
    --------
    NonNegative : Without the sum.
    L1Ball : With any signs.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.Simplex().prox([1.5, 1.0, -3.0]).tolist()
    [0.75, 0.25, 0.0]
    """

    indicator = True

    def __init__(self, total: float = 1.0) -> None:
        self.total = total

    def value(self, v: np.ndarray) -> float:
        slack = FEASIBLE * self.total
        return 0.0 if np.all(v >= -slack) and abs(np.sum(v) - self.total) <= slack else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        return float(self.total * np.max(u))

    def conic_form(self, size: int) -> ConicForm:
        (total,) = self.pack(size).reals
        sign = broken_lines(identity(size), 0.0, 0.0, np.inf)
        return sign + broken_lines(np.ones((1, size)), total, np.inf, np.inf)

    def pack(self, size: int) -> Packed:
        if size == 0:
            raise InputError("Simplex acts on 0 coordinates, which cannot add up to `total`. Leave it out.")
        return Packed(np.array([positive(self, "total", self.total)]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        top = largest(point, False)
        level = threshold(point, top, reals[0], False)
        for j in range(point.size):
            out[j] = excess(point[j], top, level)
