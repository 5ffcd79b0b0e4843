"""Operators that cannot be: one sentence what, one sentence what to do."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.errors import InputError
from spdpeg.operators import Difference, GraphDifference, GridDifference, Matrix, Operator, Repeated, Stack, as_operator


def damaged() -> sp.csr_array:
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 7
    return matrix


REFUSED: list[tuple[Operator, int, str]] = [
    (Difference(order=4), 3, "order 4 need at least 4 coordinates and x has 3"),
    (Difference(order=0), 3, "order of Difference is 0. Give a whole number from 1 to 30"),
    (Difference(order=31), 100, "order of Difference is 31"),
    (Difference(order=1.5), 3, "order of Difference is 1.5"),  # type: ignore[arg-type]
    (GraphDifference([(0, 5)]), 5, "holds the node 5 but there are 5"),
    (GraphDifference([(0, 5)], n_nodes=5), 5, "holds the node 5 but there are 5"),
    (GraphDifference([(0, 1)], n_nodes=4), 5, "acts on vectors of length 4 but x has 5"),
    (GraphDifference([(0, -1)]), 5, "holds the node -1. Nodes are counted from 0"),
    (GraphDifference([(0, 1), (2, 2)]), 5, "Edge 1 joins node 2 with itself"),
    (GraphDifference([0, 1, 2]), 5, r"shape \(3,\)"),
    (GraphDifference([(0, 1, 2)]), 5, r"shape \(1, 3\)"),
    (GraphDifference([(0.0, 1.0)]), 5, "type float64"),
    (GridDifference((3, 4)), 10, "acts on vectors of length 12 but x has 10"),
    (GridDifference((3, 0)), 0, "Give the length of each axis"),
    (GridDifference((3.5, 2)), 7, "Give the length of each axis"),  # type: ignore[arg-type]
    (GridDifference(()), 1, "Give the length of each axis"),
    (Matrix(np.ones((2, 3))), 4, "acts on vectors of length 3 but x has 4"),
    (Matrix(sp.csr_array((2, 3))), 4, "acts on vectors of length 3 but x has 4"),
    (Matrix([1.0, 2.0]), 2, r"F has 1 dimension\(s\)"),
    (Matrix([[1.0], [1.0, 2.0]]), 2, "Its rows must have the same length"),
    (Matrix([[1.0, np.nan]]), 2, "NaN or infinite"),
    (Matrix([[1.0 + 2.0j]]), 1, "entries of type complex128"),
    (Matrix([["a"]]), 1, "must be real numbers"),
    (Matrix(damaged()), 3, "damaged sparse matrix"),
    (Stack(), 3, "Stack.* holds no operator"),
    (Stack(np.ones((1, 2)), np.ones((1, 3))), 3, "acts on vectors of length 2 but x has 3"),
    (Stack(np.ones((1, 3)), np.ones((1, 2))), 3, "acts on vectors of length 2 but x has 3"),
    (Stack(Difference(order=4)), 3, "need at least 4 coordinates"),
    (Stack("chain"), 3, "F is 'chain'"),
    (Repeated(Difference(), copies=0), 3, "copies is 0"),
    (Repeated(Difference(), skip=-1), 3, "skip is -1"),
    (Repeated(np.ones((1, 3)), copies=2, skip=1), 7, "acts on vectors of length 8 but x has 7"),
    (Repeated(Difference(), copies=3), 10, "10 entries cannot be 3 equal parts"),
    (Repeated(Difference(), copies=2, skip=3), 6, "6 entries cannot be 2 equal parts of more than 3"),
    (Repeated("chain"), 3, "F is 'chain'"),
]


@pytest.mark.parametrize(("operator", "d", "message"), REFUSED)
def test_refused_when_bound(operator: Operator, d: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        operator.bind(d)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [1.0, np.nan], [1.0, np.inf], [1.0, "a"]])
def test_bad_weights(weights: Any) -> None:
    for operator in (GraphDifference([(0, 1), (1, 2)], weights), GridDifference((3, 1), weights)):
        with pytest.raises(InputError, match=f"weights of {type(operator).__name__}"):
            operator.bind(3).forward(np.ones(3))


@pytest.mark.parametrize("F", [3.0, "chain", None, object()])
def test_not_an_operator(F: Any) -> None:
    with pytest.raises(InputError, match=r"Give one of spdpeg\.operators"):
        as_operator(F)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [(np.ones((2, 3)), r"shape \(2, 3\)"), (np.triu(np.ones((3, 3))), "not symmetric")],
)
def test_bad_adjacency(adjacency: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GraphDifference.from_adjacency(adjacency)
