"""From solution to solution with the curvature of an earlier one: every bound is one, and every end is certified."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import datasets, estimators, losses, operators, penalties
from spdpeg.certificate import norm_bound, norm_scale
from spdpeg.engine.auto import continuation
from spdpeg.paths import path
from spdpeg.sampled_newton import kept_curvature
from spdpeg.sampled_newton.kept_curvature import KeptCurvature
from spdpeg.sampled_newton.neighbours import Neighbour

DATA = datasets.piecewise_constant(500, 25, seed=2)
NUMBERS = datasets.piecewise_constant(500, 25, task="regression", seed=2)
STEPS = operators.FirstDifference()


def fused(lam1: float, lam2: float, loss: Any = None, **options: Any) -> spdpeg.Problem:
    loss = losses.Logistic() if loss is None else loss
    data = DATA if loss.binary else NUMBERS
    return spdpeg.Problem(
        data.X, data.y, loss, penalties.L1(lam1), penalties.L1(lam2), STEPS, **{"intercept": True, **options}
    )


def place_of(problem: spdpeg.Problem) -> Neighbour:
    result = spdpeg.solve(problem, tol=1e-8)
    return Neighbour.read(problem.view, result.x, result.dual)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.SquaredHinge(), losses.Huber(0.3)], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
def test_ends_within_the_tolerance(loss: Any, tol: float, intercept: bool) -> None:
    first = fused(0.02, 0.03, loss, intercept=intercept)
    other = first.with_penalties(penalties.L1(0.015), penalties.L1(0.02), STEPS)
    [found] = KeptCurvature(first.view).solve([other.view], [[place_of(first)]], tol, 1000.0)
    assert found is not None
    run, place = found
    best = spdpeg.solve(other, tol=1e-12).objective
    assert run.certificate.met == "relative gap"
    assert run.certificate.dual <= best * (1.0 + 1e-13) <= run.objective * (1.0 + 2e-13)
    assert run.objective == pytest.approx(other.objective(run.x), rel=1e-14)
    assert run.objective - best <= tol * run.objective
    margins = other.view.sums.evaluate(run.x).margins
    np.testing.assert_allclose(place.slopes, other.loss.derivative(margins, other.view.rows.labels), rtol=1e-11)
    assert list(run.history.passes) == sorted(run.history.passes)
    assert run.passes == run.history.passes[-1]


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_of_a_path_is_above_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 400)), int(rng.integers(2, 60))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < rng.choice([0.1, 0.4, 1.0]))
    if seed % 3 == 0:  # columns that depend on each other
        X = np.repeat(X, 2, axis=1)
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(n) > rng.normal()
    weights = rng.random(n) if seed % 2 else None
    model = estimators.FusedLogisticRegression(tol=10.0 ** -rng.integers(3, 9), fit_intercept=bool(seed % 4))
    found = path(model, sp.csr_array(X) if seed % 2 else X, y, weights, n_lam1=4, n_lam2=4, eps=1e-2)
    for (i, j), objective in np.ndenumerate(found.objective):
        terms = penalties.L1(found.lam1[i]), penalties.L1(found.lam2[j]), STEPS
        problem = spdpeg.Problem(X, y, losses.Logistic(), *terms, intercept=model.fit_intercept, sample_weight=weights)
        x = problem.join(found.coef[i, j, 0], found.intercept[i, j, 0])
        best = spdpeg.solve(problem, tol=1e-11).objective
        assert problem.objective(x) == pytest.approx(objective, rel=1e-12)
        assert objective * (1.0 - found.gap[i, j]) <= best * (1.0 + 1e-12) <= objective * (1.0 + 2e-12)
        assert found.gap[i, j] <= model.tol


def bound_of(view: Any, u: np.ndarray, x: np.ndarray, errors: np.ndarray) -> float:
    scale, moved = norm_scale(view, view.sums.adjoint(u))
    return norm_bound(view, view.sums.conjugate(u, scale), scale, moved, x, errors)


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_holds_for_any_slopes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = fused(*rng.uniform(0.003, 0.1, 2), intercept=False, sample_weight=rng.random(500) if seed % 2 else None)
    view, best = problem.view, spdpeg.solve(problem, tol=1e-12).x
    margins = best @ np.asarray(DATA.X).T + 10.0 ** -rng.integers(1, 6) * rng.standard_normal(500)
    u = view.loss.derivative(margins, view.rows.labels)
    errors = 1e-12 * np.linalg.norm(u) * view.bounds.column_sizes
    assert -np.inf < bound_of(view, u, best, errors) <= problem.objective(best)
    assert bound_of(view, 3.0 * u, best, 3.0 * errors) <= problem.objective(best)


def test_slopes_that_an_intercept_does_not_balance_prove_nothing() -> None:
    view = fused(0.02, 0.03).view
    u = view.loss.derivative(np.ones(500), view.rows.labels)
    x = np.zeros(view.n_coordinates)
    assert bound_of(view, u, x, x) == -np.inf


def test_one_read_settles_most_of_a_path() -> None:
    X, y, _ = datasets.piecewise_constant(2000, 30, seed=3)
    found = path(estimators.FusedLogisticRegression(), X, y, n_lam1=12, n_lam2=12)
    assert np.all(found.gap <= 1e-4)
    assert np.median(found.passes) == 1
    assert found.passes.sum() <= 2.0 * found.passes.size


def test_what_is_not_settled_soon_is_left_to_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    model = estimators.FusedLogisticRegression(tol=1e-6)
    quick = path(model, DATA.X, DATA.y, n_lam1=3, n_lam2=3)
    monkeypatch.setattr(kept_curvature, "_MOST_STEPS", 0)
    slow = path(model, DATA.X, DATA.y, n_lam1=3, n_lam2=3)
    assert np.all(slow.gap <= 1e-6)
    np.testing.assert_allclose(quick.objective, slow.objective, rtol=1e-6)


def test_weights_of_0_are_left_to_solve() -> None:
    model = estimators.FusedLogisticRegression(tol=1e-6)
    found = path(model, DATA.X, DATA.y, lam1=[0.1, 0.01, 0.0], lam2=[0.1, 0.01, 0.0])
    assert np.all(found.gap <= 1e-6)


def test_a_start_far_away_or_without_passes_is_refused() -> None:
    problem = fused(1e-3, 1e-3)
    solution = place_of(problem)
    way = KeptCurvature(problem.view)
    assert way.solve([problem.view], [[solution]], 1e-6, 0.5) == [None]
    place = Neighbour.read(problem.view, 1e8 * solution.x, solution.dual)
    [far] = way.solve([problem.view], [[place]], 1e-6, 1000.0)
    best = spdpeg.solve(problem, tol=1e-10).objective
    assert far is None or far[0].certificate.dual <= best <= far[0].objective * (1.0 + 1e-12)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_some_at_once_as_one_by_one(count: int) -> None:
    first = fused(0.02, 0.03)
    weights = [(0.02 * 0.9**k, 0.03 * 0.8 ** (3 - k)) for k in range(count)]
    others = [first.with_penalties(penalties.L1(a), penalties.L1(b), STEPS).view for a, b in weights]
    place = place_of(first)
    together = KeptCurvature(first.view).solve(others, [[place]] * count, 1e-7, 1000.0)
    for other, found in zip(others, together, strict=True):
        [alone] = KeptCurvature(first.view).solve([other], [[place]], 1e-7, 1000.0)
        assert found is not None
        assert alone is not None
        assert found[0].certificate.met == "relative gap"
        assert found[0].objective == pytest.approx(alone[0].objective, rel=1e-7)
        assert found[0].certificate.dual <= alone[0].objective * (1.0 + 1e-13)
        np.testing.assert_array_equal(found[0].x != 0.0, alone[0].x != 0.0)


def test_an_l1_norm_alone() -> None:
    X, y, _ = datasets.piecewise_constant(3000, 20, seed=4)
    first, other = (spdpeg.Problem(X, y, losses.Logistic(), penalties.L1(lam), intercept=True) for lam in (0.02, 0.01))
    assert isinstance(continuation(first.view), KeptCurvature)
    [found] = KeptCurvature(first.view).solve([other.view], [[place_of(first)]], 1e-7, 1000.0)
    assert found is not None
    best = spdpeg.solve(other, tol=1e-10)
    assert found[0].certificate.dual <= best.objective <= found[0].objective * (1.0 + 1e-12)
    assert np.array_equal(found[0].x != 0.0, best.x != 0.0)


def test_where_the_curvature_is_kept() -> None:
    assert isinstance(continuation(fused(0.1, 0.1).view), KeptCurvature)
    for r1, r2 in ((penalties.L2Squared(0.1), penalties.L1(0.1)), (penalties.L1(0.1), penalties.L2Squared(0.1))):
        other = spdpeg.Problem(DATA.X, DATA.y, losses.Logistic(), r1, r2, STEPS)
        assert not isinstance(continuation(other.view), KeptCurvature)
