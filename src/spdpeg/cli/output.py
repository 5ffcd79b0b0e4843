"""What commands print: facts by name, as a table for people or as JSON for programs."""

import argparse
import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


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
            table.add_row(name.replace("_", " "), Text(readable(value)))
    console.print(table)


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
