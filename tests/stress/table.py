"""Outcomes as tables."""

from collections import Counter, defaultdict

from rich.console import Console
from rich.table import Table

from .outcome import Outcome, Verdict

_SHOWN = 40
_FEW = 20
"""So few cases are listed whatever their verdicts."""


def show(title: str, outcomes: list[Outcome], console: Console, by: tuple[str, ...] = ()) -> None:
    """How many of each verdict, by kinds of cases where wanted, and the cases that went wrong."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    table = Table("verdict", "cases", "%", title=f"{title}: {len(outcomes)} cases")
    for verdict in Verdict:
        if counts[verdict]:
            table.add_row(verdict.value, str(counts[verdict]), f"{100 * counts[verdict] / len(outcomes):.2f}")
    seconds = sorted(outcome.seconds for outcome in outcomes)
    table.caption = f"seconds: median {seconds[len(seconds) // 2]:.3g}, slowest {seconds[-1]:.3g}"
    console.print(table)
    for kind in by:
        console.print(_breakdown(kind, outcomes))
    for verdict in reversed(Verdict):
        listed = [outcome for outcome in outcomes if outcome.verdict is verdict]
        if listed and verdict not in (Verdict.PASSED, Verdict.REFUSED, Verdict.INFEASIBLE):
            _list(verdict, listed, console)
    if len(outcomes) <= _FEW:
        _list(Verdict.PASSED, [outcome for outcome in outcomes if outcome.verdict is Verdict.PASSED], console)


def _breakdown(kind: str, outcomes: list[Outcome]) -> Table:
    rows: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for outcome in outcomes:
        rows[outcome.kinds.get(kind, "-")][outcome.verdict] += 1
    seen = [verdict for verdict in Verdict if any(row[verdict] for row in rows.values())]
    table = Table(kind, *(verdict.value for verdict in seen))
    for name, row in sorted(rows.items()):
        table.add_row(name, *(str(row[verdict] or "") for verdict in seen))
    return table


def _list(verdict: Verdict, outcomes: list[Outcome], console: Console) -> None:
    console.print(f"\n{verdict.value}:", style="bold")
    for outcome in outcomes[:_SHOWN]:
        text = f"  {outcome.case or f'seed {outcome.seed}'}\n    {outcome.reason}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if len(outcomes) > _SHOWN:
        rest = " ".join(str(outcome.seed) for outcome in outcomes[_SHOWN:])
        console.print(f"  and {len(outcomes) - _SHOWN} more, seeds: {rest}", soft_wrap=True)
