"""Thresholds behind the projections onto the simplex and the l1 ball, found without sorting (Michelot, 1986)."""

import numpy as np

from .jit import inner


@inner
def simplex_threshold(point: np.ndarray, total: float, absolute: bool) -> float:
    """The t for which the positive parts of v - t add up to `total`, v being `point` or its absolute values.

    Starts below the answer and rises: each round averages over the entries still above t, of which fewer remain each
    time, so it ends after at most `size` rounds and usually after a handful.
    """
    threshold = -np.inf
    active = -1
    while True:
        count = 0
        above = 0.0
        for j in range(point.size):
            v = abs(point[j]) if absolute else point[j]
            if v > threshold:
                count += 1
                above += v
        if count == active or count == 0:
            return threshold
        active = count
        threshold = (above - total) / count


@inner
def l1_threshold(point: np.ndarray, radius: float) -> float:
    """The soft threshold that brings |point|_1 down to `radius`; 0 inside the ball."""
    size = 0.0
    for j in range(point.size):
        size += abs(point[j])
    return simplex_threshold(point, radius, True) if size > radius else 0.0
