"""Sizes of vectors and thresholds behind the projections onto balls and the simplex."""

import numpy as np

from .jit import inner


@inner
def largest(point: np.ndarray, absolute: bool) -> float:
    """The largest entry, or the largest absolute value."""
    top = -np.inf
    for j in range(point.size):
        top = max(top, abs(point[j]) if absolute else point[j])
    return top


@inner
def length(point: np.ndarray) -> float:
    """The Euclidean norm, scaled by the largest entry: its square may be too large to be written down."""
    top = largest(point, True)
    if top <= 0.0:
        return 0.0
    square = 0.0
    for j in range(point.size):
        square += (point[j] / top) ** 2
    return top * np.sqrt(square)


@inner
def excess(v: float, top: float, level: float) -> float:
    """How far v - top exceeds the level.

    The min changes no number, as v <= top, but keeps the compiler from computing v - (top + level), which loses the
    level when the point is far away.
    """
    return max(min(v - top, 0.0) - level, 0.0)


@inner
def threshold(point: np.ndarray, top: float, total: float, absolute: bool) -> float:
    """The t <= 0 for which the positive parts of w - t add up to `total`.

    w is `point`, or its absolute values, minus its largest entry `top`: what counts are differences to the largest
    entry, which stay exact however far away the point is. Found without sorting (Michelot, 1986): t starts below the
    answer and rises, each round to the average over the entries above it. Fewer of them remain each time, so it ends
    after at most `size` rounds and usually after a handful. Rounding can bring an entry back, which is a reason to stop
    too.
    """
    level = -total
    active = np.inf
    while True:
        count = above = 0.0
        for j in range(point.size):
            over = excess(abs(point[j]) if absolute else point[j], top, level)
            above += over
            count += 1.0 if over > 0.0 else 0.0
        if count >= active or count == 0.0:
            return level
        active = count
        level += (above - total) / count
