"""A page of sections: sentences, charts, images and tables, one below the other."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .frame import asset, numbers, write

Block = dict[str, Any]
"""A part of a section, as the page's script knows it."""


def publish(path: Any, title: str, summary: str, sections: dict[str, list[Block]]) -> None:
    """Write the page.

    Parameters
    ----------
    path : str or path
    title, summary : str
        Any text.
    sections : dict of lists of blocks
        By their headings; what the functions below make.
    """
    write(
        path,
        title=title,
        body=asset("document.html"),
        style=asset("chart.css"),
        script=asset("chart.js") + asset("document.js"),
        data={
            "summary": summary,
            "sections": [{"title": name, "blocks": blocks} for name, blocks in sections.items()],
        },
    )


def text(sentence: str) -> Block:
    """A paragraph."""
    return {"kind": "text", "text": sentence}


def proof(sentence: str, proved: bool) -> Block:
    """A certificate in words, marked as met or not."""
    return {"kind": "proof", "text": sentence, "proved": proved}


def mark(kind: str, x: Any, y: Any, color: str, label: str | None = None, dash: bool = False) -> Block:
    """A part of a chart: "line", "steps", "points" or "stems", in one of the page's colours."""
    return {"kind": kind, "x": numbers(x), "y": numbers(y), "color": color, "label": label, "dash": dash}


def chart(
    marks: Sequence[Block], x: str, y: str, caption: str, *, log: bool = False, names: Sequence[str] | None = None
) -> Block:
    """Marks over common axes; `log` is for the vertical one. `names` are those of the places on the other."""
    return {
        "kind": "chart",
        "marks": list(marks),
        "x": {"label": x},
        "y": {"label": y, "log": log},
        "caption": caption,
        "names": None if names is None else list(names),
    }


def images(panels: dict[str, np.ndarray]) -> Block:
    """Tables of numbers as images on one scale, by their titles."""
    largest = [float(np.nanmax(np.abs(values), initial=0.0)) for values in panels.values()]
    limit = max(largest, default=0.0) or 1.0
    shown = [{"title": title, "values": numbers(values, 4)} for title, values in panels.items()]
    return {"kind": "images", "panels": shown, "limit": limit}


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], note: str | None = None) -> Block:
    """Rows of numbers and names."""
    return {"kind": "table", "head": list(head), "rows": [list(row) for row in rows], "note": note}


def facts(title: str, values: dict[str, Any], shown: bool = False) -> Block:
    """Names and values, folded up unless `shown`."""
    return {"kind": "facts", "title": title, "facts": values, "open": shown}
