"""Problems told twice: both tellings mean the same, and the answers agree."""

import numpy as np
import pytest

from stress import metamorphic, pool
from stress.objective import evaluate
from stress.outcome import DEFECTS, Verdict, listed

NEVER = {Verdict.CRASH, Verdict.FALSE_CLAIM}
"""What no answer may be, in the ordinary tests."""


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


@pytest.mark.parametrize("first", range(75, 165, 15))
def test_answers_agree(first: int) -> None:
    assert listed(pool.run(metamorphic.run, range(first, first + 15)), NEVER) == []


@pytest.mark.stress
def test_answers_agree_in_full() -> None:
    assert listed(pool.run(metamorphic.run, range(10_000, 15_000), 2), DEFECTS) == []
