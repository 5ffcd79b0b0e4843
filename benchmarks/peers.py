"""Time and reads to a given suboptimality, beside the packages that a user would take instead.

One run, one machine, one thread. Every x is scored by one objective in plain NumPy (`peer_cases.py`), never by a
package's own report; the optimum is the value at a solution that this package certified or Clarabel found, and the
record says which. What is compared is in `peer_tasks.py`, what each package is told in `peer_ours.py`,
`peer_structured.py` and `peer_sparse.py`, and what we want in `peer_targets.py`.

Each method has a process of its own. Imports, conversion of the data and compiled models are not counted, for anyone;
nor is the first run, which compiles and finds out which budgets reach which level. After it the methods take turns, and
medians are shown. Seconds are the processor's, which other programs disturb less: all run on one thread, so that they
are wall seconds where nothing else runs. "spdpeg" is when its x got there, as for the others; "spdpeg, proved" is the
time of `Problem` and `solve(tol=level)` until it returns with its certificate. `--before` measures another version of
this package beside it, say that of a `git worktree`.

Records are written as they come. A run that is started again measures what is not there yet, and what `--anew` names.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spdpeg
from common import Verdicts, show, show_setting
from peer_cases import Case
from peer_data import SETS
from peer_methods import METHODS, PEERS, version
from peer_ours import BEFORE, OURS, PROVED, problem
from peer_picture import draw
from peer_runs import LEVELS
from peer_structured import MOST_ENTRIES, clarabel
from peer_targets import PROOF, fastest, judge, time_of
from peer_tasks import TASKS, cases
from peer_workers import Worker

DIGITS = 1e-10
OPTIMUM_SECONDS = 20.0


def optimum(case: Case) -> tuple[float, float, str]:
    """Value, relative gap and who found it: this package with a proof or, if that is short of it, Clarabel."""
    result = spdpeg.solve(problem(case), tol=DIGITS, max_seconds=OPTIMUM_SECONDS)
    assert result.certificate is not None
    value, gap = case.objective(result.x), float(result.certificate.rel_gap)
    if gap > PROOF and case.entries + case.F.nnz <= MOST_ENTRIES:
        other = case.objective(clarabel(case, OPTIMUM_SECONDS).run(DIGITS).xs[0])
        if other < value:
            return other, DIGITS, "Clarabel"
    return value, gap, "spdpeg"


def read_seconds(case: Case) -> float:
    """One read of the data: X v and X^T u by SciPy."""
    u, v = np.ones(case.X.shape[0]), np.ones(case.X.shape[1])

    def one() -> float:
        start = time.process_time()
        _ = case.X @ v, case.X.T @ u
        return time.process_time() - start

    return statistics.median(one() for _ in range(11))


def new_record(case: Case) -> dict[str, Any]:
    """What is known before any method ran."""
    found = [optimum(point) for point in case.points()]
    gap, by = max((gap, by) for _, gap, by in found)
    n, d = case.X.shape
    return {
        "task": case.task, "set": case.set, "weights": case.weights, "rows": n, "columns": d, "entries": case.entries,
        "rows_of_F": int(case.F.shape[0]), "optima": [value for value, _, _ in found], "gap": gap, "optimum_by": by,
        "read_seconds": read_seconds(case), "methods": {},
    }  # fmt: skip


def measure(case: Case, record: dict[str, Any], workers: list[Worker], repeats: int, cap: float) -> None:
    """Add the times of these methods to the record."""
    trials = [worker.explore(case, record["optima"], cap) for worker in workers]
    for _ in range(repeats):
        for worker, trial in zip(workers, trials, strict=True):
            worker.again(trial, cap)
    record["methods"] |= {
        trial.name: {
            "prepare_seconds": trial.prepare_seconds,
            "seconds": {f"{level:g}": trial.seconds.get(level) for level in LEVELS},
            "reads": {f"{level:g}": reads for level, reads in trial.first.reads.items()},
            "lowest": trial.first.lowest,
            "note": trial.note,
        }
        for trial in trials
    }


def show_record(record: dict[str, Any], cap: float) -> None:
    """Table of one case, the fastest first."""

    def cell(name: str, level: float) -> str:
        spent = time_of(record, name, level)
        if math.isfinite(spent):
            return f"{spent:.4f} ({spent / record['read_seconds']:.0f})"
        return record["methods"][name]["note"][:12] or f"> {cap:g} s"

    def counted(name: str) -> str:
        reads = record["methods"][name]["reads"].get(f"{LEVELS[-1]:g}")
        return "-" if reads is None else f"{reads:.3g}"

    order = sorted(record["methods"], key=lambda name: [time_of(record, name, level) for level in reversed(LEVELS)])
    rows = [
        (name, *(cell(name, level) for level in LEVELS), counted(name), record["methods"][name]["prepare_seconds"])
        for name in order
    ]
    show(
        f"{record['set']}/{record['task']}/{record['weights']}, {record['rows']} x {record['columns']}, "
        f"{record['rows_of_F']} rows of F: seconds (as many times a read of the data) to a relative suboptimality",
        ("method", *(f"{level:g}" for level in LEVELS), "reads", "prepared in"),
        rows,
    )


def summary(records: list[dict[str, Any]], cap: float) -> Iterator[str]:
    """Lines of a Markdown table: times of the fastest peer over ours, proved; above 1 where we are faster."""
    levels = [f"{level:g}" for level in LEVELS]
    heads = ["set", "task", "weights", *levels, f"fastest peer at {levels[-1]}", "ours, ms", "reads", "before / ours"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for record in records:
        ours = {level: time_of(record, PROVED, level) for level in LEVELS}

        def ratio(theirs: float, level: float, ours: dict[float, float] = ours) -> str:
            if not math.isfinite(ours[level]):
                return "not reached" if math.isfinite(theirs) else "neither"
            return f"{'' if math.isfinite(theirs) else '> '}{min(theirs, cap) / ours[level]:.2g}"

        fine = LEVELS[-1]
        theirs, name = fastest(record, fine)
        reads = record["methods"][PROVED]["reads"].get(f"{fine:g}", math.nan)
        before = ratio(time_of(record, BEFORE, fine), fine) if BEFORE in record["methods"] else "-"
        yield " | ".join((
            f"| {record['set']}", record["task"], record["weights"],
            *(ratio(fastest(record, level)[0], level) for level in LEVELS),
            name if math.isfinite(theirs) else f"none in {cap:g} s", f"{1e3 * ours[fine]:.3g}", f"{reads:.3g}", before,
        )) + " |"  # fmt: skip


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """What the times depend on."""
    packages = {method.package for method in METHODS.values()} | {"cvxpy", "numpy", "scipy", "numba"}
    return {
        "repeats": options.repeats, "cap_seconds": options.cap, "levels": LEVELS, "threads": 1,
        "versions": {package: version(package) for package in sorted(packages)},
    }  # fmt: skip


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--sets", nargs="+", choices=SETS, help="by default those of each task")
    parser.add_argument(
        "--weights", nargs="+", default=[], help='only cases with such a label, as "x 0.1" or "squared"'
    )
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--before", type=Path, help="src directory of another version of this package")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cap", type=float, default=60.0, help="seconds that a method may take to reach a level")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after these no further case begins")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--anew", nargs="+", choices=METHODS, default=[], help="measure these again, keep the others")
    parser.add_argument("--fresh", action="store_true", help="forget what the output holds")
    parser.add_argument("--summary", action="store_true", help="measure nothing: show what the output holds")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def kept(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Records of an earlier run with the same cap and repeats."""
    if options.fresh or not options.output.exists():
        return []
    earlier = json.loads(options.output.read_text())
    same = (earlier["settings"]["cap_seconds"], earlier["settings"]["repeats"]) == (options.cap, options.repeats)
    return list(earlier["cases"]) if same or options.summary else []


def run(options: argparse.Namespace, current: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Measure case by case; what is there so far is always on disk."""
    missing = [name for name in options.peers if version(METHODS[name].package) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    workers = [Worker(OURS), Worker(PROVED)]
    workers += [Worker(BEFORE, options.before)] if options.before else []
    workers += [Worker(name) for name in options.peers if name not in missing]
    known = {(record["set"], record["task"], record["weights"]): record for record in records}
    end = time.monotonic() + 60.0 * options.minutes
    for case in cases(options.tasks, options.sets, options.weights):
        record = known.get((case.set, case.task, case.weights))
        there = set() if record is None else record["methods"].keys() - set(options.anew)
        due = [worker for worker in workers if worker.name not in there and METHODS[worker.name].takes(case)]
        if not due:
            continue
        if time.monotonic() > end:
            print(f"{options.minutes:g} minutes are up; start again to go on")
            break
        if record is None:
            record = new_record(case)
            records.append(record)
        measure(case, record, due, options.repeats, options.cap)
        show_record(record, options.cap)
        options.output.write_text(json.dumps({"settings": current, "cases": records}, indent=1) + "\n")
    for worker in workers:
        worker.close()


def main() -> None:
    """Measure, or show what was measured."""
    options = parse()
    current = settings(options)
    records = kept(options)
    show_setting()
    if not options.summary:
        run(options, current, records)
    verdicts = Verdicts()
    for record in records:
        judge(record, options.cap, verdicts)
    verdicts.show()
    print("\n".join(("", *summary(records, options.cap))))
    draw(records, options.cap, options.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
