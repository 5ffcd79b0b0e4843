"""Interior points with nuclear norms: the optimality conditions themselves, and a conic solver."""

import cvxpy as cp
import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.penalties.conic import broken_lines
from spdpeg.quadratic import Model, semidefinite

SHAPES = [(2, 2), (3, 5), (6, 4), (9, 2)]


@pytest.mark.parametrize("curved", [True, False], ids=["square", "lines"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_solution_and_multipliers(shape: tuple[int, int], curved: bool) -> None:
    rng = np.random.default_rng(sum(shape))
    d = shape[0] * shape[1]
    A, t, n = rng.standard_normal((2 * d, d)), rng.standard_normal(2 * d), 2 * d
    nuclear, l1 = penalties.Nuclear(0.2, shape), penalties.L1(0.01)
    form = nuclear.conic_form(d) + l1.conic_form(d)
    H, b = (A.T @ A / n, A.T @ t / n) if curved else (np.zeros((d, d)), np.zeros(d))
    if not curved:
        form = form + broken_lines(A, t, 0.3 / n, 0.7 / n)
    found = semidefinite.minimize(Model(H, b, form))
    assert found.found
    rest = H @ found.w - b + form.adjoint(found.y)
    assert np.abs(rest).max() <= 1e-10
    own = found.y[form.n_lines :]
    assert np.linalg.norm(own.reshape(shape), 2) <= 0.2 * (1.0 + 1e-14)
    assert own @ found.w == pytest.approx(nuclear.value(found.w), rel=1e-8)
    x = cp.Variable(d)
    error = A @ x - t
    fit = cp.sum_squares(error) / (2 * n) if curved else cp.sum(cp.maximum(0.3 * error, -0.7 * error)) / n
    objective = fit + 0.2 * cp.normNuc(cp.reshape(x, shape, order="C")) + 0.01 * cp.norm1(x)
    best = cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    x.value = found.w
    assert objective.value <= best + 1e-7 * abs(best)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Huber(0.1), losses.Logistic()], ids=repr)
def test_columns_of_many_sizes(loss: losses.Loss) -> None:
    """Augmented Lagrangians, which know one number for all rows of K, do not get there."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 12)) * 10.0 ** rng.uniform(-4.0, 4.0, 12)
        y = np.where(rng.random(40) < 0.5, -1.0, 1.0)
        r2 = penalties.Nuclear(1e-2, (3, 4))
        problem = spdpeg.Problem(X, y, loss, penalties.L1(1e-3), r2, operators.Identity())
        result = spdpeg.solve(problem, tol=1e-7)
        assert (seed, result.status) == (seed, spdpeg.Status.TOLERANCE)
