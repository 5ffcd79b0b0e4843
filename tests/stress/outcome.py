"""What became of a case."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum


class Verdict(Enum):
    """From good to bad; the value is the heading of its column."""

    PASSED = "passed"
    INFEASIBLE = "no solution, told so"
    REFUSED = "refused"
    UNFINISHED = "unfinished"
    DIVERGED = "diverged"
    CHANGED = "changed by the telling"
    FALSE_RESIDUAL = "false claim by residual"
    FALSE_CLAIM = "false claim by gap"
    FALSE_BOUND = "false bound"
    FALSE_INFEASIBLE = "solution denied"
    WRONG_VALUE = "wrong value"
    RAW = "raw exception"
    CRASH = "crash"


HARMLESS = {Verdict.PASSED, Verdict.INFEASIBLE, Verdict.REFUSED}
DEFECTS = set(Verdict) - HARMLESS - {Verdict.UNFINISHED, Verdict.DIVERGED}
"""Verdicts that are never right; what is not finished is honest, and counted."""


@dataclass
class Outcome:
    """The verdict on a case, why, and what is worth a column in a table."""

    seed: int
    verdict: Verdict
    reason: str = ""
    case: str = ""
    seconds: float = 0.0
    kinds: dict[str, str] = field(default_factory=dict)
    others: list[tuple[Verdict, str]] = field(default_factory=list)
    """Further verdicts on the same case, less grave than the first."""

    @property
    def defect(self) -> bool:
        """Whether the package is wrong."""
        return self.verdict in DEFECTS


def gravest(found: list[tuple[Verdict, str]]) -> list[tuple[Verdict, str]]:
    """Verdicts in order, the gravest first."""
    order = list(Verdict)
    return sorted(found, key=lambda item: -order.index(item[0]))


def listed(outcomes: Iterable[Outcome], verdicts: Collection[Verdict]) -> list[str]:
    """The cases with one of these verdicts, each with what is needed to run it again."""
    return [
        f"{outcome.case or f'seed {outcome.seed}'}: {outcome.verdict.value}, {outcome.reason}"
        for outcome in outcomes
        if outcome.verdict in verdicts
    ]
