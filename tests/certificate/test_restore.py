"""Dual points where penalties leave many directions free: feasible to more digits than a double has."""

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.certificate.restore import restored
from spdpeg.certificate.slopes import given
from spdpeg.result import Status


def test_badly_scaled_columns_cost_the_bound_nothing() -> None:
    """A hinge of F x and nothing else: entries of size 1e6 would be priced at 1e-10 of their sums, the last digits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6)) * 10.0 ** np.arange(-6.0, 6.0, 2.0)
    labels = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = spdpeg.Problem(None, r2=penalties.Hinge(labels, 1.0 / 40), F=X)
    result = spdpeg.solve(problem, tol=1e-11)
    assert result.status is Status.TOLERANCE


@pytest.mark.parametrize("seed", [6, 18, 22, 30])
def test_equations_that_rounding_sets_against_each_other(seed: int) -> None:
    """More entries of A^T W u / N + F^T y must vanish than multipliers are free; at a solution they can."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4, 20)) * (rng.random((4, 20)) < 0.1)
    F = (rng.standard_normal((5, 20)) * (rng.random((5, 20)) < 0.5))[rng.integers(0, 5, 14)]
    r2 = penalties.Quantile(rng.standard_normal(14), 0.7, 1e-3 * rng.random(14))
    problem = spdpeg.Problem(
        X, np.array([1.0, -1.0, 1.0, 1.0]), loss=losses.SmoothedHinge(0.5), r1=penalties.NonNegative(), r2=r2, F=F
    )
    assert spdpeg.solve(problem, "prox-newton", tol=1e-8, max_passes=100).status is Status.TOLERANCE


def test_a_multiplier_that_is_not_0_exceeds_its_domain_at_any_point() -> None:
    """x = 0 tells nothing about the size of a solution, so that the excess is not worth nothing there."""
    r2 = penalties.Hinge([1.0, -1.0], 1.0)
    problem = spdpeg.Problem(
        np.zeros((1, 2)), [1.0], loss=losses.Squared(), r1=penalties.Hinge([1.0, 1.0], 20.0), r2=r2, F=np.eye(2)
    )
    best = spdpeg.solve(problem, tol=1e-9).certificate
    assert best is not None
    for y in ([1.0, 0.0], [0.5, -1.0], [0.0, -1.0]):
        assert problem.certificate(np.zeros(2), np.array(y)).dual <= best.primal * (1.0 + 1e-12)


def test_large_entries_whose_products_with_rows_cancel() -> None:
    """The objective is told with as many digits as the bound, so that none is lost where it seems to lie above."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((11, 1)) + 1e-7 * rng.standard_normal((11, 10))
    problem = spdpeg.Problem(X, rng.standard_normal(11), loss=losses.Huber(0.01))
    result = spdpeg.solve(problem, tol=1e-9)
    assert np.abs(result.x).max() > 1e5
    assert result.status is Status.TOLERANCE


def test_a_row_of_f_without_entries_keeps_its_multiplier() -> None:
    """It reaches nothing, and the bound has its part of r2."""
    rng = np.random.default_rng(2)
    F = np.vstack([rng.standard_normal((3, 4)), np.zeros((1, 4))])
    r2 = penalties.Quantile(np.array([0.1, -0.2, 0.3, 5.0]), 0.5, 0.1)
    view = spdpeg.Problem(rng.standard_normal((9, 4)), rng.standard_normal(9), losses.Squared(), r2=r2, F=F).view
    moved = restored(view, given(view, 0.1 * rng.standard_normal(9)), np.array([0.01, 0.02, -0.01, -0.05]), np.ones(4))
    assert moved is not None
    assert moved.y[3] == -0.05


def test_what_sticks_out_vanishes_in_the_low_digits() -> None:
    rng = np.random.default_rng(1)
    X, b = rng.standard_normal((30, 5)), rng.standard_normal(30)
    view = spdpeg.Problem(X, b, loss=losses.Squared(), r2=penalties.L1(0.01), F=operators.FirstDifference()).view
    x = np.linalg.lstsq(X, b)[0]
    u = X @ x - b + 1e-9 * rng.standard_normal(30)
    moved = restored(view, given(view, u), np.full(4, 1e-3), x)
    assert moved is not None
    sums = np.abs(X).T @ np.abs(u) / 30
    assert np.all(moved.excess <= 1e-28 * sums)
    assert np.abs(moved.slopes.values() - u).max() <= 0.1  # type: ignore[operator]


def test_intervals_as_narrow_as_rounding_keep_their_two_ends() -> None:
    """Penalties of weight 1e-11: all of their subgradients are within rounding of each other, and yet count."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((51, 11)), 1e-3 * rng.standard_normal(51)
    r1 = penalties.Hinge(np.where(rng.random(11) < 0.5, 1.0, -1.0), 1e-11 * rng.uniform(0.5, 1.5, 11))
    problem = spdpeg.Problem(X, y, loss=losses.Quantile(0.9), r1=r1)
    result = spdpeg.solve(problem, "interior-point", tol=1e-9)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
