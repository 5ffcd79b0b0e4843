"""The command line of the suite: `python -m stress fuzz --cases 2000 --jobs 2` from tests/."""

import argparse
import json
import sys

from rich.console import Console
from rich.progress import track

from . import fuzz, pool, table


def main() -> int:
    """Run a part; the exit code is 1 if a case shows the package wrong."""
    parser = argparse.ArgumentParser(prog="stress", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    _fuzz(parts.add_parser("fuzz", help="random problems against CVXPY with Clarabel"))
    arguments = parser.parse_args()
    console = Console(width=200 if not sys.stdout.isatty() else None)
    seeds = range(arguments.first, arguments.first + arguments.cases)
    if arguments.seed is not None:
        seeds = range(arguments.seed, arguments.seed + 1)
    options = {"solver": arguments.solver, "passes": arguments.passes}
    outcomes = []
    work = pool.run(fuzz.run, seeds, arguments.jobs, **options)
    for outcome in track(work, total=len(seeds), console=Console(stderr=True), disable=not sys.stderr.isatty()):
        outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: outcome.seed)
    table.show(f"{arguments.part} {arguments.solver}", outcomes, console, tuple(arguments.by))
    if arguments.json:
        with open(arguments.json, "w") as file:
            for outcome in outcomes:
                record = {
                    **vars(outcome),
                    "verdict": outcome.verdict.name,
                    "others": [v.name for v, _ in outcome.others],
                }
                file.write(json.dumps(record) + "\n")
    return int(any(outcome.defect for outcome in outcomes))


def _fuzz(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--solver", default="auto", help="by name")
    parser.add_argument("--passes", type=float, help="the budget; that of `solve` by default")
    parser.add_argument(
        "--by", nargs="*", default=[], help="kinds to count apart: loss r1 r2 F domain data storage tol"
    )
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this case alone")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", help="a file for one line of JSON for each case")


if __name__ == "__main__":
    sys.exit(main())
