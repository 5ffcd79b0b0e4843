"""exp and log without branches or tables, so that loops over rows become vector instructions.

The library's own are called number by number. Both follow the usual road: reduce the argument by a power of 2, which is
written into the exponent bits, and take a polynomial of what is left.
"""

from typing import Any

import numpy as np

from .jit import inner, strict
from .lanes import LANES, filled, lane, load

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
"""ln 2 in two parts; the first has zeros enough at its end that a product with an exponent is exact."""
_SMALLEST = 708.0
"""exp(-x) of larger x is 0 here: it would lie below all normal numbers."""
_LEAST = 1e-300
_MANTISSA = 0x000FFFFFFFFFFFFF
_ONE = 0x3FF0000000000000
"""Bits of 1.0."""
_ROOT_2 = 1.4142135623730951
_MOST_STEPS = 60


@strict
def decay(x: float) -> float:
    """exp(-x) for x >= 0, to a unit in the last place: the Taylor polynomial of degree 13 for |r| <= ln(2) / 2."""
    k = np.floor(0.5 - x * _LOG2_E)
    r = (-x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    # The small terms are added first: Horner's last two steps round too often where products are not fused.
    p = 1.0 + (r + r * r * p)
    bits = (np.int64(np.int32(max(k, -1022.0))) + 1023) << 52
    return 0.0 if x >= _SMALLEST else p * np.int64(bits).view(np.float64)


@strict
def log_normal(p: float) -> float:
    """log(p) for positive normal numbers, to about 1e-16 (1 + |log p|): 2 atanh(s) with s = (m - 1) / (m + 1)."""
    bits = np.float64(p).view(np.uint64)
    m = np.uint64((bits & np.uint64(_MANTISSA)) | np.uint64(_ONE)).view(np.float64)
    large = m > _ROOT_2
    m = 0.5 * m if large else m
    e = np.float64(np.int32(bits >> np.uint64(52)) - 1023) + (1.0 if large else 0.0)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    a = 1.0 / 21.0
    a = a * q + 1.0 / 19.0
    a = a * q + 1.0 / 17.0
    a = a * q + 1.0 / 15.0
    a = a * q + 1.0 / 13.0
    a = a * q + 1.0 / 11.0
    a = a * q + 1.0 / 9.0
    a = a * q + 1.0 / 7.0
    a = a * q + 1.0 / 5.0
    a = a * q + 1.0 / 3.0
    return e * _LN2_HIGH + (e * _LN2_LOW + (2.0 * s + 2.0 * s * q * a))


@strict
def x_log_x(x: float) -> float:
    """x log x for x >= 0, to about 1e-16 of 1 + |log x| times x; 0 at 0."""
    return x * log_normal(x + _LEAST)


@strict
def complemented(p: np.ndarray, weights: np.ndarray) -> float:
    """p <- 1 - p; the weighted sum of what rounding took off, which (1 - p) log(1 - p) loses to first order.

    Where p is next to 0 that is all the digits that p log p has there.
    """
    lost = 0.0
    for i in range(p.size):
        rest = 1.0 - p[i]
        lost += ((1.0 - rest) - p[i]) * (weights[i] if weights.size else 1.0)
        p[i] = rest
    return lost


@strict
def log_of_product(e: np.ndarray) -> float:
    """Sum of log(1 + e_i) by one logarithm: that of the product, whose numbers from 0 to 1 must be 1,000 at most.

    The product less 1 keeps the digits of small numbers. It is taken in many places at once, as each factor has to wait
    for the last.
    """
    at_once = 2 * LANES
    product, whole = filled(0.0), e.size - e.size % at_once
    for i in range(np.uint64(0), np.uint64(whole), np.uint64(at_once)):
        product = _joined(product, _joined(load(e, i), load(e, i + np.uint64(LANES))))
    total = 0.0
    for k in range(np.uint64(LANES)):
        total = _joined(total, lane(product, k))
    for i in range(whole, e.size):
        total = _joined(total, e[i])
    return np.log1p(total)


@inner
def _joined(a: Any, b: Any) -> Any:
    """(1 + a) (1 + b) - 1, of numbers or of lanes."""
    return a + b + a * b


@inner
def above_tangent(r: float, e: float) -> float:
    """exp(r) - 1 - r, which is at least 0, to about 1e-15 of itself; e is exp(r), which the caller may know better."""
    if abs(r) > 1.0:
        return e - 1.0 - r
    term = total = 0.5 * r * r
    for k in range(3, 19):
        term *= r / k
        total += term
    return total


@inner
def log_omega(level: float) -> float:
    """The w with exp(w) + w = level: Newton's method from the right, where it never overshoots."""
    w = np.log(level) if level > 1.0 else level
    for _ in range(_MOST_STEPS):
        e = np.exp(w)
        move = (e + w - level) / (1.0 + e)
        w -= move
        if not abs(move) > 1e-16 * abs(w):
            break
    return w
