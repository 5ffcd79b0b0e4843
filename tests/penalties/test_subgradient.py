"""Subgradient hooks: r(w) >= r(v) + <g, w - v> everywhere, and a sentence where a penalty has none."""

from typing import Any

import numpy as np
import pytest

from spdpeg import penalties
from spdpeg.kernels.jit import Term as KernelTerm
from spdpeg.kernels.jit import call_linear, kernel

SIZE = 6
WITH = {"Zero", "L1", "L2Squared", "ElasticNet", "GroupL2", "HuberL1", "FusedL1"}


@kernel
def apply_linear(term: KernelTerm, point: np.ndarray, out: np.ndarray) -> None:
    call_linear(term, point, out)


def subgradient(r: penalties.Penalty, v: np.ndarray) -> np.ndarray:
    out = np.full(v.size, np.nan)
    apply_linear(r.subgradient_term(v.size), v, out)
    return out


def points() -> list[np.ndarray]:
    """Of several sizes, some with zeros, whole groups of them included."""
    rng = np.random.default_rng(21)
    dense = [scale * rng.standard_normal(SIZE) for scale in (1e-3, 0.3, 2.0, 50.0) for _ in range(5)]
    return dense + [v * (rng.random(SIZE) < 0.5) for v in dense] + [np.zeros(SIZE)]


def test_inequality(case: Any) -> None:
    r = case.penalty
    if r.kernel_subgradient is None:
        assert type(r).__name__ not in WITH
        return
    for v in points():
        g = subgradient(r, v)
        for w in points():
            below = r.value(v) + g @ (w - v)
            assert r.value(w) >= below - 1e-12 * (1.0 + abs(below) + r.value(v))


def test_gradient_where_smooth(case: Any) -> None:
    """Away from corners there is one subgradient: the finite difference."""
    r = case.penalty
    if r.kernel_subgradient is None:
        assert type(r).__name__ not in WITH
        return
    h = 1e-6
    for v in (v for v in points() if np.min(np.abs(v)) > 1e-2):
        difference = [(r.value(v + h * e) - r.value(v - h * e)) / (2 * h) for e in np.eye(SIZE)]
        np.testing.assert_allclose(subgradient(r, v), difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(WITH))
def test_these_have_one(name: str) -> None:
    assert getattr(penalties, name).kernel_subgradient is not None
