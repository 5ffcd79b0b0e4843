"""Weights of the running average x~ <- x~ + theta_k (x_k - x~): O(1) memory, theta_0 = 1."""

from collections.abc import Callable

import numpy as np

from ..parameters import one_of


def uniform(k: np.ndarray) -> np.ndarray:
    """All iterates weigh the same."""
    return 1.0 / (k + 1.0)


def linear(k: np.ndarray) -> np.ndarray:
    """Iterate k weighs k + 1."""
    return 2.0 / (k + 2.0)


def last(k: np.ndarray) -> np.ndarray:
    """No average: the last iterate."""
    return np.ones_like(k)


def increasing(k: np.ndarray) -> np.ndarray:
    """Iterate k weighs 2(k+3) / ((t+1)(t+6)) after iteration t: the weights of SPDPEG-SC2, which sum to one."""
    return 2.0 * (k + 3.0) / ((k + 1.0) * (k + 6.0))


RULES = {"uniform": uniform, "linear": linear, "increasing": increasing, "last": last}


def rule(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The averaging rule called `name`."""
    return RULES[one_of("averaging", name, RULES)]
