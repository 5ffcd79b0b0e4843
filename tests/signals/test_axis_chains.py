"""Images by exact steps along rows and columns: beside the exact solver, which small images go to."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg.operators import GridDifference
from spdpeg.signals.axis_chains import AxisChains
from spdpeg.signals.dual_ascent import dual_ascent
from spdpeg.signals.signal import as_signal

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "zeros": {"lam1": 0.2},
    "weight": {"weights": np.full((13, 9), 2.5)},
    "axes": {"structure": GridDifference((13, 9), [1.0, 0.5])},
    "edges": {"lam2": np.linspace(0.1, 0.6, 12 * 9 + 13 * 8)},
}


@pytest.mark.parametrize("case", CASES)
def test_the_exact_solver_agrees(case: str) -> None:
    given: dict[str, Any] = {"lam2": 0.4, "lam1": 0.0, "structure": None, "weights": None} | CASES[case]
    image = np.random.default_rng(0).standard_normal((13, 9)) + 5.0 * (np.arange(9) > 4)
    signal = as_signal(image, given["lam1"], 1, given["structure"], given["weights"], False)
    assert AxisChains.takes(signal)
    x, u, certificate = dual_ascent(signal, given["lam2"], 1e-9, 1000, None)
    assert certificate.rel_gap <= 1e-9
    assert np.all(np.abs(u) <= given["lam2"])
    exact = spdpeg.denoise(image, tol=1e-9, **given)
    assert certificate.primal == pytest.approx(exact.certificate.primal, rel=3e-9)
    assert np.allclose(x, exact.x.ravel(), atol=1e-3)
    # From its own multipliers it is there at once.
    again = dual_ascent(signal, given["lam2"], 1e-6, 1, u)[2]
    assert again.rel_gap <= 1e-6


def test_others_go_edge_by_edge() -> None:
    image = np.zeros((4, 5))
    assert not AxisChains.takes(as_signal(image, 0.0, 1, None, None, True))
    assert not AxisChains.takes(as_signal(image, 0.0, 1, None, 1.0 + np.indices((4, 5))[0], False))
    assert not AxisChains.takes(as_signal(np.zeros((3, 3, 3)), 0.0, 1, None, None, False))
    assert not AxisChains.takes(as_signal(image, 0.0, 1, GridDifference((4, 5), [1.0, 0.0]), None, False))
