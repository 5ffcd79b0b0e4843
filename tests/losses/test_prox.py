"""The prox of every loss is the minimiser it claims to be, found in closed form or from the derivative."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spdpeg import losses
from spdpeg.errors import InputError

QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)

CASES = [
    losses.Logistic(),
    losses.Squared(),
    losses.Huber(0.25),
    losses.SquaredHinge(),
    losses.SmoothedHinge(0.1),
    losses.Hinge(),
    losses.Quantile(0.3),
    losses.Poisson(),
    losses.Gamma(),
    losses.Zero(),
]
STEPS = (1e-8, 1e-3, 0.2, 1.0, 7.0, 1e4)


@pytest.fixture(params=CASES, ids=lambda loss: type(loss).__name__, scope="session")
def loss(request: pytest.FixtureRequest) -> Any:
    return request.param


def labels_of(loss: losses.Loss) -> list[float]:
    if loss.log_link:
        return [0.25 if isinstance(loss, losses.Gamma) else 0.0, 0.5, 3.0]
    return [-1.0, 1.0] if loss.binary else [-2.5, 0.0, 3.0]


def cost(loss: losses.Loss, s: np.ndarray, t: float, b: float, step: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        return step * loss.value(s, b) + (s - t) ** 2 / 2


def test_registry_covers_every_loss() -> None:
    assert {type(loss).__name__ for loss in CASES} == set(losses.__all__) - {"Loss"}


@pytest.mark.parametrize("step", STEPS)
def test_no_point_of_a_fine_grid_is_better(loss: losses.Loss, step: float) -> None:
    """Grids around the answer from very fine to very wide: a convex function with no better point there has none."""
    offsets = np.concatenate([sign * np.logspace(-9, 5, 600) for sign in (-1.0, 1.0)])
    for b in labels_of(loss):
        for t in (-30.0, -1.0, -0.3, 0.0, 0.7, 1.0, 2.0, 40.0):
            s = float(loss.prox(t, b, step))
            here = float(cost(loss, np.array(s), t, b, step))
            # Values are sums of terms of this size; below their rounding nothing can be told.
            noise = 2e-15 * (step * float(loss.value(s, b)) + (s - t) ** 2 / 2 + 1e-300)
            assert np.all(cost(loss, s + offsets, t, b, step) >= here - noise)


@QUICK
@given(t=st.floats(-60, 60), step=st.floats(1e-6, 1e6), index=st.integers(0, 2))
def test_optimality(loss: losses.Loss, t: float, step: float, index: int) -> None:
    """(t - prox) / step lies between the slopes just left and just right of the prox."""
    labels = labels_of(loss)
    b = labels[index % len(labels)]
    s = float(loss.prox(t, b, step))
    near = 1e-9 * max(1.0, abs(s))
    low, high = float(loss.derivative(s - near, b)), float(loss.derivative(s + near, b))
    slack = 1e-12 * (1.0 + abs(low)) + 4e-16 * (abs(t) + abs(s)) / step
    assert low - slack <= (t - s) / step <= high + slack


@QUICK
@given(t=st.floats(-50, 50), gap=st.floats(0, 20), step=st.floats(1e-6, 1e6), index=st.integers(0, 2))
def test_firmly_nonexpansive(loss: losses.Loss, t: float, gap: float, step: float, index: int) -> None:
    labels = labels_of(loss)
    b = labels[index % len(labels)]
    first, second = loss.prox([t, t + gap], b, step)
    assert -1e-12 <= second - first <= gap + 1e-12


def test_moreau_identity(loss: losses.Loss) -> None:
    """t - prox is step times a dual point u, and phi(prox) + phi*(u) = u prox."""
    for b in labels_of(loss):
        for step in STEPS[1:]:
            t = np.linspace(-8, 8, 81)
            s = loss.prox(t, b, step)
            # Rounding may push u out of the conjugate's domain by an ulp; a hair inside it the identity still holds.
            u = (t - s) / step * (1 - 1e-9)
            value, conjugate = loss.value(s, b), loss.conjugate(u, b)
            assert np.all(np.abs(value + conjugate - u * s) <= 1e-7 * (1 + np.abs(t) + value))


def test_elementwise_over_any_shape(loss: losses.Loss) -> None:
    t, b = np.meshgrid(np.linspace(-3, 3, 7), labels_of(loss))
    together = loss.prox(t, b, 0.7)
    assert together.shape == t.shape
    for place in np.ndindex(*t.shape):
        assert together[place] == loss.prox(t[place], b[place], 0.7)


@pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf])
def test_bad_steps_are_refused(loss: losses.Loss, step: float) -> None:
    with pytest.raises(InputError, match=r"step of .* is .*positive number"):
        loss.prox(0.0, 1.0, step)
