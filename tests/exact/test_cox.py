"""The partial likelihood: against its definition, differences and an interior-point solver."""

from functools import partial
from typing import Any, NamedTuple

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import operators, penalties
from spdpeg.engine import quietly
from spdpeg.errors import UnsupportedError
from spdpeg.exact.cox import Cox
from spdpeg.result import Run, Status
from support.models import minimum

cp: Any = cvxpy


class Cohort(NamedTuple):
    """Rows with ties, some censored, weights of all sizes."""

    X: np.ndarray
    times: np.ndarray
    events: np.ndarray
    weights: np.ndarray

    @classmethod
    def drawn(cls, seed: int, n: int, d: int) -> "Cohort":
        """Times are whole numbers, so that events are tied among each other and with censored rows."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) + rng.standard_normal(d)
        times, events = np.ceil(rng.exponential(4.0, n)), (rng.random(n) < 0.6).astype(float)
        events[0] = 1.0
        return cls(X, times, events, rng.uniform(0.1, 3.0, n))

    def loss(self, x: np.ndarray) -> float:
        """As it is defined, event by event."""
        total, (X, times, events, w) = 0.0, self
        for i in np.flatnonzero(events):
            at_risk, tied = times >= times[i], (times == times[i]) & (events == 1.0)
            sum_at_risk = np.sum(w[at_risk] * np.exp(X[at_risk] @ x))
            total += w[i] * (np.log(sum_at_risk / w[tied].sum()) - X[i] @ x)
        return total / w.sum()

    def solved(self, lam1: float, lam2: float) -> tuple[np.ndarray, float]:
        """Solution and objective by Clarabel."""
        X, times, events, w = self
        x, loss = cp.Variable(X.shape[1]), 0.0
        for i in np.flatnonzero(events):
            at_risk, tied = times >= times[i], (times == times[i]) & (events == 1.0)
            loss += w[i] * (cp.log_sum_exp(X[at_risk] @ x + np.log(w[at_risk] / w[tied].sum())) - X[i] @ x)
        problem = cp.Problem(cp.Minimize(loss / w.sum() + lam1 * cp.norm1(x) + lam2 * cp.norm1(cp.diff(x))))
        value = minimum(problem)
        return x.value, value


def fused(problem: Cox, d: int, lam1: float, lam2: float) -> Cox:
    return problem.with_penalties(
        penalties.L1(lam1) if lam1 else None,
        penalties.L1(lam2) if lam2 else None,
        operators.FirstDifference().bind(d) if lam2 else None,
    )


def run(problem: Cox, d: int, tol: float = 1e-9, max_passes: float = 1000) -> Run:
    return problem.solve([(np.zeros(d), 0.0, None)], tol, max_passes, partial(quietly, seed=0))


SIZES = [(30, 6), (12, 20), (60, 5)]
"""Fewer rows than features too: the model is then made of rows, not of a Hessian."""


@pytest.mark.parametrize("size", SIZES)
def test_derivatives(size: tuple[int, int]) -> None:
    cohort = Cohort.drawn(0, *size)
    problem, d = Cox(*cohort), size[1]
    x = 0.3 * np.random.default_rng(1).standard_normal(d)
    assert problem.loss(x) == pytest.approx(cohort.loss(x), rel=1e-12)
    steps = 1e-6 * np.eye(d)
    slopes = [(cohort.loss(x + step) - cohort.loss(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(problem.gradient(x), slopes, atol=1e-8)
    root, target = problem._curvature(problem._margins(x))
    assert len(root) <= d
    np.testing.assert_allclose(root.T @ target, problem.gradient(x), atol=1e-10)
    bends = [(problem.gradient(x + step) - problem.gradient(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(root.T @ root, bends, atol=1e-7)


@pytest.mark.parametrize(("lam1", "lam2"), [(0.01, 0.03), (0.05, 0.0), (0.0, 0.05), (0.02, 0.02)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_optimum(seed: int, size: tuple[int, int], lam1: float, lam2: float) -> None:
    cohort, d = Cohort.drawn(seed, *size), size[1]
    found = run(fused(Cox(*cohort), d, lam1, lam2), d)
    x, objective = cohort.solved(lam1, lam2)
    assert found.objective == pytest.approx(objective, rel=1e-6)
    assert found.certificate.met == "relative gap"
    assert found.certificate.dual <= objective + 1e-7 * abs(objective)
    assert found.certificate.dual <= found.objective + 1e-13
    # Coefficients along which the loss is flat are known to the root of the gap, and to that of Clarabel's.
    np.testing.assert_allclose(cohort.X @ (found.x - x), np.mean(cohort.X @ (found.x - x)), atol=2e-3)


@pytest.mark.parametrize("size", SIZES)
def test_the_bound_is_below_the_optimum_wherever_it_is_taken(size: tuple[int, int]) -> None:
    cohort, d = Cohort.drawn(5, *size), size[1]
    problem = fused(Cox(*cohort), d, 0.02, 0.02)
    best = run(problem, d)
    rng = np.random.default_rng(0)
    for spread in (0.0, 0.01, 1.0, 10.0):
        x = best.x + spread * rng.standard_normal(d)
        margins = problem._margins(x)
        certificate = problem._certificate(
            problem._model(x, margins), x, margins, rng.uniform(-0.05, 0.05, d - 1), problem.objective(x), -np.inf
        )
        assert certificate.dual <= best.objective
        assert certificate.primal >= best.objective - 1e-9


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.3, 1.0])
def test_the_conjugate_is_that_of_one_event_time(share: float) -> None:
    """A single risk set is a softmax, whose conjugate is the relative entropy; here it is maximised numerically."""
    rng = np.random.default_rng(0)
    w, m = rng.uniform(0.5, 2.0, 6), rng.standard_normal(6)
    events = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    problem = Cox(np.eye(6), np.ones(6), events, w)
    gradient, loss_part = problem._slopes(m)
    margins = cp.Variable(6)
    died = float(w @ events)
    loss = (died * cp.log_sum_exp(margins + np.log(w / died)) - (w * events) @ margins) / w.sum()
    assert loss_part(share) == pytest.approx(
        minimum(cp.Problem(cp.Minimize(loss - share * gradient @ margins))), abs=1e-7
    )


def test_sparse_rows_are_rows() -> None:
    cohort = Cohort.drawn(3, 700, 5)  # more than a block of rows
    cohort = cohort._replace(X=np.where(cohort.X > 0.5, cohort.X, 0.0))
    dense, sparse = (fused(Cox(X, *cohort[1:]), 5, 0.01, 0.01) for X in (cohort.X, sp.csr_array(cohort.X)))
    np.testing.assert_allclose(run(dense, 5).x, run(sparse, 5).x, atol=1e-9)


def test_margins_beyond_the_exponential() -> None:
    cohort = Cohort.drawn(2, 30, 3)
    far = cohort._replace(X=cohort.X + 1e4)
    x = np.array([0.3, 0.2, -0.1])
    assert Cox(*far).loss(x) == pytest.approx(cohort.loss(x), rel=1e-9)
    np.testing.assert_allclose(Cox(*far).gradient(x), Cox(*cohort).gradient(x), atol=1e-8)
    steep = Cox(*cohort).gradient(1e5 * x)
    assert np.all(np.isfinite(steep))


def test_columns_of_different_units() -> None:
    cohort = Cohort.drawn(4, 100, 4)
    units = np.array([1e-6, 1.0, 1e6, 1e3])
    plain = run(fused(Cox(*cohort), 4, 0.0, 0.0), 4)
    scaled = run(fused(Cox(cohort.X * units, *cohort[1:]), 4, 0.0, 0.0), 4)
    np.testing.assert_allclose(scaled.x * units, plain.x, atol=1e-6)


def test_a_likelihood_without_maximum() -> None:
    """The order of the times is that of the feature: no coefficient is large enough."""
    problem = fused(Cox(np.arange(8.0)[:, None], np.arange(8.0), np.ones(8), None), 1, 0.0, 0.0)
    found = run(problem, 1, tol=1e-6)
    assert found.certificate.met is None
    assert found.status is Status.NO_MINIMUM


@pytest.mark.parametrize("n", [1, 3, 10])
def test_nothing_to_explain(n: int) -> None:
    """All rows have their event at the same time: x = 0 is optimal, and the loss there is 0 but for rounding."""
    X = np.random.default_rng(0).uniform(size=(n, 3))
    found = run(fused(Cox(X, np.ones(n), np.ones(n), None), 3, 0.01, 0.03), 3)
    assert found.certificate.met is not None
    np.testing.assert_array_equal(found.x, 0.0)


def test_too_large() -> None:
    with pytest.raises(UnsupportedError, match="at most 5000 features"):
        Cox(sp.csr_array((6000, 6000)), np.ones(6000), np.ones(6000), None)
