"""The named problems that are small enough for the ordinary tests, all with `pytest -m stress`."""

import numpy as np
import pytest

from stress import large, pool
from stress.outcome import Verdict, listed

SMALL = ("image 32 x 32", "signal of 990 points", "signal of 990 points, no l1")


def test_taut_string_is_the_minimiser() -> None:
    """Optimal, by its conditions: the flow stays within lam and has its full size at each jump."""
    y = large.signal()[:200]
    x = large.taut_string(y, 1.0)
    flow = np.cumsum(y - x)[:-1]
    jumps = np.diff(x)
    assert abs(np.sum(y - x)) < 1e-10
    assert np.all(np.abs(flow) <= 1.0 + 1e-10)
    assert np.allclose(flow[jumps != 0], -np.sign(jumps[jumps != 0]))


@pytest.mark.parametrize("name", SMALL)
def test_gap_and_pieces(name: str) -> None:
    outcome = large.run(list(large.SCENARIOS).index(name))
    assert outcome.verdict is Verdict.PASSED, outcome.reason


@pytest.mark.stress
def test_in_full() -> None:
    failed = set(Verdict) - {Verdict.PASSED}
    assert listed(pool.run(large.run, range(len(large.SCENARIOS)), 1, 600.0), failed) == []
