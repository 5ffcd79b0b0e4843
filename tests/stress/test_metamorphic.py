"""Problems told twice: both tellings mean the same, and the answers agree."""

import numpy as np
import pytest

import spdpeg
from spdpeg.errors import SpdpegError
from stress import generator, metamorphic, pool
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


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_what_memory_held_before_does_not_matter(first: int) -> None:
    """Solved again, with other arrays in memory, a problem has the same bits, unless a clock decides what runs."""
    rng, others = np.random.default_rng(first), []
    for seed in range(first, first + 20):
        case = generator.problem(seed)
        answers = set()
        for _ in range(2):
            others += [np.full(size, np.nan) for size in rng.integers(1, 4000, 40)]
            others = [others[i] for i in rng.permutation(len(others))[:200]]
            try:
                result = spdpeg.solve(case.problem(), **case.settings())
            except SpdpegError as error:
                answers.add(type(error).__name__)
            else:
                answers.add(result.x.tobytes() if len(result.stages) == 1 else b"")
        assert len(answers) == 1, case


@pytest.mark.stress
def test_answers_agree_in_full() -> None:
    assert listed(pool.run(metamorphic.run, range(10_000, 15_000), 2), DEFECTS) == []
