"""Who was ahead: rankings in every cell at equal passes and at equal time, and over the data sets."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .methods import AUTHORS, ONE_TUNED, TUNED
from .results import LOWER_IS_BETTER, METRICS, write_table
from .statistics import Ranks, difference, ranks
from .values import AXES, STAGES, Table


class Standing(NamedTuple):
    """One method's place in one comparison."""

    task: str
    data: str
    metric: str
    axis: str
    stage: str
    at: float
    """Passes or seconds at which the methods are compared."""
    place: int | None
    """1 is best; None for a method that did not get that far or diverged."""
    method: str
    mean: float
    behind: float
    """Mean difference from the first, positive if worse."""
    low: float
    high: float
    """Its interval."""


def standings(table: Table) -> list[Standing]:
    """Every comparison of the study, the best first."""
    return [
        standing
        for task, data in table.cells
        for axis in AXES
        for stage in STAGES
        for metric in METRICS
        for standing in _compare(table, (task, data, metric, axis, stage))
    ]


def write(found: list[Standing], path: Path) -> None:
    """Write the verdict as a CSV file."""
    write_table(path, ("task", "set", *Standing._fields[2:]), found)


def _compare(table: Table, cell: tuple[str, str, str, str, str]) -> list[Standing]:
    task, data, metric, axis, stage = cell
    at, sign = table.place(task, data, axis, stage), 1.0 if LOWER_IS_BETTER[metric] else -1.0
    present = [name for name in table.methods[task] if table.runs(task, data, name, axis, stage)]
    values = {name: table.rounds(task, data, name, metric, axis, stage) for name in present}
    order = sorted((name for name in present if values[name]), key=lambda name: sign * float(np.mean(values[name])))
    found = []
    for place, name in enumerate(order, 1):
        apart = difference(sign * np.array(values[name]), sign * np.array(values[order[0]]))
        found.append(Standing(*cell, at, place, name, float(np.mean(values[name])), *apart))
    absent = [name for name in present if not values[name]]
    return found + [Standing(*cell, at, None, name, *[math.nan] * 4) for name in absent]


class Ranking(NamedTuple):
    """Average ranks of the methods in one group of settings over the counted sets of a task."""

    task: str
    group: str
    metric: str
    axis: str
    ranks: Ranks
    absent: tuple[str, ...]
    """Methods that did not get there on every set."""


GROUPS = {"the authors' parameters": (AUTHORS,), "all tuned": (TUNED, ONE_TUNED)}
"""Settings that are ranked together."""


def rankings(table: Table) -> list[Ranking]:
    """Rankings for each task, group, metric and axis, where there are enough sets."""
    found = []
    for task, methods in table.methods.items():
        for group, settings in GROUPS.items():
            sets = table.sets(task, *settings)
            names = [name for name, method in methods.items() if method.setting in settings]
            for metric in METRICS:
                for axis in AXES:
                    rows = {name: [table.rounds(task, data, name, metric, axis) for data in sets] for name in names}
                    whole = {name: [float(np.mean(v)) for v in row] for name, row in rows.items() if all(row)}
                    made = ranks(whole, LOWER_IS_BETTER[metric])
                    if made is not None:
                        absent = tuple(name for name in names if name not in whole)
                        found.append(Ranking(task, group, metric, axis, made, absent))
    return found
