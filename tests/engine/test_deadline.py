"""Budgets of seconds hold inside a step too: what works without data ends soon after, the run at a whole point."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.kernels import deadline
from spdpeg.quadratic import Model, linear_algebra, minimize
from spdpeg.result import Status


def problem() -> spdpeg.Problem:
    """Rows of three entries and more, so that models take interior points."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 60))
    score = X[:, :20].sum(axis=1)
    F = operators.Matrix(sp.random_array((60, 60), density=4 / 60, rng=rng, format="csr"))
    r = penalties.L1(0.01)
    return spdpeg.Problem(X, np.where(score > 0.0, 1.0, -1.0), loss=losses.Logistic(), r1=r, r2=r, F=F)


def test_no_limit_by_default() -> None:
    assert deadline.seconds_left() == np.inf
    deadline.check(1e300)
    with deadline.within(np.inf, time.perf_counter):
        assert deadline.seconds_left() == np.inf


def test_the_inner_limit_counts_and_the_outer_one_returns() -> None:
    clock = iter(range(100)).__next__
    with deadline.within(50.0, clock):
        with deadline.within(3.0, clock):
            deadline.check()
            with pytest.raises(deadline.OutOfTime):
                deadline.check(ahead=4.0)
        assert deadline.seconds_left() > 30.0
        with pytest.raises(deadline.OutOfTime):
            deadline.check(ahead=49.0)
    assert deadline.seconds_left() == np.inf


def test_interior_points_stop_between_steps() -> None:
    form = penalties.L1(0.1).conic_form(200)
    assert form is not None
    with deadline.within(-1.0, time.perf_counter), pytest.raises(deadline.OutOfTime):
        minimize(Model(sp.eye_array(200, format="csr"), np.ones(200), form))


def test_a_factorisation_that_fills_in_is_not_begun() -> None:
    chain = sp.diags_array([np.ones(299), np.full(300, 4.0), np.ones(299)], offsets=[-1, 0, 1], format="csr")
    few = linear_algebra.band_flops(chain)
    assert few < 1000
    tangled = sp.random_array((300, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    assert linear_algebra.band_flops(tangled + tangled.T + sp.eye_array(300)) > 1000 * few


def test_a_step_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run says why it ended, counts what was read, has a valid certificate, and goes on from where it is."""
    best = spdpeg.solve(problem(), "prox-newton", tol=1e-8)
    assert best.certificate is not None

    def late(*arguments: object) -> None:
        raise deadline.OutOfTime

    fresh = problem()
    with monkeypatch.context() as patch:
        patch.setattr(deadline, "check", late)
        found = spdpeg.solve(fresh, "prox-newton", tol=1e-8, max_seconds=60.0)
    assert found.status is Status.MAX_SECONDS
    assert found.certificate is not None
    assert found.certificate.primal >= best.certificate.dual
    assert found.certificate.dual <= best.certificate.primal * (1.0 + 1e-12)
    assert np.all(np.isfinite(found.x))
    again = spdpeg.solve(fresh, "prox-newton", tol=1e-8, state=found.state)
    assert again.certificate is not None
    assert again.certificate.met == "relative gap"
    assert again.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-7)
