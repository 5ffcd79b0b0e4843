"""Writes the table of docs/reliability.md: `python -m stress.figures ../docs/reliability.md fuzz.json files.json ...`.

The files are those that `python -m stress PART --json FILE` wrote.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .outcome import DEFECTS, Verdict

ROWS = {
    "fuzz": (
        "`solve`: a bound is never above the optimum, what is met is met, infeasible is told so",
        "random problems beside CVXPY with Clarabel and an objective in extended precision",
    ),
    "fuzz every": ("the same for every solver by name", "the same problems, the solvers in turn, 100 passes"),
    "estimators": ("the same for the estimators", "random estimators, data and weights, beside the same"),
    "metamorphic": (
        "units, order and storage do not matter",
        "the problem told twice: scaled data, columns, labels, weights, rows of F; permuted; split; other storage",
    ),
    "large": ("real sizes have a valid gap and exact pieces", "images, trends, graphs, chains by name"),
    "files": (
        "a damaged file is read correctly or refused in one line",
        "truncation, flipped bits, wrong numbers, huge claims; LIBSVM, CSV, CLUTO, npz, Parquet, .mat, model, state",
    ),
    "abuse": ("no exception but those of `spdpeg.errors`", "public functions with arguments that do not belong there"),
    "concurrency": (
        "threads and forks give the same bits, files stay whole, memory does not grow",
        "8 threads x 100 solves, forks, 4 writers and readers of one path, 3,000 fits, each a case",
    ),
    "processes": (
        "killed, interrupted or out of disk: the old file or the new one, code 130 or one line",
        "kill -9 of saves, fit and reproduce; Ctrl-C in commands and in solve; a limit on the size of files",
    ),
}
"""What is promised and how it is tested, by part."""

_BEGIN, _END = "<!-- figures -->\n", "<!-- end of figures -->"


def table(records: list[dict[str, Any]], before: str = "") -> str:
    """The rows of the parts that were run, as Markdown; those of other parts stay as they are in the table before."""
    lines = ["| promise | test | cases | refused | unfinished | wrong |", "|---|---|---|---|---|---|"]
    for part, (promise, test) in ROWS.items():
        counts = Counter(Verdict[record["verdict"]] for record in records if record["part"] == part)
        if not counts:
            lines += [line for line in before.splitlines() if line.startswith(f"| {promise} |")]
            continue
        wrong = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if v in DEFECTS and counts[v]) or "0"
        unfinished = counts[Verdict.UNFINISHED] + counts[Verdict.DIVERGED]
        cells = (promise, test, f"{counts.total():,}", counts[Verdict.REFUSED], unfinished, wrong)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def main(page: str, *files: str) -> None:
    """Write what the files say into the table of the page."""
    records = [json.loads(line) for file in files for line in Path(file).read_text().splitlines()]
    path = Path(page)
    above, _, rest = path.read_text().partition(_BEGIN)
    before, _, below = rest.partition(_END)
    path.write_text(above + _BEGIN + table(records, before) + _END + below)


if __name__ == "__main__":
    main(*sys.argv[1:])
