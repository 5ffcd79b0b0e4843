"""Steps from solution to solution: the outcome is certified, and what they do not settle is left to `solve`."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import datasets, estimators, losses, operators, penalties
from spdpeg.certificate import certify, least_gap
from spdpeg.estimators import fitting
from spdpeg.paths import path
from spdpeg.sampled_newton.continuation import Continuation
from spdpeg.sampled_newton.neighbours import Neighbour

CLASSES = datasets.piecewise_constant(500, 25, seed=2)
NUMBERS = datasets.piecewise_constant(500, 25, task="regression", seed=2)


def fused(lam1: float, lam2: float, **options: Any) -> spdpeg.Problem:
    return spdpeg.Problem(
        CLASSES.X,
        CLASSES.y,
        losses.Logistic(),
        penalties.L1(lam1),
        penalties.L1(lam2),
        operators.FirstDifference(),
        intercept=True,
        **options,
    )


def place_of(problem: spdpeg.Problem) -> Neighbour:
    result = spdpeg.solve(problem, tol=1e-8)
    return Neighbour.read(problem.view, result.x, result.dual)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_ends_within_the_tolerance(tol: float) -> None:
    problem = fused(0.02, 0.03)
    other = problem.with_penalties(penalties.L1(0.015), penalties.L1(0.02), operators.FirstDifference())
    [found] = Continuation(problem.view).solve([other.view], [[place_of(problem)]], tol, 1000.0)
    assert found is not None
    run, place = found
    anew = fused(0.015, 0.02)
    certificate = anew.certificate(run.x, run.dual)
    assert certificate.rel_gap <= 1.1 * tol
    assert run.objective == pytest.approx(anew.objective(run.x), rel=1e-14)
    np.testing.assert_allclose(place.margins, anew.view.sums.evaluate(run.x).margins, rtol=1e-12)
    assert list(run.history.passes) == sorted(run.history.passes)
    assert run.passes == run.history.passes[-1]


@pytest.mark.parametrize("r1", ["l1", "ridge"])
def test_a_path_is_certified_by_problems_made_anew(r1: str) -> None:
    model = estimators.GraphGuidedLogisticRegression([(j, j + 1) for j in range(24)], r1=r1, tol=1e-5, random_state=0)
    found = path(model, sp.csr_array(CLASSES.X), CLASSES.y, n_lam1=4, n_lam2=4, eps=1e-2)
    for (i, j), objective in np.ndenumerate(found.objective):
        terms = {"l1": penalties.L1, "ridge": penalties.L2Squared}[r1](found.lam1[i]), penalties.L1(found.lam2[j])
        problem = spdpeg.Problem(
            CLASSES.X, CLASSES.y, losses.Logistic(), *terms, operators.FirstDifference(), intercept=True
        )
        x = problem.join(found.coef[i, j, 0], found.intercept[i, j, 0])
        best = spdpeg.solve(problem, tol=1e-10).objective
        assert problem.objective(x) == pytest.approx(objective, rel=1e-12)
        assert best - 1e-12 <= objective <= best * (1.0 + 1e-5)


def test_a_start_far_away_or_without_passes_is_refused() -> None:
    problem = fused(1e-3, 1e-3)
    solution = place_of(problem)
    way = Continuation(problem.view)
    assert way.solve([problem.view], [[solution]], 1e-6, 0.5) == [None]
    place = Neighbour.read(problem.view, 1e8 * solution.x, solution.dual)
    [far] = way.solve([problem.view], [[place]], 1e-6, 1000.0)
    assert far is None or problem.certificate(far[0].x, far[0].dual).rel_gap <= 1.1e-6


@pytest.mark.parametrize("loss", [losses.SquaredHinge(), losses.Huber(0.1), losses.Squared()], ids=repr)
def test_other_losses(loss: Any) -> None:
    data = CLASSES if loss.binary else NUMBERS
    model = estimators.CompositeClassifier if loss.binary else estimators.CompositeRegressor
    fits = [
        model(loss=loss, r1=penalties.L1(lam), r2=penalties.L1(lam), F=operators.FirstDifference(), tol=1e-8)
        for lam in (0.03, 0.02)
    ]
    problems = [fitting.plan(fit, data.X, data.y).problems[0] for fit in fits]
    [found] = Continuation(problems[0].view).solve([problems[1].view], [[place_of(problems[0])]], 1e-6, 1000.0)
    assert found is not None
    assert problems[1].certificate(found[0].x, found[0].dual).rel_gap <= 1.1e-6


@pytest.mark.parametrize("seed", range(20))
def test_the_least_gap_is_no_larger_than_the_gap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = fused(*rng.uniform(0.001, 0.1, 2), sample_weight=rng.random(500) if seed % 2 else None)
    x = spdpeg.solve(problem, tol=1e-3 if seed % 3 else 1e-6).x + 1e-4 * rng.standard_normal(problem.n_coordinates)
    seen = problem.view.sums.evaluate(x)
    certificate = certify(problem.view, x, np.zeros(problem.F.n_outputs), evaluation=seen, tol=1e-2)
    assert least_gap(problem.view, x, seen, problem.objective(x), 1e-2) <= certificate.gap + 1e-14


def test_weights_are_copies_along_the_way() -> None:
    counts = np.random.default_rng(0).integers(0, 3, 500)
    model = estimators.FusedLasso(tol=1e-9, random_state=0)
    grids = {"lam1": [0.1, 0.05, 0.02], "lam2": [0.1, 0.03]}
    weighted = path(model, NUMBERS.X, NUMBERS.y, counts, **grids)
    copied = path(model, np.repeat(NUMBERS.X, counts, axis=0), np.repeat(NUMBERS.y, counts), **grids)
    np.testing.assert_allclose(weighted.objective, copied.objective, rtol=1e-8)
    np.testing.assert_allclose(weighted.coef, copied.coef, atol=1e-5)
