"""Degrees of freedom and pieces: closed forms, any matrix by its rank, and Stein's identity."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import operators, penalties
from spdpeg.operators import null_space
from spdpeg.operators.pieces import freedom, n_pieces

STAIRS = np.array([0.0, 0.0, 2.0, 2.0, 2.0, -1.0, 0.0, 3.0])


def counted(F, x, sparse):
    """Degrees of freedom of x, where an l1 norm may have made the `sparse` entries 0."""
    x = np.asarray(x)
    F = operators.as_operator(F).bind(x.size)
    return freedom(F, F.forward(x) == 0.0, (x != 0.0) | ~np.broadcast_to(sparse, x.shape))


@pytest.mark.parametrize(
    ("F", "x", "sparse", "expected"),
    [
        (operators.FirstDifference(), STAIRS, True, 3),
        (operators.FirstDifference(), STAIRS, False, 5),
        (operators.FirstDifference(), STAIRS, np.arange(8) < 3, 4),
        (operators.FirstDifference(), np.zeros(8), True, 0),
        (operators.FirstDifference(), np.zeros(8), False, 1),
        (operators.Difference(2), np.abs(np.arange(9.0) - 4.0), False, 3),
        (operators.Difference(3), np.arange(9.0) ** 2, False, 3),
        (operators.GridDifference((2, 4)), STAIRS, False, 6),
        (operators.GridDifference((2, 4)), STAIRS, True, 4),
        (np.ones((3, 2)), [1.0, -1.0], False, 1),
        (operators.Difference(2), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0], True, 1),
    ],
)
def test_closed_forms(F, x, sparse, expected):
    assert counted(F, x, sparse) == expected


def test_any_matrix_by_its_rank():
    rng = np.random.default_rng(0)
    for _ in range(40):
        F = sp.random_array((9, 6), density=0.4, rng=rng).tocsr()
        zero = rng.random(9) < 0.5
        expected = 6 - np.linalg.matrix_rank(F.toarray()[zero]) if zero.any() else 6
        assert freedom(operators.as_operator(F).bind(6), zero, np.ones(6, dtype=bool)) == expected


def test_a_large_matrix_is_taken_part_by_part(monkeypatch):
    """Third rows that are sums of the two before them, which patterns do not tell."""
    block = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    many = sp.block_diag([block] * 200, format="csr")
    assert null_space.nullity(many) == 200
    monkeypatch.setattr(null_space, "_DENSE_RANK", 2)
    assert null_space.nullity(many) == 0


def test_pieces_by_their_entries():
    line, grid = (F.bind(8) for F in (operators.FirstDifference(), operators.GridDifference((2, 4))))
    assert (n_pieces(line, STAIRS), n_pieces(line, 0.1 + STAIRS * (1.0 + 1e-12))) == (5, 5)
    assert n_pieces(grid, STAIRS) == 6


def test_stein():
    """The mean over noise is the sum of covariances of fitted and observed values, for a fused signal."""
    rng = np.random.default_rng(1)
    truth, penalty = np.repeat([0.0, 2.0, 0.0], 5), penalties.FusedL1(0.3, 0.7)
    noise = rng.standard_normal((1000, truth.size))
    fits = np.array([penalty.prox(truth + e) for e in noise])
    covariance = float(np.mean(np.sum(noise * fits, axis=1)))
    mean = np.mean([counted(operators.FirstDifference(), fit, True) for fit in fits])
    assert abs(mean - covariance) < 0.4
