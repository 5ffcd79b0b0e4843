"""The weighted fused lasso of a signal: flows that prove its optimality, for all sorts of weights."""

import math

import numpy as np
import pytest

from spdpeg.kernels.chain import MEMORY
from spdpeg.kernels.weighted_chain import chain_bounds, chain_dual, chain_flows, chain_signal, weighted_chain_signal


def solved(y: np.ndarray, w: np.ndarray, l1: float, l2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solution and flows, with working memory full of NaN."""
    x, flows = np.empty(y.size), np.empty(max(y.size - 1, 0))
    weighted_chain_signal(y, w, l1, l2, np.full(MEMORY * y.size, np.nan), x)
    chain_flows(y, w, l1, l2, x, np.full(2 * y.size, np.nan), flows)
    return x, flows


@pytest.mark.parametrize("seed", range(4))
def test_the_flows_prove_the_solution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case in range(100):
        n = int(rng.integers(1, 30))
        y = np.round(3.0 * rng.standard_normal(n), 0 if case % 3 == 0 else 9)
        w = rng.exponential(1.0, n) * (rng.random(n) < (0.6 if case % 2 else 2.0))
        w[int(rng.integers(n))] = 1.0
        l1 = float(rng.choice([0.0, 0.1, 0.3, 1.0]))
        l2 = rng.exponential(1.0, n - 1) * (rng.random(n - 1) < (0.8 if case % 7 == 0 else 2.0))
        x, flows = solved(y, w, l1, l2)
        assert np.all(np.abs(flows) <= l2)
        primal, dual, divergence = chain_bounds(y, w, l1, l2, x, flows, float(x[0]) if l1 == 0.0 else 0.0)
        by_hand = 0.5 * w @ (x - y) ** 2 + l1 * np.abs(x).sum() + l2 @ np.abs(np.diff(x))
        assert primal == pytest.approx(by_hand, rel=1e-12, abs=1e-12)
        assert divergence <= l1 + 1e-12
        assert abs(primal - dual) <= 1e-12 * max(primal, 1.0)


@pytest.mark.parametrize("l1", [0.0, 0.4])
def test_equal_weights_need_no_weights(l1: float) -> None:
    rng = np.random.default_rng(0)
    y, l2 = rng.standard_normal(200).cumsum(), rng.exponential(1.0, 199)
    plain = np.empty(200)
    chain_signal(y, l1, l2, np.full(MEMORY * 200, np.nan), plain)
    np.testing.assert_allclose(solved(y, np.ones(200), l1, l2)[0], plain, atol=1e-12)


def test_a_value_without_weight_and_edges_disturbs_no_other() -> None:
    x, _ = solved(np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 1.0]), 0.0, np.array([0.0, 0.0]))
    assert x[[0, 2]].tolist() == [1.0, 3.0]
    assert np.isfinite(x[1])


def test_a_value_without_weight_follows_its_only_neighbour() -> None:
    x, _ = solved(np.array([2.0, 0.0]), np.array([1.0, 0.0]), 0.0, np.array([0.5]))
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("level", [0.0, 1e6])
def test_dual_value_of_a_long_chain(l1: float, level: float) -> None:
    """Against exact sums of the same terms; a sum from left to right would lose digits on the way."""
    rng = np.random.default_rng(3)
    n = 20_000
    y, weights = level + rng.standard_normal(n), np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.5, 2.0, n)) / n
    x = np.full(n, np.average(y, weights=weights))
    flows = np.cumsum(weights * (x - y))[:-1]
    value, noise, loss, cancelled, total = chain_dual(y, weights, l1, x, flows)
    force = np.append(0.0, flows) - np.append(flows, 0.0)
    slope = force + np.clip(-weights * (x - y) - force, -l1, l1)
    used = weights > 0.0
    assert np.all(np.abs(slope[~used]) <= l1 if l1 else slope[~used] == 0.0)
    y, weights, slope = y[used], weights[used], slope[used]
    shift = slope / weights
    assert abs(value - math.fsum(slope * (y - 0.5 * shift))) <= 4.0 * np.finfo(float).eps * noise
    assert noise == pytest.approx(np.sum(np.abs(slope) * (np.abs(y) + np.abs(shift))), rel=1e-12)
    assert loss == pytest.approx(0.5 * np.sum(weights * shift**2), rel=1e-12)
    assert cancelled == pytest.approx(np.sum(weights * np.abs(shift) * (np.abs(y - shift) + np.abs(y))), rel=1e-12)
    assert abs(total - math.fsum(slope)) <= 1e-12


def test_no_dual_value_where_nothing_holds_an_entry() -> None:
    assert chain_dual(np.zeros(3), np.array([1.0, 0.0, 1.0]), 0.0, np.zeros(3), np.array([0.5, 0.2]))[0] == -np.inf
