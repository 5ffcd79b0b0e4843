"""Second moments tell the squared loss everywhere, add up over blocks and folds, and know their rounding errors."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses
from spdpeg.sums.moments import Moments, near_means


def rows(level: float = 0.0, n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6) + level
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n), rng.integers(0, 3, n).astype(float)


def problem(X: Any, y: Any, **arguments: Any) -> spdpeg.Problem:
    return spdpeg.Problem(X, y, loss=losses.Squared(), **arguments)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_its_gradient_and_its_model(kind: Any, intercept: bool, weighted: bool) -> None:
    X, y, weights = rows()
    given = problem(kind(X), y, sample_weight=weights if weighted else None, intercept=intercept)
    loss, x = given.view.moments.loss, np.random.default_rng(1).standard_normal(given.n_coordinates)
    assert loss.value(x) == pytest.approx(given.view.mean_loss(x), rel=1e-13)
    np.testing.assert_allclose(loss.gradient(x), given.gradient(x), rtol=1e-12, atol=1e-13)
    w, start = loss.encoded(x), loss.decoded(np.zeros(x.size))
    np.testing.assert_allclose(loss.decoded(w), x, atol=1e-14)
    rise = 0.5 * w @ (loss.H @ w) - loss.b @ w
    assert loss.value(x) - loss.value(start) == pytest.approx(rise, rel=1e-12)


def test_folds_are_what_is_left_of_the_whole() -> None:
    X, y, _ = rows()
    whole = problem(X, y)
    place = near_means(whole.view.rows.block)
    parts = [Moments.of(problem(X[k::3], y[k::3]).view.rows.block, place) for k in range(3)]
    total = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(total.matrix, Moments.of(whole.view.rows.block, place).matrix, rtol=1e-12, atol=1e-12)
    others, x = np.arange(60) % 3 > 0, np.ones(5)
    left = (total - parts[0]).loss(0.0)
    assert left.value(x) == pytest.approx(problem(X[others], y[others]).view.mean_loss(x), rel=1e-12)
    assert left.error(x) >= total.loss(0.0).error(x)


@pytest.mark.parametrize("level", [0.0, 1e3, 1e6])
def test_rounding_stays_within_its_bound(level: float) -> None:
    """Labels that are fitted to six digits, on columns far from 0."""
    X, _, _ = rows(level)
    x = np.arange(1.0, 6.0)
    y = X @ x + 1e-6 * np.random.default_rng(2).standard_normal(60)
    given = problem(X, y)
    exact = np.square((X.astype(np.longdouble) @ x.astype(np.longdouble)) - y).mean() / 2
    off = abs(given.view.moments.loss.value(x) - float(exact))
    assert off <= given.view.moments.loss.error(x)


def test_a_level_costs_no_digits_beside_an_intercept() -> None:
    X, y, _ = rows()
    plain, moved = problem(X, y, intercept=1.0), problem(X + 1e6, y + 1e8, intercept=1.0)
    x = np.linalg.lstsq(np.hstack([X, np.ones((60, 1))]), y, rcond=None)[0]
    w = plain.view.moments.loss.encoded(x)
    w[-1] = moved.view.moments.loss.b[-1] / moved.view.moments.loss.H[-1, -1]
    assert moved.view.moments.loss.value(moved.view.moments.loss.decoded(w)) == pytest.approx(
        plain.view.mean_loss(x), rel=1e-6
    )


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_signal_keeps_one_number_for_each_column(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = np.diag(rng.uniform(0.5, 2.0, 9))[rng.permutation(9)], rng.standard_normal(9)
    weights = np.r_[0.0, rng.uniform(0.5, 1.0, 8)]
    given = problem(kind(X), y, sample_weight=weights)
    x = rng.standard_normal(9)
    assert given.view.moments.is_signal
    assert given.view.moments.loss.H.nnz <= 9
    assert given.view.moments.loss.uniform_curvature is None
    assert given.view.moments.loss.value(x) == pytest.approx(given.view.mean_loss(x), rel=1e-14)
    np.testing.assert_allclose(given.view.moments.loss.gradient(x), given.gradient(x), rtol=1e-13, atol=1e-15)
    assert problem(kind(2.0 * np.eye(9)), y).view.moments.loss.uniform_curvature == pytest.approx(4.0 / 9.0)


def test_what_is_no_signal() -> None:
    X, y, _ = rows()
    assert not problem(X, y).view.moments.is_signal
    assert not problem(sp.eye_array(4, format="csr"), np.ones(4), intercept=True).view.moments.is_signal
    assert not spdpeg.Problem(np.eye(4), [0, 1, 0, 1], loss=losses.Logistic()).view.moments.is_signal


def test_problems_on_the_same_rows_share_them() -> None:
    X, y, _ = rows()
    one = problem(X, y)
    other = one.with_penalties(spdpeg.penalties.L1(0.1))
    assert not other.view.moments.known
    assert other.view.moments.loss is one.view.moments.loss
    assert (one.view.moments.uncounted_rows(), other.view.moments.uncounted_rows()) == (60, 0)
