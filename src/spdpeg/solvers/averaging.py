"""Weights of the running average x~ <- x~ + theta_k (x_k - x~): O(1) memory, theta_0 = 1."""

import numpy as np


def uniform(k: np.ndarray) -> np.ndarray:
    """All iterates weigh the same."""
    return 1.0 / (k + 1.0)


def increasing(k: np.ndarray) -> np.ndarray:
    """Iterate k weighs 2(k+3) / ((t+1)(t+6)) after iteration t: the weights of SPDPEG-SC2, which sum to one."""
    return 2.0 * (k + 3.0) / ((k + 1.0) * (k + 6.0))
