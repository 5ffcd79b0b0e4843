"""Numbers side by side in a register: the same as one by one."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.kernels.jit import kernel
from spdpeg.kernels.lanes import LANES, column, filled, lane, load, set_column, store
from spdpeg.kernels.rows import Rows, add_row_to_each, count, row_dots


@kernel
def polynomial(x: np.ndarray, out: np.ndarray) -> float:
    """out = 2 x^2 + 3 x; returns the sum over the first lanes."""
    at = np.uint64(1)
    values = load(x, at)
    found = filled(3.0) * values
    found += 2.0 * (values * values)
    store(found, out, at)
    total = 0.0
    for k in range(np.uint64(LANES)):
        total += lane(found, k)
    return total


@kernel
def turned(matrix: np.ndarray, out: np.ndarray) -> None:
    """out = -matrix, a column at a time."""
    for j in range(np.uint64(matrix.shape[1])):
        set_column(-1.0 * column(matrix, j), out, j)


def test_sums_and_products() -> None:
    x = np.random.default_rng(0).standard_normal(LANES + 2)
    out = np.zeros(x.size)
    expected = 2.0 * x * x + 3.0 * x
    assert polynomial(x, out) == pytest.approx(expected[1:-1].sum(), rel=1e-14)
    np.testing.assert_allclose(out[1:-1], expected[1:-1], rtol=1e-15)
    assert out[0] == out[-1] == 0.0


def test_columns() -> None:
    matrix = np.random.default_rng(0).standard_normal((LANES, 5))
    out = np.empty_like(matrix)
    turned(matrix, out)
    np.testing.assert_array_equal(out, -matrix)


@kernel
def products(
    rows: Rows, points: np.ndarray, moves: np.ndarray, factors: np.ndarray, out: np.ndarray, sums: np.ndarray
) -> None:
    """out = A x_k, and A m_k, and sums = 2 A^T factors_k, for some points, moves and factors at once."""
    sums[:] = 0.0
    for i in range(count(rows)):
        row_dots(rows, i, points, moves, i, out[0], out[1])
        add_row_to_each(rows, i, 2.0, factors, i, sums)


@pytest.mark.parametrize("bias", [0.0, 1.5])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [True, False])
def test_products_with_some_vectors_at_once(sparse: bool, kind: Any, bias: float) -> None:
    rng = np.random.default_rng(1)
    A = (rng.standard_normal((30, 7)) * (rng.random((30, 7)) < 0.5)).astype(kind)
    table = sp.csr_array(A)
    none = np.zeros(0, dtype=np.int32)
    rows = Rows(table.data, table.indices, table.indptr, 7, bias) if sparse else Rows(A.ravel(), none, none, 7, bias)
    whole = np.column_stack([A.astype(float), np.full(30, bias)]) if bias else A.astype(float)
    (points, moves), factors = rng.standard_normal((2, whole.shape[1], LANES)), rng.standard_normal((LANES, 30))
    out, sums = np.empty((2, LANES, 30)), np.empty(points.size)
    products(rows, points.ravel(), moves.ravel(), factors, out, sums)
    np.testing.assert_allclose(out, [(whole @ points).T, (whole @ moves).T], atol=1e-13)
    np.testing.assert_allclose(sums.reshape(points.shape), 2.0 * whole.T @ factors.T, atol=1e-13)
