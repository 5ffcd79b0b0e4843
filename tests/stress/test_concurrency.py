"""Threads, forks and leaks: a round of each in the ordinary tests, a hundred with `pytest -m stress`."""

import pytest

from stress import concurrency, pool
from stress.outcome import Verdict, listed

FAILED = set(Verdict) - {Verdict.PASSED}


def test_a_round() -> None:
    assert listed(pool.run(concurrency.run, range(len(concurrency.SCENARIOS)), 1, 180.0), FAILED) == []


@pytest.mark.stress
def test_in_full() -> None:
    assert listed(pool.run(concurrency.run, range(10_000, 10_100), 1, 600.0), FAILED) == []
