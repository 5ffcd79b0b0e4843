"""What a step of the linearized solvers costs beside one of SPDPEG, and which solvers run wide data within 2 GiB.

Steps are timed by the processor's clock over as many steps as there are rows, a snapshot included; the solvers take
turns. Memory is measured on the shape of classic (7,094 x 41,681), each solver in a process of its own whose
allocations the kernel limits to 2 GiB (RLIMIT_DATA): with F a chain and with the graph that the authors published
(graphs/F_classic.npz in the data directory). One step of a deterministic solver, fifty of the others.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import (
    Verdicts,
    data_directory,
    fused_logistic,
    graph_guided_logistic,
    interleaved,
    load,
    show,
    show_setting,
)
from comparators import runs, title
from memory import status
from spdpeg.engine.registry import REGISTRY, resolve
from spdpeg.solvers.base import Periodic

LINEARIZED = ("sgadm", "opg-admm", "spdhg", "svrg-admm", "sag-admm", "rda-admm")
SHAPES = ("a9a", "classic")
REPEATS = 7
LIMIT = 2 * 2**30
EXEMPT = ("sadmm-full", "online-admm", "sag-admm/inexact", "sag-admm/exact", "prox-newton", "lp")
"""Their tables say that they keep more, refuse a d this large, or take losses with corners alone."""
STEPS = 50


def step_time(problem: spdpeg.Problem, name: str) -> Callable[[], float]:
    """A function that takes as many steps as there are rows, from the start, and returns the microseconds of one."""
    rule, terms, n = resolve(name, {}), problem.view.terms(), problem.view.rows.block.labels.size
    order = np.random.default_rng(0).integers(n, size=n * rule.batches_per_step)

    def run() -> float:
        numbers, vectors = rule.start(problem, 1, np.zeros(problem.n_features))
        state = spdpeg.State(name, {"batch_size": 1}, 0, numbers=numbers, vectors=vectors)
        start = time.process_time()
        if isinstance(rule, Periodic):
            rule.prepare(problem, terms, state)
        rule.advance(problem.view, terms, state, problem.view.rows.block, order, n)
        return 1e6 * (time.process_time() - start) / n

    return run


def compare_steps(name: str, rows: list[tuple[Any, ...]], verdicts: Verdicts) -> None:
    """Time of a step of each linearized solver over that of SPDPEG."""
    data = load(name)
    problem = fused_logistic(data.X, data.y)
    clocks = {solver: step_time(problem, solver) for solver in ("spdpeg", *LINEARIZED)}
    for run in clocks.values():
        run()  # compiles
    times = interleaved(clocks, REPEATS)
    for solver in LINEARIZED:
        ratio = times[solver] / times["spdpeg"]
        rows.append((name, solver, times[solver], times["spdpeg"], ratio))
        verdicts.at_most(f"{name}, {solver}: time of a step / SPDPEG's", 1.0, ratio)


def wide_problem(kind: str) -> spdpeg.Problem | None:
    """Classic with a chain or with the published graph, if it is at hand."""
    data = load("classic")
    if kind == "chain":
        return fused_logistic(data.X, data.y)
    directory = data_directory()
    if directory is None:
        return None
    F = sp.csr_array(sp.load_npz(directory / "graphs" / "F_classic.npz"))
    return graph_guided_logistic(data.X, data.y, F)


def solve_limited(kind: str, solver: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Some steps under the limit: what came of them, and the resident memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    problem = wide_problem(kind)
    assert problem is not None
    steps = 1 if REGISTRY[solver].about.deterministic else STEPS
    before = status("VmHWM")
    report: dict[str, Any]
    try:
        result = spdpeg.solve(problem, solver, max_passes=None, max_iterations=steps, record_every=1e9, **parameters)
        report = {"outcome": "ran", "seconds": result.seconds}
    except spdpeg.UnsupportedError as refusal:
        report = {"outcome": str(refusal)}
    except MemoryError:
        report = {"outcome": "out of memory"}
    return report | {"before": before, "peak": status("VmHWM")}


def compare_memory(kind: str, rows: list[tuple[Any, ...]], verdicts: Verdicts) -> None:
    """Every solver in a process of its own."""
    for solver, parameters in runs():
        name = title(solver, parameters)
        command = [sys.executable, __file__, kind, solver, json.dumps(parameters)]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if "strong convexity" in report["outcome"]:
            continue  # the problem lacks it, which says nothing about memory
        outcome = report["outcome"] if len(report["outcome"]) < 20 else "refused"
        rows.append((kind, name, report["before"] / 2**20, report["peak"] / 2**20, report.get("seconds", "-"), outcome))
        if name not in EXEMPT:
            verdicts.at_least(f"classic, {kind}, {name}: runs within 2 GiB", 1, float(outcome == "ran"))


def main() -> None:
    """Steps, then memory."""
    show_setting([load(name) for name in SHAPES])
    verdicts = Verdicts()
    steps: list[tuple[Any, ...]] = []
    for name in SHAPES:
        compare_steps(name, steps, verdicts)
    show("Microseconds a step", ("data", "solver", "solver", "SPDPEG", "ratio"), steps)
    memory: list[tuple[Any, ...]] = []
    for kind in ("chain", "graph"):
        if kind == "chain" or data_directory() is not None:
            compare_memory(kind, memory, verdicts)
    show(
        "classic, under 2 GiB", ("F", "solver", "MiB before the solve", "MiB at the peak", "seconds", "outcome"), memory
    )
    verdicts.show()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(solve_limited(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))))
    else:
        main()
