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


def test_parabolas_alone_are_least_squares() -> None:
    """A model without any kink is no minimum where it starts."""
    rng = np.random.default_rng(3)
    A, target = rng.standard_normal((20, 4)), 5.0 + rng.standard_normal(20)
    form = broken_lines(A, target, np.inf, np.inf, smoothing=1.0)
    for digits in (16, 32):
        found = minimize(Model(np.zeros((4, 4)), np.zeros(4), form), digits=digits)
        assert found.status == "optimal"
        assert found.w == pytest.approx(np.linalg.lstsq(A, target)[0], rel=1e-9)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Huber(1.0)], ids=repr)
def test_squares_of_huge_weight_after_a_matrix(loss: losses.Loss) -> None:
    """F^T W F in 16 digits would hide the rows of X altogether."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 12)) * 10.0 ** rng.uniform(-4, 3, 12)
    y = np.sign(X @ (rng.standard_normal(12) / np.linalg.norm(X, axis=0)) + 0.1 * rng.standard_normal(60))
    F = rng.standard_normal((5, 12))
    problem = spdpeg.Problem(X, y, loss=loss, r1=penalties.L1(1e-6), r2=penalties.L2Squared(1e9), F=F)
    result = spdpeg.solve(problem, tol=1e-8)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"


def test_no_data_and_an_optimum_next_to_0() -> None:
    """A support vector machine whose rows are F, separable, beside a tiny l1 norm."""
    rng = np.random.default_rng(5)
    F = rng.standard_normal((15, 29))
    problem = spdpeg.Problem(
        None, None, loss=None, r1=penalties.L1(1e-13), r2=penalties.Hinge(np.sign(F[:, 0]), 1.0 / 15.0), F=F
    )
    result = spdpeg.solve(problem, "prox-newton", digits=32, tol=1e-6)
    assert result.certificate is not None
    assert result.certificate.met is not None
    assert result.objective < 1e-11


def test_digits_are_16_or_32() -> None:
    """And 32 are for small problems."""
    X = np.random.default_rng(2).standard_normal((2000, 200))
    problem = spdpeg.Problem(X, np.sign(X[:, 0]), loss=losses.Logistic())
    with pytest.raises(InputError, match="16 or 32"):
        spdpeg.solve(problem, "prox-newton", digits=64)
    with pytest.raises(UnsupportedError, match="few coordinates"):
        spdpeg.solve(problem, "prox-newton", digits=32)
