"""The norm of a matrix is a true bound where power iteration from below would fail."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spdpeg.errors import InputError
from spdpeg.operators import Difference, FirstDifference, GraphDifference, GridDifference, Matrix
from spdpeg.operators.spectrum import eigenvalue_bound

rng = np.random.default_rng(11)


def with_spectrum(singular: np.ndarray, rows: int, d: int) -> np.ndarray:
    left, _ = np.linalg.qr(rng.standard_normal((rows, singular.size)))
    right, _ = np.linalg.qr(rng.standard_normal((d, singular.size)))
    return (left * singular) @ right.T


MATRICES: dict[str, Callable[[], np.ndarray | sp.csr_array]] = {
    "close leading values": lambda: with_spectrum(np.linspace(0.9, 1.0, 300), 320, 300),
    "one value just above many": lambda: with_spectrum(np.r_[1.0, np.full(299, 0.99)], 300, 300),
    "slowly falling": lambda: with_spectrum(1.0 / np.sqrt(np.arange(1, 201)), 200, 250),
    "all equal": lambda: with_spectrum(np.ones(150), 150, 150),
    "rank one": lambda: np.outer(rng.standard_normal(90), rng.standard_normal(200)),
    "duplicated rows": lambda: np.repeat(rng.standard_normal((1, 120)), 200, axis=0),
    "duplicated blocks": lambda: np.tile(rng.standard_normal((80, 100)), (3, 1)),
    "long chain": lambda: FirstDifference().bind(600).matrix(),
    "third differences": lambda: Difference(order=3).bind(800).matrix(),
    "sparse": lambda: sp.random_array((400, 300), density=0.02, random_state=rng, data_sampler=rng.standard_normal),
    "one heavy row": lambda: np.vstack([1e-3 * rng.standard_normal((150, 100)), np.ones((1, 100))]),
    "hidden direction": lambda: sp.block_diag([1.05 * sp.eye_array(1), FirstDifference().bind(500).matrix() / 2]),
    "wide": lambda: rng.standard_normal((3, 500)),
    "tall": lambda: rng.standard_normal((500, 3)),
    "single entry": lambda: np.array([[-4.0]]),
}


@pytest.mark.parametrize("scale", [1.0, 1e100, 1e-100])
@pytest.mark.parametrize("name", MATRICES)
def test_bound_holds_and_is_within_three_per_cent(name: str, scale: float) -> None:
    F = MATRICES[name]()
    dense = F.toarray() if sp.issparse(F) else F
    truth = (scale * np.linalg.norm(dense, 2)) ** 2
    assert truth * (1 - 1e-6) <= Matrix(scale * F).squared_norm <= 1.03 * truth


@given(st.integers(0, 2**32 - 1), st.integers(1, 90), st.integers(1, 90), st.floats(0.01, 1.0))
@settings(max_examples=60, deadline=None)
def test_bound_holds_for_random_sparse_matrices(seed: int, rows: int, d: int, density: float) -> None:
    draw = np.random.default_rng(seed)
    F = sp.random_array((rows, d), density=density, random_state=draw, data_sampler=draw.standard_normal)
    truth = np.linalg.norm(F.toarray(), 2) ** 2
    assert truth * (1 - 1e-6) <= Matrix(F).squared_norm <= 1.03 * truth


def test_tiny_matrix_has_a_positive_norm() -> None:
    assert 0.0 < Matrix(np.full((2, 2), 1e-300)).squared_norm < 1e-300


def test_huge_matrix_is_refused() -> None:
    with pytest.raises(InputError, match="Scale F down"):
        _ = Matrix(np.full((2, 2), 1e200)).squared_norm


def test_nothing_has_no_eigenvalue() -> None:
    assert eigenvalue_bound(lambda v: v, 0) == 0.0


@pytest.mark.parametrize("n", [2, 5, 30])
def test_complete_graph_is_at_most_twice_the_truth(n: int) -> None:
    i, j = np.triu_indices(n, 1)
    bound = GraphDifference(np.column_stack([i, j])).bind(n).squared_norm
    assert bound == 2 * (n - 1)
    assert n <= bound <= 2 * n


@pytest.mark.parametrize("shape", [(30, 20), (7, 8, 9)])
def test_grid_norm_is_that_of_the_matrix(shape: tuple[int, ...]) -> None:
    grid = GridDifference(shape)
    eigenvalues = np.linalg.eigvalsh((grid.matrix().T @ grid.matrix()).toarray())
    assert grid.squared_norm == pytest.approx(eigenvalues[-1], rel=1e-10)
