"""Losses of lines and parabolas as one conic program, and multipliers without a residual."""

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, penalties
from spdpeg.quadratic import Model, minimize

LOSSES = [losses.Huber(0.05), losses.SquaredHinge(), losses.SmoothedHinge(0.3), losses.Squared(), losses.Hinge()]


def rows(loss: losses.Loss) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 6))
    y = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0, 0.0]) + 0.3 * rng.standard_normal(40)
    return X, np.sign(y) if loss.binary else y


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_lines_are_the_loss(loss: losses.Loss) -> None:
    """phi(t, b) is the largest u (sign t - offset) - smoothing u^2 / 2 over the slopes u."""
    t = np.linspace(-3.0, 3.0, 41)
    b = np.where(np.arange(41) % 2 == 0, 1.0, -1.0)
    lines = loss.lines(b)
    assert lines is not None
    a = lines.sign * t - lines.offset
    u = np.clip(a / (lines.smoothing or 1e-300), -lines.short, lines.over)
    assert np.allclose(u * (a - 0.5 * lines.smoothing * u), loss.value(t, b))


@pytest.mark.parametrize("loss", LOSSES[:4], ids=repr)
def test_one_program_agrees_with_newton(loss: losses.Loss) -> None:
    X, y = rows(loss)
    problem = spdpeg.Problem(X, y, loss=loss, r1=penalties.L1(0.01), r2=penalties.L2Ball(0.8), intercept=True)
    whole = spdpeg.solve(problem, "interior-point", tol=1e-7)
    newton = spdpeg.solve(problem, "prox-newton", tol=1e-9)
    assert whole.status.name == "TOLERANCE"
    assert whole.objective == pytest.approx(newton.objective, rel=1e-7)
    assert whole.certificate.dual <= newton.objective * (1.0 + 1e-12)


def test_rows_far_outside_the_parabola() -> None:
    """Newton's steps crawl where hardly a row is curved; the plan goes on as one program."""
    X, y = rows(losses.Huber())
    problem = spdpeg.Problem(X, 1e3 * y, loss=losses.Huber(1e-6), r2=penalties.L1(1e-8), F=np.diff(np.eye(6), axis=0))
    assert spdpeg.solve(problem, tol=1e-8).status.name == "TOLERANCE"


def test_singular_model_is_stationary() -> None:
    """Equal columns: H is singular, and rounding is all that the optimality condition is left with."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = np.repeat(rng.standard_normal((40, 6)), 5, axis=1)
        model = Model(A.T @ A / 40, A.T @ rng.standard_normal(40), penalties.L1(1e-6).conic_form(30))
        assert np.abs(minimize(model).residual).max() < 1e-12


def test_small_set_beside_large_pulls() -> None:
    """A simplex of size 1e-5 beside columns of sizes 1e-4 to 1e5 is met in its own units."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5)) * 10.0 ** np.arange(-4.0, 5.0, 2.0)
    y = np.sign(rng.standard_normal(30))
    problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.Simplex(2e-5), intercept=True)
    result = spdpeg.solve(problem, tol=1e-6)
    x, _ = problem.split(result.x)
    assert result.status.name == "TOLERANCE"
    assert x.sum() == pytest.approx(2e-5, rel=1e-8)


def test_a_hinge_as_penalty_has_a_minimum() -> None:
    """An objective that falls from 1 to nothing is solved: a function of lines attains its infimum."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5, 8))
    y = np.sign(rng.standard_normal(5))
    r2 = penalties.Hinge(y, 0.2)
    result = spdpeg.solve(spdpeg.Problem(None, r1=penalties.L1(1e-19), r2=r2, F=X), tol=1e-3)
    assert result.status.name == "TOLERANCE"
    assert result.objective < 1e-12
