"""Balls around the origin."""

import numpy as np

from ..kernels import jit
from ..kernels.thresholds import l1_threshold
from .base import FEASIBLE, Packed, Penalty, radius_of


class L2Ball(Penalty):
    """The set |v|_2 <= radius."""

    indicator = True

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def value(self, v: np.ndarray) -> float:
        return 0.0 if np.linalg.norm(v) <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        return float(self.radius * np.linalg.norm(u))

    def pack(self, size: int) -> Packed:
        return Packed(np.array([radius_of(self, self.radius)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        square = 0.0
        for j in range(point.size):
            square += point[j] * point[j]
        shrink = reals[0] / np.sqrt(square) if square > reals[0] * reals[0] else 1.0
        for j in range(point.size):
            out[j] = shrink * point[j]


class L1Ball(Penalty):
    """The set |v|_1 <= radius."""

    indicator = True

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def value(self, v: np.ndarray) -> float:
        return 0.0 if np.abs(v).sum() <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        return float(self.radius * np.max(np.abs(u), initial=0.0))

    def pack(self, size: int) -> Packed:
        return Packed(np.array([radius_of(self, self.radius)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        limit = l1_threshold(point, reals[0])
        for j in range(point.size):
            out[j] = point[j] - min(max(point[j], -limit), limit)
