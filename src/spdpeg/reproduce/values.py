"""One table of the values at which methods are compared; all claims are computed from it."""

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .authors import has_case
from .methods import AUTHORS, Method
from .results import METRICS, Curve, Optimum, Results, write_table

AXES = ("passes", "seconds")
STAGES = ("end", "early")
LEVEL_AXIS = "level"
"""Where seeds are compared: as soon as the method, on average, is as close to the optimum as the slowest gets."""

FLAT = 0.1
"""A cell counts if x = 0 is at least this share of the optimum above the optimum."""


class Value(NamedTuple):
    """One run where it is compared; NaN if it did not get there."""

    task: str
    data: str
    method: str
    axis: str
    stage: str
    at: float
    """Passes or seconds."""
    fold: int
    seed: int
    objective: float
    test_loss: float
    score: float


class Table:
    """Values and optima, looked up by cell: a task and a set."""

    def __init__(
        self, values: Iterable[Value], optima: Iterable[Optimum], methods: dict[str, dict[str, Method]]
    ) -> None:
        self.values, self.optima, self.methods = list(values), list(optima), methods
        self._runs: dict[tuple[str, ...], list[Value]] = {}
        for value in self.values:
            self._runs.setdefault(value[:5], []).append(value)
        self._of_cell: dict[tuple[str, str], list[Optimum]] = {}
        for optimum in self.optima:
            self._of_cell.setdefault((optimum.task, optimum.data), []).append(optimum)

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Task and set."""
        return list(self._of_cell)

    def optimum(self, task: str, data: str) -> list[Optimum]:
        """The optimum of each round."""
        return self._of_cell[task, data]

    def drop(self, task: str, data: str) -> float:
        """How far x = 0 is above the optimum, relative to the optimum."""
        rounds = self.optimum(task, data)
        best = float(np.mean([o.objective for o in rounds]))
        return (float(np.mean([o.start for o in rounds])) - best) / abs(best)

    def counted(self, task: str, data: str) -> bool:
        """Whether there is something to optimise: else rankings tell who has hardly moved."""
        return self.drop(task, data) >= FLAT

    def sets(self, task: str, *settings: str) -> list[str]:
        """The data sets on which methods in these settings count: for the authors' parameters, those that have any."""
        found = [data for of, data in self.cells if of == task and self.counted(task, data)]
        theirs = [data for data in found if has_case(task, data)] if AUTHORS in settings else []
        return theirs or found

    def runs(self, task: str, data: str, method: str, axis: str, stage: str = "end") -> list[Value]:
        """All rounds and seeds; none if the method was left out."""
        return self._runs.get((task, data, method, axis, stage), [])

    def rounds(
        self, task: str, data: str, method: str, metric: str, axis: str, stage: str = "end"
    ) -> tuple[float, ...]:
        """Means over the seeds, one for each round; none if a run did not get there."""
        runs = self.runs(task, data, method, axis, stage)
        folds = sorted({run.fold for run in runs})
        means = tuple(float(np.mean([getattr(run, metric) for run in runs if run.fold == fold])) for fold in folds)
        return means if np.all(np.isfinite(means)) else ()

    def place(self, task: str, data: str, axis: str, stage: str = "end") -> float:
        """Passes or seconds at which the methods of a cell are compared."""
        return next(
            value.at for value in self.values if (value.task, value.data, *value[3:5]) == (task, data, axis, stage)
        )


def tabulate(results: Results) -> Table:
    """Read the curves where methods are compared."""
    found = []
    for task, data in results.pace:
        curves = [curve for curve in results.curves if (curve.task, curve.data) == (task, data)]
        budget = _budget(results, task, data)
        for axis in AXES:
            for stage in STAGES:
                at = _place(budget, axis, stage)
                found += [_value(curve, axis, stage, at, at) for curve in curves]
        found += _level(results, task, data, budget[0])
    return Table(found, results.optima, results.study.methods)


def write(table: Table, path: Path, stages: Sequence[str] = STAGES) -> None:
    """Write the table as a CSV file."""
    rows = [[_shown(item) for item in value] for value in table.values if value.stage in stages]
    write_table(path, ("task", "set", *Value._fields[2:6], "round", *Value._fields[7:]), rows)


def read(values: Path, optima: Path, methods: dict[str, dict[str, Method]]) -> Table:
    """Read the files values.csv and optima.csv of a study."""
    return Table(_rows(values, Value), read_optima(optima), methods)


def read_optima(path: Path) -> list[Optimum]:
    """Read the file optima.csv of a study."""
    return _rows(path, Optimum)


def _rows(path: Path, kind: Any) -> list[Any]:
    types = kind.__annotations__.values()
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [kind(*(_read(of, text) for of, text in zip(types, line, strict=True))) for line in lines]


def _read(of: Any, text: str) -> Any:
    if of is bool:
        return text == "True"
    return of(text) if text or of is str else math.nan


def _shown(item: Any) -> Any:
    """Seven digits, and nothing for what is not there."""
    if not isinstance(item, float):
        return item
    return f"{item:.7g}" if math.isfinite(item) else ""


def _budget(results: Results, task: str, data: str) -> tuple[float, float]:
    """Passes and seconds at the end: those of the reference, or the passes that SPDPEG has in every setting if fewer.

    One sample a step takes twice the steps for a pass, and the time of a curve may not suffice for them.
    """
    passes, seconds = results.pace[task, data]
    ours = [name for name, method in results.study.methods[task].items() if method.family == "spdpeg"]
    ends = [
        float(curve.columns["passes"][-1])
        for name in ours
        for curve in results.runs(task, data, name)
        if curve.status == "complete"
    ]
    return min([passes, *ends]), seconds


def _place(budget: tuple[float, float], axis: str, stage: str) -> float:
    """At the end, and early, after the first pass."""
    passes, seconds = budget
    share = 1.0 if stage == "end" else min(1.0, passes / 2) / passes
    return share * (passes if axis == "passes" else seconds)


def _value(curve: Curve, axis: str, stage: str, at: float, place: float) -> Value:
    by = "seconds" if axis == "seconds" else "passes"
    numbers = [curve.at(by, place, metric) for metric in METRICS]
    return Value(curve.task, curve.data, curve.method, axis, stage, at, curve.fold, curve.seed, *numbers)


def _level(results: Results, task: str, data: str, passes: float) -> list[Value]:
    """All methods of the paper at equal suboptimality: what the slowest of them has at the end, round by round."""
    found = []
    for fold, floor in results.floors(task, data).items():
        excess = {}
        for name, method in results.study.methods[task].items():
            runs = [curve for curve in results.runs(task, data, name) if curve.fold == fold]
            ends = [curve.at("passes", passes, "objective") for curve in runs]
            if method.family != "beside" and len(runs) > 1 and np.all(np.isfinite(ends)):
                length = min(curve.columns["passes"].size for curve in runs)
                mean = np.mean([curve.columns["objective"][:length] for curve in runs], axis=0) - floor
                excess[name] = runs, runs[0].columns["passes"][:length], mean
        if not excess:
            continue
        # A method that ends above its start would make every other one arrive before it began.
        level = min(
            max(mean[-1] for _, _, mean in excess.values()), 0.9 * min(mean[0] for _, _, mean in excess.values())
        )
        for runs, at, mean in excess.values():
            arrived = np.flatnonzero(mean <= level)
            if arrived.size:
                place = float(at[max(1, arrived[0])])
                found += [_value(curve, LEVEL_AXIS, "end", place, place) for curve in runs]
    return found
