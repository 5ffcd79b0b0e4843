"""Models without curvature, and constraints of very different sizes."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.penalties.conic import broken_lines
from spdpeg.quadratic import Model, minimize


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_almost_depend_on_each_other(seed: int) -> None:
    """Six points are fitted by thirty columns that differ in the eighth digit: the least sum of distances is 0."""
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((6, 1)) + 1e-7 * rng.standard_normal((6, 30))
    form = broken_lines(K, rng.standard_normal(6), 1.0, 1.0)
    form = form + broken_lines(sp.eye_array(30), 1e8, np.inf, 0.0) + broken_lines(sp.eye_array(30), -1e8, 0.0, np.inf)
    found = minimize(Model(np.zeros((30, 30)), np.zeros(30), form))
    assert found.value < 1e-5
    assert found.violation == 0.0


@pytest.mark.parametrize("spread", [0, 4, 8])
def test_rows_that_contradict_each_other(spread: int) -> None:
    """Entries that add up to 1 at most cannot be 2 each, in whatever units the rows are told."""
    rng = np.random.default_rng(spread)
    units = 10.0 ** rng.uniform(-spread / 2, spread / 2, 5)
    at_least = broken_lines(np.diag(units), 2.0 * units, 0.0, np.inf)
    together = broken_lines(np.ones((1, 5)), 1.0, np.inf, 0.0)
    found = minimize(Model(np.eye(5), np.ones(5), at_least + together))
    assert found.status == "infeasible"
