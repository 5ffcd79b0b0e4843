"""The parts of a block model: penalties, the quadratic part, and a point."""

from typing import NamedTuple

import numpy as np

from ..kernels.columns import Columns
from ..kernels.jit import inner, shared


class Blocks(NamedTuple):
    """Penalties sum_j weight_j |w_j| + ridge_j w_j^2 / 2 + sum_g cost_g |w_g| of coordinates in the order of blocks."""

    weight: np.ndarray
    ridge: np.ndarray
    starts: np.ndarray
    cost: np.ndarray


class BlockQuadratic(NamedTuple):
    """A model sum_i slopes_i t_i + curvatures_i t_i^2 / 2 of t = A (v - w); means over rows are part of both."""

    columns: Columns
    slopes: np.ndarray
    curvatures: np.ndarray
    gradient: np.ndarray
    """A^T slopes."""


class Point(NamedTuple):
    """A point v, the slopes of the model there, and the steepness found for each block."""

    v: np.ndarray
    slopes: np.ndarray
    steepness: np.ndarray


@inner
def shrunk(value: float, by: float) -> float:
    """Soft threshold."""
    return value - by if value > by else value + by if value < -by else 0.0


@shared
def norms_at(blocks: Blocks, w: np.ndarray) -> float:
    """The penalties without squares."""
    total = 0.0
    for g in range(blocks.cost.size):
        square = 0.0
        for j in range(blocks.starts[g], blocks.starts[g + 1]):
            total += blocks.weight[j] * abs(w[j])
            square += w[j] * w[j]
        total += blocks.cost[g] * np.sqrt(square)
    return total
