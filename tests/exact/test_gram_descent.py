"""The squared loss among few columns, on the matrix of their products."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, penalties
from spdpeg.exact import gram_descent
from spdpeg.exact.block_newton import Aim, minimized
from spdpeg.exact.block_terms import Blocks


def small(seed: int, dense: bool, n: int = 60, d: int = 25) -> Any:
    """Rows with two equal columns and an empty one, weights of rows, and an intercept."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.4, rng.standard_normal((n, d)), 0.0)
    X[:, 1], X[:, 2] = X[:, 0], 0.0
    y = X[:, :5] @ rng.standard_normal(5) + 0.3 * rng.standard_normal(n) + 1.0
    return spdpeg.Problem(
        X if dense else sp.csr_array(X),
        y,
        loss=losses.Squared(),
        sample_weight=rng.uniform(0.5, 2.0, n),
        intercept=True,
    ).view.sums


def blocks(weight: float, ridge: float, d: int = 25) -> Blocks:
    held, square = np.full(d + 1, weight), np.full(d + 1, ridge)
    held[-1] = square[-1] = 0.0
    return Blocks(held, square, np.arange(d + 2), np.zeros(d + 1))


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("weight", [0.3, 0.03, 1e-4])
@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_descent_on_columns(seed: int, weight: float, ridge: float, dense: bool) -> None:
    sums, given = small(seed, dense), blocks(weight, ridge)
    rng = np.random.default_rng(seed)
    start = np.where(rng.random(26) < 0.5, rng.standard_normal(26), 0.0)
    assert gram_descent.pays(sums.block, given) == (ridge == 0.0)
    found = gram_descent.descended(sums, given, start, 1e-13)
    other = minimized(sums.block, losses.Squared(), given, start, Aim(1e-13, 1e-13, 0.0))
    assert found.found

    def value(w: np.ndarray) -> float:
        return sums.at(w).loss + given.weight @ np.abs(w) + 0.5 * given.ridge @ (w * w)

    assert value(found.w) <= value(other.w) * (1 + 1e-12)
    np.testing.assert_allclose(found.margins, sums.at(found.w).margins, atol=1e-12)
    gradient = sums.at(found.w).gradient + given.ridge * found.w
    zero = found.w == 0.0
    assert np.all(np.abs(gradient[zero]) <= given.weight[zero] * (1 + 1e-6) + 1e-9)
    np.testing.assert_allclose(gradient[~zero], -(given.weight * np.sign(found.w))[~zero], atol=1e-6)


def test_more_columns_than_rows() -> None:
    """The matrix is singular among all columns, and among those in use a factor may fail."""
    sums = small(5, dense=True, n=20, d=80)
    for weight in (1e-2, 1e-4):
        given = blocks(weight, 0.0, 80)
        found = gram_descent.descended(sums, given, np.zeros(81), 1e-10)
        other = minimized(sums.block, losses.Squared(), given, np.zeros(81), Aim(1e-10, 1e-10, 0.0))
        assert found.found
        values = [sums.at(w).loss + given.weight @ np.abs(w) for w in (found.w, other.w)]
        assert values[0] <= values[1] * (1 + 1e-8)


def test_groups_and_many_columns_are_left_to_others() -> None:
    sums = small(0, dense=True)
    grouped = Blocks(np.zeros(26), np.zeros(26), np.array([0, 10, 25, 26]), np.array([0.1, 0.1, 0.0]))
    assert not gram_descent.pays(sums.block, grouped)
    many = gram_descent.MOST_COLUMNS + 1
    wide = spdpeg.Problem(np.zeros((1, many)), [1.0], loss=losses.Squared(), r1=penalties.L1(1.0)).view.sums
    assert not gram_descent.pays(wide.block, Blocks(np.ones(many), np.zeros(many), np.arange(many + 1), np.zeros(many)))
