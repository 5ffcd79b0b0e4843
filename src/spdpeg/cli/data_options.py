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
        type=column_of,
        help="column of a table with the labels: its name, or its number from 0 (default: last)",
    )
    parser.add_argument(
        "--drop",
        type=column_of,
        action="append",
        default=[],
        metavar="COL",
        help="column of a table to leave out, as for --target; may be given several times",
    )


def add_categorical(parser: argparse.ArgumentParser) -> None:
    """For commands that learn; those that apply a model know its categories."""
    parser.add_argument(
        "--categorical",
        action="append",
        default=[],
        metavar="COL",
        help="column of a table with text, by name: it becomes a column of 0 and 1 for each category",
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
    options = {"path": args.data, "format": args.format, "target": args.target, "drop": args.drop}
    if "categorical" in args:
        options["categorical"] = dict.fromkeys(args.categorical)
    return {**options, "n_features": args.features} if "features" in args else options


def column_of(text: str) -> int | str:
    """A column by its number from 0, or by its name."""
    try:
        return int(text)
    except ValueError:
        return text
