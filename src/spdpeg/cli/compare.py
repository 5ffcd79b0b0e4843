"""`spdpeg compare`: solvers side by side on a data file of one's own."""

import argparse
import math
from pathlib import Path

import numpy as np
from rich.console import Console

from .. import InputError, Problem, files, operators, penalties
from ..engine.registry import REGISTRY
from ..operators import Operator
from ..penalties import Penalty
from ..reproduce import Data, Study, Task
from ..reproduce.methods import AUTO, plain
from . import data_options, study_options, terms
from .commands import Commands

_ROUNDS = 2
"""Enough to see which differences are chance."""

_FRACTION = 0.1
"""Default weight of penalties, as a fraction of the weight that makes all coefficients 0."""

_SOLVERS = ("spdpeg", "sgadm", "sadmm", "vr-spdpeg", AUTO)


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "compare",
        help="compare solvers on a data file of your own",
        description="Minimise loss + r1(x) + r2(F x) on a data file by several solvers with their default parameters, "
        "and make the page that `spdpeg reproduce` makes. The first solver sets the pace: the others get its time. "
        "Without --r1, --r2 and --F the problem is that of the fused lasso, with weights of a tenth of those that make "
        "all coefficients 0.",
    )
    data_options.add(parser)
    data_options.add_features(parser)
    data_options.add_categorical(parser)
    names = ", ".join
    parser.add_argument("--loss", type=terms.loss, default="logistic", help=f"one of {names(terms.LOSSES)}")
    parser.add_argument("--r1", type=terms.penalty, help=f"such as l1:0.01; one of {names(terms.PENALTIES)}")
    parser.add_argument("--r2", type=terms.penalty, help="the same, for F x")
    parser.add_argument(
        "--F",
        action=data_options.Read,
        read=terms.operator,
        help=f"one of {names(terms.OPERATORS)}, or a file with a matrix",
    )
    parser.add_argument(
        "--solvers",
        nargs="+",
        choices=(AUTO, *REGISTRY),
        default=_SOLVERS,
        metavar="SOLVER",
        help="see `spdpeg solvers`",
    )
    study_options.add(parser, Path("spdpeg-compare"), seeds=1, passes=20.0, rounds=_ROUNDS)
    parser.set_defaults(command=_compare)


def _compare(args: argparse.Namespace, console: Console) -> None:
    for read in data_options.inputs(args):
        if Path(read).resolve().parent == args.output.resolve():
            raise InputError(f"{read} lies in the directory for the results, {args.output}. Choose another --output.")
    table = files.read(**data_options.reading(args))
    if table.y is None:
        raise InputError(f"{args.data} has no labels to learn from. Put them beside the rows.")
    name = Path(args.data).stem
    r1, r2, F = _terms(args, table)
    rows, columns = table.X.shape
    task = Task("task", f"{type(args.loss).__name__} loss, r1 {r1!r}, r2 {r2!r}", args.loss, r1, r2, F)
    study = Study(
        f"Solvers on {name}",
        {name: Data(name, table.X, table.y, f"{args.data}: {rows:,} rows, {columns:,} columns.")},
        {task.name: task},
        {task.name: plain(args.solvers)},
        **study_options.budgets(args),
    )
    study_options.announce(study, args)
    study_options.publish(study, args, console)


def _terms(args: argparse.Namespace, table: files.Table) -> tuple[Penalty, Penalty, Operator]:
    """r1, r2 and F as they are asked for; without a word about them, those of the fused lasso."""
    if args.r1 is None and args.r2 is None and args.F is None:
        problem = Problem(table.X, table.y, loss=args.loss)
        smooth = math.isfinite(args.loss.curvature)
        gradient = float(abs(problem.gradient(np.zeros(problem.n_features))).max()) if smooth else 1.0
        weight = float(f"{_FRACTION * gradient:.2g}")
        return penalties.L1(weight), penalties.L1(weight), operators.FirstDifference()
    F = operators.Identity() if args.F is None else args.F(table.X)
    return args.r1 or penalties.Zero(), args.r2 or penalties.Zero(), F
