"""The experiments of the SPDPEG paper, and the same comparison on data of one's own: run, judged and shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .. import datasets
from ..datasets.catalogue import CATALOGUE
from . import authors, claims, conclusion, figures, methods, page, results, runner, values, verdict
from .claims import Claim
from .protocol import FOLDS, TASKS, Data, Study, Task
from .runner import Report

__all__ = ["EMBEDDED", "FOLDS", "PAPER", "TASKS", "Claim", "Data", "Outcome", "Study", "Task", "paper_study", "publish"]

EMBEDDED = ("breast_cancer", "digits")
"""Sets that need neither network nor data directory."""

RAW = "-raw"
"""Ends the name of a text set whose counts of words are taken as they are, not scaled to rows of unit norm."""

SEEDS = 4
"""Runs of a stochastic method in each round."""

PAPER = (*CATALOGUE, *(name + RAW for name, entry in CATALOGUE.items() if entry.is_text))
"""The paper's eight sets, those of text in both forms."""


class Outcome(NamedTuple):
    """The files and conclusions that `publish` made."""

    page: Path
    conclusion: list[str]
    claims: list[Claim]
    standings: list[verdict.Standing]


def paper_study(
    sets: Sequence[str] = EMBEDDED,
    tasks: Sequence[str] = tuple(TASKS),
    names: Sequence[str] | None = None,
    *,
    data_dir: str | None = None,
    rounds: int = FOLDS,
    seeds: int = SEEDS,
    passes: float = authors.EPOCHS,
    seconds: float = 2.0,
    seed: int = 0,
) -> Study:
    """The protocol of the paper on data sets by name.

    Parameters
    ----------
    sets, tasks : sequence of str
        Of `datasets.names()`, or a text set and "-raw"; of `TASKS`.
    names : sequence of str, optional
        Methods, of `methods.NAMES`; all by default.
    data_dir : str, optional
        Where the files of the sets are, as for `datasets.load`.
    rounds, seeds, passes, seconds, seed
        As in `Study`.
    """
    needs_graph = any(TASKS[task].F is None for task in tasks)
    data = {name: _load(name, data_dir, needs_graph) for name in sets}
    return Study(
        "The experiments of the SPDPEG paper",
        data,
        {task: TASKS[task] for task in tasks},
        methods.choose(tasks, names),
        rounds,
        seeds,
        passes,
        seconds,
        seed,
    )


def publish(study: Study, output: Path, jobs: int, report: Report | None = None) -> Outcome:
    """Run what is missing of a study and write tables, figures and report.html to `output`."""
    figures.require()
    page.require()
    found = results.collect(study, runner.run(study, output / "parts", jobs, report))
    results.write(found, output)
    values.write(values.tabulate(found), output / "values.csv")
    # From here on everything is computed from what the files say.
    table = values.read(output / "values.csv", output / "optima.csv", study.methods)
    standings = verdict.standings(table)
    duels = claims.duels(table)
    judged = claims.judge(table, duels)
    concluded = conclusion.conclude(table, duels)
    verdict.write(standings, output / "verdict.csv")
    figures.draw(found, output / "figures")
    content = page.Verdicts(table, standings, verdict.rankings(table), duels, judged, concluded)
    page.write(found, content, output / "report.html")
    return Outcome(output / "report.html", concluded, judged, standings)


def _load(name: str, data_dir: str | None, needs_graph: bool) -> Data:
    base = name.removesuffix(RAW)
    loaded = datasets.load(base, data_dir if base in CATALOGUE else None, unit_rows=False if name != base else None)
    if not needs_graph:
        return Data(name, loaded.X, loaded.y, loaded.description)
    graph = datasets.graph(loaded, data_dir)
    return Data(name, loaded.X, loaded.y, f"{loaded.description} Graph: {graph.origin}", graph.F)
