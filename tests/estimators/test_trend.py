"""Trend filtering of curves: positions, knots and interpolation."""

import cvxpy
import numpy as np
import pytest

from spdpeg.errors import InputError
from spdpeg.estimators import TrendFilter

RNG = np.random.default_rng(0)
UNEVEN = np.sort(RNG.uniform(0.0, 10.0, 30))


def fitted(order: int, t: np.ndarray, y: np.ndarray, lam2: float = 0.05) -> TrendFilter:
    return TrendFilter(order, lam2, tol=1e-8, random_state=0).fit(t.reshape(-1, 1), y)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_denoising_is_that_of_the_chain(order: int) -> None:
    y = np.sin(np.arange(30) / 4.0) + 0.1 * RNG.standard_normal(30)
    x = cvxpy.Variable(30)
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x - y) / 60 + 0.05 * cvxpy.norm1(cvxpy.diff(x, order)))).solve(
        solver=cvxpy.CLARABEL
    )
    model = fitted(order, 7.0 + 0.1 * np.arange(30), y)
    np.testing.assert_allclose(model.coef_, x.value, atol=1e-4)
    np.testing.assert_array_equal(model.predict(model.knots_.reshape(-1, 1)), model.coef_)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_huge_weight_leaves_the_best_polynomial(order: int) -> None:
    """D is 0 on polynomials of degree order - 1, at uneven positions too, and `predict` goes on along them."""
    y = np.sin(UNEVEN) + UNEVEN
    model = fitted(order, UNEVEN, y, lam2=100.0)
    best = np.polynomial.Polynomial.fit(UNEVEN, y, order - 1)
    np.testing.assert_allclose(model.coef_, best(UNEVEN), atol=1e-4)
    between = np.linspace(UNEVEN[0] - 1.0, UNEVEN[-1] + 1.0, 17)
    np.testing.assert_allclose(model.predict(between.reshape(-1, 1)), best(between), atol=1e-3)


def test_order_of_rows_and_repetitions_do_not_matter() -> None:
    t = np.repeat(np.arange(10.0), 3)
    y = np.abs(t - 4.0) + 0.1 * RNG.standard_normal(30)
    shuffled = RNG.permutation(30)
    model = fitted(2, t, y)
    np.testing.assert_allclose(fitted(2, t[shuffled], y[shuffled]).coef_, model.coef_, atol=1e-5)
    means = fitted(2, np.arange(10.0), y.reshape(10, 3).mean(axis=1))
    np.testing.assert_allclose(means.coef_, model.coef_, atol=1e-5)


def test_units_do_not_matter() -> None:
    y = np.abs(UNEVEN - 5.0)
    np.testing.assert_allclose(fitted(2, UNEVEN, y).coef_, fitted(2, 1e3 * UNEVEN - 7.0, y).coef_, atol=1e-6)


def test_a_chunk_of_new_positions_is_interpolated() -> None:
    model = TrendFilter(random_state=0)
    for start in range(0, 4000, 40):
        t = (np.arange(start, start + 40) % 13 if start == 0 else RNG.uniform(0.0, 12.0, 40)).reshape(-1, 1)
        model.partial_fit(t, 2.0 * t.ravel() + 1.0)
    assert model.knots_.tolist() == list(range(13))
    assert model.score(t, 2.0 * t.ravel() + 1.0) > 0.9


def test_too_few_positions_are_refused() -> None:
    with pytest.raises(InputError, match="2 different positions and order is 3"):
        fitted(3, np.array([0.0, 1.0, 1.0]), np.ones(3))
