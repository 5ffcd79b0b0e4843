"""Problems most of whose columns are empty."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.condensed import Condensed
from spdpeg.result import Status


def rows(seed: int, n: int = 40, d: int = 600, used: int = 30, ends: bool = False) -> tuple[sp.csr_array, np.ndarray]:
    """Rows with entries in few columns, the first and the last among them if asked for, and classes."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(np.arange(1, d - 1), used, replace=False))
    if ends:
        columns[[0, -1]] = 0, d - 1
    X = sp.lil_array((n, d))
    for i in range(n):
        own = rng.choice(columns, 4, replace=False)
        X[i, own] = rng.standard_normal(4)
    X = sp.csr_array(X)
    return X, np.where(X.sum(axis=1) + 0.3 * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def problem(seed: int, chain: bool, special: bool = False, dense: bool = False) -> spdpeg.Problem:
    """Special are an intercept, weights of the rows, and entries in the first and the last column."""
    X, y = rows(seed, ends=special)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, y.size) if special else None
    r2, F = (penalties.L1(3e-3), operators.FirstDifference()) if chain else (None, None)
    X = X.toarray() if dense else X
    return spdpeg.Problem(X, y, losses.Logistic(), penalties.L1(1e-3), r2, F, intercept=special, sample_weight=weights)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("chain", [False, True])
def test_the_optimum_is_that_of_all_columns(chain: bool, special: bool) -> None:
    given, dense = problem(1, chain, special), problem(1, chain, special, dense=True)
    assert Condensed.of(given.view) is not None
    assert Condensed.of(dense.view) is None  # dense rows have no empty columns
    result, other = spdpeg.solve(given, tol=1e-9), spdpeg.solve(dense, tol=1e-9)
    assert [stage.method for stage in result.stages] == ["working-set"]
    assert result.x.shape == (given.n_coordinates,)
    assert result.objective == pytest.approx(other.objective, rel=2e-9)
    assert dense.certificate(result.x, result.dual).rel_gap <= 1e-8  # of the problem with all columns


def test_multipliers_of_a_chain_are_feasible_between_its_ends() -> None:
    given = problem(2, chain=True)
    result = spdpeg.solve(given, "working-set", tol=1e-9)
    limit = 3e-3 * (1 + 1e-12)
    assert result.dual.shape == (given.n_features - 1,)
    assert np.abs(result.dual).max() <= limit
    pull = given.gradient(result.x) - given.F.adjoint(result.dual)
    assert np.abs(pull).max() <= 1e-3 * (1 + 1e-6)


def test_a_run_that_is_cut_goes_on_with_the_same_bits() -> None:
    given = problem(3, chain=True)
    whole = spdpeg.solve(given, tol=1e-9)
    first = spdpeg.solve(given, tol=1e-9, max_iterations=1)
    again = spdpeg.solve(given, tol=1e-9, state=first.state)
    assert np.array_equal(whole.x, again.x)
    assert whole.passes == again.passes


def test_starts_and_other_weights_are_left_alone() -> None:
    given = problem(4, chain=True)
    result = spdpeg.solve(given, tol=1e-9)
    again = spdpeg.solve(given, tol=1e-9, x0=result.x, dual0=result.dual)
    assert again.objective == pytest.approx(result.objective, rel=2e-9)
    steps = np.full(given.n_features - 1, 3e-3)
    steps[5] = 1e-3
    assert Condensed.of(given.with_penalties(given.r1, penalties.L1(steps), given.F).view) is None


def test_an_intercept_at_0_without_a_slope_stays_free() -> None:
    """Labels that add up to 0: the intercept does not move at first, and is a piece all the same."""
    X = np.zeros((2, 15))
    X[0, 14], X[1, [0, 2, 4]] = 1.0, [0.395, 0.696, 0.338]
    y = np.array([-1.0, 1.0])
    terms = losses.Squared(), penalties.L1(1e-3), penalties.L1(2e-3), operators.FirstDifference()
    found, dense = (
        spdpeg.solve(spdpeg.Problem(rows, y, *terms, intercept=True), tol=1e-9) for rows in (sp.csr_array(X), X)
    )
    assert found.stages[0].method == "working-set"
    assert found.certificate.rel_gap <= 1e-9
    assert found.objective == pytest.approx(dense.objective, rel=2e-9)


@pytest.mark.parametrize("r1", [None, penalties.L1(0.1)])
def test_rows_without_any_entry(r1: penalties.Penalty | None) -> None:
    X, y = sp.csr_array((119, 7)), np.arange(119.0)
    result = spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Squared(), r1=r1, intercept=True), tol=1e-9)
    assert result.status is Status.TOLERANCE
    assert np.array_equal(result.x[:7], np.zeros(7))
    assert result.x[7] == pytest.approx(59.0)
