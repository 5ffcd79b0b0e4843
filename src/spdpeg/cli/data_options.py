"""Options of every command that reads a data file."""

import argparse
from typing import Any

from .. import files


def add(parser: argparse.ArgumentParser) -> None:
    """The file and how to read it."""
    parser.add_argument("data", metavar="DATA", help="LIBSVM text, CSV, Parquet, .npz or .mat; - is standard input")
    parser.add_argument("--format", choices=files.FORMATS, help="of the data (default: what the content looks like)")
    parser.add_argument(
        "--target",
        type=_column,
        help="column of a table with the labels: its name, or its number from 0 (default: last)",
    )


def add_features(parser: argparse.ArgumentParser) -> None:
    """For commands that do not know the number of columns from a model."""
    parser.add_argument("--features", type=int, help="columns of the data; LIBSVM text may not show all of them")


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments for `files.read` and `files.stream`."""
    options = {"path": args.data, "format": args.format, "target": args.target}
    return {**options, "n_features": args.features} if "features" in args else options


def _column(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
