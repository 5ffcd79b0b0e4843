"""The prox of a smooth loss of one margin, from its derivative alone."""

import numpy as np

from . import jit
from .jit import Term, call_scalar

_MOST_EVALUATIONS = 100


@jit.scalar_prox
def implicit_prox(point: float, step: float, label: float, reals: np.ndarray, ints: np.ndarray) -> float:
    """The t with t + step * phi'(t) = point; ints = [address of phi', its own ints].

    The left side increases in t, and the answer lies between `point` and the explicit step from it. The bracket is
    shrunk by false position (Illinois), which never leaves it. An exact root must be taken at once: shrinking past it
    would replace it by a neighbour.
    """
    derivative = Term(ints[0], reals, ints[1:])
    right = point
    f_right = step * call_scalar(derivative, right, label)
    if f_right == 0.0:
        return right
    left = right - f_right
    f_left = left + step * call_scalar(derivative, left, label) - point
    side = 0
    for _ in range(_MOST_EVALUATIONS):
        if f_left == 0.0:
            return left
        middle = (left * f_right - right * f_left) / (f_right - f_left)
        f_middle = middle + step * call_scalar(derivative, middle, label) - point
        if f_middle == 0.0 or abs(right - left) <= 1e-15 * (abs(left) + abs(right)):
            return middle
        if (f_middle > 0.0) == (f_right > 0.0):
            if abs(middle - right) <= 1e-16 * abs(middle):
                return middle
            right, f_right = middle, f_middle
            if side == 1:
                f_left *= 0.5
            side = 1
        else:
            if abs(middle - left) <= 1e-16 * abs(middle):
                return middle
            left, f_left = middle, f_middle
            if side == -1:
                f_right *= 0.5
            side = -1
    return 0.5 * (left + right)
