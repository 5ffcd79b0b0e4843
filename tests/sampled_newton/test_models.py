"""The model of a Newton step: its curvature, and how it is kept and corrected."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.sampled_newton import models
from spdpeg.sampled_newton.models import TallModel, splitting

RNG = np.random.default_rng(5)
X = RNG.standard_normal((200, 12)) * (RNG.random((200, 12)) < 0.2)
Y = RNG.random(200) < 0.5
WEIGHTS = RNG.random(200)


def made(design: object, **terms: object) -> tuple[spdpeg.Problem, TallModel]:
    problem = spdpeg.Problem(design, Y, losses.Logistic(), intercept=True, sample_weight=WEIGHTS, **terms)
    return problem, TallModel(problem.view, splitting(problem.view))


def backwards(design: np.ndarray) -> sp.csr_array:
    """The columns of each row from the last to the first."""
    rows = sp.csr_array(design)
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        rows.indices[start:stop] = rows.indices[start:stop][::-1].copy()
        rows.data[start:stop] = rows.data[start:stop][::-1].copy()
    rows.has_sorted_indices = False
    return rows


@pytest.mark.parametrize("design", [X, sp.csr_array(X), backwards(X)], ids=["dense", "sparse", "backwards"])
def test_curvature_is_that_of_the_loss(design: object) -> None:
    problem, model = made(design, r1=penalties.L1(0.1))
    x = RNG.standard_normal(13)
    whole = np.hstack([X, np.full((200, 1), problem.bias)])
    margins = whole @ x
    p = 1.0 / (1.0 + np.exp(-margins))
    expected = (whole * (WEIGHTS / WEIGHTS.sum() * p * (1.0 - p))[:, None]).T @ whole
    assert model.move(margins, 0.0, 1, 0, np.nan) == 200
    np.testing.assert_allclose(model._H, expected, rtol=1e-6, atol=1e-9)


def test_a_correction_follows_the_loss_along_the_step() -> None:
    _, model = made(X, r1=penalties.L1(0.1))
    model.move(np.zeros(200), 0.0, 1, 0, np.nan)
    move = RNG.standard_normal(13)
    change = 2.0 * model._H @ move + 0.01 * RNG.standard_normal(13)
    before = model._H.copy()
    model.correct(move, change)
    np.testing.assert_allclose(model._H @ move, change, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model._inverse @ (model._H + model._rho * np.eye(13)), np.eye(13), atol=1e-8)
    # What the loss cannot do is not believed.
    after = model._H.copy()
    model.correct(move, -change)
    np.testing.assert_array_equal(model._H, after)
    assert np.abs(after - before).max() > 0.0


def test_other_penalties_keep_the_curvature() -> None:
    problem, model = made(X, r1=penalties.L1(0.01), r2=penalties.L1(0.02), F=operators.FirstDifference())
    x = np.zeros(13)
    model.move(np.zeros(200), 0.0, 1, 0, np.nan)
    H = model._H.copy()
    for terms in (
        {"r1": penalties.L1(0.03), "r2": penalties.L1(0.01), "F": operators.FirstDifference()},
        {"r1": penalties.L2Squared(0.03), "r2": penalties.L1(0.01), "F": operators.FirstDifference()},
        {"r1": penalties.L2Squared(0.01), "r2": penalties.L1(0.02), "F": operators.FirstDifference()},
        {"r1": penalties.L1(0.02)},
    ):
        other = problem.with_penalties(**terms)
        form, gradient = splitting(other.view), other.gradient(x)
        model.penalise(other.view, form)
        np.testing.assert_array_equal(model._H, H)
        kept = model.minimize(x, gradient, form.split(other.view, x, np.zeros(other.F.n_outputs), gradient), 1e-11)
        anew = TallModel(other.view, form)
        anew.move(np.zeros(200), 0.0, 1, 0, np.nan)
        found = anew.minimize(x, gradient, form.split(other.view, x, np.zeros(other.F.n_outputs), gradient), 1e-11)
        np.testing.assert_allclose(kept, found, atol=1e-8)


@pytest.mark.parametrize("kind", ["dense", "singular", "sparse"])
def test_interior_points_of_a_model_with_l1_norms(kind: str) -> None:
    """Optimality conditions, with rows of weight 0 among the others."""
    rng = np.random.default_rng(0)
    d = 12
    A = rng.standard_normal((6 if kind == "singular" else 40, d))
    H: Any = sp.csr_array(sp.diags_array(rng.uniform(0.1, 2.0, d))) if kind == "sparse" else A.T @ A / len(A)
    right = A.T @ rng.standard_normal(len(A)) / len(A)
    K = sp.csr_array(np.vstack([np.diff(np.eye(d), axis=0), np.eye(d)]))
    weights = np.where(np.arange(K.shape[0]) % 4 == 0, 0.0, 0.1)
    x, y = models._by_interior_points(H, right, K, weights, 1e-10)
    assert np.all(np.abs(y) <= weights)
    np.testing.assert_allclose(H @ x + K.T @ y, right, atol=1e-10)
    assert weights @ np.abs(K @ x) - y @ (K @ x) < 1e-9


def test_a_graph_of_many_parts_whose_means_no_penalty_sees() -> None:
    """K^T K is singular then, to the last bit."""
    rng = np.random.default_rng(0)
    d = 2400
    problem = spdpeg.Problem(
        rng.standard_normal((20, d)),
        rng.standard_normal(20),
        losses.Squared(),
        r2=penalties.L1(0.1),
        F=operators.GraphDifference([(k, k + 1) for k in range(0, d, 2)]),
    )
    result = spdpeg.solve(problem, "sampled-newton", max_passes=20)
    assert result.objective < 0.1 * problem.objective(np.zeros(d))
