"""The command line: a demonstration, the table of solvers, and a look at the installation."""

import argparse
import inspect
import json
import os
import platform
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import Problem, Result, SpdpegError, Status, __version__, losses, operators, penalties, solve, solvers
from .datasets import piecewise_constant
from .kernels import jit, rows
from .solvers import Solver
from .solvers.registry import resolve
from .solvers.spdpeg import MODES

OK, FAILED, INTERRUPTED = 0, 1, 130
"""Exit codes; argparse itself exits with 2 on wrong usage."""

_LAM1, _LAM2 = 5e-4, 5e-3
"""Weights of the paper's fused logistic regression."""

_WIDE = 110
"""Columns of a terminal from which on the table of solvers has room for what they need."""

_LEGEND = (
    "g, G: stochastic and full gradient of the loss. prox1: prox of c r1. prox2*: prox of rho r2*. x-: the x before. "
    "d, l, N: coefficients, rows of F, rows of data."
)

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "rich", "pandas")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = _parser().parse_args(argv)
    console = Console()
    try:
        # Output is gathered first and written once: a reader that closes the pipe early can then be met in one place.
        with console.capture() as captured:
            args.command(args, console)
        sys.stdout.write(captured.get())
        sys.stdout.flush()
    except (SpdpegError, MemoryError) as error:
        print(f"spdpeg: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("spdpeg: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more on exit; give it a place where that works.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="spdpeg", description="min E[l(x, xi)] + r1(x) + r2(F x)")
    parser.add_argument("--version", action="version", version=f"spdpeg {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    demo = commands.add_parser("demo", help="solve a fused logistic regression and show how it went")
    demo.add_argument("--samples", type=int, default=20_000, help="rows (default %(default)s)")
    demo.add_argument("--features", type=int, default=120, help="columns (default %(default)s)")
    demo.add_argument("--passes", type=float, default=20.0, help="budget: reads of all rows (default %(default)g)")
    demo.add_argument("--seed", type=int, default=0, help="of the data and of the solver (default %(default)s)")
    demo.add_argument("--json", action="store_true", help="print numbers for programs instead of tables for people")
    demo.set_defaults(command=_demo)

    table = commands.add_parser("solvers", help="list the solvers, or tell all about one")
    table.add_argument("name", nargs="?", help="the solver whose update, cost, memory and parameters to show")
    table.set_defaults(command=_solvers)

    doctor = commands.add_parser("doctor", help="show versions, the cache of compiled code and processors")
    doctor.set_defaults(command=_doctor)
    return parser


# ------------------------------------------------------------------------------------------------------------ demo


def _demo(args: argparse.Namespace, console: Console) -> None:
    X, y, truth = piecewise_constant(args.samples, args.features, n_pieces=min(8, args.features), seed=args.seed)
    problem = Problem(
        X,
        y,
        loss=losses.Logistic(),
        r1=penalties.L1(_LAM1),
        r2=penalties.L1(_LAM2),
        F=operators.FirstDifference(),
    )
    results = {}
    for mode in MODES:
        results[mode] = solve(
            problem,
            "spdpeg",
            max_passes=args.passes,
            seed=args.seed,
            record_every=max(1.0, args.passes / 10),
            progress=True,
            mode=mode,
        )
        if results[mode].status is Status.INTERRUPTED:
            raise KeyboardInterrupt
    compiling = jit.compile_seconds()
    if args.json:
        console.out(json.dumps(_summary(args, truth, results, compiling)), highlight=False)
        return
    console.print(
        f"Fused logistic regression, {args.samples:,} x {args.features:,}: "
        f"mean loss + {_LAM1:g} |x|_1 + {_LAM2:g} |Fx|_1",
        highlight=False,
    )
    console.print(_progress_table(results))
    console.print(
        f"Compiling or loading compiled code: {compiling:.2f} s, apart from the seconds above.", highlight=False
    )
    console.print()
    curves = {"truth": truth} | {f"spdpeg, {mode}": result.x for mode, result in results.items()}
    for line in _pictures(curves, width=console.width - 1, ascii_only=console.options.ascii_only):
        console.out(line, highlight=False)


def _summary(
    args: argparse.Namespace, truth: np.ndarray, results: dict[str, Result], compiling: float
) -> dict[str, Any]:
    return {
        "samples": args.samples,
        "features": args.features,
        "passes": args.passes,
        "seed": args.seed,
        "compile_seconds": compiling,
        "truth": truth.tolist(),
        "runs": {
            mode: {
                "status": result.status.name,
                "x": result.x.tolist(),
                "history": {name: column.tolist() for name, column in vars(result.history).items()},
            }
            for mode, result in results.items()
        },
    }


def _progress_table(results: dict[str, Result]) -> Table:
    table = Table()
    table.add_column("\npasses", justify="right")
    for mode in results:
        for heading in (f"mode {mode}\nobjective", "\n|Fx - z|", "\nseconds"):
            table.add_column(heading, justify="right")
    histories = [result.history for result in results.values()]
    for k, passes in enumerate(histories[0].passes):
        cells = [
            cell
            for history in histories
            for cell in (f"{history.objective[k]:.6f}", f"{history.violation[k]:.1e}", f"{history.seconds[k]:.3f}")
        ]
        table.add_row(f"{passes:g}", *cells)
    return table


def _pictures(curves: dict[str, np.ndarray], width: int, ascii_only: bool, height: int = 4) -> list[str]:
    """Bar charts of vectors on one scale, neighbours averaged where the terminal is too narrow."""
    bars = " .:-=+*%#" if ascii_only else " ▁▂▃▄▅▆▇█"
    columns = {
        name: np.array([part.mean() for part in np.array_split(curve, min(width, curve.size))])
        for name, curve in curves.items()
    }
    low = min(column.min() for column in columns.values())
    high = max(column.max() for column in columns.values())
    lines = []
    for name, column in columns.items():
        filled = 8 * height * (column - low) / (high - low or 1.0)
        lines.append(f"{name}  [{column.min():+.2f} .. {column.max():+.2f}]")
        for row in reversed(range(height)):
            cells = np.clip(np.rint(filled - 8 * row), 0, 8).astype(int)
            lines.append("".join(bars[cell] for cell in cells).rstrip())
        lines.append("")
    return lines


# ----------------------------------------------------------------------------------------------------- information


def _solvers(args: argparse.Namespace, console: Console) -> None:
    if args.name is not None:
        _solver(resolve(args.name, {}), console)
        return
    table = Table(box=box.SIMPLE_HEAD)
    headings = {"name": "name", "what it is": "summary", "rate": "rate"}
    if console.width >= _WIDE:
        headings["needs"] = "needs"
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "name")
    for solver in solvers():
        table.add_row(*(solver[column] for column in headings.values()))
    console.print(table)
    console.print("`spdpeg solvers NAME` tells what one does, needs and costs.", highlight=False)


def _solver(solver: Solver, console: Console) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row(solver.name, Text(solver.summary))
    for heading in ("update", "cost", "memory", "rate", "needs"):
        table.add_row(heading, Text(getattr(solver, heading)))
    console.print(table)
    for text in ("", _LEGEND, "", *_paragraphs(_documentation(type(solver)))):
        console.out(textwrap.fill(text, console.width, subsequent_indent=" " * _indentation(text)), highlight=False)


def _documentation(solver: type[Solver]) -> str:
    """The docstring, with the parameters of the class above if it lists none of its own."""
    texts = [inspect.cleandoc(base.__doc__ or "") for base in solver.__mro__]
    heading = "Parameters\n----------\n"
    if heading in texts[0]:
        return texts[0]
    listed = next(text for text in texts if heading in text)
    return f"{texts[0]}\n\n{listed[listed.index(heading) :]}"


def _paragraphs(text: str) -> list[str]:
    """Lines of equal indentation joined; headings and names of parameters stay lines of their own."""
    paragraphs: list[str] = []
    for line in text.splitlines():
        above = paragraphs[-1] if paragraphs else ""
        apart = not line or not above or " : " in line or line.startswith("---") or above.startswith("---")
        if apart or _indentation(line) != _indentation(above):
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line.lstrip()
    return paragraphs


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _doctor(args: argparse.Namespace, console: Console) -> None:
    table = Table(show_header=False)
    table.add_row("spdpeg", __version__)
    table.add_row("python", f"{platform.python_version()} on {platform.platform()}")
    for library in _LIBRARIES:
        table.add_row(library, _version(library))
    table.add_row("compiled code", _cache())
    table.add_row("processors", f"{_processors()} usable; one solve uses one")
    console.print(table)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed (optional)"


def _cache() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the warning would say is this function's answer
        directory = rows.loss_sum.dispatcher.stats.cache_path
    advice = "every process compiles anew; set NUMBA_CACHE_DIR to a writable directory"
    if directory is None:
        return f"no writable directory: {advice}"
    try:
        with tempfile.TemporaryFile(dir=directory):
            return f"{directory} (writable)"
    except OSError as error:
        return f"{directory} ({error.strerror}): {advice}"


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
