"""Conjugate gradients among multipliers: beside interior points, from other multipliers, and where they are slow."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.exact.pieces import AbsolutePenalties
from spdpeg.quadratic import LowRank, Model, minimize, multipliers


def model(seed: int, d: int = 40, few: int = 5) -> tuple[Model, multipliers.Inverse, multipliers.CostedRows]:
    """Single entries, pairs and long rows of any size beside a diagonal and some rows, of both signs."""
    rng = np.random.default_rng(seed)
    K = sp.random_array((60, d), density=rng.choice([0.03, 0.1]), rng=rng, format="csr")
    K.data = rng.standard_normal(K.nnz)
    D = np.exp(rng.normal(0.0, 1.0, d))
    V = np.linalg.qr(rng.standard_normal((d, few)))[0].T
    signs = np.where(rng.random(few) < 0.3, -0.5 * D.min(), np.exp(rng.normal(1.0, 2.0, few)))
    form = AbsolutePenalties.made(
        sp.csr_array(K), rng.choice([0.01, 0.3, 3.0]) * np.ones(60), np.zeros(d), np.zeros(d)
    ).form
    inner = np.linalg.inv(np.diag(1.0 / signs) + (V / D) @ V.T)
    H = multipliers.Inverse(D, np.ascontiguousarray(V.T), inner, np.zeros(few))
    rows = multipliers.CostedRows(form.K.indptr.astype(np.int64), form.K.indices.astype(np.int64), form.K.data, form.up)
    return Model(LowRank(D, V, signs), rng.standard_normal(d), form), H, rows


@pytest.mark.parametrize("seed", range(60))
def test_the_minimum(seed: int) -> None:
    small, H, rows = model(seed)
    y = np.zeros(rows.cost.size)
    # As steps from another point, where the model has another slope.
    x = np.random.default_rng(seed).standard_normal(small.b.size) if seed % 2 else np.zeros(small.b.size)
    slope = small.b - small.times(x)
    step, few, gap = multipliers.descend(H, slope, rows, x, y, 1e-10, 20_000)
    w = x + step
    expected = minimize(small)
    assert gap <= 1e-10
    assert np.all(np.abs(y) <= rows.cost)
    assert small.value(w) <= expected.value + 2e-10
    np.testing.assert_allclose(w, expected.w, atol=1e-4)
    # The gap is what complementarity lacks, and the optimality condition holds.
    np.testing.assert_allclose(small.times(w), small.b - small.form.K.T @ y, atol=1e-9 * np.abs(small.b).max())
    missing = float(rows.cost @ np.abs(small.form.K @ w) - y @ (small.form.K @ w))
    assert abs(missing - gap) <= 1e-12
    np.testing.assert_allclose(step, (slope - small.form.K.T @ y - H.rows @ few) / H.D, atol=1e-10)
    # From its own multipliers there is nothing left to do, and it says so after no product.
    again = y.copy()
    multipliers.descend(H, slope, rows, x, again, 1e-10, 0)
    np.testing.assert_allclose(again, y, rtol=1e-12)


def test_gaps_are_bounds_after_any_number_of_products() -> None:
    small, H, rows = model(2)
    best = minimize(small).value
    gaps = []
    for most in range(0, 400, 20):
        y = np.zeros(rows.cost.size)
        w, _, gap = multipliers.descend(H, small.b, rows, np.zeros(small.b.size), y, 0.0, most)
        assert small.value(w) - gap <= best + 1e-12
        gaps.append(gap)
    assert gaps[-1] < 1e-3 * gaps[0]


def test_multipliers_outside_their_intervals_are_brought_inside() -> None:
    small, H, rows = model(3)
    y = np.full(rows.cost.size, 1e6)
    _, _, gap = multipliers.descend(H, small.b, rows, np.zeros(small.b.size), y, 1e-10, 5000)
    assert gap <= 1e-10
    assert np.all(np.abs(y) <= rows.cost)


def test_other_coordinates_enter_through_the_few_rows() -> None:
    """A model of all coordinates, of which K has entries in the first ones only."""
    small, H, rows = model(11, d=40)
    used = np.arange(25)
    K = sp.csr_array(small.form.K[:, used])
    keep = np.diff(K.indptr) > 0
    K = sp.csr_array(K[keep])
    cost = rows.cost[keep]
    of_used = multipliers.CostedRows(K.indptr.astype(np.int64), K.indices.astype(np.int64), K.data, cost)
    beside = H.rows[25:].T @ (small.b[25:] / H.D[25:])
    part = multipliers.Inverse(H.D[used], H.rows[used].copy(), H.inner, beside)
    w, few, _ = multipliers.descend(part, small.b[used], of_used, np.zeros(25), np.zeros(cost.size), 1e-12, 5000)
    padded = sp.csr_array((K.data, K.indices, K.indptr), shape=(cost.size, 40))
    whole = multipliers.CostedRows(of_used.pointers, of_used.columns, padded.data, cost)
    everything, _, _ = multipliers.descend(H, small.b, whole, np.zeros(40), np.zeros(cost.size), 1e-12, 5000)
    np.testing.assert_allclose(w, everything[used], atol=1e-6)
    np.testing.assert_allclose((small.b[25:] - H.rows[25:] @ few) / H.D[25:], everything[25:], atol=1e-6)


def test_products_are_counted() -> None:
    """A chain of equal neighbours is badly conditioned: few products are not enough."""
    d = 2000
    K = sp.csr_array(sp.diags_array([np.ones(d - 1), -np.ones(d - 1)], offsets=[1, 0], shape=(d - 1, d)))
    rows = multipliers.CostedRows(K.indptr.astype(np.int64), K.indices.astype(np.int64), K.data, np.full(d - 1, 1e3))
    H = multipliers.Inverse(np.ones(d), np.zeros((d, 0)), np.zeros((0, 0)), np.zeros(0))
    b = np.linspace(-1.0, 1.0, d)
    _, _, gap = multipliers.descend(H, b, rows, np.zeros(d), np.zeros(d - 1), 1e-9, 100)
    assert gap > 1e-9
