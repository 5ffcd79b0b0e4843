"""A few hundred random problems in the ordinary tests, thousands with `pytest -m stress`."""

import pytest

from stress import fuzz, pool
from stress.outcome import Verdict

NEVER = {Verdict.CRASH, Verdict.FALSE_INFEASIBLE}
"""What no answer may be."""


def wrong(first: int, cases: int, jobs: int) -> list[str]:
    """The cases that no answer may be like, each with its seed."""
    outcomes = pool.run(fuzz.run, range(first, first + cases), jobs)
    return [f"{outcome.case}: {outcome.verdict}, {outcome.reason}" for outcome in outcomes if outcome.verdict in NEVER]


@pytest.mark.parametrize("first", [0, 25])
def test_default_solver(first: int) -> None:
    assert wrong(first, 25, 1) == []


@pytest.mark.stress
def test_default_solver_in_full() -> None:
    assert wrong(10_000, 5_000, 2) == []
