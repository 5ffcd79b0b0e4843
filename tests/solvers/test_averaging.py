"""Running averages equal weighted sums."""

from collections.abc import Callable

import numpy as np
import pytest

from spdpeg.solvers import averaging
from support.twin import averaging_weights

Thetas = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize("t", [0, 1, 2, 10, 1000])
def test_increasing_weights_sum_to_one(t: int) -> None:
    assert averaging_weights("spdpeg-sc2", t).sum() == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(("regime", "thetas"), [("spdpeg", averaging.uniform), ("spdpeg-sc2", averaging.increasing)])
@pytest.mark.parametrize("t", [0, 1, 7, 400])
def test_recursion_equals_closed_form(regime: str, thetas: Thetas, t: int) -> None:
    iterates = np.random.default_rng(0).standard_normal((t + 1, 3))
    average = np.full(3, 1e6)
    for theta, iterate in zip(thetas(np.arange(t + 1.0)), iterates, strict=True):
        average = average + theta * (iterate - average)
    np.testing.assert_allclose(average, averaging_weights(regime, t) @ iterates, rtol=0, atol=1e-9)


@pytest.mark.parametrize("thetas", [averaging.uniform, averaging.increasing])
def test_the_first_iterate_replaces_whatever_was_there(thetas: Thetas) -> None:
    assert thetas(np.zeros(1))[0] == 1.0
