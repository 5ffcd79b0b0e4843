"""Poisson and Gamma losses, which have no Lipschitz constant: exact fits with proof, clear words where none exists."""

from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import GammaRegressor, PoissonRegressor

import spdpeg
from spdpeg import Problem, Status, losses, operators, penalties, solve
from spdpeg.errors import InputError, UnsupportedError
from support.conic import TIGHT

cp: Any = cvxpy

FAMILIES = {"poisson": (losses.Poisson(), PoissonRegressor), "gamma": (losses.Gamma(), GammaRegressor)}


def rows(name: str, n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    mean = np.exp(X @ np.linspace(0.5, -0.5, d) + 0.7)
    return X, rng.poisson(mean) if name == "poisson" else rng.gamma(2.0, mean / 2.0)


@pytest.fixture(params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    return request.param


def test_ridge_as_scikit_learn(family: str) -> None:
    X, y = rows(family)
    weights, (loss, peer) = np.linspace(0.5, 2.0, len(y)), FAMILIES[family]
    problem = Problem(X, y, loss=loss, r1=penalties.L2Squared(0.1), sample_weight=weights, intercept=True)
    result = solve(problem, tol=1e-12)
    coef, intercept = problem.split(result.x)
    theirs = peer(alpha=0.1, tol=1e-12, solver="newton-cholesky").fit(X, y, weights)
    np.testing.assert_allclose(np.append(coef, intercept), np.append(theirs.coef_, theirs.intercept_), rtol=1e-7)
    assert result.stages[0].method == "prox-newton"


def test_structured_as_a_conic_solver(family: str) -> None:
    X, y = rows(family)
    problem = Problem(
        X, y, FAMILIES[family][0], penalties.L1(0.05), penalties.L1(0.1), operators.FirstDifference(), intercept=True
    )
    result = solve(problem)
    x, c = cp.Variable(X.shape[1]), cp.Variable()
    t = X @ x + c
    if family == "poisson":
        counts = np.where(y > 0, y, 1)
        loss = cp.exp(t) - cp.multiply(y, 1 + t) + y * np.log(counts)
    else:
        loss = cp.multiply(y, cp.exp(-t)) + t - 1 - np.log(y)
    peer = cp.Problem(cp.Minimize(cp.sum(loss) / len(y) + 0.05 * cp.norm1(x) + 0.1 * cp.norm1(cp.diff(x))))
    peer.solve(solver=cp.CLARABEL, **TIGHT)
    assert result.objective == pytest.approx(peer.value, rel=1e-7)
    assert result.certificate.met == "relative gap"
    assert result.certificate.dual <= peer.value * (1 + 1e-8)


def test_many_columns_by_the_working_set(family: str) -> None:
    X, y = rows(family, d=400)
    y = rows(family)[1]
    problem = Problem(X, y, FAMILIES[family][0], penalties.L1(0.2), intercept=True)
    result = solve(problem)
    assert result.stages[0].method == "working-set"
    assert result.status is Status.TOLERANCE
    assert 0 < np.count_nonzero(problem.split(result.x)[0]) < 60


def test_an_offset_is_a_coefficient_of_one(family: str) -> None:
    """The gradient at the solution vanishes where the margins hold the offset, and the objective counts it."""
    X, y = rows(family)
    offset = np.random.default_rng(1).normal(0.0, 2.0, len(y))
    loss = FAMILIES[family][0]
    problem = Problem(X, y, loss, penalties.L2Squared(0.1), intercept=True, offset=offset)
    result = solve(problem, tol=1e-12)
    coef, intercept = problem.split(result.x)
    margins = X @ coef + intercept + offset
    slopes = loss.derivative(margins, y) / len(y)
    np.testing.assert_allclose(slopes @ X + 0.1 * coef, 0.0, atol=1e-8)
    assert abs(slopes.sum()) < 1e-8
    expected = np.mean(loss.value(margins, y)) + 0.05 * coef @ coef
    assert result.objective == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_any_unit(family: str, unit: float) -> None:
    X, y = rows(family)
    for intercept in (True, False):
        result = solve(Problem(X, unit * y, FAMILIES[family][0], intercept=intercept))
        assert result.status is Status.TOLERANCE
        assert result.certificate.rel_gap <= 1e-6


def test_large_exposures(family: str) -> None:
    X, y = rows(family)
    exposure = np.geomspace(1.0, 1e8, len(y))
    weight = 0.1 * float(exposure.mean()) if family == "poisson" else 0.01
    problem = Problem(
        X, y * exposure, FAMILIES[family][0], penalties.L1(weight), intercept=True, offset=np.log(exposure)
    )
    result = solve(problem)
    assert result.status is Status.TOLERANCE
    assert 0.0 < problem.split(result.x)[1] < 1.5


def test_counts_that_are_all_zero_have_no_minimum() -> None:
    X, _ = rows("poisson")
    result = solve(Problem(X, np.zeros(60), losses.Poisson(), penalties.L1(0.1), intercept=True))
    assert result.status is Status.NO_MINIMUM
    assert result.objective < 1e-8


def test_separated_counts() -> None:
    """A group without counts, whose rate the data put at 0, and columns that fit every count."""
    groups = np.repeat(np.eye(2), 30, axis=0)
    counts = np.concatenate([rows("poisson")[1][:30], np.zeros(30)])
    result = solve(Problem(groups, counts, losses.Poisson()))
    assert result.status is Status.TOLERANCE  # within it of the infimum
    assert result.x[1] < -10.0
    X, y = rows("poisson", n=20, d=40)
    assert solve(Problem(X, y, losses.Poisson(), intercept=True)).status in (Status.NO_MINIMUM, Status.TOLERANCE)


def test_equal_labels_are_fitted_exactly(family: str) -> None:
    X, _ = rows(family)
    problem = Problem(X, np.full(60, 3.0), FAMILIES[family][0], intercept=True)
    result = solve(problem)
    assert result.status is Status.TOLERANCE
    assert problem.split(result.x)[1] == pytest.approx(np.log(3.0))


def test_a_trend_of_counts() -> None:
    rng = np.random.default_rng(0)
    truth = 2.0 + np.abs(np.arange(120) - 40.0) / 60.0
    problem = Problem(
        sp.eye_array(120, format="csr"),
        rng.poisson(np.exp(truth)),
        losses.Poisson(),
        r2=penalties.L1(5.0),
        F=operators.Difference(2),
    )
    result = solve(problem)
    assert result.status is Status.TOLERANCE
    assert float(np.abs(result.x - truth).max()) < 0.4


def test_methods_with_steps_from_a_bound_refuse() -> None:
    X, y = rows("poisson")
    for name in ("spdpeg", "vr-spdpeg", "condat-vu"):
        with pytest.raises(UnsupportedError, match=r'has none\. Use "prox-newton"'):
            solve(Problem(X, y, losses.Poisson()), name)


def test_a_method_by_prox_takes_it(family: str) -> None:
    X, y = rows(family)
    problem = Problem(X, y, FAMILIES[family][0], penalties.L2Squared(0.1))
    best = solve(problem).objective
    assert solve(problem, "sdca-admm", max_passes=60).objective < 1.01 * best


@pytest.mark.parametrize("size", [0.5, 30.0, 3000.0])
def test_a_start_outside_the_domain_or_far_away(family: str, size: float) -> None:
    X, y = rows(family)
    problem = Problem(
        X, y, loss=FAMILIES[family][0], r1=penalties.Quantile(np.ones(5), 0.5, 5.0), domain=penalties.NonNegative()
    )
    assert solve(problem, x0=np.full(5, -size), tol=1e-6).status is Status.TOLERANCE


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_a_domain_without_0_far_from_what_the_loss_asks_for(family: str, size: float) -> None:
    X, y = rows(family, 30, 12)
    F = np.eye(12)[:3] - np.eye(12)[3:6]
    r1, r2 = penalties.Quantile(size * np.arange(12.0), 0.85, 5.0), penalties.Simplex(size)
    X, y = np.repeat(X, 2, axis=0), np.repeat(1e-3 * (1 + y), 2)
    problem = Problem(X, y, loss=FAMILIES[family][0], r1=r1, r2=r2, F=F)
    assert solve(problem, tol=1e-3).status is Status.TOLERANCE


def test_offsets_are_refused() -> None:
    X, y = rows("poisson")
    with pytest.raises(InputError, match="offset has shape"):
        Problem(X, y, losses.Poisson(), offset=np.zeros(3))
    with pytest.raises(InputError, match="out of range"):
        Problem(X, y, losses.Poisson(), offset=np.full(60, 1e4))
    with pytest.raises(UnsupportedError, match="Logistic takes no offset"):
        Problem(X, y > 1, losses.Logistic(), offset=np.zeros(60))
    with pytest.raises(InputError, match="Leave y, sample_weight and offset out"):
        Problem(spdpeg.data.Stream([(X, y, None)]), loss=losses.Squared(), offset=np.zeros(60))
