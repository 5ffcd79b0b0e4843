"""Sets of bounded size: the Euclidean ball, the l1 ball and the simplex."""

import numpy as np

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import inner
from .base import FEASIBLE, Packed, Penalty, norm, positive_of


@inner
def _norm(point: np.ndarray) -> float:
    """The Euclidean norm, scaled by the largest entry: its square may be too large to be written down."""
    largest = 0.0
    for j in range(point.size):
        largest = max(largest, abs(point[j]))
    if largest == 0.0:
        return 0.0
    square = 0.0
    for j in range(point.size):
        square += (point[j] / largest) ** 2
    return largest * np.sqrt(square)  # type: ignore[no-any-return]


@inner
def _largest(point: np.ndarray, absolute: bool) -> float:
    largest = -np.inf
    for j in range(point.size):
        largest = max(largest, abs(point[j]) if absolute else point[j])
    return largest


@inner
def _excess(v: float, largest: float, threshold: float) -> float:
    """How far v - largest exceeds the threshold.

    The min changes no number, as v <= largest, but keeps the compiler from computing v - (largest + threshold), which
    loses the threshold when the point is far away.
    """
    return max(min(v - largest, 0.0) - threshold, 0.0)


@inner
def _threshold(point: np.ndarray, largest: float, total: float, absolute: bool) -> float:
    """The t <= 0 for which the positive parts of w - t add up to `total`.

    w is `point`, or its absolute values, minus `largest`: what counts are differences to the largest entry, which stay
    exact however far away the point is. Found without sorting (Michelot, 1986): t starts below the answer and rises,
    each round to the average over the entries above it. Fewer of them remain each time, so it ends after at most `size`
    rounds and usually after a handful. Rounding can bring an entry back, which is a reason to stop too.
    """
    threshold = -total
    active = np.inf
    while True:
        count = above = 0.0
        for j in range(point.size):
            excess = _excess(abs(point[j]) if absolute else point[j], largest, threshold)
            above += excess
            count += 1.0 if excess > 0.0 else 0.0
        if count >= active or count == 0.0:
            return threshold
        active = count
        threshold += (above - total) / count


class L2Ball(Penalty):
    """The set |v|_2 <= radius.

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

    def pack(self, size: int) -> Packed:
        return Packed(np.array([positive_of(self, "radius", self.radius)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        length = _norm(point)
        shrink = reals[0] / length if length > reals[0] else 1.0
        for j in range(point.size):
            out[j] = shrink * point[j]

    @jit.prox
    def kernel_dual_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        length = _norm(point)
        limit = step * reals[0]
        shrink = 1.0 - limit / length if length > limit else 0.0
        for j in range(point.size):
            out[j] = shrink * point[j]


class L1Ball(Penalty):
    """The set |v|_1 <= radius.

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

    def pack(self, size: int) -> Packed:
        return Packed(np.array([positive_of(self, "radius", self.radius)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        largest = _largest(point, True)
        threshold = _threshold(point, largest, reals[0], True)
        if largest + threshold <= 0.0:
            for j in range(point.size):
                out[j] = point[j]
        else:
            for j in range(point.size):
                left = _excess(abs(point[j]), largest, threshold)
                out[j] = left if point[j] > 0.0 else -left

    @jit.prox
    def kernel_dual_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        largest = _largest(point, True)
        limit = max(largest + _threshold(point, largest, step * reals[0], True), 0.0)
        for j in range(point.size):
            out[j] = min(max(point[j], -limit), limit)


class Simplex(Penalty):
    """The set v >= 0 with entries that add up to `total`: mixtures, portfolios, distributions.

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

    def pack(self, size: int) -> Packed:
        if size == 0:
            raise InputError("Simplex acts on 0 coordinates, which cannot add up to `total`. Leave it out.")
        return Packed(np.array([positive_of(self, "total", self.total)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        largest = _largest(point, False)
        threshold = _threshold(point, largest, reals[0], False)
        for j in range(point.size):
            out[j] = _excess(point[j], largest, threshold)
