"""The report of a study, as a page."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..pages import frame
from ..pages.frame import number, numbers
from .claims import Claim
from .palette import looks
from .results import Results
from .verdict import LEVEL, Standing


def require() -> None:
    """Refuse before anything is computed if the page could not be made."""
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise UnsupportedError("The report needs plotly. Run: pip install 'spdpeg[report]'.") from None


def write(results: Results, found: list[Standing], claims: list[Claim], path: Path) -> None:
    """Make the page."""
    from plotly.offline import get_plotlyjs

    frame.write(
        path,
        title=results.study.title,
        body=frame.asset("page.html", __package__),
        style=frame.asset("page.css", __package__),
        script=frame.asset("page.js", __package__),
        data=_content(results, found, claims),
        library=get_plotlyjs(),
    )


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
                "passes": numbers(mean.passes),
                "seconds": numbers(mean.seconds),
                "status": next((c.status for c in results.rounds(task, data, method) if c.status != "complete"), None),
            } | {name: [numbers(row) for row in values] for name, values in mean.metrics.items()}
    return curves


def _optimum(results: Results, task: str, data: str) -> dict[str, Any]:
    rounds = results.optimum(task, data)
    gaps = [(o.objective - o.bound) / abs(o.objective) for o in rounds]
    means = {name: number(np.mean([getattr(o, name) for o in rounds])) for name in ("objective", "test_loss", "score")}
    return {**means, "solver": rounds[0].solver, "gap": number(max(gaps))}


def _standings(found: list[Standing]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for s in found:
        key = "/".join((s.task, s.data, s.metric, s.axis, s.stage))
        table = tables.setdefault(key, {"at": number(s.at), "rows": []})
        table["rows"].append([s.place, s.method, number(s.mean), number(s.spread), number(s.p)])
    return tables
