"""Output of commands: facts by name, as a table for people or as JSON for programs, and files."""

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError, printable


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs instead of a table for people")


def show(facts: dict[str, Any], console: Console, as_json: bool) -> None:
    """Print facts; names are written with underscores, which people see as blanks. None is left out for them."""
    if as_json:
        console.out(json.dumps(facts), highlight=False)
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        if value is not None:
            table.add_row(name.replace("_", " "), Text(printable(readable(value))))
    console.print(table)


def check_output(path: str | None, inputs: Iterable[str]) -> None:
    """Refuse a file to write to that has no directory, is one, or is read by the same command."""
    if path is None:
        return
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"There is no directory for {path}. Make it first.")
    if Path(path).is_dir():
        raise InputError(f"{path} is a directory. Name a file.")
    for read in inputs:
        if _same_file(path, read):
            raise InputError(f"{path} is the file {read} that the command reads. Write to another one.")


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def readable(value: Any) -> str:
    """Numbers with six digits, whole ones in groups of three; lists and tables without brackets."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(map(readable, value))
    if isinstance(value, dict):
        return "\n".join(f"{name}: {readable(item)}" for name, item in value.items())
    return str(value)


def plain(value: Any) -> str:
    """A number or a label as it stands in a file: all digits, no point where none is needed."""
    return repr(float(value)).removesuffix(".0") if isinstance(value, int | float) else str(value)
