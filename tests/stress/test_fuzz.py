"""Some hundred random problems in the ordinary tests, thousands with `pytest -m stress`."""

from collections.abc import Callable
from typing import Any

import pytest

from stress import estimators, fuzz, pool
from stress.outcome import DEFECTS, Outcome, Verdict, listed

NEVER = {
    Verdict.CRASH,
    Verdict.FALSE_BOUND,
    Verdict.FALSE_CLAIM,
    Verdict.FALSE_INFEASIBLE,
    Verdict.WRONG_VALUE,
}
"""What no answer may be, in the ordinary tests."""
UNFINISHED = 0.005
"""The part of the problems that may be left unfinished."""


def wrong(job: Callable[..., Outcome], seeds: range, **options: Any) -> list[str]:
    """The cases that no answer may be like, each with its seed."""
    return listed(pool.run(job, seeds, **options), NEVER)


@pytest.mark.parametrize("first", range(0, 240, 30))
def test_default_solver(first: int) -> None:
    assert wrong(fuzz.run, range(first, first + 30)) == []


@pytest.mark.parametrize("seed", [802770, 804445])
def test_steps_whose_exponentials_overflow_give_way_to_another_method(seed: int) -> None:
    assert listed(pool.run(fuzz.run, range(seed, seed + 1)), NEVER | {Verdict.DIVERGED, Verdict.RAW}) == []


@pytest.mark.parametrize("seed", [2001359, 2008754, 4013585])
def test_what_rounding_makes_of_0_is_not_taken_for_it(seed: int) -> None:
    assert wrong(fuzz.run, range(seed, seed + 1)) == []


@pytest.mark.parametrize(
    "seed",
    [
        *(1100757, 903831, 991686),  # squares of huge weight after F: products that cancel
        *(902356, 903940, 906039),  # no penalty, weights of rows of many orders: models made of parabolas alone
        *(1100291, 905877, 961781, 993258),  # F x is 0 up to rounding, which a set must not tell from 0
        1100514,  # no data
        *(901797, 982414, 905496),  # cones: the multipliers of the face have the digits that interior points lack
        *(1120077, 1121135),  # and beside balls
        *(900561, 905076),  # a chain without l1 on columns of many sizes
        1121351,  # a point outside a set by its last digits
        1100430,  # subgradients whose interval is as narrow as rounding
        *(1110968, 902610),  # runs from large slacks end far away
        8014489,  # a later stage has the proof, an earlier one a lower point outside a set
    ],
)
def test_what_was_once_left_unfinished_or_wrong(seed: int) -> None:
    assert listed(pool.run(fuzz.run, range(seed, seed + 1)), DEFECTS | {Verdict.UNFINISHED}) == []


def test_every_solver() -> None:
    assert wrong(fuzz.run, range(60), solver="every", passes=20.0) == []


def test_a_curvature_whose_inverse_overflows_is_no_warning_of_numpy() -> None:
    assert listed(pool.run(fuzz.run, [6200125], solver="every"), NEVER | {Verdict.RAW}) == []


def test_estimators() -> None:
    assert wrong(estimators.run, range(120)) == []


@pytest.mark.stress
@pytest.mark.parametrize("job", [fuzz.run, estimators.run], ids=["solve", "estimators"])
def test_in_full(job: Callable[..., Outcome]) -> None:
    outcomes = list(pool.run(job, range(10_000, 15_000), 2))
    assert listed(outcomes, DEFECTS) == []
    unfinished = listed(outcomes, {Verdict.UNFINISHED, Verdict.DIVERGED})
    assert len(unfinished) <= UNFINISHED * len(outcomes), unfinished


@pytest.mark.stress
def test_every_solver_in_full() -> None:
    assert listed(pool.run(fuzz.run, range(15_000, 20_000), 2, solver="every", passes=100.0), DEFECTS) == []
