"""Arithmetic of 32 digits, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from spdpeg.kernels import double_double as dd

_RNG = np.random.default_rng(0)
_PAIRS = [(float(a), float(b)) for a, b in 10.0 ** _RNG.uniform(-9, 9, (50, 2)) * _RNG.choice([-1.0, 1.0], (50, 2))]


def _exactly(pair: tuple[float, float]) -> Fraction:
    return Fraction(pair[0]) + Fraction(pair[1])


@pytest.mark.parametrize(("a", "b"), _PAIRS[:10])
def test_sums_and_products_of_doubles_lose_nothing(a: float, b: float) -> None:
    """The second number is the rounding error of the first, to the last bit."""
    assert _exactly(dd.two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert _exactly(dd.two_product(a, b)) == Fraction(a) * Fraction(b)


def test_the_four_operations_and_the_root_have_thirty_digits() -> None:
    """Of numbers that have as many themselves."""
    for a, b in _PAIRS:
        x, y = dd.two_sum(a, 1e-17 * b), dd.two_sum(b, 1e-18 * a)
        p, q = _exactly(x), _exactly(y)
        for ours, true in (
            (dd.add(*x, *y), p + q),
            (dd.multiply(*x, *y), p * q),
            (dd.divide(*x, *y), p / q),
        ):
            assert abs(_exactly(ours) - true) <= Fraction(1, 10**30) * max(abs(true), abs(p) if true == p + q else 0)
        size = abs(p)
        square = _exactly(dd.root(*(x if x[0] > 0 else (-x[0], -x[1])))) ** 2
        assert abs(square - size) <= Fraction(1, 10**29) * size


def test_what_cancels_keeps_its_digits() -> None:
    """1 + 1e-25 - 1 is 1e-25."""
    high, low = dd.add(*dd.two_sum(1.0, 1e-25), -1.0, 0.0)
    assert high + low == 1e-25
