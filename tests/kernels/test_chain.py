"""Total variation along a chain: the exact prox, and the scale at which a vector enters the dual unit ball."""

from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from spdpeg import penalties
from spdpeg.kernels.chain import MEMORY, chain_prox, dual_scale
from support import formulas

QUICK = settings(max_examples=150, deadline=None, derandomize=True, database=None)
EPSILON = float(np.finfo(float).eps)


def prox(v: np.ndarray, weights: np.ndarray, step: float = 1.0) -> np.ndarray:
    """The prox with working memory full of NaN: what was in it must not matter."""
    out = np.empty_like(v)
    chain_prox(v, step, weights, np.full(MEMORY * v.size, np.nan), out)
    return out


SIZES = {
    "ordinary": st.floats(-10, 10),
    "ties": st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
    "offset": st.floats(-1, 1).map(lambda t: 1e8 + t),
    "mixed": st.floats(-1, 1).flatmap(lambda t: st.integers(-9, 9).map(lambda k: t * 10.0**k)),
}
WEIGHTS = st.sampled_from([0.0, 1e-12, 1e-3, 0.25, 0.5, 1.0, 7.0, 1e3, 1e12]) | st.floats(0, 3)


@st.composite
def chains(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Entries and one weight for each pair of neighbours, all equal or all different."""
    size = draw(st.integers(1, 60))
    entry = SIZES[draw(st.sampled_from(sorted(SIZES)))]
    v = draw(st.lists(entry, min_size=size, max_size=size))
    if draw(st.booleans()):
        weights = [draw(WEIGHTS)] * (size - 1)
    else:
        weights = draw(st.lists(WEIGHTS, min_size=size - 1, max_size=size - 1))
    return np.array(v), np.array(weights)


def assert_optimal(v: np.ndarray, weights: np.ndarray, w: np.ndarray, slack: float) -> None:
    """The sums of v - w are the dual variables: within the weights, and at the weight where w jumps.

    They are computed in exact arithmetic; `slack` bounds what rounding may have done to one entry of w.
    """
    total = Fraction(0)
    allowed = Fraction(slack) * v.size
    for entry, found, weight, (left, right) in zip(v, w, weights, pairwise(w), strict=False):
        total += Fraction(float(entry)) - Fraction(float(found))
        limit = Fraction(float(weight))
        assert abs(total) <= limit + allowed
        if right > left + 2 * slack:
            assert total <= -limit + allowed
        if right < left - 2 * slack:
            assert total >= limit - allowed
    total += Fraction(float(v[-1])) - Fraction(float(w[-1]))
    assert abs(total) <= allowed


@QUICK
@given(chains())
def test_optimal(chain: tuple[np.ndarray, np.ndarray]) -> None:
    v, weights = chain
    # No weight above size * spread matters, and one rounding error is a last digit of what was added.
    scale = float(np.abs(v).max() + np.minimum(weights, v.size * np.ptp(v)).max(initial=0.0))
    assert_optimal(v, weights, prox(v, weights), 4 * EPSILON * scale)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 20, 60])
def test_same_as_an_active_set_method(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(10):
        v = rng.standard_normal(size).cumsum()
        weights = np.where(rng.random(size - 1) < 0.2, 0.0, rng.exponential(1.0, size - 1))
        # Pairs of weight 0 part the chain into pieces that know nothing of each other.
        cuts = np.flatnonzero(weights == 0.0) + 1
        pieces = zip(np.split(v, cuts), np.split(np.append(weights, 0.0), cuts), strict=True)
        expected = [formulas.prox(penalties.FusedL1(0.0, part[:-1]), piece, 1.0) for piece, part in pieces]
        np.testing.assert_allclose(prox(v, weights), np.concatenate(expected), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_same_as_a_conic_solver(size: int) -> None:
    rng = np.random.default_rng(size)
    v, weights, step = rng.standard_normal(size), rng.exponential(0.5, size - 1), 0.7
    w = cp.Variable(size)
    jumps = cp.sum(cp.multiply(weights, cp.abs(cp.diff(w)))) if size > 1 else 0.0
    problem = cp.Problem(cp.Minimize(step * jumps + cp.sum_squares(w - v) / 2))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(prox(v, weights, step), w.value, atol=1e-6)


@pytest.mark.parametrize("weight", [0.02, 1.0, 40.0])
@pytest.mark.parametrize("signal", ["noise", "steps", "walk", "up", "down", "zigzag"])
def test_long_chains_are_optimal(signal: str, weight: float) -> None:
    size = 200_000
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(size)
    v = {
        "noise": noise,
        "steps": np.repeat(noise[: size // 100], 100) + 0.3 * noise,
        "walk": noise.cumsum() / 100,
        "up": np.linspace(0, 1, size),
        "down": np.linspace(1, 0, size) ** 3,
        "zigzag": np.where(np.arange(size) % 2, 1.0, -1.0) * np.linspace(0, 3, size),
    }[signal]
    w = prox(v, np.full(size - 1, weight))
    dual = np.cumsum((v - w).astype(np.longdouble))
    jumps = np.diff(w)
    assert np.abs(dual[:-1]).max() <= weight + 1e-10
    assert abs(dual[-1]) < 1e-7
    clear = np.abs(jumps) > 1e-12
    assert np.abs(dual[:-1] + weight * np.sign(jumps))[clear].max(initial=0.0) < 1e-10


def test_a_million_entries() -> None:
    v = np.random.default_rng(1).standard_normal(1_000_000)
    w = prox(v, np.full(v.size - 1, 1e9))
    assert np.ptp(w) == 0.0
    assert w[0] == pytest.approx(v.mean(), abs=1e-11)


@pytest.mark.parametrize("value", [0.0, -3.0, 0.1, 1e8 + 0.1, 1e-300, 1e300])
@pytest.mark.parametrize("weight", [0.0, 1e-12, 1.0, 1e12])
def test_constant_signals_stay_to_the_bit(value: float, weight: float) -> None:
    v = np.full(9, value)
    np.testing.assert_array_equal(prox(v, np.full(8, weight)), v)


def test_no_weight_no_change() -> None:
    v = np.random.default_rng(2).standard_normal(50) * 10.0 ** np.arange(-25, 25)
    np.testing.assert_array_equal(prox(v, np.zeros(49)), v)


def test_two_entries_by_hand() -> None:
    np.testing.assert_array_equal(prox(np.array([3.0, 1.0]), np.array([0.5])), [2.5, 1.5])
    np.testing.assert_array_equal(prox(np.array([3.0, 1.0]), np.array([0.5]), step=2.0), [2.0, 2.0])
    np.testing.assert_array_equal(prox(np.array([1.0, 3.0]), np.array([9.0])), [2.0, 2.0])


def test_a_large_offset_moves_the_result_along() -> None:
    rng = np.random.default_rng(3)
    v, weights = np.round(rng.standard_normal(60), 6), rng.exponential(0.3, 59)
    moved = prox(v + 1e8, weights)
    np.testing.assert_allclose(moved - 1e8, prox(v, weights), atol=60 * np.spacing(1e8))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_what_is_not_finite_is_handed_on(bad: float, place: int) -> None:
    v = np.arange(5.0)
    v[place] = bad
    np.testing.assert_array_equal(prox(v, np.ones(4)), v)


def largest_scale(u: np.ndarray, l1: float, l2: np.ndarray) -> float:
    """max s subject to |s u + D^T y| <= l1, |y| <= l2, 0 <= s <= 1, by linear programming."""
    rows = np.column_stack([u, np.diff(np.eye(u.size), axis=0).T])
    found = linprog(
        -np.eye(u.size)[0],
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.full(2 * u.size, l1),
        bounds=[(0, 1), *((-limit, limit) for limit in l2)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -float(found.fun)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("l1", [1e-3, 0.3, 2.0])
def test_dual_scale_is_that_of_a_linear_program(size: int, l1: float) -> None:
    rng = np.random.default_rng(size)
    scales = []
    for stretch in (0.3, 1.0, 3.0, 30.0):
        for drift in (0.0, 1.0):
            u = stretch * (rng.standard_normal(size) + drift)
            l2 = np.where(rng.random(size - 1) < 0.2, 0.0, rng.exponential(1.0, size - 1))
            scales.append(dual_scale(u, l1, l2))
            assert scales[-1] == pytest.approx(largest_scale(u, l1, l2), rel=1e-9)
    assert min(scales) < 1.0


def test_dual_scale_without_l1() -> None:
    # The sums are 1, 3, 2, 0, so an edge must carry 3 times what it may.
    u = np.array([1.0, 2.0, -1.0, -2.0])
    assert dual_scale(u, 0.0, np.ones(3)) == pytest.approx(1 / 3, rel=1e-15)
    assert dual_scale(u, 0.0, np.full(3, 3.0)) == 1.0
    assert dual_scale(u + 0.1, 0.0, np.full(3, 3.0)) == 0.0


@pytest.mark.parametrize("shape", ["noise", "ramp", "walk", "exponential", "sawtooth"])
def test_dual_scale_of_long_chains(shape: str) -> None:
    """Feasible at the scale and not just beyond it; a ramp shows a new obstacle at every entry."""
    size = 100_000
    noise = np.random.default_rng(4).standard_normal(size)
    u = {
        "noise": 10.0 * noise,
        "ramp": np.linspace(0, 1, size),
        "walk": noise.cumsum(),
        "exponential": np.exp(np.linspace(0, 10, size)),
        "sawtooth": (np.arange(size) % 100) * np.linspace(1, 2, size) - 50,
    }[shape]
    for limit in (0.0, 0.1, 100.0):
        l2 = np.full(size - 1, limit)
        scale = dual_scale(u, 0.1, l2)
        assert 0.0 < scale < 1.0
        assert dual_scale(scale * u, 0.1, l2 * (1 + 1e-9)) > 1 - 1e-9
        assert dual_scale((1 + 1e-6) * scale * u, 0.1, l2) < 1 - 1e-7


def test_dual_scale_of_what_is_not_finite() -> None:
    assert np.isnan(dual_scale(np.array([1.0, np.nan]), 1.0, np.ones(1)))
    assert dual_scale(np.array([]), 1.0, np.array([])) == 1.0
    assert dual_scale(np.zeros(3), 0.0, np.zeros(2)) == 1.0
