"""Quadratic models with l1 norms by interior points, against a conic solver; and the trend filters that need them."""

from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.sampled_newton.interior_point import minimize
from support.conic import TIGHT

cp: Any = cvxpy


def model(kind: str, seed: int) -> tuple[Any, np.ndarray, sp.csr_array, np.ndarray]:
    """H, right, K and weights."""
    rng = np.random.default_rng(seed)
    d = 12
    rows = rng.standard_normal((6 if kind == "singular" else 40, d))
    H: Any = rows.T @ rows / len(rows)
    K = sp.csr_array(np.vstack([np.diff(np.eye(d), axis=0), np.eye(d)]))
    weights = np.where(np.arange(K.shape[0]) % 4 == 0, 0.0, 0.1)
    if kind == "few":
        K, weights = sp.csr_array(K[:5]), np.full(5, 0.2)
    if kind == "sparse":
        H = sp.csr_array(sp.diags_array(rng.uniform(0.1, 2.0, d)))
    return H, rows.T @ rng.standard_normal(len(rows)) / len(rows), K, weights


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["many", "few", "singular", "sparse"])
def test_minimises(kind: str, seed: int) -> None:
    H, right, K, weights = model(kind, seed)
    dense = H.toarray() if sp.issparse(H) else H

    def value(x: Any) -> float:
        return float(0.5 * x @ dense @ x - right @ x + weights @ np.abs(K @ x))

    z = cp.Variable(right.size)
    half = np.linalg.cholesky(dense + 1e-13 * np.eye(right.size)).T
    objective = cp.sum_squares(half @ z) / 2 - right @ z + weights @ cp.abs(K.toarray() @ z)
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, **TIGHT)
    x, y = minimize(H, right, K, weights, 1e-10)
    assert value(x) - value(z.value) < 1e-8 * (1.0 + abs(value(z.value)))
    assert np.all(np.abs(y) <= weights)
    np.testing.assert_allclose(dense @ x + K.T @ y, right, atol=1e-7)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("order", [2, 3])
def test_trend_filters_of_any_weight(order: int, weight: float, layout: Any) -> None:
    """ADMM crawls on these; the heaviest leave a polynomial."""
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
