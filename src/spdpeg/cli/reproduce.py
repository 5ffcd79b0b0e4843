"""`spdpeg reproduce`: the experiments of the SPDPEG paper, judged and shown."""

import argparse
from pathlib import Path

from rich.console import Console

from .. import datasets
from ..reproduce import EMBEDDED, PAPER, SEEDS, TASKS, paper_study
from ..reproduce.authors import EPOCHS
from ..reproduce.methods import NAMES
from . import study_options
from .commands import Commands

_WHOLE = "paper"
_QUICK = 2


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and see whether its claims hold",
        description="Run the paper's experiments on any of its data sets, or on two small ones that need no download. "
        "Start it again after an interruption: what is finished is not computed again.",
    )
    known = list(dict.fromkeys([*datasets.names(), *PAPER]))
    parser.add_argument(
        "--sets",
        nargs="+",
        choices=[_WHOLE, *known],
        default=EMBEDDED,
        metavar="SET",
        help=f"some of {', '.join(known)}; {_WHOLE} is the paper's eight, text in both forms "
        f"(default: {' '.join(EMBEDDED)})",
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="default: both")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=NAMES,
        metavar="METHOD",
        help=f"some of {', '.join(NAMES)} (default: all)",
    )
    parser.add_argument("--quick", action="store_true", help=f"the first {_QUICK} folds and {_QUICK} seeds only")
    parser.add_argument("--data", metavar="DIR", help="directory with the files of the data sets")
    study_options.add(parser, Path("spdpeg-reproduce"), seeds=SEEDS, passes=EPOCHS)
    parser.set_defaults(command=_reproduce)


def _reproduce(args: argparse.Namespace, console: Console) -> None:
    if args.quick:
        args.rounds, args.seeds = min(args.rounds, _QUICK), min(args.seeds, _QUICK)
    study = paper_study(
        PAPER if _WHOLE in args.sets else args.sets,
        args.tasks,
        args.methods,
        data_dir=args.data,
        **study_options.budgets(args),
    )
    study_options.publish(study, args, console)
