"""The command line of the suite: `python -m stress fuzz --cases 2000 --jobs 2` from tests/."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import track

from . import abuse, concurrency, estimators, files, fuzz, large, metamorphic, pool, processes, table
from .outcome import Outcome

PARTS = {
    "fuzz": (fuzz.run, "random problems against CVXPY with Clarabel"),
    "estimators": (estimators.run, "estimators with random parameters, against the same"),
    "metamorphic": (metamorphic.run, "the same problem told in another way"),
    "files": (files.run, "damaged data files, models and states"),
    "abuse": (abuse.run, "bad input to everything public"),
    "large": (large.run, "named problems of real size"),
    "concurrency": (concurrency.run, "threads, processes, forks and leaks"),
    "processes": (processes.run, "kills, interrupts and full disks"),
}


CASES = {
    "large": len(large.SCENARIOS),
    "concurrency": 20 * len(concurrency.SCENARIOS),
    "processes": 100 * len(processes.SCENARIOS),
    "files": 2500 * len(files.FORMATS),
}
"""Where 5,000 is not the number of cases."""

LIMITS = {"large": 600.0, "concurrency": 600.0, "processes": 180.0}
"""Seconds, where a case is not a problem of moments."""


def main() -> int:
    """Run a part; the exit code is 1 if a case shows the package wrong."""
    arguments = _parser().parse_args()
    job, _ = PARTS[arguments.part]
    first, cases = (arguments.first, arguments.cases) if arguments.seed is None else (arguments.seed, 1)
    options = {name: value for name in ("solver", "passes", "format") if (value := getattr(arguments, name, None))}
    limit = LIMITS.get(arguments.part, pool.LIMIT)
    work = pool.run(job, range(first, first + cases), arguments.jobs, limit, **options)
    bar = track(work, arguments.part, cases, console=Console(stderr=True), disable=not sys.stderr.isatty())
    title = " ".join([arguments.part, *map(str, options.values())])
    part = " ".join([arguments.part, *(["every"] if options.get("solver") == "every" else [])])
    outcomes = sorted(_kept(bar, part, arguments.json), key=lambda outcome: outcome.seed)
    table.show(title, outcomes, Console(width=None if sys.stdout.isatty() else 200), tuple(arguments.by))
    return int(any(outcome.defect for outcome in outcomes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stress", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, (_, summary) in PARTS.items():
        part = parts.add_parser(name, help=summary)
        part.add_argument("--cases", type=int, default=CASES.get(name, 5000))
        part.add_argument("--first", type=int, default=0, help="the first seed")
        part.add_argument("--seed", type=int, help="this case alone")
        part.add_argument("--jobs", type=int, default=2, help="processes")
        part.add_argument("--by", nargs="*", default=[], help="kinds to count apart: loss, r1, r2, F, domain, data ...")
        part.add_argument("--json", help="a file for one line of JSON for each case")
        if name == "files":
            part.add_argument("--format", choices=files.FORMATS, help="this one alone")
        if name == "fuzz":
            part.add_argument("--solver", default="auto", help="by name; `every` takes them in turn")
            part.add_argument("--passes", type=float, help="the budget; that of `solve` by default")
    return parser


def _kept(outcomes: Iterable[Outcome], part: str, path: str | None) -> Iterator[Outcome]:
    """Outcomes, written down as they come."""
    with open(path or os.devnull, "w", buffering=1) as file:
        for outcome in outcomes:
            others = [[verdict.name, reason] for verdict, reason in outcome.others]
            record = {"part": part, **vars(outcome), "verdict": outcome.verdict.name, "others": others}
            file.write(json.dumps(record) + "\n")
            yield outcome


if __name__ == "__main__":
    sys.exit(main())
