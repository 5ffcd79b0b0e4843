"""Models that take 32 digits, and the same answers as with 16 where those are enough."""

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, penalties
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.penalties.conic import ball, broken_lines, norms, squares
from spdpeg.quadratic import Model, minimize


@pytest.mark.parametrize("seed", range(3))
def test_both_find_the_same_minimum(seed: int) -> None:
    """Lines, bounds, norms and a ball beside a plain H."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((20, 6))
    form = broken_lines(rng.standard_normal((4, 6)), rng.standard_normal(4), 0.5, 0.7)
    form = form + broken_lines(np.eye(6), 0.3, np.inf, 0.0) + norms([np.arange(3)], np.array([0.4]), 6)
    form = form + ball(1.0, 6)
    model = Model(A.T @ A / 20, rng.standard_normal(6), form)
    plain, sharp = minimize(model), minimize(model, digits=32)
    assert plain.status == sharp.status == "optimal"
    assert max(plain.gap, sharp.gap) <= 1e-8
    assert abs(plain.value - sharp.value) <= plain.gap + sharp.gap
    assert sharp.w == pytest.approx(plain.w, abs=1e-3)


def test_a_solution_far_away_along_columns_that_almost_agree() -> None:
    """Eight columns that differ in the seventh digit fit the labels with coefficients of a million."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((20, 1)) + 1e-7 * rng.standard_normal((20, 8))
    w = 1e6 * rng.standard_normal(8)
    form = broken_lines(K, K @ w, 1.0, 1.0) + squares(1e-30, 8)
    found = minimize(Model(np.zeros((8, 8)), np.zeros(8), form), digits=32)
    assert found.value < 1e-8
    assert found.w == pytest.approx(w, rel=1e-3)


def test_newton_with_32_digits_where_16_end_short() -> None:
    """Logistic regression on columns that almost agree, with a weight that leaves them far apart."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 1)) + 1e-6 * rng.standard_normal((60, 6))
    y = np.sign(X[:, 0] + 1e6 * (X[:, 1] - X[:, 0]) + rng.standard_normal(60))
    problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(1e-9))
    result = spdpeg.solve(problem, "prox-newton", digits=32, tol=1e-7)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
    assert np.abs(result.x).max() > 1e4


def test_digits_are_16_or_32() -> None:
    """And 32 are for small problems."""
    X = np.random.default_rng(2).standard_normal((2000, 200))
    problem = spdpeg.Problem(X, np.sign(X[:, 0]), loss=losses.Logistic())
    with pytest.raises(InputError, match="16 or 32"):
        spdpeg.solve(problem, "prox-newton", digits=64)
    with pytest.raises(UnsupportedError, match="few coordinates"):
        spdpeg.solve(problem, "prox-newton", digits=32)
