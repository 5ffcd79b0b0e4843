"""The judge itself: wrong answers made on purpose are found, and the reference's own answer is not called wrong."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from spdpeg import penalties
from stress import conic, fuzz, generator
from stress.cases import Case
from stress.objective import at_zero, evaluate
from stress.outcome import Verdict

SEEDS = range(2_000_000, 2_000_120)
"""Not those of the fuzz."""


@dataclass
class Claim:
    """What a certificate says."""

    primal: float
    dual: float
    met: str | None = "relative gap"

    @property
    def rel_gap(self) -> float:
        return (self.primal - self.dual) / abs(self.primal)


def solved() -> list[tuple[Case, conic.Reference]]:
    """Problems whose optimum is known, and so far from 0 that a tolerance of it is not next to nothing."""
    out = []
    for seed in SEEDS:
        case = generator.problem(seed)
        best = conic.solve(case)
        if (
            best.status == "optimal"
            and best.x is not None
            and case.tol * best.upper > fuzz.NO_GAP * at_zero(case) > 0.0
        ):
            out.append((case, best))
    return out


@pytest.fixture(scope="module")
def problems() -> list[tuple[Case, conic.Reference]]:
    found = solved()
    assert len(found) > 40
    return found


def _worse(case: Case, best: conic.Reference, times: float) -> np.ndarray | None:
    """A point that is worse than the best by so many tolerances, if one lies on the way to a random one."""
    rng = np.random.default_rng(case.seed)
    assert best.x is not None
    direction = rng.standard_normal(best.x.size) * (np.abs(best.x) + np.max(np.abs(best.x)) + 1e-300)
    wanted = best.upper * (1 + times * case.tol)
    low, high = 0.0, 1.0
    for _ in range(200):
        step = 0.5 * (low + high)
        value = evaluate(case, best.x + step * direction, best.intercept)
        low, high = (step, high) if value.objective < wanted and value.violation <= 1e-9 else (low, step)
    point = best.x + high * direction
    value = evaluate(case, point, best.intercept)
    close = abs(value.objective / wanted - 1) < 0.1 * case.tol and value.violation <= 1e-9
    return point if close else None


def test_points_beyond_the_tolerance_are_found(problems: list[tuple[Case, conic.Reference]]) -> None:
    tried = missed = 0
    for case, best in problems:
        point = _worse(case, best, 3.0)
        if point is None:
            continue
        claim = Claim(evaluate(case, point, best.intercept).objective, -math.inf)
        found = fuzz.judge(case, point, best.intercept, claim, "TOLERANCE")
        tried += 1
        missed += not any(verdict is Verdict.FALSE_CLAIM for verdict, _ in found)
    assert tried > 20
    assert missed <= 0.05 * tried


def test_bounds_above_the_optimum_are_found(problems: list[tuple[Case, conic.Reference]]) -> None:
    missed = []
    for case, best in problems:
        assert best.x is not None
        claim = Claim(best.upper, best.upper * (1 + 1e-9))
        found = fuzz.judge(case, best.x, best.intercept, claim, "TOLERANCE")
        if not any(verdict is Verdict.FALSE_BOUND for verdict, _ in found):
            missed.append(str(case))
    assert missed == []


def test_the_reference_is_not_called_wrong(problems: list[tuple[Case, conic.Reference]]) -> None:
    wrong = []
    for case, best in problems:
        assert best.x is not None
        value = evaluate(case, best.x, best.intercept)
        found = fuzz.judge(case, best.x, best.intercept, Claim(value.objective, 0.0), "TOLERANCE")
        wrong += [(str(case), reason) for verdict, reason in found if value.violation == 0.0]
    assert wrong == []


def test_bounds_beside_other_penalties_are_seen() -> None:
    """A point of 1e10 that misses a bound by 0.5 satisfies nothing, however small 0.5 is beside it."""
    r2 = penalties.SeparableSum([penalties.Box(1.0, 2.0), penalties.L1(0.1)], [1, 1])
    case = replace(generator.problem(SEEDS[0]), X=np.eye(2), r2=r2, matrix=np.array([[1.0, -1.0], [0.0, 1.0]]))
    huge = np.array([1e10 + 0.5, 1e10])
    assert not conic.rows_hold(case, huge, fuzz.ROUNDING)
    assert conic.rows_hold(case, np.array([1e10 + 1.5, 1e10]), fuzz.ROUNDING)
    assert not conic.rows_hold(case, np.array([0.5, 0.0]))
