"""Who was ahead: rankings at equal time and at equal passes, with a paired test over the rounds."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .protocol import FOLDS
from .results import LOWER_IS_BETTER, METRICS, Results, write_table

AXES = ("seconds", "passes")
STAGES = ("early", "end")
LEVEL = 0.05
"""A difference counts as one if chance alone would produce it less often than this."""


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
    spread: float
    """Standard deviation over the rounds."""
    p: float
    """Of the paired test against the first; NaN for the first itself and with a single round."""
    values: tuple[float, ...]
    """One for each round."""


def standings(results: Results) -> list[Standing]:
    """Every comparison of the study, the best first."""
    found = []
    for task, data in results.pace:
        for axis in AXES:
            for stage in STAGES:
                at = place_of(results, task, data, axis, stage)
                for metric in METRICS:
                    found += _compare(results, (task, data, metric, axis, stage), at)
    return found


def place_of(results: Results, task: str, data: str, axis: str, stage: str) -> float:
    """Where methods are compared: at the end of the reference's run, and early, after its first pass."""
    passes, seconds = results.pace[task, data]
    share = 1.0 if stage == "end" else min(1.0, passes / 2) / passes
    return share * (passes if axis == "passes" else seconds)


def write(found: list[Standing], path: Path) -> None:
    """As a CSV file."""
    header = ("task", "set", *Standing._fields[2:-1])
    write_table(path, header, [standing[:-1] for standing in found])


def paired_test(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """p of the corrected resampled t-test (Nadeau, Bengio 2003): training parts of different rounds share rows, and the
    plain t-test would take them for independent.
    """
    from scipy.stats import t

    difference = np.subtract(a, b)
    if difference.size < 2:
        return math.nan
    variance = float(np.var(difference, ddof=1)) * (1.0 / difference.size + 1.0 / (FOLDS - 1))
    mean = float(np.mean(difference))
    if variance == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * t.sf(abs(mean) / math.sqrt(variance), difference.size - 1))


def _compare(results: Results, cell: tuple[str, str, str, str, str], at: float) -> list[Standing]:
    task, data, metric, axis, _ = cell
    values = {}
    for method in results.study.methods[task]:
        rounds = results.rounds(task, data, method)
        if rounds:
            values[method] = tuple(curve.at(axis, at, metric) for curve in rounds)
    reached = {method: v for method, v in values.items() if np.all(np.isfinite(v))}
    order = sorted(reached, key=lambda method: np.mean(reached[method]), reverse=not LOWER_IS_BETTER[metric])
    found = []
    for place, method in enumerate(order, 1):
        v = reached[method]
        p = paired_test(v, reached[order[0]]) if place > 1 else math.nan
        found.append(Standing(*cell, at, place, method, float(np.mean(v)), _spread(v), p, v))
    absent = [method for method in values if method not in reached]
    return found + [Standing(*cell, at, None, method, math.nan, math.nan, math.nan, ()) for method in absent]


def _spread(values: tuple[float, ...]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
