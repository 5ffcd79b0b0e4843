"""Shared by `reproduce` and `compare`: budgets, the progress bar, and the verdict in the terminal."""

import argparse
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from .. import InputError
from ..reproduce import FOLDS, Outcome, Study
from ..reproduce import publish as publish_study
from ..reproduce.runner import processors

_STYLES = {"supported": "green", "not supported": "yellow", "contradicted": "red"}
_WHOLE_RUN = 3600.0
"""Seconds over which the speed is averaged: pieces of work differ, rounds of them do not."""


def add(parser: argparse.ArgumentParser, output: Path, seeds: int, passes: float, rounds: int = FOLDS) -> None:
    """The options, with their defaults."""
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds out of {FOLDS} folds (default %(default)s)")
    parser.add_argument("--seeds", type=int, default=seeds, help="seeds in each fold (default %(default)s)")
    parser.add_argument(
        "--passes", type=float, default=passes, help="passes that every curve covers (default %(default)g)"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="most seconds of a curve (default %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="seed of folds and methods (default %(default)s)")
    parser.add_argument(
        "--jobs", type=int, default=processors(), help="curves that run at a time (default %(default)s)"
    )
    parser.add_argument("--output", type=Path, default=output, metavar="DIR", help="default: ./%(default)s")


def budgets(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of a study."""
    return {name: getattr(args, name) for name in ("rounds", "seeds", "passes", "seconds", "seed")}


def announce(study: Study, args: argparse.Namespace) -> None:
    """Announce on a terminal how long it may take."""
    errors = Console(stderr=True)
    if errors.is_terminal and args.jobs >= 1:
        errors.print(f"At most {study.most_seconds(args.jobs):.0f} s of computing; compiling comes on top, once.")


def publish(study: Study, args: argparse.Namespace, console: Console) -> None:
    """Run the study under a bar and print what came out."""
    if args.jobs < 1:
        raise InputError(f"--jobs is {args.jobs}. At least one curve at a time must be computed.")
    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=errors, transient=True, disable=not errors.is_terminal, speed_estimate_period=_WHOLE_RUN
    ) as bar:
        stages: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=total, completed=done)
            bar.update(stages[stage], completed=done)

        outcome = publish_study(study, args.output, args.jobs, report)
    for sentence in outcome.conclusion:
        console.print(Text(sentence), soft_wrap=True)
    console.print(_claims(outcome) if outcome.claims else _leaders(outcome))
    console.print(Text(f"The curves and how they were made: {outcome.page.resolve()}"), soft_wrap=True)


def _claims(outcome: Outcome) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="What the paper says, and what was measured", title_justify="left")
    for heading in ("task", "condition", "sentence", "verdict", "comparisons"):
        table.add_column(heading)
    for claim in outcome.claims:
        verdict = Text(claim.outcome, style=_STYLES[claim.outcome])
        table.add_row(claim.task, claim.condition, claim.sentence, verdict, claim.evidence)
    return table


def _leaders(outcome: Outcome) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="The first three at the end")
    for heading in ("metric", "compared at", "first", "second", "third"):
        table.add_column(heading)
    cells: dict[tuple[str, str, float], list[str]] = {}
    for s in outcome.standings:
        if s.stage == "end" and s.place is not None and s.place <= 3:
            cells.setdefault((s.metric, s.axis, s.at), []).append(f"{s.method} {s.mean:.6g}")
    for (metric, axis, at), leaders in cells.items():
        table.add_row(metric.replace("_", " "), f"{at:.3g} {axis}", *leaders)
    return table
