"""The report of a study, as a page."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnsupportedError
from ..pages import frame
from ..pages.frame import number, numbers
from .claims import CONDITIONS, Claim, Duel, tally
from .palette import looks
from .results import Results
from .statistics import LEVEL
from .values import AXES, FLAT, Table
from .verdict import Ranking, Standing


def require() -> None:
    """Refuse before anything is computed if the page could not be made."""
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise UnsupportedError("The report needs plotly. Run: pip install plotly matplotlib.") from None


class Verdicts(NamedTuple):
    """All that was computed from the table of values."""

    table: Table
    standings: list[Standing]
    rankings: list[Ranking]
    duels: list[Duel]
    claims: list[Claim]
    conclusion: list[str]


def write(results: Results, verdicts: Verdicts, path: Path) -> None:
    """Make the page."""
    from plotly.offline import get_plotlyjs

    frame.write(
        path,
        title=results.study.title,
        body=frame.asset("page.html", __package__),
        style=frame.asset("page.css", __package__),
        script=frame.asset("page.js", __package__),
        data=_content(results, verdicts),
        library=get_plotlyjs(),
    )


def _content(results: Results, verdicts: Verdicts) -> dict[str, Any]:
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
                    method: look._asdict()
                    | {
                        "label": results.label(name, method),
                        "setting": study.methods[name][method].setting,
                        "runs": study.methods[name][method].runs,
                    }
                    for method, look in looks(study.methods[name]).items()
                },
            }
            for name, task in study.tasks.items()
        },
        "sets": {name: data.description for name, data in study.data.items()},
        "curves": {f"{task}/{data}": _curves(results, task, data) for task, data in results.pace},
        "rows": {f"{task}/{data}": study.training(data, 0).size for task, data in results.pace},
        "optima": {f"{task}/{data}": _optimum(results, task, data) for task, data in results.pace},
        "conclusion": verdicts.conclusion,
        "conditions": _conditions(verdicts),
        "cells": [_cell(verdicts.table, task, data) for task, data in verdicts.table.cells],
        "rankings": [_ranking(ranking) for ranking in verdicts.rankings],
        "standings": _standings(verdicts.standings),
        "level": LEVEL,
        "flat": FLAT,
        "claims": [claim._asdict() for claim in verdicts.claims],
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
                "status": next((c.status for c in results.runs(task, data, method) if c.status != "complete"), None),
            } | {name: [numbers(row) for row in values] for name, values in mean.metrics.items()}
    return curves


def _optimum(results: Results, task: str, data: str) -> dict[str, Any]:
    rounds = results.optimum(task, data)
    gap = max((o.objective - o.bound) / abs(o.objective) for o in rounds)
    found = {"solver": rounds[0].solver, "gap": number(gap), "proved": all(o.proved for o in rounds)}
    if not found["proved"]:
        return found
    means = {name: number(np.mean([getattr(o, name) for o in rounds])) for name in ("objective", "test_loss", "score")}
    return {**means, **found}


def _conditions(verdicts: Verdicts) -> list[dict[str, Any]]:
    """For the strip: what each condition gives in every comparison, and how many of each."""
    found = []
    for index, condition in enumerate(CONDITIONS):
        duels = [duel for duel in verdicts.duels if duel.condition == index]
        if duels:
            tallies = {
                f"{task}/{axis}": list(tally(duels, index, task, axis))
                for task in verdicts.table.methods
                for axis in AXES
            }
            rows = [[*duel[1:8], *(number(part) for part in duel.apart), duel.counted] for duel in duels]
            found.append({"title": condition.title, "tallies": tallies, "duels": rows})
    return found


def _cell(table: Table, task: str, data: str) -> dict[str, Any]:
    """How much there is to optimise in a cell, and which term of the printed L~ is the larger one."""
    rounds = table.optimum(task, data)
    names = ("start", "objective", "bound", "score", "majority", "coupling", "curvature")
    means = {name: number(np.mean([getattr(o, name) for o in rounds])) for name in names}
    drop, places = table.drop(task, data), {axis: number(table.place(task, data, axis)) for axis in AXES}
    return {"task": task, "set": data, "drop": number(drop), "counted": table.counted(task, data)} | means | places


def _ranking(ranking: Ranking) -> dict[str, Any]:
    made = ranking.ranks
    return {
        "task": ranking.task,
        "group": ranking.group,
        "metric": ranking.metric,
        "axis": ranking.axis,
        "average": {name: number(rank) for name, rank in sorted(made.average.items(), key=lambda item: item[1])},
        "p": number(made.p),
        "critical": number(made.critical),
        "sets": made.sets,
        "absent": list(ranking.absent),
    }


def _standings(found: list[Standing]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for s in found:
        key = "/".join((s.task, s.data, s.metric, s.axis, s.stage))
        table = tables.setdefault(key, {"at": number(s.at), "rows": []})
        table["rows"].append([s.place, s.method, *(number(part) for part in (s.mean, s.behind, s.low, s.high))])
    return tables
