"""Writes the tables of solvers.md from what the solvers say of themselves: python docs/solver_tables.py."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import spdpeg
from spdpeg.engine.registry import REGISTRY

PAGE = Path(__file__).with_name("solvers.md")


def table(columns: dict[str, str]) -> str:
    """A row for each solver; `columns` maps headings to keys of `spdpeg.list_solvers()`."""
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for solver in spdpeg.list_solvers():
        cells = [_code(solver[key]) if key in ("name", "update") else solver[key] for key in columns.values()]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def papers() -> str:
    """What the module of each solver refers to; solvers of one module share a line."""
    modules: dict[str, list[str]] = {}
    for name, solver in REGISTRY.items():
        modules.setdefault(inspect.cleandoc(sys.modules[solver.__module__].__doc__ or ""), []).append(_code(name))
    lines = []
    for text, names in modules.items():
        title, _, reference = text.partition("\n\n")
        lines.append(f"- {', '.join(names)}: {' '.join((reference or title).split())}")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables rebuilt."""
    parts: dict[str, Callable[[], str]] = {
        "updates": lambda: table({"solver": "name", "one step": "update"}),
        "costs": lambda: table(
            {"solver": "name", "cost per step": "cost", "memory": "memory", "rate": "rate", "needs": "needs"}
        ),
        "papers": papers,
    }
    for name, make in parts.items():
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        if len(block.findall(text)) != 1:
            raise ValueError(f"The page needs exactly one place for {name!r}.")
        before, after = block.split(text)
        text = f"{before}{make()}\n{after}"
    return text


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
