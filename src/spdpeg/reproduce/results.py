"""The results of a study: curves, optima and how they came about, as objects and as files."""

import csv
import io
import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..files.replacing import replacing
from .measure import COLUMNS, OPTIMUM_TOLERANCE
from .methods import AUTO
from .protocol import FOLDS, Study
from .runner import Job, Parts, chosen, curves

METRICS = ("objective", "test_loss", "score")
LOWER_IS_BETTER = {"objective": True, "test_loss": True, "score": False}

_REACHED = 0.98
"""A method whose steps read many rows may stop that short of a round number of passes."""

_LOOSE = 1e-4
"""A bound farther below the best objective, relative to it, proves too little to measure from."""

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "plotly", "matplotlib")


class Curve(NamedTuple):
    """One run of a method: a round and a seed."""

    task: str
    data: str
    method: str
    fold: int
    seed: int
    parameters: dict[str, Any]
    status: str
    ran: str
    """The solver, and for "auto" the methods that it took."""
    columns: dict[str, np.ndarray]

    def at(self, axis: str, place: float, metric: str) -> float:
        """The metric at a number of passes or seconds, NaN where the curve did not get that far.

        Between two records it is taken to be linear in the logarithm of the axis; before the first one, to be that of
        the start.
        """
        x, values = self.columns[axis], self.columns[metric]
        if self.status != "complete" or x[-1] < _REACHED * place:
            return np.nan
        if x.size == 1 or place < x[1]:
            return float(values[0])
        return float(np.interp(np.log(place), np.log(x[1:]), values[1:]))


class Optimum(NamedTuple):
    """The best of one round; `bound` is the lower bound that proves it, or the objective without one."""

    task: str
    data: str
    fold: int
    solver: str
    objective: float
    bound: float
    test_loss: float
    score: float
    start: float
    """The objective at x = 0."""
    majority: float
    """The score without any feature: that of the most frequent class."""
    coupling: float
    curvature: float
    """8 rho |F|^2 and sqrt(8 L-hat^2 + rho |F|^2) with rho = 1; the larger one is the printed L~."""
    proved: bool = True
    """The bound is there, and as close as an optimum's should be."""


class Mean(NamedTuple):
    """A method's curve over all rounds."""

    passes: np.ndarray
    seconds: np.ndarray
    metrics: dict[str, np.ndarray]
    """Mean, smallest and largest value at each record."""


@dataclass(frozen=True)
class Results:
    """All that figures, verdict and page are made from."""

    study: Study
    curves: list[Curve]
    optima: list[Optimum]
    skipped: dict[tuple[str, str, str], str]
    """Reasons, by task, set and method."""
    pace: dict[tuple[str, str], tuple[float, float]]
    """Passes and seconds, by task and set, at which methods are compared."""
    settings: dict[str, Any]

    def runs(self, task: str, data: str, method: str) -> list[Curve]:
        """The curves of one method, one for each round and seed."""
        return [c for c in self.curves if (c.task, c.data, c.method) == (task, data, method)]

    def optimum(self, task: str, data: str) -> list[Optimum]:
        """The certified best, one for each round."""
        return [o for o in self.optima if (o.task, o.data) == (task, data)]

    def floors(self, task: str, data: str) -> dict[int, float]:
        """The reference objective of each round: the proven bound, or the lowest one seen where the bound is loose."""
        found = {}
        for o in self.optimum(task, data):
            seen = [c.columns["objective"] for c in self.curves if c[:2] == (task, data) and c.fold == o.fold]
            lowest = min([o.objective, *(float(np.nanmin(values)) for values in seen)])
            found[o.fold] = o.bound if o.objective - o.bound <= _LOOSE * abs(o.objective) else lowest
        return found

    def mean(self, task: str, data: str, method: str) -> Mean | None:
        """Mean and range over the runs at the records that all of them have; None if the method was skipped.

        "excess" is the objective above the floor of the round.
        """
        runs = self.runs(task, data, method)
        if not runs:
            return None
        length = min(curve.columns["passes"].size for curve in runs)
        stacked = {name: np.array([curve.columns[name][:length] for curve in runs]) for name in COLUMNS}
        floors = self.floors(task, data)
        stacked["excess"] = stacked["objective"] - np.array([[floors[curve.fold]] for curve in runs])
        ranges = {name: np.array([v.mean(0), v.min(0), v.max(0)]) for name, v in stacked.items()}
        return Mean(ranges["passes"][0], ranges["seconds"][0], {name: ranges[name] for name in (*METRICS, "excess")})

    def label(self, task: str, method: str) -> str:
        """The name of a method in legends; for "auto" with all that ran under it, in whatever set and round."""
        chosen = self.study.methods[task][method]
        if chosen.solver != AUTO:
            return chosen.label
        ran = [curve.ran for curve in self.curves if (curve.task, curve.method) == (task, method)]
        names = dict.fromkeys(name for text in ran for name in text.removeprefix(AUTO).strip(" ()").split(", "))
        return f"{chosen.label} ({', '.join(filter(None, names))})"

    def score_name(self, task: str) -> str:
        """The name of the third metric."""
        return "accuracy" if self.study.tasks[task].loss.binary else "R^2"


def collect(study: Study, parts: Parts) -> Results:
    """Read the finished pieces."""
    found, skipped, pace = [], {}, {}
    for job in curves(study):
        part = parts.read(job)
        if "skipped" in part:
            skipped[job.task, job.data, job.method] = part["skipped"]
            continue
        columns = {name: np.array(part[name], dtype=float) for name in COLUMNS}
        found.append(Curve(*job[1:], part["parameters"], part["status"], part["ran"], columns))
    optima = []
    for task, data in dict.fromkeys((job.task, job.data) for job in curves(study)):
        reference = parts.read(Job("pace", task, data, study.reference(task).name, 0))
        pace[task, data] = (reference["passes"], reference["seconds"])
        for fold in range(study.rounds):
            part = parts.read(Job("optimum", task, data, "", fold))
            bound = part.pop("bound")
            proved = bound is not None and part["objective"] - bound <= _LOOSE * abs(part["objective"])
            bound = part["objective"] if bound is None else bound
            optima.append(Optimum(task, data, fold, bound=bound, proved=proved, **part))
    return Results(study, found, optima, skipped, pace, _settings(study, parts))


def write(results: Results, directory: Path) -> None:
    """curves.csv, optima.csv and settings.json."""
    rows: list[Sequence[Any]] = []
    for curve in results.curves:
        points = zip(*(curve.columns[name].tolist() for name in COLUMNS), strict=True)
        rows += ((curve.task, curve.data, curve.method, curve.fold, curve.seed, *point) for point in points)
    write_table(directory / "curves.csv", ("task", "set", "method", "round", "seed", *COLUMNS), rows)
    write_table(directory / "optima.csv", ("task", "set", "round", *Optimum._fields[3:]), results.optima)
    with replacing(directory / "settings.json") as file:
        file.write((json.dumps(results.settings, indent=1) + "\n").encode())


def write_table(path: Path, header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file; numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _settings(study: Study, parts: Parts) -> dict[str, Any]:
    return {
        "study": {
            "title": study.title,
            "rounds": study.rounds,
            "seeds": study.seeds,
            "folds": FOLDS,
            "passes": study.passes,
            "most seconds of a curve": study.seconds,
            "seed": study.seed,
            "tolerance of the optima": OPTIMUM_TOLERANCE,
        },
        "tasks": {name: str(task) for name, task in study.tasks.items()},
        "sets": {name: data.description for name, data in study.data.items()},
        "methods": {
            task: {
                name: {"solver": method.solver, "setting": method.setting, "runs": method.runs}
                for name, method in methods.items()
            }
            for task, methods in study.methods.items()
        },
        "chosen by cross-validation, in powers of 4 (rho) and 3": _choices(study, parts),
        "versions": {"spdpeg": __version__, "python": platform.python_version()}
        | {library: _version(library) for library in _LIBRARIES},
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load at the end": os.getloadavg() if hasattr(os, "getloadavg") else None,
        },
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _choices(study: Study, parts: Parts) -> dict[str, dict[str, Any]]:
    """The choice of each tuned method, round by round, in powers of the factors of its lattice."""
    choices: dict[str, dict[str, Any]] = {}
    for job in curves(study):
        method = study.methods[job.task][job.method]
        if method.lattices and job.seed == 0:
            found = chosen(study, parts, job)
            if "skipped" not in found:
                lattice = method.lattices[found["lattice"]]
                powers = dict(zip(lattice.factors, found["point"], strict=True))
                entry = lattice.fixed | powers | {"interior": found["interior"], "candidates": found["candidates"]}
                choices.setdefault(f"{job.task}/{job.data}", {}).setdefault(job.method, []).append(entry)
    return choices


def _version(library: str) -> str | None:
    try:
        return version(library)
    except ImportError:
        return None


def _processor() -> str:
    """The name on the chip, where the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
