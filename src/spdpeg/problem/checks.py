"""Terms and points that a problem refuses, with what to give instead."""

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..losses import Loss, Zero
from ..parameters import as_number, numbers, require_parts, shown
from ..penalties import Penalty
from ..penalties import Zero as NoPenalty


def checked_loss(loss: Any, X: Any) -> Loss:
    """A loss of this package or a whole one of the user's; none is needed where there are no data."""
    if loss is None and X is None:
        return Zero()
    if isinstance(loss, Loss):
        require_parts(loss, Loss, ("curvature", "kernel_value", "kernel_derivative"))
    else:
        raise InputError(
            f"loss is {shown(loss)}. Give one of spdpeg.losses, such as losses.Logistic() or losses.Squared()."
        )
    return loss


def checked_penalty(name: str, penalty: Any) -> Penalty:
    """A penalty of this package or a whole one of the user's; none is that of value 0."""
    if penalty is None:
        return NoPenalty()
    if not isinstance(penalty, Penalty):
        raise InputError(
            f"{name} is {shown(penalty)}. Give one of spdpeg.penalties, such as penalties.L1(0.01), or None."
        )
    require_parts(penalty, Penalty, ("value", "pack", "kernel_prox"))
    return penalty


def checked_bias(intercept: Any) -> float:
    """The number in every row of the intercept's column, 1 until the data are measured; 0 for no intercept."""
    if isinstance(intercept, bool | np.bool_):
        return float(intercept)
    if not 0.0 < as_number(intercept) < math.inf:
        raise InputError(
            f"intercept is {shown(intercept)}. Give True, False or the positive number its column shall hold."
        )
    return float(intercept)


def as_point(x: Any, n_coordinates: int) -> np.ndarray:
    """x as a vector of this length that compiled code takes; a copy only where it must be."""
    fitting = isinstance(x, np.ndarray) and x.dtype == np.float64
    point = np.ascontiguousarray(x) if fitting else numbers("x", x)
    if point.shape != (n_coordinates,):
        raise InputError(f"x has shape {point.shape}. The problem has {n_coordinates} coordinates.")
    # Kernels are compiled once, for writable vectors; a read-only x is copied rather than compiled for.
    return point if point.flags.writeable else point.copy()
