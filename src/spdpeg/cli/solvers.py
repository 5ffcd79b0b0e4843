"""`spdpeg solvers`: the table of solvers, or all about one."""

import argparse
import inspect
import json
import textwrap

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..engine.registry import list_solvers, resolve
from ..solvers import Solver
from .commands import Commands
from .output import add_json

_WIDE = 110
"""Columns of a terminal from which on the table of solvers has room for what they need."""

_LEGEND = (
    "g, G: stochastic and full gradient of the loss. prox1: prox of c r1. prox2*: prox of rho r2*. x-: the x before. "
    "d, l, N: coefficients, rows of F, rows of data."
)


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("solvers", help="list the solvers, or describe one")
    parser.add_argument("name", nargs="?", help="the solver whose update, cost, memory and parameters to show")
    add_json(parser)
    parser.set_defaults(command=_solvers)


def _solvers(args: argparse.Namespace, console: Console) -> None:
    chosen = None if args.name is None else resolve(args.name, {})
    if args.json:
        facts = (
            list_solvers()
            if chosen is None
            else next(row for row in list_solvers() if row["name"] == chosen.about.name)
        )
        console.out(json.dumps(facts), highlight=False)
        return
    if chosen is not None:
        _solver(chosen, console)
        return
    table = Table(box=box.SIMPLE_HEAD)
    headings = {"name": "name", "what it is": "summary", "rate": "rate"}
    if console.width >= _WIDE:
        headings["needs"] = "needs"
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "name")
    for solver in list_solvers():
        table.add_row(*(solver[column] for column in headings.values()))
    console.print(table)
    console.print("`spdpeg solvers NAME` describes one: what it does, needs and costs.", highlight=False)


def _solver(solver: Solver, console: Console) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row(solver.about.name, Text(solver.about.summary))
    for heading in ("update", "cost", "memory", "rate", "needs"):
        table.add_row(heading, Text(getattr(solver.about, heading)))
    console.print(table)
    for text in ("", _LEGEND, "", *_paragraphs(_documentation(type(solver)))):
        console.out(textwrap.fill(text, console.width, subsequent_indent=" " * _indentation(text)), highlight=False)


def _documentation(solver: type[Solver]) -> str:
    """The parts of the docstring that the table lacks: the description and the parameters."""
    text = inspect.cleandoc(solver.__doc__ or "").partition("\n\nNotes\n")[0]
    words, _, rest = text.partition("\n\nSolves min over x")
    heading = "Parameters\n----------\n"
    return words + (f"\n\n{rest[rest.index(heading) :]}" if heading in rest else "")


def _paragraphs(text: str) -> list[str]:
    """Lines of equal indentation joined; headings and names of parameters stay lines of their own."""
    paragraphs: list[str] = []
    for line in text.splitlines():
        above = paragraphs[-1] if paragraphs else ""
        apart = not line or not above or " : " in line or line.startswith("---") or above.startswith("---")
        if apart or _indentation(line) != _indentation(above):
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line.lstrip()
    return paragraphs


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
