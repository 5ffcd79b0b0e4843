"""A budget is a ceiling, and a run that ends far from optimal says so."""

import warnings

import numpy as np
import pytest

import spdpeg
from spdpeg import FarFromOptimalWarning, Status, losses, penalties, solve
from spdpeg.errors import InputError


def problem(loss: losses.Loss | None = None) -> spdpeg.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = np.sign(X[:, 0] + rng.standard_normal(60))
    return spdpeg.Problem(X, y, loss or losses.Logistic(), penalties.L1(0.01), intercept=True)


@pytest.mark.parametrize("solver", ["auto", "prox-newton", "vr-spdpeg"])
@pytest.mark.parametrize("budget", [{"max_passes": 500}, {"max_seconds": 60}], ids=str)
def test_the_tolerance_stays_on_under_a_budget(solver: str, budget: dict[str, float]) -> None:
    result = solve(problem(), solver, **budget)
    assert result.status is Status.TOLERANCE
    assert result.certificate.rel_gap <= 1e-6


def test_zero_runs_to_the_end_of_the_budget() -> None:
    result = solve(problem(), "vr-spdpeg", max_passes=80, tol=0)
    assert result.status is Status.MAX_PASSES
    assert solve(problem(), "vr-spdpeg", max_iterations=200).iterations == 200
    with pytest.raises(InputError, match="or 0 to run to the end"):
        solve(problem(), tol=-1.0)


@pytest.mark.parametrize(("solver", "loss"), [("spdhg-cers", losses.Hinge()), ("spdpeg", None), ("condat-vu", None)])
def test_a_run_that_ends_far_away_warns(solver: str, loss: losses.Loss | None) -> None:
    with pytest.warns(
        FarFromOptimalWarning, match=rf"{solver} ended up to .* % above the optimum.*Raise the budget"
    ) as caught:
        result = solve(problem(loss), solver, max_passes=2)
    assert caught[0].filename == __file__
    assert result.certificate.rel_gap > 0.01


def test_no_warning_near_the_optimum_or_where_somebody_stopped_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(problem())
        solve(problem(losses.Hinge()))
        solve(problem(), "condat-vu", max_passes=2, callback=lambda progress: progress.iterations > 0)


def test_a_loss_of_ones_own_without_a_bound_is_solved_or_told() -> None:
    """Not five silent passes."""

    class Steep(losses.Squared):
        curvature = np.inf

    result = solve(problem(Steep()))
    assert result.passes > 5 or result.status is Status.TOLERANCE


def test_a_start_at_which_the_objective_is_no_number() -> None:
    """A row of weight 0 whose loss overflows."""
    X, y = np.eye(4), np.ones(4)
    problem = spdpeg.Problem(X, y, losses.Poisson(), penalties.L1(0.1), sample_weight=[1.0, 1.0, 1.0, 0.0])
    with pytest.raises(InputError, match="not a number at x0"):
        solve(problem, x0=np.array([0.0, 0.0, 0.0, 1e6]), tol=1e-6)
    assert solve(problem, tol=1e-6).status is Status.TOLERANCE
