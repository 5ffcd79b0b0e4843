"""Degrees of freedom: closed forms, any matrix by its rank, and Stein's identity."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import errors, operators, penalties
from spdpeg.degrees import degrees_of_freedom

STAIRS = np.array([0.0, 0.0, 2.0, 2.0, 2.0, -1.0, 0.0, 3.0])


@pytest.mark.parametrize(
    ("F", "x", "sparse", "expected"),
    [
        (None, STAIRS, True, 5),
        (None, STAIRS, False, 8),
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
    assert degrees_of_freedom(F, x, sparse) == expected


def test_any_matrix_by_its_rank():
    rng = np.random.default_rng(0)
    for _ in range(20):
        F = sp.random_array((9, 6), density=0.4, rng=rng).tocsr()
        basis = rng.standard_normal((6, 2))
        x = basis @ rng.standard_normal(2)
        still = np.abs(F @ x) <= 1e-8 * (abs(F) @ np.abs(x))
        expected = 6 - np.linalg.matrix_rank(F.toarray()[still]) if still.any() else 6
        assert degrees_of_freedom(F, x, False) == expected


def test_no_more_than_samples():
    assert degrees_of_freedom(None, np.ones(10), n_samples=4) == 4


def test_stein():
    """The mean over noise is the sum of covariances of fitted and observed values, for a fused signal."""
    rng = np.random.default_rng(1)
    truth, penalty = np.repeat([0.0, 2.0, 0.0], 5), penalties.FusedL1(0.3, 0.7)
    noise = rng.standard_normal((1000, truth.size))
    fits = np.array([penalty.prox(truth + e) for e in noise])
    covariance = float(np.mean(np.sum(noise * fits, axis=1)))
    counted = np.mean([degrees_of_freedom(operators.FirstDifference(), fit) for fit in fits])
    assert abs(counted - covariance) < 0.4


def test_refusals():
    with pytest.raises(errors.InputError, match="Give a vector"):
        degrees_of_freedom(None, np.ones((2, 2)))
