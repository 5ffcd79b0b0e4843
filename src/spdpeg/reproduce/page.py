"""The report: one HTML file that holds its data, its style and its scripts, and asks the network for nothing."""

import html
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..files.replacing import replacing
from .claims import Claim
from .palette import looks
from .results import Results
from .verdict import LEVEL, Standing

_DIGITS = 7
"""Significant digits of the numbers in the page; curves.csv has all of them."""


def require() -> None:
    """Refuse before anything is computed if the page could not be made."""
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise UnsupportedError("The report needs plotly. Run: pip install 'spdpeg[report]'.") from None


def write(results: Results, found: list[Standing], claims: list[Claim], path: Path) -> None:
    """Make the page."""
    from plotly.offline import get_plotlyjs

    assets = files(__package__) / "assets"
    parts = {
        "title": html.escape(results.study.title),
        "style": (assets / "page.css").read_text(encoding="utf-8"),
        "plotly": get_plotlyjs(),
        "script": (assets / "page.js").read_text(encoding="utf-8"),
        "data": _embedded(_content(results, found, claims)),
    }
    page = (assets / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"<!-- {name} -->", text)
    with replacing(path) as file:
        file.write(page.encode())


def _embedded(content: Any) -> str:
    """JSON for a script element, which a `<` in a name could end or turn into a comment."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _content(results: Results, found: list[Standing], claims: list[Claim]) -> dict[str, Any]:
    study = results.study
    return {
        "title": study.title,
        "tasks": {
            name: {
                "title": task.title,
                "formula": str(task),
                "score": results.score_name(name),
                "sets": [data for of, data in results.pace if of == name],
                "methods": {
                    method: {"label": results.label(name, method), "color": look.color, "dash": look.dash}
                    for method, look in looks(study.methods[name]).items()
                },
            }
            for name, task in study.tasks.items()
        },
        "sets": {name: data.description for name, data in study.data.items()},
        "curves": {f"{task}/{data}": _curves(results, task, data) for task, data in results.pace},
        "optima": {f"{task}/{data}": _optimum(results, task, data) for task, data in results.pace},
        "standings": _standings(found),
        "level": LEVEL,
        "claims": [claim._asdict() for claim in claims],
        "skipped": [{"task": t, "set": d, "method": m, "why": why} for (t, d, m), why in results.skipped.items()],
        "settings": results.settings,
    }


def _curves(results: Results, task: str, data: str) -> dict[str, Any]:
    curves = {}
    for method in results.study.methods[task]:
        mean = results.mean(task, data, method)
        if mean is not None:
            curves[method] = {
                "passes": _numbers(mean.passes),
                "seconds": _numbers(mean.seconds),
                "status": next((c.status for c in results.rounds(task, data, method) if c.status != "complete"), None),
            } | {name: [_numbers(row) for row in values] for name, values in mean.metrics.items()}
    return curves


def _optimum(results: Results, task: str, data: str) -> dict[str, Any]:
    rounds = results.optimum(task, data)
    gaps = [(o.objective - o.bound) / abs(o.objective) for o in rounds]
    means = {name: _number(np.mean([getattr(o, name) for o in rounds])) for name in ("objective", "test_loss", "score")}
    return {**means, "solver": rounds[0].solver, "gap": _number(max(gaps))}


def _standings(found: list[Standing]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for s in found:
        key = "/".join((s.task, s.data, s.metric, s.axis, s.stage))
        table = tables.setdefault(key, {"at": _number(s.at), "rows": []})
        table["rows"].append([s.place, s.method, _number(s.mean), _number(s.spread), _number(s.p)])
    return tables


def _numbers(values: np.ndarray) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: Any) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
