"""`spdpeg path`: a model at many pairs of weights."""

import argparse
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from .. import InputError, paths
from ..files.replacing import replacing
from . import data_options, models
from .commands import Commands
from .output import add_json, check_output, show

_PICTURES = (".png", ".svg", ".pdf")


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "path", help="fit a model at many weights", description="--lam1 or --lam2 keeps that weight fixed."
    )
    data_options.add(parser)
    data_options.add_features(parser)
    data_options.add_categorical(parser)
    models.add(parser)
    parser.add_argument("--n-lam1", type=int, default=20, metavar="N", help="values of lam1 (default: 20)")
    parser.add_argument("--n-lam2", type=int, default=20, metavar="N", help="values of lam2 (default: 20)")
    parser.add_argument(
        "--eps", type=float, default=paths.EPS, help="smallest weight divided by the largest (default: 1e-3)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="file for weights, coefficients and the rest (.npz)")
    parser.add_argument("--plot", metavar="FILE", help=f"file for a picture ({', '.join(_PICTURES)})")
    parser.add_argument("--explore", metavar="FILE", help="HTML page with a slider for each weight to write")
    add_json(parser)
    parser.set_defaults(command=_path)


def _path(args: argparse.Namespace, console: Console) -> None:
    check_output(args.output, data_options.inputs(args))
    check_output(args.plot, [*data_options.inputs(args), *filter(None, [args.output])])
    check_output(args.explore, [*data_options.inputs(args), *filter(None, [args.output, args.plot])])
    if args.plot is not None and Path(args.plot).suffix not in _PICTURES:
        raise InputError(f"{args.plot} does not end in {', '.join(_PICTURES)}. Name the picture so.")
    model, X, y, _ = models.with_data(args)
    fixed = {name: [getattr(args, name)] for name in ("lam1", "lam2") if name in args}
    start = time.perf_counter()
    with models.translated_errors():
        found = paths.path(model, X, y, n_lam1=args.n_lam1, n_lam2=args.n_lam2, eps=args.eps, **fixed)
    seconds = time.perf_counter() - start
    if args.output is not None:
        with replacing(args.output) as file:
            found.save(file)
    if args.plot is not None:
        with replacing(args.plot) as file:
            found.plot().savefig(file, format=Path(args.plot).suffix[1:], dpi=150)
    if args.explore is not None:
        found.explore(args.explore)
    facts = {"rows": X.shape[0], "model": type(model).__name__, **_described(found, args.json)}
    written = {"written_to": args.output, "drawn_to": args.plot, "page": args.explore}
    show({**facts, "seconds": seconds, **written}, console, args.json)


def _described(found: paths.Path, for_programs: bool) -> dict[str, Any]:
    """The path without coefficients: all numbers for programs, their ranges for people."""
    numbers = {name: getattr(found, name) for name in ("lam1", "lam2", "objective", "gap", "passes", "nonzero")}
    if for_programs:
        return {name: values.tolist() for name, values in numbers.items()}
    totals = {"fits": found.passes.size, "passes": int(found.passes.sum())}
    ranges = {name: numbers[name] for name in ("lam1", "lam2", "objective", "nonzero")}
    return {
        **totals,
        **{name: f"{values.min():.4g} to {values.max():.4g}" for name, values in ranges.items()},
        "largest_relative_gap": float(found.gap.max()),
    }
