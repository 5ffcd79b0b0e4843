"""`spdpeg demo`: a fused logistic regression on generated data, by SPDPEG as it is by default and as printed."""

import argparse
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .. import Problem, Result, Status, losses, operators, penalties, solve
from ..datasets import piecewise_constant
from ..kernels import jit
from .output import add_json

if TYPE_CHECKING:
    from . import Commands

_LAM1, _LAM2 = 5e-4, 5e-3
"""Weights of the paper's fused logistic regression."""

_MODES = ("default", "paper")


def add(commands: "Commands") -> None:
    """Register the command."""
    parser = commands.add_parser("demo", help="solve a fused logistic regression and show how it went")
    parser.add_argument("--samples", type=int, default=20_000, help="rows (default %(default)s)")
    parser.add_argument("--features", type=int, default=120, help="columns (default %(default)s)")
    parser.add_argument("--passes", type=float, default=20.0, help="budget: reads of all rows (default %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the solver (default %(default)s)")
    add_json(parser)
    parser.set_defaults(command=_demo)


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
    for mode in _MODES:
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
