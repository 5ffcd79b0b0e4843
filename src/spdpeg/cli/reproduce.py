"""`spdpeg reproduce`: the experiments of the SPDPEG paper, judged and shown."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from .. import datasets
from ..reproduce import EMBEDDED, TASKS, paper_study
from ..reproduce.methods import NAMES
from . import study_options

if TYPE_CHECKING:
    from . import Commands


def add(commands: "Commands") -> None:
    """Register the command."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and see whether its claims hold",
        description="Run the paper's experiments on any of its data sets, or on two small ones that need no download. "
        "Start it again after an interruption: what is finished is not computed again.",
    )
    known = datasets.names()
    parser.add_argument(
        "--sets",
        nargs="+",
        choices=known,
        default=EMBEDDED,
        metavar="SET",
        help=f"of {', '.join(known)} (default: {' '.join(EMBEDDED)})",
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="default: both")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=NAMES,
        metavar="METHOD",
        help=f"of {', '.join(NAMES)} (default: all but the tuned ones)",
    )
    parser.add_argument("--tuned", action="store_true", help="add SPDPEG with its step tuned like the competitors'")
    parser.add_argument("--data", metavar="DIR", help="directory with the files of the data sets")
    study_options.add(parser, output=Path("spdpeg-reproduce"))
    parser.set_defaults(command=_reproduce)


def _reproduce(args: argparse.Namespace, console: Console) -> None:
    study = paper_study(
        args.sets,
        args.tasks,
        args.methods,
        tuned=args.tuned,
        data_dir=args.data,
        **study_options.budgets(args),
    )
    study_options.publish(study, args, console)
