"""The picture of the comparison: one line per problem, one mark per package, time to the right."""

import math
from pathlib import Path
from typing import Any

from peer_methods import METHODS, PEERS
from peer_ours import BEFORE, PROVED
from peer_targets import time_of

PANELS = (1e-3, 1e-6)
MARKS = "osD^vP<>Xhp*d"
COLOURS = ("#1b6ca8", "#b0413e", "#c98a1b", "#5b8c3a", "#7a5195", "#4d9f9c", "#8c6d46", "#d1699c", "#555555", "#9aa53a")
LINE = 0.2
"""Inches."""


def _packages(records: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Methods by what they are called in the legend; of each package the fastest counts."""
    ran = {name for record in records for name in record["methods"]}
    packages = {label: [name] for label, name in (("spdpeg, proved", PROVED), ("before", BEFORE)) if name in ran}
    for name in PEERS:
        if name in ran:
            packages.setdefault(METHODS[name].package, []).append(name)
    return packages


def draw(records: list[dict[str, Any]], cap: float, path: Path) -> None:
    """Two panels, for a coarse and a fine level; a hollow mark at the cap is a package that did not get there."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    packages = _packages(records)
    figure, axes = plt.subplots(1, len(PANELS), sharey=True, figsize=(12, 1.8 + LINE * len(records)))
    for axis, level in zip(axes, PANELS, strict=True):
        for i, (label, names) in enumerate(packages.items()):
            colour = COLOURS[i % len(COLOURS)]
            style = {"s": 60 if names == [PROVED] else 26, "marker": MARKS[i], "edgecolors": colour, "zorder": 3}
            times = [
                (min(time_of(record, name, level) for name in names), y)
                for y, record in enumerate(records)
                if any(name in record["methods"] for name in names)
            ]
            reached = [(seconds, y) for seconds, y in times if math.isfinite(seconds)]
            missed = [(1.3 * cap * 1.2 ** (i / 2), y) for seconds, y in times if not math.isfinite(seconds)]
            axis.scatter(*zip(*reached, strict=True) if reached else ([], []), color=colour, label=label, **style)
            axis.scatter(*zip(*missed, strict=True) if missed else ([], []), facecolors="none", **style)
        axis.axvline(cap, color="0.6", linewidth=0.8, linestyle=":")
        axis.set_xscale("log")
        axis.set_xlabel(f"seconds to a relative suboptimality of {level:g}")
        axis.grid(axis="both", color="0.9")
        axis.set_axisbelow(True)
    labels = [f"{record['set']}, {record['task']}, {record['weights']}" for record in records]
    axes[0].set_yticks(range(len(records)), labels, fontsize=7)
    axes[0].set_ylim(len(records) - 0.4, -0.6)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=6, frameon=False, fontsize=9)
    figure.text(0.99, 0.002, f"hollow: not within {cap:g} s", ha="right", fontsize=8, color="0.4")
    rows = -(-len(packages) // 6)
    figure.tight_layout(rect=(0, 0.01, 1, 1 - (0.12 + 0.22 * rows) / figure.get_figheight()))
    figure.savefig(path, dpi=110)
