"""What penalties share: weights that are checked, intervals of dual variables, norms."""

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..parameters import numbers

FEASIBLE = 1e-9
"""Relative slack within which a point counts as inside a set: a projection lands on the border only up to rounding."""

_EDGE = 64.0 * np.finfo(float).eps
"""Relative slack on the border of the domain of a conjugate: what scaling a point onto the border leaves."""


def numbers_of(owner: object, name: str, value: Any) -> np.ndarray:
    """`value` as an array of floats; refuses what is not made of numbers."""
    return numbers(f"{name} of {type(owner).__name__}", value)


def vector_of(owner: object, name: str, value: Any, size: int, what: str = "coordinates") -> np.ndarray:
    """One number for all, or one number for each of `size` coordinates (or groups); 1 or `size` entries."""
    vector = numbers_of(owner, name, value)
    if vector.ndim > 1 or vector.size not in (1, size):
        raise InputError(
            f"{name} of {type(owner).__name__} has shape {vector.shape} but acts on {size} {what}. "
            f"Give one number or a vector of {size}."
        )
    return vector.reshape(-1)


def weights_of(owner: object, name: str, value: Any, size: int, what: str = "coordinates") -> np.ndarray:
    """A non-negative weight, as one number for all coordinates (or groups) or one number for each."""
    if type(value) is float and 0.0 <= value < math.inf:  # the usual case, which paths meet hundreds of times
        return np.array([value])
    weight = vector_of(owner, name, value, size, what)
    if not (weight.size == 0 or 0.0 <= float(weight.min()) <= float(weight.max()) < math.inf):
        raise InputError(
            f"{name} of {type(owner).__name__} has negative, NaN or infinite entries. "
            "Give finite weights of at least 0; 0 leaves a coordinate free."
        )
    return weight


def weight_of(owner: object, name: str, value: Any) -> np.ndarray:
    """One non-negative weight, for a penalty that has no other."""
    return weights_of(owner, name, value, 1, "norm")


def in_dual_domain(u: Any, lower: Any, upper: Any) -> bool:
    """Whether lower <= u <= upper, up to the last digits of the interval's width: none where it is the single point 0.

    An absolute slack would call points feasible that exceed a small weight many times over.
    """
    slack = _EDGE * (np.asarray(upper) - np.asarray(lower))
    if slack.ndim == 0 and np.size(u):
        return bool(
            np.maximum.reduce(u, axis=None) <= upper + slack and np.minimum.reduce(u, axis=None) >= lower - slack
        )
    return bool(np.all((u >= lower - slack) & (u <= upper + slack)))


def interval_scale(u: np.ndarray, lower: Any, upper: Any) -> float:
    """The largest s <= 1 for which lower <= s u <= upper, entry by entry; the intervals contain 0."""
    if np.ndim(lower) == np.ndim(upper) == 0:
        largest, least = float(np.max(u, initial=0.0)), float(np.min(u, initial=0.0))
        ends = ((upper, largest), (lower, least))
        return min([1.0, *(float(end) / reached for end, reached in ends if abs(reached) > abs(end))])
    limits = np.where(u > 0.0, upper, np.negative(lower))
    beyond = np.abs(u) > limits
    return float(np.min(limits[beyond] / np.abs(u[beyond]), initial=1.0))


def ends(lower: Any, upper: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends as vectors."""
    low, high = (np.broadcast_to(np.asarray(end, dtype=float), (size,)) for end in (lower, upper))
    return low, high


def norm(v: np.ndarray) -> float:
    """The Euclidean norm; safe from overflow."""
    largest = float(np.max(np.abs(v), initial=0.0))
    return largest * float(np.linalg.norm(v / largest)) if 0.0 < largest < np.inf else largest


def half_square(v: np.ndarray, weight: Any = 1.0) -> float:
    """Half the sum of weight_j v_j^2; infinite, without a warning, where it overflows."""
    with np.errstate(over="ignore"):
        return 0.5 * float(np.add.reduce(weight * v * v, axis=None))


def weighted_sum(weight: Any, v: np.ndarray) -> float:
    """The sum of weight_j v_j, with one weight for all or one for each."""
    if np.size(weight) == 1:
        return float(np.asarray(weight).item() * np.add.reduce(v, axis=None))
    return float(np.add.reduce(np.asarray(weight) * v, axis=None))
