"""Multipliers of graphs moved to where nothing is left beside them, relative to the terms of each coordinate."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.certificate.balanced import balanced

_UNIT = np.finfo(float).eps


def _tree(rng: np.random.Generator, d: int) -> operators.Operator:
    return operators.GraphDifference([(int(rng.integers(0, j)), j) for j in range(1, d)])


def _graph(rng: np.random.Generator, d: int) -> operators.Operator:
    """Cycles, some parts that nothing connects, and rows with a single entry in one of them."""
    ends = np.sort(rng.integers(0, d, (d, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    rows = np.arange(len(ends))
    pairs = sp.csr_array((np.ones(len(ends)), (rows, ends[:, 0])), shape=(len(ends), d))
    pairs = pairs - sp.csr_array((np.ones(len(ends)), (rows, ends[:, 1])), shape=(len(ends), d))
    return operators.Matrix(sp.vstack([pairs, sp.csr_array(([2.0], ([0], [3])), shape=(1, d))], format="csr"))


@pytest.mark.parametrize("make", [_tree, _graph])
def test_each_coordinate_misses_no_more_than_rounding_of_its_own_terms(make):
    rng = np.random.default_rng(3)
    d = 400
    X = rng.standard_normal((30, d))
    problem = spdpeg.Problem(X, rng.standard_normal(30), losses.Squared(), r2=penalties.L1(1.0), F=make(rng, d)).view
    # Multipliers of very different sizes: a leaf whose column is next to empty has one next to 0.
    y = rng.standard_normal(problem.F.n_outputs) * 10.0 ** rng.uniform(-18.0, 0.0, problem.F.n_outputs)
    gradient = -problem.F.adjoint(y)
    sizes = np.abs(gradient)
    noisy = y + 1e-12 * rng.standard_normal(y.size)
    found = balanced(problem, gradient, noisy, sizes)
    assert found is not None
    own = sizes + abs(problem.F.matrix()).T @ np.abs(found)
    assert np.all(np.abs(gradient + problem.F.adjoint(found)) <= 64.0 * _UNIT * own)
    assert np.max(np.abs(found - y)) <= 1e-9


def test_a_tree_without_other_penalties_is_proved_where_columns_are_empty():
    rng = np.random.default_rng(4)
    n, d, length = 100, 1500, 30
    chances = 1.0 / np.arange(1, d + 1)
    words = rng.choice(d, n * length, p=chances / chances.sum())
    X = sp.csr_array((np.ones(n * length), (np.repeat(np.arange(n), length), words)), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.power(2).sum(axis=1))) @ X)
    y, F = rng.standard_normal(n), _tree(rng, d)
    problem = spdpeg.Problem(X, y, losses.Huber(1.0), r2=penalties.L1(1e-3), F=F, intercept=True)
    result = spdpeg.solve(problem, "working-set", tol=1e-6, max_passes=100)
    assert result.certificate.met == "relative gap"
