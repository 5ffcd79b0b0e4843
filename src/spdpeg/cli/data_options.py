"""Options of every command that reads a data file."""

import argparse
from collections.abc import Callable
from typing import Any

from .. import files
from ..errors import one_line


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


class Read(argparse.Action):
    """An option that is a file, or a name that is none: what `read` makes of it; `args.inputs` lists the files."""

    def __init__(self, *args: Any, read: Callable[[str], Any], **options: Any) -> None:
        super().__init__(*args, **options)
        self._read = read

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Read at once, so that what is wrong is told with the usage."""
        try:
            setattr(namespace, self.dest, self._read(values))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, one_line(error)) from None
        namespace.inputs = [*getattr(namespace, "inputs", []), values]


def inputs(args: argparse.Namespace) -> list[str]:
    """Names of all files that the command reads."""
    return [args.data, f"{args.data}.rclass", *getattr(args, "inputs", [])]


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments for `files.read` and `files.stream`."""
    options = {"path": args.data, "format": args.format, "target": args.target}
    return {**options, "n_features": args.features} if "features" in args else options


def _column(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
