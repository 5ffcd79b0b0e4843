"""`spdpeg denoise`: a signal in a file as few pieces."""

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from .. import denoise, files
from ..files.replacing import replacing
from .commands import Commands
from .data_options import column_of
from .output import add_json, check_output, plain, show

_CHOICES = ("cv", "sure", "bic")
_MOST = 30
"""Segments that are listed for people; the file and --json have all of them."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "denoise",
        help="reduce a noisy signal to a few pieces",
        description="Minimises 1/2 sum (x - y)^2 + lam1 |x|_1 + lam2 |F x|_1, F the differences of neighbours.",
    )
    parser.add_argument("signal", metavar="SIGNAL", help="CSV file with one value per line; - is standard input")
    parser.add_argument(
        "--column", type=column_of, help="column with the values: its name, or its number from 0 (default: last)"
    )
    parser.add_argument(
        "--lam2",
        type=_weight,
        default="cv",
        help=f"the larger, the fewer pieces; or one of {', '.join(_CHOICES)} (default: cv)",
    )
    parser.add_argument("--lam1", type=float, default=0.0, help="the larger, the more values are 0 (default: 0)")
    parser.add_argument("--order", type=int, default=1, help="1: constant pieces (default), 2: straight ones, ...")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write: given, denoised, piece")
    parser.add_argument("--report", metavar="FILE", help="HTML page to write")
    add_json(parser)
    parser.set_defaults(command=_denoise)


def _denoise(args: argparse.Namespace, console: Console) -> None:
    check_output(args.output, [args.signal])
    check_output(args.report, [args.signal, *filter(None, [args.output])])
    values, name = files.read_signal(args.signal, args.column)
    found = denoise(values, args.lam2, args.lam1, order=args.order)
    if args.output is not None:
        with replacing(args.output) as file:
            rows = zip(values.tolist(), found.x.tolist(), found.labels.tolist(), strict=True)
            file.write(b"given,denoised,piece\n")
            file.writelines(",".join(map(plain, row)).encode() + b"\n" for row in rows)
    if args.report is not None:
        found.report(args.report, name or "Signal")
    segments = [{"start": start, "stop": stop, "value": value} for start, stop, value in found.segments]
    facts: dict[str, Any] = {
        "values": values.size,
        "missing": int(np.count_nonzero(np.isnan(values))) or None,
        "lam2": float(found.lam2),
        "chosen_by": args.lam2 if isinstance(args.lam2, str) else None,
        "pieces": found.n_pieces,
        "degrees_of_freedom": found.df,
        "segments": segments if args.json else _listed(found.segments),
        "certificate": str(found.certificate),
        "written_to": args.output,
        "reported_to": args.report,
    }
    show(facts, console, args.json)


def _listed(segments: Any) -> str:
    lines = [f"{start} to {stop - 1}: {value:.6g}" for start, stop, value in segments[:_MOST]]
    more = len(segments) - len(lines)
    return "\n".join([*lines, *([f"and {more:,} more"] if more else [])])


def _weight(text: str) -> float | str:
    if text in _CHOICES:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number and none of {', '.join(_CHOICES)}") from None
