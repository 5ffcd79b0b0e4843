"""Thresholds found by sorting: projections onto the simplex and the l1 ball."""

import numpy as np

from .jit import inner


@inner
def simplex_threshold(values: np.ndarray, total: float) -> float:
    """The t for which the positive parts of values - t add up to `total`; sorts `values` in place."""
    values.sort()
    running = 0.0
    threshold = 0.0
    for k in range(values.size):
        v = values[values.size - 1 - k]
        candidate = (running + v - total) / (k + 1)
        if candidate >= v:
            break
        running += v
        threshold = candidate
    return threshold


@inner
def l1_threshold(point: np.ndarray, radius: float) -> float:
    """The soft threshold that brings |point|_1 down to `radius`; 0 inside the ball."""
    if np.abs(point).sum() <= radius:
        return 0.0
    return simplex_threshold(np.abs(point), radius)
