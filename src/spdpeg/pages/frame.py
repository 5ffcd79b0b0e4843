"""Shared by all pages: the frame, the style sheet, numbers as JSON."""

import html
import json
import math
from importlib.resources import files
from typing import Any

import numpy as np

from ..files.replacing import replacing

DIGITS = 7
"""Significant digits of the numbers in a page."""


def asset(name: str, package: str = __package__) -> str:
    """A part of a page, by the name of its file."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def write(path: Any, *, title: str, body: str, style: str, script: str, data: Any, library: str = "") -> None:
    """Put a page together and write it.

    Parameters
    ----------
    path : str or path
    title : str
        Any text.
    body : str
        HTML, in which `<!-- title -->` stands for the title.
    style, script : str
        What comes after the style and the script that all pages have.
    data : object
        What JSON can hold; the script finds it as `data`.
    library : str
        A script that comes before all others.
    """
    parts = {
        "body": body,
        "title": html.escape(title),
        "style": asset("base.css") + style,
        "library": f"<script>{library}</script>" if library else "",
        "script": asset("base.js") + script,
        "data": embedded(data),
    }
    page = asset("frame.html")
    for name, text in parts.items():
        page = page.replace(f"<!-- {name} -->", text)
    with replacing(path) as file:
        file.write(page.encode())


def embedded(content: Any) -> str:
    """JSON for a script element, which a `<` in a name could end or turn into a comment."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def number(value: Any, digits: int = DIGITS) -> float | None:
    """A number of so many digits; None where it is not finite, since JSON has no word for that."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Any, digits: int = DIGITS) -> Any:
    """Arrays as lists of lists of JSON numbers."""
    found = np.asarray(values, dtype=float)
    if found.ndim == 0:
        return number(float(found), digits)
    if found.ndim > 1:
        return [numbers(row, digits) for row in found]
    return [number(value, digits) for value in found.tolist()]
