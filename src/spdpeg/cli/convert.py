"""`spdpeg convert`: a data file as a directory of memory maps, which any command reads in blocks."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .. import data, files
from ..errors import InputError
from . import data_options
from .commands import Commands
from .output import add_json, show

_COLUMNS = (TextColumn("rows {task.fields[rows]:,.0f}"), BarColumn(), TimeRemainingColumn())


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("convert", help="convert a data file to a form that is read fast, in blocks")
    data_options.add(parser)
    data_options.add_categorical(parser)
    data_options.add_features(parser)
    parser.add_argument("output", metavar="DIRECTORY", help="directory to write to")
    add_json(parser)
    parser.set_defaults(command=_convert)


def _convert(args: argparse.Namespace, console: Console) -> None:
    target = Path(args.output)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file. Name a directory to write to.")
    if any(Path(part).resolve() == target.resolve() for part in args.parts):
        raise InputError(f"{target} is what the command reads. Write to another directory.")
    counts = {"rows": 0, "columns": 0}
    screen = Console(stderr=True)
    with Progress(*_COLUMNS, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        place = Path(args.data)
        task = bar.add_task("", total=place.stat().st_size if place.is_file() else None, rows=0)
        chunks = _counted(data_options.chunks(args, lambda read: bar.update(task, completed=read)), counts)
        first = next(chunks, None)
        if first is None:
            raise InputError(f"{args.data} holds no rows. Check what should have written it.")
        kind = "csr" if sp.issparse(first[0]) else "dense"
        write = data.write_csr if kind == "csr" else data.write_dense

        def all_of_them() -> Iterator[Any]:
            yield first
            for chunk in chunks:
                bar.update(task, rows=counts["rows"])
                yield chunk

        write(target, all_of_them, names=first.names)
    show({**counts, "kind": kind, "written_to": str(target)}, console, args.json)


def _counted(chunks: Iterator[files.Table], counts: dict[str, int]) -> Iterator[files.Table]:
    for chunk in chunks:
        if chunk.y is None:
            raise InputError("The data have no labels. Put them beside the rows.")
        counts["rows"] += chunk.X.shape[0]
        counts["columns"] = int(chunk.X.shape[1])
        yield chunk
