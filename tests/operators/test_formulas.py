"""Each operator against an independent way to compute it."""

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from spdpeg import operators

rng = np.random.default_rng(3)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("d", [6, 7, 40])
def test_difference_is_numpys(order: int, d: int) -> None:
    x = rng.standard_normal(d)
    np.testing.assert_allclose(operators.Difference(order).bind(d) @ x, np.diff(x, order), atol=1e-12)


def test_order_one_is_first_difference() -> None:
    x = rng.standard_normal(50)
    first, general = operators.FirstDifference().bind(50), operators.Difference(order=1).bind(50)
    np.testing.assert_array_equal(first @ x, general @ x)
    np.testing.assert_array_equal(first.adjoint(x[1:]), general.adjoint(x[1:]))
    assert first.squared_norm == general.squared_norm


@pytest.mark.parametrize("shape", [(5,), (3, 4), (4, 1, 3), (2, 3, 4), (2, 2, 3, 2)])
def test_grid_is_numpys(shape: tuple[int, ...]) -> None:
    x = rng.standard_normal(shape)
    weights = rng.standard_normal(len(shape))
    expected = [w * np.diff(x, axis=axis).reshape(-1) for axis, w in enumerate(weights)]
    np.testing.assert_allclose(operators.GridDifference(shape, weights) @ x, np.concatenate(expected), atol=1e-14)


def test_graph_is_the_loop_over_edges() -> None:
    edges = np.array([(0, 1), (4, 2), (3, 0), (0, 1)], dtype=np.uint8)
    weights = rng.standard_normal(4)
    x = rng.standard_normal(6)
    expected = [w * (x[i] - x[j]) for (i, j), w in zip(edges.tolist(), weights, strict=True)]
    np.testing.assert_allclose(operators.GraphDifference(edges, weights, n_nodes=6) @ x, expected)


@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_matrix, sp.csc_matrix, np.asarray])
def test_adjacency_gives_each_edge_once(make: type) -> None:
    dense = np.array([[9.0, 2.0, 0.0, -1.0], [2.0, 0.0, 0.0, 0.5], [0.0, 0.0, 4.0, 0.0], [-1.0, 0.5, 0.0, 0.0]])
    graph = operators.GraphDifference.from_adjacency(make(dense))
    np.testing.assert_array_equal(graph.edges, [(0, 1), (0, 3), (1, 3)])
    np.testing.assert_array_equal(graph.weights, [2.0, -1.0, 0.5])
    assert graph.n_inputs == 4


def test_adjacency_with_repeated_and_zero_entries() -> None:
    rows, columns, entries = [0, 1, 0, 1, 0, 2], [1, 0, 1, 0, 2, 0], [1.0, 1.0, 2.0, 2.0, 0.0, 0.0]
    graph = operators.GraphDifference.from_adjacency(sp.coo_array((entries, (rows, columns)), shape=(3, 3)))
    np.testing.assert_array_equal(graph.edges, [(0, 1)])
    np.testing.assert_array_equal(graph.weights, [3.0])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.dok_array, pd.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_matrix_takes_any_layout_and_type(make: type, dtype: type) -> None:
    dense = (rng.random((5, 4)) < 0.5).astype(dtype)
    x = rng.standard_normal(4)
    np.testing.assert_allclose(operators.as_operator(make(dense)) @ x, dense.astype(float) @ x, atol=1e-14)


def test_matrix_with_repeated_entries_is_summed_and_left_alone() -> None:
    matrix = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    operator = operators.Matrix(matrix)
    np.testing.assert_array_equal(operator @ [1.0, 10.0], [30.0, 4.0])
    assert operator.squared_norm == pytest.approx(16.0)
    np.testing.assert_array_equal(matrix.data, [1.0, 2.0, 4.0])


def test_matrix_shares_the_numbers_it_is_given() -> None:
    matrix = sp.csr_array(np.eye(4))
    reals, _ = operators.Matrix(matrix).bind(4).pack()
    assert np.shares_memory(reals, matrix.data)


def test_new_parameters_are_not_ignored() -> None:
    operator = operators.Matrix(np.eye(2))
    assert operator.squared_norm == 1.0
    operator.set_params(F=3.0 * np.eye(3))
    assert (operator.n_inputs, operator.squared_norm) == (3, 9.0)
    np.testing.assert_array_equal(operator @ np.ones(3), [3.0, 3.0, 3.0])


def test_stack_shows_its_parts() -> None:
    stack = operators.Stack(operators.Difference(order=3), operators.GridDifference((2, 2)))
    assert repr(stack) == "Stack(Difference(order=3), GridDifference(shape=(2, 2)))"


def test_stack_of_known_width_needs_no_binding() -> None:
    stack = operators.Stack(operators.Identity(), np.ones((1, 3)))
    np.testing.assert_array_equal(stack @ [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 6.0])
    np.testing.assert_array_equal(stack.adjoint([1.0, 0.0, 0.0, 2.0]), [3.0, 2.0, 2.0])


def test_adjoints_of_one_stack_in_two_threads() -> None:
    """Each term has working memory of its own, so runs that share an operator do not disturb each other."""
    d = 20_000
    stack = operators.Stack(operators.Identity(), operators.FirstDifference(), operators.Identity()).bind(d)
    inputs = [np.full(3 * d - 1, value) for value in (1.0, -5.0)]
    expected = [stack.adjoint(y) for y in inputs]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(200):
            if not np.array_equal(stack.adjoint(inputs[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
