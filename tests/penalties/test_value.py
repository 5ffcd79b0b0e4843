"""Values, conjugates and the traits that solvers rely on."""

import inspect
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from spdpeg import penalties
from spdpeg.errors import UnsupportedError
from spdpeg.penalties.composite import Constrained

SIZE = 6
PARTS = np.array([True, False, True, True, False, False])


def domain_points(r: penalties.Penalty, count: int = 40) -> list[np.ndarray]:
    """Points where r is finite, spread over several sizes, among them some on one axis where the set allows it."""
    rng = np.random.default_rng(3)
    points = [r.prox(scale * rng.standard_normal(SIZE), 0.01) for scale in (0.2, 1.0, 5.0, 30.0) for _ in range(count)]
    axes = [
        r.prox(size * axis, 0.01)
        for size in (3.0, 4.0, 30.0, 50.0)
        for axis in np.vstack([np.eye(SIZE), -np.eye(SIZE)])
    ]
    return points + axes


def pairs(r: penalties.Penalty) -> list[tuple[np.ndarray, np.ndarray]]:
    """Neighbours on an axis, and points far apart."""
    points = domain_points(r)
    axes = points[-48:]
    return list(zip(axes[:36], axes[12:], strict=True)) + list(pairwise(points))


def test_registry_covers_every_penalty(registry: list[Any]) -> None:
    exported = {name for name in penalties.__all__ if inspect.isclass(getattr(penalties, name)) and name != "Penalty"}
    assert exported | {"Constrained"} == {type(case.penalty).__name__ for case in registry}


def test_every_penalty_of_the_package_is_exported() -> None:
    def below(cls: type) -> set[type]:
        return {cls}.union(*(below(child) for child in cls.__subclasses__()))

    defined = {cls.__name__ for cls in below(penalties.Penalty) if cls.__module__.startswith("spdpeg.")}
    # Made by `constrain` and by scaling, and the base of two.
    assert defined - {"Constrained", "Rescaled", "DualBox"} == set(penalties.__all__) - {"constrain"}
    assert all(inspect.getdoc(getattr(penalties, name)) for name in penalties.__all__)


def test_value_is_that_of_the_model(case: Any, draws: list[tuple[np.ndarray, float]]) -> None:
    points = [v for v, _ in draws] + [case.penalty.prox(v, step) for v, step in draws] + [np.zeros(SIZE)]
    for v in points:
        assert case.penalty.value(v) == pytest.approx(case.value(v), rel=1e-9, abs=1e-12)


def test_conjugate_is_the_supremum(case: Any, draws: list[tuple[np.ndarray, float]]) -> None:
    for v, step in draws:
        inside = case.penalty.dual_prox(v, step)
        for u in (0.9 * inside, v):
            expected = case.conjugate(u)
            assert case.penalty.conjugate(u) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_dual_prox_lands_where_the_conjugate_is_finite(case: Any, draws: list[tuple[np.ndarray, float]]) -> None:
    for v, step in draws:
        assert np.isfinite(case.penalty.conjugate(case.penalty.dual_prox(v, step)))


def test_fenchel_young(case: Any, draws: list[tuple[np.ndarray, float]]) -> None:
    r = case.penalty
    values = [(v, r.value(v)) for v in domain_points(r, 3)]
    for point, step in draws:
        u = r.dual_prox(point, step)
        conjugate = r.conjugate(u)
        assert all(value + conjugate >= u @ v - 1e-9 * (1 + np.abs(u @ v)) for v, value in values)


def test_small_weights_have_no_wide_margin() -> None:
    weight = 1e-11
    u = np.zeros(SIZE)
    u[2] = 2 * weight
    for r in (
        penalties.L1(weight),
        penalties.HuberL1(weight),
        penalties.GroupL2(weight),
        penalties.LInf(weight),
        penalties.Nuclear(weight, (2, 3)),
        penalties.Quantile(np.zeros(SIZE), 0.5, weight),
        penalties.Hinge(-np.ones(SIZE), weight),
        penalties.ElasticNet(weight, 0.0),
        penalties.FusedL1(weight, 0.1 * weight),
        penalties.FusedL1(0.1 * weight, weight),
    ):
        assert r.conjugate(u) == np.inf
        assert np.isfinite(r.conjugate(0.2 * u))


def test_homogeneous(case: Any) -> None:
    r = case.penalty
    scaled = [(r.value(s * v), s * r.value(v)) for v in domain_points(r) for s in (0.5, 3.0)]
    assert r.homogeneous == all(a == pytest.approx(b, rel=1e-12, abs=1e-12) for a, b in scaled)


def test_separable(case: Any) -> None:
    r = case.penalty
    swapped = [(np.where(PARTS, v, w), np.where(PARTS, w, v), v, w) for v, w in pairs(r)]
    sums = [(r.value(a) + r.value(b), r.value(v) + r.value(w)) for a, b, v, w in swapped]
    # Separable over this one partition is not separable; the registry's other penalties mix these coordinates.
    assert r.separable == all(a == pytest.approx(b, rel=1e-12, abs=1e-12) for a, b in sums)


def test_strong_convexity_is_the_largest_modulus(case: Any) -> None:
    r = case.penalty

    def violated(mu: float) -> bool:
        gaps = [
            (r.value(v) + r.value(w)) / 2 - r.value((v + w) / 2) - mu / 8 * (v - w) @ (v - w)
            + 1e-12 * (1 + abs(r.value(v)) + abs(r.value(w)))
            for v, w in pairs(r)
        ]  # fmt: skip
        return min(gaps) < 0

    assert not violated(r.strong_convexity)
    assert violated(r.strong_convexity + 1e-3)


def test_finite_and_indicator(case: Any) -> None:
    rng = np.random.default_rng(5)
    values = np.array([case.penalty.value(30.0 * rng.standard_normal(SIZE)) for _ in range(50)])
    assert case.penalty.finite == bool(np.all(np.isfinite(values)))
    inside = [case.penalty.value(v) for v in domain_points(case.penalty)]
    assert case.penalty.indicator == (not case.penalty.finite and not np.any(inside))


def test_arguments_are_stored_unchanged_and_shown(case: Any) -> None:
    r = case.penalty
    params = r.get_params(deep=False)
    again = type(r)(**params)
    assert all(getattr(again, name) is value for name, value in params.items())
    assert repr(r).startswith(type(r).__name__)


def test_a_conjugate_without_closed_form_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="conjugate of HuberL1"):
        Constrained(penalties.HuberL1(), penalties.L2Ball(1.0)).conjugate(np.zeros(3))


def test_singular_values_of_what_overflowed() -> None:
    """A slope that a loss could not hold is in no dual ball, and no error of LAPACK."""
    penalty, slope = penalties.Nuclear(0.5, (3, 1)), np.array([1.0, np.inf, 0.0])
    assert penalty.dual_scale(slope) == 0.0
    assert penalty.conjugate(slope) == np.inf
    assert penalty.dual_scale(np.array([0.0, 2.0, 0.0])) == 0.25


def test_a_part_without_coordinates_can_be_scaled() -> None:
    parts = penalties.SeparableSum([penalties.LInf(2.0), penalties.L1(1.0)], [0, 3]).scaled(np.array([1.0, 2.0, 3.0]))
    assert parts is not None
    np.testing.assert_array_equal(parts.prox(np.full(3, 5.0)), [4.0, 3.0, 2.0])
