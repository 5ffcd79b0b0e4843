"""The experiments of the SPDPEG paper, and the same comparison on data of one's own: run, judged and shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .. import datasets
from ..datasets.catalogue import CATALOGUE
from . import claims, figures, methods, page, results, runner, verdict
from .claims import Claim
from .protocol import FOLDS, TASKS, Data, Study, Task
from .runner import Report

__all__ = ["EMBEDDED", "FOLDS", "PAPER", "TASKS", "Claim", "Data", "Outcome", "Study", "Task", "paper_study", "publish"]

EMBEDDED = ("breast_cancer", "digits")
"""Sets that need neither network nor data directory."""

PAPER = tuple(CATALOGUE)


class Outcome(NamedTuple):
    """What `publish` made."""

    page: Path
    claims: list[Claim]
    standings: list[verdict.Standing]


def paper_study(
    sets: Sequence[str] = EMBEDDED,
    tasks: Sequence[str] = tuple(TASKS),
    names: Sequence[str] | None = None,
    *,
    tuned: bool = False,
    data_dir: str | None = None,
    rounds: int = FOLDS,
    passes: float = 20.0,
    seconds: float = 2.0,
    seed: int = 0,
) -> Study:
    """The protocol of the paper on data sets by name.

    Parameters
    ----------
    sets, tasks : sequence of str
        Of `datasets.names()` and `TASKS`.
    names : sequence of str, optional
        Methods, of `methods.NAMES`; all but the tuned variants by default.
    tuned : bool
        Add SPDPEG with its step chosen by the cross-validation that the competitors get.
    data_dir : str, optional
        Where the files of the sets are, as for `datasets.load`.
    rounds, passes, seconds, seed
        As in `Study`.
    """
    needs_graph = any(TASKS[task].F is None for task in tasks)
    data = {name: _load(name, data_dir, needs_graph) for name in sets}
    return Study(
        "The experiments of the SPDPEG paper",
        data,
        {task: TASKS[task] for task in tasks},
        methods.choose(tasks, names, tuned),
        rounds,
        passes,
        seconds,
        seed,
    )


def publish(study: Study, output: Path, jobs: int, report: Report | None = None) -> Outcome:
    """Run what is missing of a study and write tables, figures and report.html to `output`."""
    figures.require()
    page.require()
    found = results.collect(study, runner.run(study, output / "parts", jobs, report))
    standings = verdict.standings(found)
    sentences = claims.judge(found, standings)
    results.write(found, output)
    verdict.write(standings, output / "verdict.csv")
    figures.draw(found, output / "figures")
    page.write(found, standings, sentences, output / "report.html")
    return Outcome(output / "report.html", sentences, standings)


def _load(name: str, data_dir: str | None, needs_graph: bool) -> Data:
    loaded = datasets.load(name, data_dir if name in CATALOGUE else None)
    if not needs_graph:
        return Data(name, loaded.X, loaded.y, loaded.description)
    graph = datasets.graph(loaded, data_dir)
    return Data(name, loaded.X, loaded.y, f"{loaded.description} Graph: {graph.origin}", graph.F)
