"""A few hundred random problems in the ordinary tests, thousands with `pytest -m stress`."""

from collections.abc import Callable
from typing import Any

import pytest

from stress import estimators, fuzz, pool
from stress.outcome import Outcome, Verdict

NEVER = {
    Verdict.CRASH,
    Verdict.FALSE_BOUND,
    Verdict.FALSE_CLAIM,
    Verdict.FALSE_INFEASIBLE,
    Verdict.WRONG_VALUE,
}
"""What no answer may be."""


def wrong(job: Callable[..., Outcome], seeds: range, jobs: int = 1, **options: Any) -> list[str]:
    """The cases that no answer may be like, each with its seed."""
    outcomes = pool.run(job, seeds, jobs, **options)
    return [f"{outcome.case}: {outcome.verdict}, {outcome.reason}" for outcome in outcomes if outcome.verdict in NEVER]


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_default_solver(first: int) -> None:
    assert wrong(fuzz.run, range(first, first + 30)) == []


def test_every_solver() -> None:
    assert wrong(fuzz.run, range(24), solver="every", passes=20.0) == []


def test_estimators() -> None:
    assert wrong(estimators.run, range(60)) == []


@pytest.mark.stress
@pytest.mark.parametrize("solver", ["auto", "every"])
def test_solvers_in_full(solver: str) -> None:
    assert wrong(fuzz.run, range(10_000, 15_000), 2, solver=solver, passes=None if solver == "auto" else 100.0) == []


@pytest.mark.stress
def test_estimators_in_full() -> None:
    assert wrong(estimators.run, range(10_000, 15_000), 2) == []
