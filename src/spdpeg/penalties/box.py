"""Bounds on single coordinates."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import jit
from .base import FEASIBLE, Packed, Penalty


class Box(Penalty):
    """The set lower <= v <= upper; each bound is one number or one per coordinate, infinite where there is none."""

    separable = True
    indicator = True

    def __init__(self, lower: Any = -np.inf, upper: Any = np.inf) -> None:
        self.lower = lower
        self.upper = upper

    def value(self, v: np.ndarray) -> float:
        slack = FEASIBLE * (1.0 + np.abs(v))
        inside = np.all(v >= np.asarray(self.lower) - slack) and np.all(v <= np.asarray(self.upper) + slack)
        return 0.0 if inside else np.inf

    def conjugate(self, u: np.ndarray) -> float:
        # Coordinates with u = 0 are left out: there an infinite bound costs nothing.
        up, down = u > 0, u < 0
        lower, upper = np.broadcast_to(self.lower, u.shape), np.broadcast_to(self.upper, u.shape)
        return float(u[up] @ upper[up] + u[down] @ lower[down])

    def pack(self, size: int) -> Packed:
        bounds = [np.asarray(self.lower, dtype=float), np.asarray(self.upper, dtype=float)]
        for name, bound in zip(("lower", "upper"), bounds, strict=True):
            if bound.ndim > 1 or bound.size not in (1, size):
                raise InputError(
                    f"{name} of {type(self).__name__} has shape {bound.shape} but acts on {size} coordinates. "
                    f"Give one number or a vector of {size}."
                )
        lower, upper = np.broadcast_arrays(*bounds)
        if not np.all(lower <= upper):
            raise InputError(f"{type(self).__name__} has a lower bound above its upper bound (or NaN). Swap or repair them.")
        return Packed(np.concatenate([lower.reshape(-1), upper.reshape(-1)]), jit.NONE)

    @jit.prox
    def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
        if reals.size == 2:
            lower, upper = reals[0], reals[1]
            for j in range(point.size):
                out[j] = min(max(point[j], lower), upper)
        else:
            size = point.size
            for j in range(size):
                out[j] = min(max(point[j], reals[j]), reals[size + j])


class NonNegative(Box):
    """The set v >= 0."""

    def __init__(self) -> None:
        super().__init__(lower=0.0)
