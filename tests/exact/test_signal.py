"""Signals along a chain, with an intercept and without, and on graphs, against a conic solver and `denoise`."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.signal import along_chain, along_edges, differences, is_chain, solve_chain


def problem_of(seed: int, l1: float, l2: float, intercept: bool) -> spdpeg.Problem:
    """Some values observed twice, some never, with weights; the entry of X is the same in all rows."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 25))
    places = np.sort(rng.integers(0, d, size=int(rng.integers(2, 2 * d))))
    entry = float(rng.choice([1.0, -0.5, 3.0]))
    X = sp.csr_array((np.full(places.size, entry), (np.arange(places.size), places)), shape=(places.size, d))
    y = 10.0 * rng.standard_normal() + np.cumsum(rng.standard_normal(places.size))
    return spdpeg.Problem(
        X,
        y,
        loss=losses.Squared(),
        r1=penalties.L1(l1) if l1 else None,
        r2=penalties.L1(l2),
        F=operators.FirstDifference(),
        sample_weight=rng.uniform(0.2, 3.0, places.size),
        intercept=intercept,
    )


def conic_optimum(problem: spdpeg.Problem, l1: float, l2: float) -> float:
    """The optimal value by interior points, from the definition."""
    rows, labels, weights = problem.view.rows.block
    X = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(labels.size, problem.n_features))
    x, c = cp.Variable(problem.n_features), cp.Variable()
    loss = cp.sum_squares(cp.multiply(np.sqrt(weights), X @ x + c - labels)) / (2 * labels.size)
    level = [] if problem.bias else [c == 0]
    goal = cp.Minimize(loss + l1 * cp.norm1(x) + l2 * cp.norm1(cp.diff(x)))
    return float(cp.Problem(goal, level).solve(solver="CLARABEL"))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.03, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_optimum(seed: int, l1: float, intercept: bool) -> None:
    l2 = [0.01, 0.1, 1.0, 10.0][seed]
    problem = problem_of(seed, l1, l2, intercept)
    assert is_chain(problem.view)
    found, optimum = along_chain(problem.view), conic_optimum(problem, l1, l2)
    value = problem.objective(found.x)
    assert value == pytest.approx(optimum, rel=1e-6)
    assert found.lower <= value
    assert value - found.lower <= 1e-9 * value


@pytest.mark.parametrize("intercept", [False, True])
def test_a_run_of_solve_and_one_of_many_weights_agree(intercept: bool) -> None:
    problem = problem_of(7, 0.05, 0.2, intercept)
    quick, whole = solve_chain(problem.view, 1e-6), spdpeg.solve(problem, tol=1e-6)
    assert quick is not None
    assert [stage.method for stage in whole.stages] == ["one-read"]
    assert np.array_equal(quick.x, whole.x)
    assert np.array_equal(quick.dual, whole.dual)
    assert whole.certificate is not None
    assert (quick.certificate.primal, quick.certificate.dual) == (whole.certificate.primal, whole.certificate.dual)
    assert quick.certificate.met == whole.certificate.met == "relative gap"


def test_rows_that_an_intercept_does_not_merely_shift() -> None:
    """Entries that differ, and rows without any."""
    for X in (np.diag([1.0, 2.0, 1.0]), np.diag([1.0, 0.0, 1.0]), np.ones((3, 3))):
        terms = {"r2": penalties.L1(0.1), "F": operators.FirstDifference()}
        problem = spdpeg.Problem(X, [1.0, 2.0, 4.0], loss=losses.Squared(), intercept=True, **terms)
        assert problem.view.moments.shifted_signal is None
        assert not is_chain(problem.view)


def graph_problem(seed: int, l2: float) -> spdpeg.Problem:
    """The same on an image or a random graph, with r1 of three kinds and weights of rows of F."""
    rng = np.random.default_rng(seed)
    d = 48
    places = np.sort(rng.integers(0, d, size=int(rng.integers(20, 100))))
    X = sp.csr_array((rng.choice([1.0, -0.5, 3.0], places.size), (np.arange(places.size), places)), (places.size, d))
    F: operators.Operator = operators.GridDifference((6, 8))
    if seed % 2:
        ends = rng.integers(0, d, 120)
        edges = np.column_stack([ends, (ends + rng.integers(1, d, 120)) % d, rng.uniform(0.1, 2.0, 120)])
        F = operators.GraphDifference(np.unique(np.sort(edges[:, :2].astype(np.int64)), axis=0))
    r1 = [None, penalties.L1(0.02), penalties.ElasticNet(0.02, 0.05)][seed % 3]
    weights = l2 * rng.uniform(0.5, 2.0, F.bind(d).n_outputs)
    y = 3.0 * rng.standard_normal() + rng.standard_normal(places.size)
    sizes = rng.uniform(0.2, 3.0, places.size)
    return spdpeg.Problem(X, y, loss=losses.Squared(), r1=r1, r2=penalties.L1(weights), F=F, sample_weight=sizes)


@pytest.mark.parametrize("l2", [0.001, 0.03, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_optimum_on_graphs(seed: int, l2: float) -> None:
    problem = graph_problem(seed, l2)
    lines = differences(problem.view)
    assert lines is not None
    found = along_edges(problem.view, lines)
    rows, labels, weights = problem.view.rows.block
    X = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(labels.size, 48))
    x = cp.Variable(48)
    goal = cp.sum_squares(cp.multiply(np.sqrt(weights), X @ x - labels)) / (2 * labels.size)
    goal += cp.norm1(cp.multiply(problem.r2.weight, problem.F.matrix() @ x))
    goal += 0.02 * cp.norm1(x) if seed % 3 else 0.0
    goal += 0.025 * cp.sum_squares(x) if seed % 3 == 2 else 0.0
    optimum = float(cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL"))
    value = problem.objective(found.x)
    assert value == pytest.approx(optimum, rel=1e-6)
    assert found.lower <= value
    assert value - found.lower <= 1e-9 * value
    # The multipliers are a certificate of their own.
    result = spdpeg.solve(problem)
    assert [stage.method for stage in result.stages] == ["one-read"]
    assert problem.certificate(found.x, -found.y).rel_gap <= 1e-8
    assert np.all(np.abs(found.y) <= problem.r2.weight)


def test_an_image_is_solved_as_by_denoise() -> None:
    rng = np.random.default_rng(4)
    image = np.kron(rng.integers(0, 3, (4, 4)), np.ones((8, 8))) + 0.3 * rng.standard_normal((32, 32))
    image[3:6, 4:9] = np.nan
    known = spdpeg.denoise(image, lam2=0.7, lam1=0.05)
    seen = np.flatnonzero(np.isfinite(image.ravel()))
    problem = spdpeg.Problem(
        sp.csr_array((np.ones(seen.size), (np.arange(seen.size), seen)), shape=(seen.size, image.size)),
        image.ravel()[seen],
        loss=losses.Squared(),
        r1=penalties.L1(0.05 / seen.size),
        r2=penalties.L1(0.7 / seen.size),
        F=operators.GridDifference(image.shape),
    )
    result = spdpeg.solve(problem)
    assert result.certificate is not None
    assert result.certificate.rel_gap <= 1e-11
    assert known.certificate.rel_gap <= 1e-11
    np.testing.assert_allclose(result.x, known.x.ravel(), atol=1e-10)
