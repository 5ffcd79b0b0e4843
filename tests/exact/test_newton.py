"""What docs/theory.md proves of Newton's steps: a dual point by construction, and a gap of fourth order."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from support import catalogue

TERMS: dict[str, dict[str, Any]] = {
    "chain": {"r1": penalties.L1(5e-3), "r2": penalties.L1(5e-3), "F": operators.FirstDifference()},
    "ridge and graph": {"r1": penalties.L2Squared(0.05), "r2": penalties.L1(5e-3)},
    "trend": {"r1": None, "r2": penalties.L1(2e-2), "F": operators.Difference(2)},
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", TERMS)
def test_the_gap_after_a_step_is_of_fourth_order(name: str, intercept: bool) -> None:
    terms = TERMS[name]
    problem = catalogue.instance("Logistic", operator="GraphDifference").problem(**terms, intercept=intercept)
    solved = spdpeg.solve(problem, "prox-newton", tol=1e-12)
    direction = np.random.default_rng(0).standard_normal(solved.x.size)
    direction /= np.linalg.norm(direction)
    gaps = []
    for length in (0.8, 0.4, 0.2):
        step = spdpeg.solve(problem, "prox-newton", max_iterations=1, x0=solved.x + length * direction)
        gaps.append(problem.certificate(step.x, step.dual, step.slopes).gap)
    assert gaps[1] <= gaps[0] / 8.0 + 1e-13
    assert gaps[2] <= gaps[1] / 8.0 + 1e-13
    assert gaps[2] >= -1e-15


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Logistic()], ids=lambda loss: type(loss).__name__)
def test_a_working_set_of_the_intercept_alone(loss: losses.Loss) -> None:
    """Weights so large that no feature enters, where the intercept has a way to go."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 400)), rng.standard_normal(20) + 5.0
    labels = y > 4.3 if loss.binary else y
    problem = spdpeg.Problem(X, labels, loss, penalties.L1(50.0), intercept=True)
    result = spdpeg.solve(problem, "working-set", tol=1e-10)
    coef, intercept = problem.split(result.x)
    assert result.status is spdpeg.Status.TOLERANCE
    assert not coef.any()
    share = float(np.mean(labels))
    assert intercept == pytest.approx(np.log(share / (1.0 - share)) if loss.binary else share, rel=1e-3)


def test_constraints_that_contradict_each_other_are_told() -> None:
    """The model has no solution, so that there is no point to go to."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.choice([-1.0, 1.0], 30)
    r1, r2 = penalties.Simplex(3.0), penalties.Box(1.0, 2.0)
    for loss in (losses.Logistic(), losses.SquaredHinge(), losses.Huber(0.5)):
        result = spdpeg.solve(spdpeg.Problem(X, y, loss, r1, r2, np.zeros((2, 6))), tol=1e-6)
        assert (loss, result.status) == (loss, spdpeg.Status.INFEASIBLE)


def test_a_working_set_of_groups_beside_squares_of_nothing() -> None:
    """F x has more entries than x, and r2 no multipliers but 0."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 4)), rng.standard_normal(40)
    for r1 in (None, penalties.GroupL2(0.01, groups=2)):
        problem = spdpeg.Problem(X, y, losses.Huber(0.3), r1, penalties.L2Squared(0.1), np.zeros((6, 4)))
        result = spdpeg.solve(problem, "working-set", tol=1e-6)
        assert result.status is spdpeg.Status.TOLERANCE


@pytest.mark.parametrize(
    "F", [operators.FirstDifference(), operators.GraphDifference([(0, k) for k in range(1, 2000)])]
)
def test_rows_without_curvature_do_not_hold_steps_back(F: operators.Operator) -> None:
    """The first step leads the intercept beyond the margins of all rows but one, where the loss is a line."""
    rng = np.random.default_rng(0)
    X = sp.random_array((1500, 2000), density=0.01, rng=rng, format="csr")
    y = np.where(np.arange(1500) == 7, -1.0, 1.0)
    problem = spdpeg.Problem(
        X, y, loss=losses.SmoothedHinge(0.5), r1=penalties.L1(0.01), r2=penalties.L1(0.01), F=F, intercept=True
    )
    result = spdpeg.solve(problem, tol=1e-8)
    assert result.certificate is not None
    assert result.certificate.met
    assert result.passes <= 12


def test_a_step_takes_a_read_and_one_more_if_it_is_cut_short() -> None:
    """Also where curvatures are raised to a floor: most rows of a Huber loss as narrow as this one have none."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 8)), 10.0 * rng.standard_t(2, 200)
    problem = spdpeg.Problem(X, y, losses.Huber(0.1), penalties.L1(1e-3), intercept=True)
    result = spdpeg.solve(problem, "prox-newton", tol=1e-9)
    assert result.certificate is not None
    assert result.certificate.met
    assert result.iterations >= 8  # otherwise nothing was cut short
    # Beside those, one for the start, one for curvatures of the largest size where the first model has no minimum, and
    # two for the curvature of steps that might have been the last.
    assert result.passes <= 2 * result.iterations + 4
