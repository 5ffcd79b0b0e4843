"""Reads of the data and seconds until the default has proved six and nine digits, by class of problems.

    python benchmarks/reads.py [class ...] [--against DIRECTORY] [--repeats 3] [--limit 60]

A read is a sweep over all rows; those of certificates and of bounds on the data are counted too. Seconds are those of
`Problem(...)` and `solve(...)` together, the best of the repeats after one run that compiles; processor seconds of one
thread, which other programs on the machine disturb less than the clock. `--against` names the sources of another
version (`.../src`): both take turns in processes of their own, and the ratio of their times is shown.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

from common import Verdicts, show, show_setting
from read_cases import CLASSES, Case, cases

TOLERANCES = 1e-6, 1e-9
MOST_MORE = 4
"""Reads that nine digits may take beyond those of six."""


def measured(case: Case, tol: float, repeats: int, limit: float) -> dict[str, Any]:
    """The best run of several: reads, seconds, relative gap and what ran."""
    import spdpeg

    best: dict[str, Any] = {"seconds": float("inf")}
    for again in range(repeats + 1):
        begun = time.process_time()
        problem = case.problem()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one that ends before its tolerance is shown as such
            result = spdpeg.solve(problem, tol=tol, max_seconds=limit)
        seconds = time.process_time() - begun
        if again and seconds >= best["seconds"]:
            continue
        sums, certificate = getattr(problem, "sums", None), result.certificate
        assert certificate is not None
        best = {
            "reads": float(max(result.passes, getattr(sums, "reads", 0))),
            "seconds": seconds if again or not repeats else float("inf"),
            "gap": certificate.rel_gap,
            "met": certificate.met in ("relative gap", "gap"),
            "methods": " ".join(stage.method for stage in getattr(result, "stages", [])),
        }
        if not best["met"]:
            best["seconds"] = seconds
            break
    return best


class Worker:
    """Another process that measures cases with the sources of one version."""

    def __init__(self, source: str) -> None:
        environment = {**os.environ, "PYTHONPATH": source}
        command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __call__(self, name: str, tol: float, repeats: int, limit: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, tol, repeats, limit]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve() -> None:
    """Measure what is asked for on the standard input, line by line."""
    known: dict[str, Case] = {}
    for line in sys.stdin:
        name, tol, repeats, limit = json.loads(line)
        if name not in known:
            known = {case.name: case for case in cases([name])}
        try:
            answer = measured(known[name], tol, repeats, limit)
        except Exception as error:
            answer = {"reads": float("inf"), "seconds": float("inf"), "gap": float("inf"), "met": False}
            answer["methods"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


def compare(case: Case, tol: float, workers: list[Worker], repeats: int, limit: float) -> list[dict[str, Any]]:
    """Both versions in turns, each at its best."""
    answers: list[dict[str, Any]] = [{"seconds": float("inf")} for _ in workers]
    for _ in range(repeats):
        for i, worker in enumerate(workers):
            if not answers[i].get("met", True):
                continue
            answer = worker(case.name, tol, 1, limit)
            if answer["seconds"] < answers[i]["seconds"] or len(answers[i]) == 1:
                answers[i] = answer
    return answers


def main() -> None:
    """Measure the classes that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="*", metavar="class", help=f"of {', '.join(CLASSES)}; all by default")
    parser.add_argument("--against", metavar="DIRECTORY", help="sources of another version")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one run by the clock")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    show_setting()
    verdicts, rows = Verdicts(), []
    workers = []
    if options.against:
        own = str(Path(__file__).resolve().parents[1] / "src")
        workers = [Worker(own), Worker(options.against)]
    for case in cases(options.classes):
        if workers:
            ours, other = compare(case, TOLERANCES[0], workers, options.repeats, options.limit)
            ratio = other["seconds"] / ours["seconds"]
            row = [case.name, ours["reads"], other["reads"], 1e3 * ours["seconds"], 1e3 * other["seconds"], ratio]
            row.append(ours["methods"])
            if not other["met"]:
                row.append(f"the other: gap {other['gap']:.0e}")
            if case.not_slower:
                verdicts.at_least(f"{case.name}: seconds of the other version / ours", case.not_slower, ratio)
        else:
            six = measured(case, TOLERANCES[0], options.repeats, options.limit)
            nine = measured(case, TOLERANCES[1], 0, options.limit)
            row = [case.name, six["reads"], nine["reads"], 1e3 * six["seconds"], 1e3 * nine["seconds"], six["methods"]]
            row += [f"{six['gap']:.0e} {nine['gap']:.0e}"]
            judge(verdicts, case, six, nine)
        rows.append(row)
        print(*(f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row), flush=True)
    for worker in workers:
        worker.close()
    if workers:
        headers = ["problem", "reads", "other", "ms", "other", "ratio", "methods", ""]
    else:
        headers = ["problem", "reads to 1e-6", "to 1e-9", "ms to 1e-6", "to 1e-9", "methods", "gaps"]
    show("Reads and seconds to a proof", headers, [row + [""] * (len(headers) - len(row)) for row in rows])
    verdicts.show()


def judge(verdicts: Verdicts, case: Case, six: dict[str, Any], nine: dict[str, Any]) -> None:
    """Against the targets of the case."""
    reads = six["reads"] if six["met"] else float("inf")
    verdicts.at_most(f"{case.name}: reads to 1e-6", case.reads, reads)
    more = nine["reads"] - six["reads"] if nine["met"] else float("inf")
    verdicts.at_most(f"{case.name}: more reads to 1e-9", MOST_MORE, more)
    if case.seconds is not None:
        verdicts.at_most(f"{case.name}: seconds", case.seconds, six["seconds"])


if __name__ == "__main__":
    main()
