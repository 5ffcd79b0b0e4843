"""Threads, forks and leaks: a round of each in the ordinary tests, a hundred with `pytest -m stress`."""

import pytest

from stress import concurrency, pool
from stress.outcome import Verdict


def wrong(first: int, cases: int, jobs: int) -> list[str]:
    """The cases where a promise was not kept, each with its seed."""
    outcomes = pool.run(concurrency.run, range(first, first + cases), jobs, 180.0)
    return [f"{outcome.case}: {outcome.reason}" for outcome in outcomes if outcome.verdict is not Verdict.PASSED]


def test_a_round() -> None:
    assert wrong(0, len(concurrency.SCENARIOS), 1) == []


@pytest.mark.stress
def test_in_full() -> None:
    assert wrong(10_000, 100, 1) == []
