"""`spdpeg compare`: solvers side by side on a data file of one's own."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from .. import InputError, files, operators
from ..engine.registry import REGISTRY
from ..reproduce import Data, Study, Task
from ..reproduce.methods import AUTO, plain
from . import data_options, study_options, terms

if TYPE_CHECKING:
    from . import Commands

_SOLVERS = ("spdpeg", "sgadm", "sadmm", "vr-spdpeg", AUTO)


def add(commands: "Commands") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "compare",
        help="compare solvers on a data file of your own",
        description="Minimise loss + r1(x) + r2(F x) on a data file by several solvers with their default parameters, "
        "and make the page that `spdpeg reproduce` makes. The first solver sets the pace: the others get its time.",
    )
    data_options.add(parser)
    data_options.add_features(parser)
    names = ", ".join
    parser.add_argument("--loss", type=terms.loss, default="logistic", help=f"of {names(terms.LOSSES)}")
    parser.add_argument(
        "--r1", type=terms.penalty, default="zero", help=f"such as l1:0.01; of {names(terms.PENALTIES)}"
    )
    parser.add_argument("--r2", type=terms.penalty, default="zero", help="the same, of F x")
    parser.add_argument(
        "--F",
        action=data_options.Read,
        read=terms.operator,
        help=f"of {names(terms.OPERATORS)}, or a file with a matrix",
    )
    parser.add_argument(
        "--solvers",
        nargs="+",
        choices=(AUTO, *REGISTRY),
        default=_SOLVERS,
        metavar="SOLVER",
        help="see `spdpeg solvers`",
    )
    study_options.add(parser, Path("spdpeg-compare"), seeds=1, passes=20.0)
    parser.set_defaults(command=_compare)


def _compare(args: argparse.Namespace, console: Console) -> None:
    for read in data_options.inputs(args):
        if Path(read).resolve().parent == args.output.resolve():
            raise InputError(f"{read} lies in the directory for the results, {args.output}. Choose another --output.")
    table = files.read(**data_options.reading(args))
    if table.y is None:
        raise InputError(f"{args.data} has no labels to learn from. Put them beside the rows.")
    name = Path(args.data).stem
    F = operators.Identity() if args.F is None else args.F(table.X)
    rows, columns = table.X.shape
    task = Task(
        "task", f"{type(args.loss).__name__} loss, r1 {args.r1!r}, r2 {args.r2!r}", args.loss, args.r1, args.r2, F
    )
    study = Study(
        f"Solvers on {name}",
        {name: Data(name, table.X, table.y, f"{args.data}: {rows:,} rows, {columns:,} columns.")},
        {task.name: task},
        {task.name: plain(args.solvers)},
        **study_options.budgets(args),
    )
    study_options.publish(study, args, console)
