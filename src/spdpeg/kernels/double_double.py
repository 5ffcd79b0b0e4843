"""Numbers of about 32 digits, each the sum of two doubles, the second below the rounding of the first.

Dekker: A floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.
"""

from .jit import exact

_SPLITTER = 134217729.0  # 2^27 + 1
"""Halves of 26 bits have exact products."""


@exact
def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b and its rounding error."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


@exact
def two_product(a: float, b: float) -> tuple[float, float]:
    """a b and its rounding error."""
    product = a * b
    wide = _SPLITTER * a
    a_high = wide - (wide - a)
    wide = _SPLITTER * b
    b_high = wide - (wide - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@exact
def add(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """a + b."""
    high, low = two_sum(a, b)
    more, least = two_sum(a_low, b_low)
    low += more
    total = high + low
    low = (low - (total - high)) + least
    return total + low, low - ((total + low) - total)


@exact
def multiply(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """a b."""
    high, low = two_product(a, b)
    low += a * b_low + a_low * b
    total = high + low
    return total, low - (total - high)


@exact
def divide(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """a / b."""
    first = a / b
    high, low = multiply(first, 0.0, b, b_low)
    high, low = add(a, a_low, -high, -low)
    second = high / b
    more, less = multiply(second, 0.0, b, b_low)
    high, low = add(high, low, -more, -less)
    total, rest = two_sum(first, second)
    return add(total, rest, high / b, 0.0)


@exact
def root(a: float, a_low: float) -> tuple[float, float]:
    """The root of a positive number, by a step of Newton's method."""
    first = a**0.5
    high, low = two_product(first, first)
    high, low = add(a, a_low, -high, -low)
    return two_sum(first, high / (2.0 * first))
