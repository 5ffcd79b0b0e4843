"""Options of every command that reads a data file."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import data, files
from ..data.disk import is_set
from ..data.selection import pieces
from ..errors import InputError, one_line

_CHUNK = 1 << 16
"""Rows of a text file that are in memory at a time."""

_LARGE = 1 << 28
"""Bytes of a Parquet file from which on it is read in blocks."""


def add(parser: argparse.ArgumentParser) -> None:
    """The data and how to read them."""
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        action=_Data,
        help="LIBSVM text, CSV, Parquet, .npz or .mat; - is standard input; several Parquet files, a directory of "
        "them, or what `spdpeg convert` wrote, are read in blocks and need not fit into memory",
    )
    parser.add_argument(
        "--format", choices=files.FORMATS, help="format of the data (default: recognised by its content)"
    )
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
    parser.add_argument("--features", type=int, help="number of columns; LIBSVM text may not show all of them")


class _Data(argparse.Action):
    """Keeps the first name as `data` and all of them as `parts`."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """A shell makes many names of one pattern."""
        namespace.data, namespace.parts = values[0], values


def load(args: argparse.Namespace, **known: Any) -> tuple[Any, Any, list[str] | None]:
    """Rows, labels and names of columns: of a file whole in memory, of anything larger as a source.

    `known` is what a model knows of them: `n_features`, `columns` and the categories of `categorical` ones.
    """
    source = in_blocks(args, known.pop("columns", None), known.get("categorical"))
    if source is not None:
        return source, source.labels, source.names
    table = files.read(**{**reading(args), **known})
    return table.X, table.y, table.names


def load_labelled(args: argparse.Namespace) -> tuple[Any, Any, list[str] | None]:
    """Data to learn from; refused if they have no labels."""
    X, y, names = load(args)
    if y is None:
        raise InputError(f"{args.data} has no labels to learn from. Put them beside the rows.")
    return X, y, names


def chunks(args: argparse.Namespace, on_progress: Callable[[int], Any] | None = None) -> Iterator[files.Table]:
    """The rows, some at a time; `on_progress` is called with the bytes of a text file read so far."""
    source = in_blocks(args, least=0)
    if source is None:
        yield from files.stream(rows_per_chunk=_CHUNK, on_progress=on_progress, **reading(args))
        return
    start = 0
    for piece in pieces(source):
        stop = start + piece.shape[0]
        yield files.Table(piece, None if source.labels is None else source.labels[start:stop], source.names)
        start = stop


def in_blocks(
    args: argparse.Namespace, columns: list[str] | None = None, categorical: Any = None, least: int = _LARGE
) -> data.Source | None:
    """The data as a source, if they are more than one file, or a Parquet file of more than `least` bytes.

    The columns that are features, and their categories, may be known.
    """
    place = Path(args.data)
    if len(args.parts) == 1 and place.is_dir() and is_set(place):
        return data.open_rows(place)
    if len(args.parts) == 1 and not place.is_dir() and not _is_parquet(place, least):
        return None
    return data.open_parquet(
        args.parts if len(args.parts) > 1 else place,
        target=args.target,
        columns=columns,
        drop=args.drop,
        categorical=getattr(args, "categorical", ()) if categorical is None else categorical,
    )


def _is_parquet(place: Path, least: int) -> bool:
    if not place.is_file() or place.stat().st_size <= least:
        return False
    with place.open("rb") as file:
        return file.read(4) == b"PAR1"


class Read(argparse.Action):
    """An option that is a file, or a name that is none: what `read` makes of it; `args.inputs` lists the files."""

    def __init__(self, *args: Any, read: Callable[[str], Any], **options: Any) -> None:
        super().__init__(*args, **options)
        self._read = read

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Read at once, so that errors are shown with the usage."""
        try:
            setattr(namespace, self.dest, self._read(values))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, one_line(error)) from None
        namespace.inputs = [*getattr(namespace, "inputs", []), values]


def inputs(args: argparse.Namespace) -> list[str]:
    """Names of all files that the command reads."""
    return [*args.parts, f"{args.data}.rclass", *getattr(args, "inputs", [])]


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments for `files.read` and `files.stream`."""
    if len(args.parts) > 1:
        raise InputError(f"{len(args.parts)} files are given, and this command reads one. Name one of them.")
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
