"""Time to a given suboptimality, beside the packages that a user would take instead.

One run, one machine, one thread. Every x is scored by one objective in plain NumPy (`peer_cases.py`), never by a
package's own report; the optimum is the value of a run of this package that was certified to 1e-9, checked against
independent ones where there are any. What each package is told is in `peer_methods.py`.

Each method has a process of its own. Imports, conversion of the data and compiled models are not counted, for anyone;
nor is the first run, which compiles and finds out which budgets reach which level. After it the methods take turns, and
medians are shown. This package's times count all that `Problem` and `solve` do, bounds on the data included, except the
records of the objective. "certified" is the wall time of `spdpeg.solve(problem, tol=1e-6)` to its end.
"""

import argparse
import importlib.metadata
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import spdpeg
from common import SHAPES, DataSet, Verdicts, load, seconds, show, show_setting
from peer_cases import LASSO_SETS, TASKS, Case, make_case
from peer_methods import CERTIFIED, ITSELF, LEVELS, METHODS, OURS, PEERS
from peer_picture import draw
from peer_workers import GROWTH, Worker, one_thread
from suboptimality import reference

FACTORS = {"splice/flr": 3.0, "svmguide3/flr": 3.0}
USUAL_FACTOR = 10.0
COARSE = (1e-2, 1e-3)
READS = {1e-4: 12.0, 1e-6: 25.0}
READ_SETS = ("a9a", "w8a")
PROOF = 1e-9


def optimum(case: Case) -> dict[str, float]:
    """Value at a certified solution, and the relative gap that is left."""
    result = spdpeg.solve(case.problem(), tol=PROOF, max_seconds=120.0)
    assert result.certificate is not None
    return {"optimum": case.objective(result.x), "gap": result.certificate.rel_gap}


def read_seconds(data: DataSet) -> float:
    """One read of the data: X v and X^T u by SciPy."""
    u, v = np.ones(data.X.shape[0]), np.ones(data.X.shape[1])
    return statistics.median(seconds(lambda: (data.X @ v, data.X.T @ u)) for _ in range(11))


def measure(case: Case, methods: Sequence[str], repeats: int, cap: float) -> dict[str, Any]:
    """Times of all methods that can express the case."""
    found = optimum(case)
    workers = []
    for name in methods:
        if case.task in METHODS[name].tasks:
            workers.append(Worker(name, case, found["optimum"], cap))
            workers[-1].explore()
            print(f"{case.name}: {name}: {len(workers[-1].seconds)} levels {workers[-1].note}", flush=True)
    reads = []
    for _ in range(repeats):
        reads.append(read_seconds(case.data))
        for worker in workers:
            worker.again()
    for worker in workers:
        worker.close()
    n, d = case.data.X.shape
    shape = {"rows": n, "columns": d, "entries": int(case.data.X.nnz), "rows_of_F": int(case.F.shape[0])}
    times = {
        worker.name: {
            "prepare_seconds": worker.prepare_seconds,
            "seconds": {f"{level:g}": worker.seconds.get(level) for level in METHODS[worker.name].levels},
            "note": worker.note,
        }
        for worker in workers
    }
    origin = {"data": case.data.origin, "graph": case.graph}
    return {"task": case.task, "set": case.data.name, **origin, **shape, **found,
            "read_seconds": statistics.median(reads), "methods": times}  # fmt: skip


def time_of(record: dict[str, Any], name: str, level: float) -> float:
    """Seconds, or infinity where the level was not reached or not asked for."""
    value = record["methods"].get(name, {}).get("seconds", {}).get(f"{level:g}")
    return math.inf if value is None else float(value)


def fastest_peer(record: dict[str, Any], level: float) -> float:
    """Seconds of the fastest other package, or infinity."""
    return min((time_of(record, name, level) for name in PEERS), default=math.inf)


def show_record(record: dict[str, Any], cap: float) -> None:
    """Table of one case, the fastest first."""

    def cell(name: str, level: float) -> str:
        if level not in METHODS[name].levels:
            return "-"
        spent = time_of(record, name, level)
        if math.isfinite(spent):
            return f"{spent:.4f} ({spent / record['read_seconds']:.0f})"
        return f"> {cap:g} s" if not record["methods"][name]["note"].startswith("died") else "died"

    order = sorted(record["methods"], key=lambda name: [time_of(record, name, level) for level in reversed(LEVELS)])
    rows = [
        (name, *(cell(name, level) for level in LEVELS), f"{record['methods'][name]['prepare_seconds']:.2f}")
        for name in order
    ]
    show(
        f"{record['set']}/{record['task']}, {record['rows']} x {record['columns']}, {record['rows_of_F']} rows of F: "
        "seconds (reads of the data) to a relative suboptimality",
        ("method", *(f"{level:g}" for level in LEVELS), "prepared in"),
        rows,
    )


def judge(record: dict[str, Any], cap: float, verdicts: Verdicts) -> None:
    """The targets of one case. Where no peer reached a level in time, the cap stands in for its time."""
    name = f"{record['set']}/{record['task']}"
    if record["data"] == "real" and (known := reference(name)) is not None:
        verdicts.at_most(f"{name}: optimum against the reference", 1e-7, abs(record["optimum"] / known - 1.0))
    verdicts.at_most(f"{name}: gap of the optimum", PROOF, record["gap"])
    if any(peer in record["methods"] for peer in PEERS):
        for level in COARSE if record["task"] == "lasso" else (*COARSE, min(LEVELS)):
            bound = 1.0 if level in COARSE else FACTORS.get(name, USUAL_FACTOR)
            ratio = min(fastest_peer(record, level), cap) / time_of(record, OURS, level)
            verdicts.at_least(f"{name}: fastest peer / ours at {level:g}", bound, ratio)
    if ITSELF in record["methods"]:
        for level in COARSE:
            ratio = min(time_of(record, ITSELF, level), cap) / time_of(record, OURS, level)
            verdicts.at_least(f"{name}: spdpeg / ours at {level:g}", 1.0, ratio)
    if record["set"] in READ_SETS and record["task"] == "flr":
        for level, bound in READS.items():
            used = time_of(record, OURS, level) / record["read_seconds"]
            verdicts.at_most(f"{name}: reads to {level:g}", bound, used)


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """What the times depend on."""
    packages = {METHODS[name].package for name in options.peers} | {"spdpeg", "cvxpy", "numpy", "scipy", "numba"}
    return {
        "repeats": options.repeats,
        "cap_seconds": options.cap,
        "levels": LEVELS,
        "growth_of_budgets": GROWTH,
        "threads": 1,
        "versions": {package: importlib.metadata.version(package) for package in sorted(packages)},
    }


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--sets", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cap", type=float, default=60.0, help="seconds a method may take to reach a level")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def main() -> None:
    """Measure case by case; what is there so far is always on disk."""
    options = parse()
    one_thread()
    sets = [load(name) for name in options.sets]
    show_setting(sets)
    verdicts = Verdicts()
    records: list[dict[str, Any]] = []
    methods = [OURS, CERTIFIED, ITSELF, *options.peers]
    for task in options.tasks:
        for data in sets:
            if task == "lasso" and data.name not in LASSO_SETS:
                continue
            record = measure(make_case(task, data), methods, options.repeats, options.cap)
            show_record(record, options.cap)
            judge(record, options.cap, verdicts)
            records.append(record)
            options.output.write_text(json.dumps({"settings": settings(options), "cases": records}, indent=1) + "\n")
    draw(records, options.cap, options.output.with_suffix(".png"))
    verdicts.show()


if __name__ == "__main__":
    main()
