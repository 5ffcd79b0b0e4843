"""The fused lasso's penalty in one piece: the same function, the same optimum as r1(x) + r2(F x)."""

import numpy as np
import pytest

import spdpeg
from spdpeg import operators, penalties
from spdpeg.kernels.chain import dual_scale
from support import conic, formulas

WEIGHTS = np.array([0.3, 0.0, 1.0, 2.0, 0.1])


def test_value_is_that_of_the_two_penalties() -> None:
    v = np.array([1.0, -2.0, -2.0, 0.5, 3.0, 0.0])
    F = operators.FirstDifference().bind(6)
    for l2 in (0.4, WEIGHTS):
        expected = penalties.L1(0.7).value(v) + penalties.L1(l2).value(F @ v)
        assert penalties.FusedL1(0.7, l2).value(v) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("size", [2, 12, 50])
def test_prox_is_that_of_an_active_set_method(size: int) -> None:
    rng = np.random.default_rng(size)
    for l1, l2, step in [(0.2, 0.5, 1.0), (0.0, 2.0, 0.3), (1.0, rng.exponential(1.0, size - 1), 2.0)]:
        r = penalties.FusedL1(l1, l2)
        v = rng.standard_normal(size).cumsum()
        np.testing.assert_allclose(r.prox(v, step), formulas.prox(r, v, step), atol=1e-12)


def test_without_jumps_penalised_it_is_the_l1_norm() -> None:
    v = np.random.default_rng(0).standard_normal(20)
    np.testing.assert_array_equal(penalties.FusedL1(0.5, 0.0).prox(v), penalties.L1(0.5).prox(v))


@pytest.mark.parametrize("v", [[], [3.0], [-0.5]])
def test_vectors_without_neighbours(v: list[float]) -> None:
    for l2 in (1.0, []):
        r = penalties.FusedL1(1.0, l2)
        np.testing.assert_array_equal(r.prox(v), penalties.L1(1.0).prox(v))
        assert r.value(np.array(v)) == penalties.L1(1.0).value(np.array(v))
        assert r.conjugate(np.array(v)) == penalties.L1(1.0).conjugate(np.array(v))


def test_conjugate_draws_the_line_at_the_dual_scale() -> None:
    rng = np.random.default_rng(1)
    for l1, l2 in [(0.2, np.full(5, 0.5)), (0.2, WEIGHTS), (1e-12, 1e-11 * WEIGHTS), (1e8, 1e9 * WEIGHTS)]:
        r = penalties.FusedL1(l1, l2)
        u = 100.0 * l1 * rng.standard_normal(6)
        border = dual_scale(u, l1, l2) * u
        assert 0.0 < np.abs(border).max() < np.abs(u).max()
        assert r.conjugate(border) == 0.0
        assert r.conjugate((1 + 1e-7) * border) == np.inf


def test_conjugate_without_l1_allows_for_rounding_only() -> None:
    jumps = penalties.FusedL1(0.0, 1e-6)
    u = np.array([0.3e-6, -0.1e-6, -0.2e-6])
    assert jumps.conjugate(u) == 0.0
    assert jumps.conjugate(u + 1e-16 * u[0]) == 0.0
    assert jumps.conjugate(u + 1e-9 * u[0]) == np.inf
    nothing = penalties.FusedL1(0.0, 0.0)
    assert nothing.conjugate(np.zeros(3)) == 0.0
    assert nothing.conjugate(np.full(3, 5e-10)) == np.inf


@pytest.mark.parametrize("place", [0, 3, 5])
def test_one_nan_does_not_vanish(place: int) -> None:
    v = np.arange(6.0)
    v[place] = np.nan
    r = penalties.FusedL1(0.3, 1.0)
    assert np.isnan(r.prox(v)[place])
    assert np.isnan(r.dual_prox(v)[place])


def test_dual_prox_of_a_large_point_stays_feasible() -> None:
    """Subtracting the prox, as Moreau's identity does, leaves the domain by the rounding error of the point."""
    r = penalties.FusedL1(0.3, 0.7)
    v = 1e9 * np.random.default_rng(3).standard_normal(50)
    assert r.conjugate(v - r.prox(v)) == np.inf
    assert r.conjugate(r.dual_prox(v)) == 0.0


OPTIONS = {
    "pd3o": ({"max_passes": 3000}, 1e-9),
    "spdpeg": ({"batch_size": 53, "kappa": 0.0, "max_passes": None, "max_iterations": 20_000}, 1e-7),
}


@pytest.mark.parametrize("solver", OPTIONS)
def test_same_optimum_as_with_a_dual(solver: str) -> None:
    instance, best = conic.optimum("Logistic", "L1", "L1", "FirstDifference")
    fused = penalties.FusedL1(instance.r1.weight, instance.r2.weight)
    options, closeness = OPTIONS[solver]
    result = spdpeg.solve(instance.problem(r1=fused, r2=None, F=None), solver, **options)
    x = np.asarray(result.x if result.x_last is None else result.x_last)
    assert abs(instance.objective(x) - best.objective) < closeness
    np.testing.assert_allclose(x, best.x, atol=1e-4)


def test_neighbours_meet_and_vanish_exactly() -> None:
    """What a dual method only approaches, the prox gives at every iterate: equal neighbours and zeros to the bit."""
    instance, best = conic.optimum("Logistic", "L1", "L1", "FirstDifference")
    fused = penalties.FusedL1(instance.r1.weight, instance.r2.weight)
    x = spdpeg.solve(instance.problem(r1=fused, r2=None, F=None), "pd3o", max_passes=3000).x
    flat = np.abs(np.diff(best.x)) < 1e-6
    assert flat.any()
    np.testing.assert_array_equal(np.diff(x)[flat], 0.0)
    np.testing.assert_array_equal(x[np.abs(best.x) < 1e-6], 0.0)
