"""The prox of every penalty is the minimiser it claims to be, and the dual prox is that of the conjugate."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spdpeg import penalties
from spdpeg.errors import InputError
from spdpeg.kernels.terms import apply_prox

QUICK = settings(max_examples=25, deadline=None, derandomize=True, database=None)
SIZE = 6
POINTS = arrays(float, SIZE, elements=st.floats(-100, 100) | st.sampled_from([0.0, 0.5, 1.0, -1.0, 1.5]))
STEPS = st.floats(0.01, 100)


def test_prox_is_the_minimiser_of_a_conic_solver(case: Any, draws: list[tuple[np.ndarray, float]]) -> None:
    for v, step in draws:
        p = case.penalty.prox(v, step)
        reached = step * case.value(p) + 0.5 * np.sum((p - v) ** 2)
        # The objective is 1-strongly convex: p is within sqrt(2 e) of the minimiser if e above the minimum.
        assert reached == pytest.approx(case.least(v, step), rel=1e-8, abs=1e-8)


@QUICK
@given(v=POINTS, step=STEPS)
def test_separable_prox_is_the_minimiser_along_each_coordinate(
    separable: penalties.Penalty, v: np.ndarray, step: float
) -> None:
    p = separable.prox(v, step)

    def along(t: float, j: int) -> float:
        w = p.copy()
        w[j] = t
        return step * separable.value(w) + 0.5 * (t - v[j]) ** 2

    for j in range(SIZE):
        best = along(p[j], j)
        # A convex function that does not fall to either side of a point, however near, has its minimum there.
        reach = 1e-5 * (1 + abs(v[j]))
        assert best <= min(along(p[j] - reach, j), along(p[j] + reach, j)) + 1e-12 * (1 + abs(best))
        assert all(best <= along(t, j) for t in np.linspace(-300, 300, 13) if abs(t - p[j]) > 1)


@QUICK
@given(v=POINTS, step=STEPS)
def test_fenchel_young_holds_with_equality_at_the_prox(case: Any, v: np.ndarray, step: float) -> None:
    r = case.penalty
    p = r.prox(v, step)
    u = r.dual_prox(v / step, 1 / step)
    scale = 1 + np.abs(v).max() ** 2 / min(step, 1.0)
    assert r.value(p) + r.conjugate(u) == pytest.approx(u @ p, abs=1e-11 * scale)


@QUICK
@given(v=POINTS, step=STEPS)
def test_moreau(case: Any, v: np.ndarray, step: float) -> None:
    together = case.penalty.prox(v, step) + step * case.penalty.dual_prox(v / step, 1 / step)
    np.testing.assert_allclose(together, v, atol=1e-12 * (1 + np.abs(v).max()) * max(step, 1 / step))


@QUICK
@given(v=POINTS, step=STEPS)
def test_prox_in_place_gives_the_same_bits(case: Any, v: np.ndarray, step: float) -> None:
    apart = case.penalty.prox(v, step)
    here = v.copy()
    apply_prox(case.penalty.prox_term(SIZE), here, step, here)
    np.testing.assert_array_equal(here, apart)


@QUICK
@given(v=POINTS, w=POINTS, step=STEPS)
def test_firmly_nonexpansive(case: Any, v: np.ndarray, w: np.ndarray, step: float) -> None:
    for prox in (case.penalty.prox, case.penalty.dual_prox):
        moved = prox(v, step) - prox(w, step)
        assert moved @ moved <= moved @ (v - w) + 1e-11 * (1 + np.abs(v).max() + np.abs(w).max()) ** 2


@QUICK
@given(v=POINTS, w=POINTS, step=STEPS)
def test_strong_convexity_contracts_the_prox(case: Any, v: np.ndarray, w: np.ndarray, step: float) -> None:
    moved = np.linalg.norm(case.penalty.prox(v, step) - case.penalty.prox(w, step))
    apart = np.linalg.norm(v - w)
    assert moved <= apart / (1 + step * case.penalty.strong_convexity) + 1e-12 * (1 + apart)


@QUICK
@given(v=POINTS, step=STEPS)
def test_projections_land_in_the_set_and_stay(convex_set: penalties.Penalty, v: np.ndarray, step: float) -> None:
    p = convex_set.prox(v, step)
    assert convex_set.value(p) == 0.0
    np.testing.assert_allclose(convex_set.prox(p, step), p, atol=1e-13 * (1 + np.abs(p).max()))
    np.testing.assert_array_equal(convex_set.prox(v, 3.0 * step), p)


@pytest.mark.parametrize("size", [1e4, 1e17, 1e300])
def test_far_points(case: Any, size: float) -> None:
    for v in (np.full(SIZE, size), -np.full(SIZE, size), size * np.array([1.0, -1.0, 0.5, 0.0, 1.0, -0.25])):
        p, u = case.penalty.prox(v), case.penalty.dual_prox(v)
        assert np.all(np.isfinite(p))
        assert np.all(np.isfinite(u))
        np.testing.assert_allclose(p + u, v, rtol=1e-12, atol=1e-12 * size)
        assert not np.isnan(case.penalty.value(v))
        assert not np.isnan(case.penalty.conjugate(v))
        if case.penalty.indicator:
            assert case.penalty.value(p) == 0.0
        if case.penalty.homogeneous:
            assert case.penalty.conjugate(u) == 0.0


def test_ties_at_the_threshold_end() -> None:
    # In exact arithmetic the last entry equals the threshold; with rounding it may seem to enter and leave for ever.
    np.testing.assert_allclose(penalties.Simplex(1.5).prox([1.4, 0.3, 0.1]), [1.3, 0.2, 0.0], atol=1e-15)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        v = rng.standard_normal(SIZE).round(1)
        total = round(rng.uniform(0.1, 2.0), 1)
        assert penalties.Simplex(total).prox(v).sum() == pytest.approx(total, rel=1e-12)
        assert np.abs(penalties.L1Ball(total).prox(v)).sum() <= total * (1 + 1e-12)


def test_unpenalised_coordinates_are_left_alone() -> None:
    v = np.array([1e-200, -3.0, 0.1, 1e200, -2.0, 0.5])
    free = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    weight = np.where(free, 0.0, 1.0)
    for r in (
        penalties.L1(weight),
        penalties.L2Squared(weight),
        penalties.ElasticNet(weight, weight),
        penalties.HuberL1(weight),
        penalties.GroupL2(weight, groups=1),
        penalties.GroupL2(1.0, groups=[[1, 2], [4, 5]]),
        penalties.Hinge(np.ones(SIZE), weight),
        penalties.Quantile(np.zeros(SIZE), weight=weight),
    ):
        np.testing.assert_array_equal(r.prox(v)[free], v[free])
        np.testing.assert_array_equal(r.dual_prox(v)[free], 0.0)
        assert np.all(r.prox(v)[~free] != v[~free])


@pytest.mark.parametrize("r", [penalties.Nuclear(1.0, (2, 3)), penalties.FusedL1(1.0, 1.0)], ids=repr)
def test_nan_is_handed_on(r: penalties.Penalty) -> None:
    v = np.full(SIZE, np.nan)
    assert np.all(np.isnan(r.prox(v)))
    assert np.all(np.isnan(r.dual_prox(v)))


@pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf, "long"])
def test_bad_steps_are_refused(step: Any) -> None:
    for prox in (penalties.L1().prox, penalties.L1().dual_prox):
        with pytest.raises(InputError, match="step of L1 is"):
            prox(np.ones(3), step)


def test_matrices_keep_their_shape() -> None:
    assert penalties.L1().prox(np.ones((2, 3))).shape == (2, 3)
