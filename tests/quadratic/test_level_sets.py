"""Total variation on a graph by minimum cuts: beside interior points, along a chain, in other units, and its proof."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.exact.pieces import AbsolutePenalties
from spdpeg.kernels.weighted_chain import MEMORY, weighted_chain_signal
from spdpeg.operators import GridDifference
from spdpeg.quadratic import Model, minimize
from spdpeg.quadratic.level_sets import Graph, Terms, minimized


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, Terms]:
    """A graph of any shape, also in several parts and with parallel edges; some edges and weights are 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 4 * n))])
    cost = rng.exponential(rng.choice([0.03, 0.3, 3.0]), ends.shape[0]) * (rng.random(ends.shape[0]) < 0.9)
    weight = rng.choice([0.0, 0.3]) * rng.exponential(1.0, n) * (rng.random(n) < 0.7)
    curvature = np.exp(rng.choice([0.0, 2.0]) * rng.standard_normal(n))
    target = rng.standard_normal(n) if seed % 3 else rng.integers(0, 3, n).astype(float)
    return ends[:, 0], ends[:, 1], Terms(curvature, target, weight, cost)


def gap(first: np.ndarray, second: np.ndarray, terms: Terms, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The objective at x, and its distance from the bound that the multipliers give."""
    size = x.size
    flow = np.bincount(second, y, size) - np.bincount(first, y, size)
    curvature, target, weight, cost = terms
    value = 0.5 * curvature @ (x - target) ** 2 + weight @ np.abs(x) + cost @ np.abs(x[second] - x[first])
    best = target - flow / curvature
    best -= np.clip(best, -weight / curvature, weight / curvature)
    bound = 0.5 * curvature @ (best - target) ** 2 + weight @ np.abs(best) + flow @ best
    return float(value), float(value - bound)


@pytest.mark.parametrize("seed", range(60))
def test_the_minimum(seed: int) -> None:
    first, second, terms = drawn(seed)
    x, y = minimized(Graph.of(first, second, terms.target.size), terms)
    assert np.all(np.abs(y) <= terms.cost)
    value, left = gap(first, second, terms, x, y)
    assert abs(left) <= 1e-13 * (1.0 + value)
    m = first.size
    K = sp.csr_array((np.tile([-1.0, 1.0], m), np.column_stack([first, second]).ravel(), 2 * np.arange(m + 1)))
    K.resize(m, x.size)
    form = AbsolutePenalties.made(K, terms.cost, terms.weight, np.zeros(x.size)).form
    known = minimize(Model(sp.diags_array(terms.curvature, format="csr"), terms.curvature * terms.target, form))
    np.testing.assert_allclose(x, known.w, atol=1e-5)
    # Neighbours whose multiplier has room are equal to the last digit, and so are zeros.
    room = np.abs(y) < (1.0 - 1e-9) * terms.cost
    assert np.array_equal(x[first[room]], x[second[room]])
    slopes = np.abs(
        terms.curvature * (terms.target - x) - np.bincount(second, y, x.size) + np.bincount(first, y, x.size)
    )
    assert np.all(x[slopes < (1.0 - 1e-9) * terms.weight] == 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_along_a_chain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, l1 = 300, float(rng.choice([0.0, 0.2]))
    curvature = rng.exponential(1.0, n) * (rng.random(n) < 0.8)  # some values are missing
    target, cost = np.cumsum(rng.standard_normal(n)), rng.exponential(2.0, n - 1)
    x, y = minimized(Graph.of(np.arange(n - 1), np.arange(1, n), n), Terms(curvature, target, np.full(n, l1), cost))
    exact = np.empty(n)
    weighted_chain_signal(target, curvature, l1, cost, np.empty(MEMORY * n), exact)
    values = [
        0.5 * curvature @ (v - target) ** 2 + l1 * np.abs(v).sum() + cost @ np.abs(np.diff(v)) for v in (x, exact)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    seen = curvature > 0.0
    np.testing.assert_allclose(x[seen], exact[seen], atol=1e-9)
    # Where a value is missing, what flows in and out balances to the last digits.
    flow = np.diff(y, prepend=0.0, append=0.0)
    size = np.abs(np.append(y, 0.0)) + np.abs(np.append(0.0, y))
    assert np.all(np.abs(flow[~seen]) <= l1 + 1e-14 * size[~seen])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shape", [(40, 50), (9, 10, 11)])
def test_grids_in_any_units(shape: tuple[int, ...], unit: float) -> None:
    rng = np.random.default_rng(1)
    edges = GridDifference(shape).matrix()
    first, second = edges.indices[0::2].astype(np.int64), edges.indices[1::2].astype(np.int64)
    n, m = edges.shape[1], edges.shape[0]
    target = np.repeat(rng.integers(0, 3, n // 10 + 1), 10)[:n] + rng.standard_normal(n)
    graph, ones = Graph.of(first, second, n), np.ones(n)
    x, _ = minimized(graph, Terms(ones, target, 0.1 * ones, np.full(m, 0.5)))
    scaled, flow = minimized(graph, Terms(ones / unit, unit * target, 0.1 * ones, np.full(m, 0.5)))
    np.testing.assert_allclose(scaled, unit * x, rtol=1e-9, atol=1e-12 * unit)
    terms = Terms(ones / unit, unit * target, 0.1 * ones, np.full(m, 0.5))
    value, left = gap(first, second, terms, scaled, flow)
    assert abs(left) <= 1e-12 * value
    assert np.unique(scaled).size == np.unique(x).size


def test_levels_keep_their_digits_beside_a_large_common_one() -> None:
    rng = np.random.default_rng(2)
    n = 200
    first = rng.integers(0, n, 600)
    second = (first + rng.integers(1, n, 600)) % n
    target, zero, ones = rng.standard_normal(n), np.zeros(n), np.ones(n)
    graph, cost = Graph.of(first, second, n), np.full(600, 0.1)
    low = minimized(graph, Terms(ones, target, zero, cost))[0]
    high = minimized(graph, Terms(ones, target + 1e9, zero, cost))[0]
    np.testing.assert_allclose(high - 1e9, low, atol=1e-6)


def test_nothing_to_cut() -> None:
    none = np.zeros(0, dtype=np.int64)
    target = np.array([3.0, -0.5, 0.2])
    x, y = minimized(Graph.of(none, none, 3), Terms(np.ones(3), target, np.full(3, 0.4), np.zeros(0)))
    np.testing.assert_allclose(x, [2.6, -0.1, 0.0])
    assert y.size == 0
    graph = Graph.of(np.array([0, 1]), np.array([1, 2]), 3)
    x, y = minimized(graph, Terms(np.zeros(3), np.zeros(3), np.zeros(3), np.ones(2)))
    assert not x.any()
    assert not y.any()
    x, _ = minimized(graph, Terms(np.array([0.0, 2.0, 0.0]), target, np.zeros(3), np.ones(2)))
    np.testing.assert_array_equal(x, -0.5)
