"""Problems told twice: both tellings mean the same, and the answers agree."""

import numpy as np
import pytest

from stress import metamorphic, pool
from stress.objective import evaluate
from stress.outcome import Verdict

NEVER = {Verdict.CRASH, Verdict.FALSE_CLAIM}
"""What no answer may be."""


@pytest.mark.parametrize("seed", range(60))
def test_both_tellings_mean_the_same(seed: int) -> None:
    """The objectives are proportional, at any point; so the comparison is fair."""
    _, case, told = metamorphic.draw(seed)
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(told.case.X.shape[1]) / max(1.0, float(np.max(np.abs(told.case.X))))
    intercept = float(rng.standard_normal()) if case.intercept else 0.0
    there, here = evaluate(told.case, x, intercept), evaluate(case, told.back(x), told.shrink * intercept)
    assert there.objective == pytest.approx(told.times * here.objective, rel=1e-9, abs=10 * there.rounding)
    assert there.violation == pytest.approx(here.violation, rel=1e-6, abs=1e-12)


def wrong(first: int, cases: int, jobs: int) -> list[str]:
    """The cases that no answer may be like, each with its seed."""
    outcomes = pool.run(metamorphic.run, range(first, first + cases), jobs)
    return [f"{outcome.case}: {outcome.verdict}, {outcome.reason}" for outcome in outcomes if outcome.verdict in NEVER]


def test_answers_agree() -> None:
    assert wrong(0, 60, 1) == []


@pytest.mark.stress
def test_answers_agree_in_full() -> None:
    assert wrong(10_000, 5_000, 2) == []
