"""What every loss promises, checked for every loss."""

import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from spdpeg import Problem, losses
from spdpeg.data import Dense
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.kernels.jit import CHUNK, as_reals
from spdpeg.kernels.losses import conjugates_at, slope_sum, sum_chunks
from spdpeg.kernels.sweeps import AtRows, Labelled, read_margins

QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)
FAR = [-1e300, -1e4, 1e4, 1e300]


class Case(NamedTuple):
    loss: losses.Loss
    formula: Callable[[np.ndarray, np.ndarray], np.ndarray]
    slopes: tuple[float, float]
    """Ends of the interval of slopes times label (binary losses) or of slopes."""


def smoothed_hinge(width: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def formula(t: np.ndarray, b: np.ndarray) -> np.ndarray:
        lack = 1 - b * t
        return np.where(lack <= 0, 0, np.where(lack <= width, lack**2 / (2 * width), lack - width / 2))

    return formula


def huber(delta: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def formula(t: np.ndarray, b: np.ndarray) -> np.ndarray:
        size = np.abs(t - b)
        return np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2)

    return formula


def poisson(t: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp(t) - b * (1 + t - np.log(np.where(b > 0, b, 1)))


CASES = [
    Case(losses.Logistic(), lambda t, b: np.logaddexp(0, -b * t), (-1, 0)),
    Case(losses.Squared(), lambda t, b: (t - b) ** 2 / 2, (-np.inf, np.inf)),
    Case(losses.Huber(), huber(1.0), (-1, 1)),
    Case(losses.Huber(delta=0.25), huber(0.25), (-0.25, 0.25)),
    Case(losses.SquaredHinge(), lambda t, b: np.maximum(1 - b * t, 0) ** 2 / 2, (-np.inf, 0)),
    Case(losses.SmoothedHinge(), smoothed_hinge(1.0), (-1, 0)),
    Case(losses.SmoothedHinge(width=0.1), smoothed_hinge(0.1), (-1, 0)),
    Case(losses.Hinge(), lambda t, b: np.maximum(1 - b * t, 0), (-1, 0)),
    Case(losses.Quantile(0.3), lambda t, b: np.where(t < b, 0.3 * (b - t), 0.7 * (t - b)), (-0.3, 0.7)),
    Case(losses.Poisson(), poisson, (-np.inf, np.inf)),
    Case(losses.Gamma(), lambda t, b: b * np.exp(-t) + t - 1 - np.log(b), (-np.inf, 1)),
    Case(losses.Zero(), lambda t, b: 0 * t, (0, 0)),
]


@pytest.fixture(params=CASES, ids=lambda case: type(case.loss).__name__, scope="session")
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def labels_of(loss: losses.Loss) -> np.ndarray:
    if loss.log_link:
        return np.array([0.25 if isinstance(loss, losses.Gamma) else 0.0, 0.5, 3.0])
    return np.array([-1.0, 1.0]) if loss.binary else np.array([-2.5, 0.0, 3.0])


def grid(loss: losses.Loss, reach: float = 20.0, points: int = 401) -> tuple[np.ndarray, np.ndarray]:
    """Every label at every margin of an even grid."""
    t, b = np.meshgrid(np.linspace(-reach, reach, points), labels_of(loss))
    return t, b


def slopes(case: Case, b: float, count: int = 9) -> np.ndarray:
    """Dual variables inside the domain of the conjugate."""
    low, high = np.clip(case.loss.slope_range(np.array([b])), -5.0, 5.0)
    return np.linspace(low[0], high[0], count + 2)[1:-1]


def test_registry_covers_every_loss() -> None:
    exported = {name for name in losses.__all__ if name != "Loss"}
    assert exported == {type(case.loss).__name__ for case in CASES}


def test_every_loss_of_the_package_is_exported() -> None:
    ours = [cls for cls in losses.Loss.__subclasses__() if cls.__module__.startswith("spdpeg.")]
    defined = {leaf.__name__ for cls in ours for leaf in (cls.__subclasses__() or [cls])}
    assert defined == {name for name in losses.__all__ if name != "Loss"}
    assert all(inspect.getdoc(getattr(losses, name)) for name in losses.__all__)


def test_value_is_the_formula(case: Case) -> None:
    t, b = grid(case.loss)
    np.testing.assert_allclose(case.loss.value(t, b), case.formula(t, b), rtol=1e-13, atol=1e-15)


def test_derivative_is_the_finite_difference(case: Case) -> None:
    loss = case.loss
    t, b = grid(loss)
    h = 1e-6
    difference = (loss.value(t + h, b) - loss.value(t - h, b)) / (2 * h)
    # phi' is Lipschitz, so the difference is off by at most curvature * h / 2, plus rounding of the two values.
    curved = loss.curvature * h if np.isfinite(loss.curvature) else 0.0
    if loss.log_link:  # so steep that the rounding of t + h counts
        curved = np.spacing(np.abs(t)) * np.abs(loss.derivative(t, b)) / h
    close = np.abs(loss.derivative(t, b) - difference) <= curved + 1e-15 * (1 + loss.value(t, b)) / h
    if not loss.smooth:
        # Straight on both sides of a corner, one for each label.
        close |= loss.derivative(t - h, b) != loss.derivative(t + h, b)
        assert np.count_nonzero(loss.derivative(t - h, b) != loss.derivative(t + h, b)) <= t.shape[0]
    assert np.all(close)


def test_curvature_bounds_the_change_of_the_derivative(case: Case) -> None:
    loss = case.loss
    t, b = grid(loss, points=4001)
    if loss.log_link:
        assert loss.curvature == np.inf
        assert loss.second_derivative(np.array([-99.0, 99.0]), 1.0).max() > 1e40
        return
    if np.isinf(loss.curvature):
        # At its corner the derivative jumps from one end of its interval to the other, however fine the grid.
        assert np.max(np.diff(loss.derivative(t, b), n=2, axis=1)) > 0.2
        assert np.ptp(loss.derivative(t, b), axis=1) == pytest.approx(np.ptp(case.slopes))
        return
    change = np.abs(np.diff(loss.derivative(t, b), axis=1) / np.diff(t, axis=1))
    assert np.max(change) <= loss.curvature * (1 + 1e-9)
    assert np.max(change) >= 0.99 * loss.curvature


def test_derivative_never_falls(case: Case) -> None:
    t, b = grid(case.loss)
    assert np.all(np.diff(case.loss.derivative(t, b), axis=1) >= 0)


def test_conjugate_is_the_supremum(case: Case) -> None:
    for b in labels_of(case.loss):
        for u in slopes(case, b):
            found = minimize_scalar(
                lambda t, u=u, b=b: float(case.loss.value(t, b) - u * t),
                bounds=(-50, 50),
                method="bounded",
                options={"xatol": 1e-9},
            )
            # The search is less exact at a corner, and losses have theirs at t = b.
            best = max(-found.fun, float(u * b - case.loss.value(b, b)))
            assert float(case.loss.conjugate(u, b)) == pytest.approx(best, abs=1e-9)


def test_conjugate_is_infinite_outside_its_domain_and_closed(case: Case) -> None:
    for b in labels_of(case.loss):
        for [end], outward in zip(case.loss.slope_range(np.array([b])), (-1.0, 1.0), strict=True):
            if np.isfinite(end):
                assert np.isfinite(case.loss.conjugate(end, b))
                assert case.loss.conjugate(end + outward * 1e-6, b) == np.inf


def test_slopes_fill_their_range(case: Case) -> None:
    b = labels_of(case.loss)
    low, high = case.loss.slope_range(b)
    ends = case.loss.derivative(-700.0, b), case.loss.derivative(700.0, b)
    far = np.isfinite(low), np.isfinite(high)
    np.testing.assert_allclose(ends[0][far[0]], low[far[0]], atol=1e-300)
    np.testing.assert_allclose(ends[1][far[1]], high[far[1]], atol=1e-300)
    assert np.all(ends[0][~far[0]] < -100.0)
    assert np.all(ends[1][~far[1]] > 100.0)


def test_an_offset_moves_the_margin(case: Case) -> None:
    t, b = grid(case.loss, 3.0, 7)
    offset = np.linspace(-2.0, 2.0, t.size).reshape(t.shape)
    if case.loss.binary or isinstance(case.loss, losses.Zero):
        with pytest.raises(UnsupportedError, match="takes no offset"):
            case.loss.shifted(b, offset)
        return
    labels, weights = case.loss.shifted(b, offset)
    factor = 1.0 if weights is None else weights
    np.testing.assert_allclose(factor * case.loss.value(t, labels), case.formula(t + offset, b), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("loss", "label"), [(losses.Poisson(), -1.0), (losses.Gamma(), 0.0), (losses.Gamma(), -2.0)])
def test_labels_outside_the_family_are_refused(loss: losses.Loss, label: float) -> None:
    with pytest.raises(InputError, match=rf"y holds {label:g} and {type(loss).__name__} takes"):
        Problem(np.eye(2), [1.0, label], loss=loss)


@QUICK
@given(t=st.floats(-50, 50), s=st.floats(-50, 50), index=st.integers(0, 2))
def test_fenchel_young(case: Case, t: float, s: float, index: int) -> None:
    loss = case.loss
    labels = labels_of(loss)
    b = labels[index % labels.size]
    u = float(loss.derivative(s, b))
    conjugate = float(loss.conjugate(u, b))
    scale = 1 + abs(u * t) + abs(u * s) + float(loss.value(t, b) + loss.value(s, b))
    assert loss.value(t, b) + conjugate >= u * t - 1e-13 * scale
    assert float(loss.value(s, b) + conjugate) == pytest.approx(u * s, abs=1e-12 * scale)


def test_far_margins(case: Case) -> None:
    t, b = np.meshgrid(FAR, labels_of(case.loss))
    with np.errstate(over="ignore"):
        expected = case.formula(t, b)
    np.testing.assert_allclose(case.loss.value(t, b), expected, rtol=1e-12)
    assert np.all(np.isfinite(case.loss.derivative(t, b))) != case.loss.log_link
    assert not np.any(np.isnan(case.loss.derivative(t, b)))
    assert not np.any(np.isnan(case.loss.conjugate(t, b)))


def test_bounded_slope(case: Case) -> None:
    t, b = np.meshgrid(FAR, labels_of(case.loss))
    assert case.loss.bounded_slope == (np.max(np.abs(case.loss.derivative(t, b))) <= 10)


def test_binary_losses_look_at_the_margin_times_the_label_only(case: Case) -> None:
    if case.loss.log_link:
        assert not case.loss.binary
        return
    t = np.linspace(-3, 3, 13)
    shifted = np.allclose(case.loss.value(t, 1.0), case.loss.value(-t, -1.0)) and np.allclose(
        case.loss.derivative(t, 1.0), -case.loss.derivative(-t, -1.0)
    )
    assert shifted or isinstance(case.loss, losses.Quantile)
    moved = np.allclose(case.loss.value(t, 1.0), case.loss.value(t + 1.0, 2.0))
    assert case.loss.binary == (not moved)


def test_arguments_are_stored_unchanged_and_shown(case: Case) -> None:
    params = case.loss.get_params()
    assert params == type(case.loss)(**params).get_params()
    assert repr(case.loss).startswith(type(case.loss).__name__)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, None, "wide", [1.0, 2.0]])
@pytest.mark.parametrize(("make", "name"), [(losses.Huber, "delta"), (losses.SmoothedHinge, "width")])
def test_bad_parameters_are_refused(make: type[losses.Loss], name: str, value: object) -> None:
    loss = make(**{name: value})
    with pytest.raises(InputError, match=rf"{name} of {make.__name__} is .*positive number"):
        loss.value(0.0, 1.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_bad_levels_are_refused(level: float) -> None:
    with pytest.raises(InputError, match=r"level of Quantile is .* strictly between 0 and 1"):
        losses.Quantile(level).value(0.0, 1.0)


def test_bad_width_has_no_curvature() -> None:
    with pytest.raises(InputError, match="width of SmoothedHinge is 0"):
        _ = losses.SmoothedHinge(0).curvature


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_rows_are_those_of_single_rows(case: Case, weighted: bool) -> None:
    t, b = (part.ravel() for part in grid(case.loss, reach=45.0))
    rng = np.random.default_rng(0)
    weights = rng.random(t.size) if weighted else np.ones(t.size)
    data = as_reals(b), as_reals(weights if weighted else np.empty(0))
    spare = np.empty(CHUNK), np.empty(CHUNK)
    no_rows = Dense(np.empty((t.size, 1))).rows
    expected = case.loss.derivative(t, b)
    total = slope_sum(case.loss.read_term, t - 0.5, 0.5, *data, *spare)
    assert total == pytest.approx(np.sum(weights * expected), rel=1e-12, abs=1e-9)
    loss = sum_chunks(case.loss.read_term, t, *data, np.empty(CHUNK))
    assert loss == pytest.approx(np.sum(weights * case.formula(t, b)), rel=1e-13)
    u = 0.9 * expected
    assert case.loss.conjugate_sum(u, *data) == pytest.approx(np.sum(weights * case.loss.conjugate(u, b)), rel=1e-12)
    terms = case.loss.read_term, case.loss.conjugates_term
    u = np.where(expected > 0.0, 0.5, 0.8) * expected
    dual = conjugates_at(*terms, t - 0.5, 0.5, 0.5, 0.8, *data, *spare)
    assert dual == pytest.approx(np.sum(weights * case.loss.conjugate(u, b)), rel=1e-12)
    curvatures = np.empty(t.size)
    read_margins(Labelled(no_rows, *data, terms[0], case.loss.curvatures_term), AtRows(t, np.empty(t.size), curvatures))
    np.testing.assert_allclose(curvatures, case.loss.second_derivative(t, b), rtol=1e-14)


def test_sums_tell_what_lies_outside(case: Case) -> None:
    b = labels_of(case.loss)
    outside = np.full(b.size, 1e3)
    expected = np.sum(case.loss.conjugate(outside, b))
    assert case.loss.conjugate_sum(outside, as_reals(b), as_reals(np.empty(0))) == expected


def test_a_sum_of_tiny_losses_keeps_its_digits() -> None:
    t = np.linspace(30.0, 600.0, 1000)
    total = sum_chunks(losses.Logistic().read_term, t, as_reals(np.ones(1000)), as_reals(()), np.empty(CHUNK))
    assert total == pytest.approx(np.sum(np.exp(-t)), rel=1e-13)


def test_nan_is_not_hidden_in_a_sum() -> None:
    margins, none = np.array([0.0, np.nan, 1.0]), as_reals(())
    assert np.isnan(sum_chunks(losses.Logistic().read_term, margins, as_reals(np.ones(3)), none, np.empty(3)))


def test_curvature_jumps(case: Case) -> None:
    if case.loss.smooth:
        t, b = grid(case.loss, reach=3.0, points=60_001)
        curvature = case.loss.second_derivative(t, b)
        jumps = np.max(np.abs(np.diff(curvature, axis=1))) > 0.01 * np.max(curvature)
        assert case.loss.curvature_jumps == jumps
