"""Trend filters, on which first-order methods crawl, against a conic solver."""

from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from support.conic import TIGHT

cp: Any = cvxpy


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("order", [2, 3])
def test_trend_filters_of_any_weight(order: int, weight: float, layout: Any) -> None:
    """The heaviest weights leave a polynomial."""
    rng = np.random.default_rng(0)
    n = 150
    signal = np.abs(np.linspace(-2.0, 3.0, n)) + 0.2 * rng.standard_normal(n)
    F = operators.Difference(order)
    problem = spdpeg.Problem(layout(np.eye(n)), signal, losses.Squared(), r2=penalties.L1(weight), F=F)
    result = spdpeg.solve(problem, tol=1e-7)
    assert result.certificate is not None
    assert result.certificate.met is not None
    z = cp.Variable(n)
    D = np.diff(np.eye(n), n=order, axis=0)
    cp.Problem(cp.Minimize(cp.sum_squares(z - signal) / (2 * n) + weight * cp.norm1(D @ z))).solve(
        solver=cp.CLARABEL, **TIGHT
    )

    def value(x: np.ndarray) -> float:
        return float(np.sum((x - signal) ** 2) / (2 * n) + weight * np.abs(D @ x).sum())

    assert value(result.x) <= value(z.value) * (1.0 + 1e-6)
    if weight == 100.0:
        points = np.linspace(-1.0, 1.0, n)
        best = np.polynomial.polynomial.polyval(points, np.polynomial.polynomial.polyfit(points, signal, order - 1))
        np.testing.assert_allclose(result.x, best, atol=1e-4)


def test_twenty_thousand_points_on_sparse_factors() -> None:
    """A dense matrix of that size would take 3 GB."""
    rng = np.random.default_rng(0)
    n = 20_000
    signal = np.repeat([0.0, 1.0], n // 2) * np.linspace(0.0, 5.0, n) + 0.1 * rng.standard_normal(n)
    F = operators.Difference(2)
    problem = spdpeg.Problem(sp.eye_array(n).tocsr(), signal, losses.Squared(), r2=penalties.L1(0.01), F=F)
    result = spdpeg.solve(problem, tol=1e-4)
    assert result.certificate is not None
    assert result.certificate.met is not None
