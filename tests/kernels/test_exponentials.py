"""exp and log of our own, against those of a wider type."""

import numpy as np
import pytest

from spdpeg.kernels.exponentials import decay, log_normal, log_of_product, x_log_x


def ulps(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest distance in units of the last place."""
    return float(np.max(np.abs(found - exact) / np.spacing(np.abs(exact).astype(float))))


def test_exp_is_exact_to_the_last_place() -> None:
    x = np.concatenate([np.linspace(0.0, 50.0, 20_001), np.linspace(50.0, 707.9, 2001), [5e-324, 1e-17]])
    assert ulps(np.array([decay(v) for v in x]), np.exp(-x.astype(np.longdouble))) < 1.0


@pytest.mark.parametrize("x", [708.0, 745.0, 1e300, np.inf])
def test_exp_ends_in_zero(x: float) -> None:
    assert decay(x) == 0.0


def test_nan_stays_nan() -> None:
    assert np.isnan(decay(np.nan))


def test_log_is_exact_up_to_rounding() -> None:
    x = np.concatenate([np.linspace(1e-6, 3.0, 20_001), 10.0 ** np.linspace(-300, 300, 2001), [1.0, 2.0, 0.5]])
    exact = np.log(x.astype(np.longdouble))
    found = np.array([log_normal(v) for v in x])
    assert np.max(np.abs(found - exact) / (1.0 + np.abs(exact))) < 2.3e-16


def test_x_log_x_is_zero_at_zero() -> None:
    assert x_log_x(0.0) == 0.0
    assert x_log_x(1.0) == 0.0
    assert x_log_x(1e-310) == pytest.approx(0.0, abs=1e-305)


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 9, 100, 256, 1000])
@pytest.mark.parametrize("largest", [1.0, 1e-3, 1e-20, 1e-300])
def test_the_log_of_a_product_has_all_digits(size: int, largest: float) -> None:
    e = largest * np.random.default_rng(size).random(size)
    exact = np.sum(np.log1p(e.astype(np.longdouble)))
    assert log_of_product(e) == pytest.approx(float(exact), rel=1e-13)


def test_a_thousand_factors_of_two_do_not_overflow() -> None:
    assert log_of_product(np.ones(1000)) == pytest.approx(1000.0 * np.log(2.0), rel=1e-14)
