"""What certificates and steps of their own ask of penalties: scales into the dual domain, factors, free coordinates."""

import math

import numpy as np
import pytest

from spdpeg import penalties
from spdpeg.penalties.base import Rescaled
from spdpeg.penalties.composite import Constrained

D = 6
HALF = np.where(np.arange(D) % 2, 0.7, 0.0)

SCALABLE = {
    "L1": penalties.L1(0.7),
    "L1Weighted": penalties.L1(0.7 * (1.0 + np.arange(D) % 3)),
    "L1Partly": penalties.L1(HALF),
    "GroupL2": penalties.GroupL2(0.7, groups=3),
    "GroupsWithFreeCoordinates": penalties.GroupL2([0.7, 0.2], groups=[[0, 3], [1]]),
    "LInf": penalties.LInf(0.7),
    "Nuclear": penalties.Nuclear(0.7, (2, 3)),
    "FusedL1": penalties.FusedL1(0.7, 1.4),
    "FusedL1Weighted": penalties.FusedL1(0.7, HALF[1:]),
    "Zero": penalties.Zero(),
    "SeparableSum": penalties.SeparableSum([penalties.L1(0.7), penalties.LInf(0.2)], [4, 2]),
    "BesideAnIntercept": penalties.SeparableSum([penalties.FusedL1(0.7, 1.4), penalties.Zero()], [D - 1, 1]),
}
"""Norms: their dual value is finite after scaling."""


class TestDualScale:
    @pytest.mark.parametrize("name", SCALABLE)
    def test_is_the_largest_that_stays_inside(self, name: str) -> None:
        penalty = SCALABLE[name]
        rng = np.random.default_rng(3)
        scales = []
        for size in np.geomspace(1e-2, 1e3, 60):
            u = size * rng.standard_normal(D) * (rng.random(D) < 0.5)
            scale = penalty.dual_scale(u)
            scales.append(scale)
            assert 0.0 <= scale <= 1.0
            assert penalty.conjugate(scale * u) == 0.0
            if 0.0 < scale < 1.0:
                assert penalty.conjugate(scale * (1.0 + 1e-6) * u) == math.inf
            elif scale == 0.0:
                assert penalty.conjugate(1e-3 / size * u) == math.inf
        assert any(0.0 < scale < 1.0 for scale in scales) or name == "Zero"

    @pytest.mark.parametrize("name", SCALABLE)
    def test_nothing_to_scale(self, name: str) -> None:
        assert SCALABLE[name].dual_scale(np.zeros(D)) == 1.0

    def test_none_needed_where_the_conjugate_is_finite(self) -> None:
        assert penalties.L2Squared(1.0).dual_scale(np.ones(D)) == 1.0


FACTORS = np.array([0.5, 2.0, 0.1, 1.0, 3.0, 0.7])
SEPARABLE = {
    "Zero": penalties.Zero(),
    "L1": penalties.L1(0.3),
    "L1Weighted": penalties.L1(np.array([0.3, 0.0, 1.0, 0.2, 0.1, 0.5])),
    "L2Squared": penalties.L2Squared(0.8),
    "ElasticNet": penalties.ElasticNet(0.3, 0.8),
    "HuberL1": penalties.HuberL1(0.4, delta=0.2),
    "Box": penalties.Box(-0.5, np.linspace(0.1, 0.9, D)),
    "NonNegative": penalties.NonNegative(),
    "SeparableSum": penalties.SeparableSum([penalties.L1(0.3), penalties.NonNegative()], [D - 1, 1]),
}
TIED = {
    "GroupL2": penalties.GroupL2(0.3, groups=3),
    "LInf": penalties.LInf(0.3),
    "Nuclear": penalties.Nuclear(0.3, (2, 3)),
    "FusedL1": penalties.FusedL1(0.3, 0.6),
    "L2Ball": penalties.L2Ball(0.5),
    "L1inL2Ball": Constrained(penalties.L1(0.3), penalties.L2Ball(0.5)),
}


def points() -> np.ndarray:
    return 2.0 * np.random.default_rng(4).standard_normal((20, D))


class TestScaled:
    @pytest.mark.parametrize("name", SEPARABLE)
    def test_prox_is_that_of_each_coordinate_with_its_own_step(self, name: str) -> None:
        penalty = SEPARABLE[name]
        scaled = penalty.scaled(FACTORS)
        assert scaled is not None
        for v in points():
            each = [penalty.prox(v, factor)[j] for j, factor in enumerate(FACTORS)]
            np.testing.assert_allclose(scaled.prox(v, 1.0), each, rtol=1e-14, atol=1e-15)

    @pytest.mark.parametrize("name", TIED)
    def test_none_where_coordinates_hang_together(self, name: str) -> None:
        assert TIED[name].scaled(FACTORS) is None

    @pytest.mark.parametrize("name", SEPARABLE | TIED)
    def test_equal_factors_are_a_longer_step(self, name: str) -> None:
        penalty = (SEPARABLE | TIED)[name]
        scaled = penalty.scaled(np.full(D, 2.5))
        assert scaled is not None
        for v in points():
            np.testing.assert_allclose(scaled.prox(v, 1.0), penalty.prox(v, 2.5), rtol=1e-14, atol=1e-15)

    def test_blocks_may_differ_where_each_is_uniform(self) -> None:
        """A group beside an intercept with a step of its own."""
        both = penalties.SeparableSum([penalties.GroupL2(0.3), penalties.Zero()], [D - 1, 1])
        scaled = both.scaled(np.append(np.full(D - 1, 2.5), 7.0))
        assert scaled is not None
        for v in points():
            expected = np.append(penalties.GroupL2(0.3).prox(v[:-1], 2.5), v[-1])
            np.testing.assert_allclose(scaled.prox(v), expected, rtol=1e-14, atol=1e-15)
        assert both.scaled(FACTORS) is None


class TestRescaled:
    @pytest.mark.parametrize("name", TIED)
    @pytest.mark.parametrize("step", [0.2, 1.0, 3.0])
    def test_is_the_penalty_times_a_number(self, name: str, step: float) -> None:
        penalty, factor = TIED[name], 2.5
        times = Rescaled(penalty, factor)
        for v in points():
            p = times.prox(v, step)
            np.testing.assert_array_equal(p, penalty.prox(v, factor * step))
            np.testing.assert_allclose(p + step * times.dual_prox(v / step, 1.0 / step), v, atol=1e-13)
            assert times.value(p) == factor * penalty.value(p)
            # Fenchel and Young: the subgradient of factor * r at p that the prox leaves behind.
            u = (v - p) / step
            assert times.value(p) + times.conjugate(u) == pytest.approx(u @ p, abs=1e-9)


FREE = {
    "Zero": (penalties.Zero(), [0, 1, 2, 3, 4, 5]),
    "L1": (penalties.L1(0.3), []),
    "L1Partly": (penalties.L1(HALF), [0, 2, 4]),
    "L1Nowhere": (penalties.L1(0.0), [0, 1, 2, 3, 4, 5]),
    "L2Squared": (penalties.L2Squared(0.3), []),
    "L2Partly": (penalties.L2Squared(HALF), [0, 2, 4]),
    "Box": (penalties.Box(-1, 1), []),
    "BesideAnIntercept": (
        penalties.SeparableSum([penalties.L1(HALF[:-1]), penalties.Zero()], [D - 1, 1]),
        [0, 2, 4, 5],
    ),
}


@pytest.mark.parametrize("name", FREE)
def test_free_coordinates_are_those_that_change_nothing(name: str) -> None:
    penalty, expected = FREE[name]
    free = penalty.free(D)
    assert free.shape == (D,)
    assert np.flatnonzero(free).tolist() == expected
    v = np.linspace(-0.9, 0.8, D)
    for j in np.flatnonzero(free):
        assert penalty.value(v + 5.0 * np.eye(D)[j]) == pytest.approx(penalty.value(v), rel=1e-15)
