"""A signal along a chain, with an intercept and without, against a conic solver; and the run that many weights take."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.signal import along_chain, is_chain, solve_chain


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
