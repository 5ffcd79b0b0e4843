"""Writes the results in reproduce.md from the files in docs/reproduction.

    python docs/reproduction_tables.py
    python docs/reproduction_tables.py spdpeg-reproduce

The second line first takes tables and figures from the directory of a run.
"""

import json
import lzma
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from spdpeg.reproduce import claims, conclusion, values, verdict
from spdpeg.reproduce.methods import METHODS

PAGE = Path(__file__).with_name("reproduce.md")
RUN = Path(__file__).with_name("reproduction")
FIGURES = Path(__file__).with_name("figures")
TABLES = ("optima.csv", "settings.json")
VALUES = RUN / "values.csv.xz"
"""The values of all runs, compressed to an eighth."""
PICTURES = ("flr_passes.png", "ggrlr_passes.png")
_COLOURS = 200
"""Of a picture: as good to look at, and a third of the size."""


def take(run: Path) -> None:
    """Replace tables and figures by those of a run."""
    for name in TABLES:
        shutil.copyfile(run / name, RUN / name)
    VALUES.write_bytes(lzma.compress((run / "values.csv").read_bytes(), preset=9))
    for name in PICTURES:
        with Image.open(run / "figures" / name) as picture:
            few = picture.convert("RGB").quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(FIGURES / name, optimize=True)


def page(text: str) -> str:
    """The page with its results rebuilt."""
    settings = json.loads((RUN / "settings.json").read_text(encoding="utf-8"))
    with TemporaryDirectory() as directory:
        plain = Path(directory, "values.csv")
        plain.write_bytes(lzma.decompress(VALUES.read_bytes()))
        table = values.read(plain, RUN / "optima.csv", METHODS)
    duels = claims.duels(table)
    parts: dict[str, Callable[[], str]] = {
        "conclusion": lambda: "\n\n".join(conclusion.conclude(table, duels)),
        "run": lambda: _run(settings, table),
        "conditions": lambda: _conditions(table, duels),
        "sentences": lambda: _sentences(table, duels),
        "ranks": lambda: _ranks(table),
        "cells": lambda: _cells(table),
    }
    for name, make in parts.items():
        start, end = f"<!-- {name} -->\n", "<!-- end -->"
        if text.count(start) != 1:
            raise ValueError(f"The page needs exactly one place for {name!r}.")
        before, after = text.split(start)
        text = f"{before}{start}{make()}\n{end}{after.partition(end)[2]}"
    return text


def _rows(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _run(settings: dict[str, Any], table: values.Table) -> str:
    study, machine = settings["study"], settings["machine"]
    load = machine["load at the end"][0]
    tuned = settings["chosen by cross-validation, in powers of 4 (rho) and 3"]
    choices = [choice for cell in tuned.values() for rounds in cell.values() for choice in rounds]
    interior = sum(choice["interior"] for choice in choices)
    at_end = {
        name for cell in tuned.values() for name, rounds in cell.items() if not all(c["interior"] for c in rounds)
    }
    sets = ", ".join(dict.fromkeys(data for _, data in table.cells))
    told = f"All {len(choices)} choices of parameters are interior."
    if interior < len(choices):
        told = (
            f"{interior} of {len(choices)} choices of parameters are interior; the walks of "
            f"{', '.join(sorted(at_end))} for the others ended after eight moves."
        )
    return (
        f"Sets: {sets}. {study['rounds']} folds with {study['seeds']} seeds, {study['passes']:g} passes, at most "
        f"{study['most seconds of a curve']:g} seconds a curve; spdpeg {settings['versions']['spdpeg']}, "
        f"{machine['processor']}, finished {settings['finished'][:10]} at a load of {load:.1f} "
        f"on {machine['cores']} cores: where the load exceeds the cores, trust passes and not seconds. {told}"
    )


def _conditions(table: values.Table, duels: list[claims.Duel]) -> str:
    rows = []
    for number, condition in enumerate(claims.CONDITIONS):
        tallies = [claims.tally(duels, number, task, axis) for task in METHODS for axis in values.AXES]
        rows.append([condition.title, *(" / ".join(map(str, tally)) for tally in tallies)])
    header = ["SPDPEG; rivals", *(f"{task.upper()}, equal {axis}" for task in METHODS for axis in values.AXES)]
    return _rows(header, rows)


def _sentences(table: values.Table, duels: list[claims.Duel]) -> str:
    rows = [
        [claim.task.upper(), f'"{claim.sentence}"', claim.condition, claim.outcome, claim.evidence]
        for claim in claims.judge(table, duels)
    ]
    return _rows(["task", "sentence", "condition", "verdict", "comparisons"], rows)


def _ranks(table: values.Table) -> str:
    rows = []
    for ranking in verdict.rankings(table):
        if ranking.metric == "objective":
            labels = METHODS[ranking.task]
            order = sorted(ranking.ranks.average.items(), key=lambda item: item[1])
            names = ", ".join(f"{labels[name].label} {rank:.1f}" for name, rank in order)
            made = ranking.ranks
            rows.append(
                [ranking.task.upper(), ranking.group, ranking.axis, names, f"{made.p:.2g}", f"{made.critical:.1f}"]
            )
    return _rows(["task", "parameters", "equal", "average ranks in the objective", "p", "critical difference"], rows)


def _cells(table: values.Table) -> str:
    rows, coupled = [], 0
    for task, data in table.cells:
        rounds = table.optimum(task, data)
        mean = {name: float(np.mean([getattr(o, name) for o in rounds])) for name in _OF_CELL}
        coupled += mean["coupling"] > mean["curvature"]
        binding = "rho = 1" if mean["coupling"] > mean["curvature"] else "L-hat"
        gap = max((o.objective - o.bound) / abs(o.objective) for o in rounds)
        numbers = [f"{mean[name]:.4g}" for name in _OF_CELL]
        drop = f"{100 * table.drop(task, data):.1f} %, {'counted' if table.counted(task, data) else 'not counted'}"
        rows.append([task.upper(), data, *numbers[:2], f"{gap:.0e}", drop, *numbers[2:], binding])
    header = ["task", "set", "P(0)", "P*", "relative gap", "P(0) above P*", "optimum's accuracy", "majority vote"]
    header += ["8 rho |F|²", "sqrt(8 L-hat² + rho |F|²)", "L~ set by"]
    told = f"8 rho |F|² with rho = 1 is the larger one in {coupled} of these {len(rows)} cells."
    return f"{_rows(header, rows)}\n\n{told}"


_OF_CELL = ("start", "objective", "score", "majority", "coupling", "curvature")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        take(Path(sys.argv[1]))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
