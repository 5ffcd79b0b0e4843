"""The picture of the comparison: one line per problem, one mark per method, time to the right."""

from pathlib import Path
from typing import Any

from peer_methods import CERTIFIED, METHODS, OURS

PANELS = (1e-3, 1e-6)
MARKS = "osD^vP<>Xhp*d"
COLOURS = ("#1b6ca8", "#b0413e", "#c98a1b", "#5b8c3a", "#7a5195", "#4d9f9c", "#8c6d46", "#d1699c", "#555555", "#9aa53a")


def draw(records: list[dict[str, Any]], cap: float, path: Path) -> None:
    """Two panels, for a coarse and a fine level; a hollow mark at the cap is a method that did not get there."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name in METHODS if name != CERTIFIED and any(name in record["methods"] for record in records)]
    figure, axes = plt.subplots(1, len(PANELS), sharey=True, figsize=(12, 1.8 + 0.34 * len(records)))
    for axis, level in zip(axes, PANELS, strict=True):
        for i, name in enumerate(names):
            colour = COLOURS[i % len(COLOURS)]
            style = {"s": 90 if name == OURS else 42, "marker": MARKS[i], "edgecolors": colour, "zorder": 3}
            points = [(record["methods"].get(name, {}).get("seconds", {}), y) for y, record in enumerate(records)]
            asked = [(seconds[f"{level:g}"], y) for seconds, y in points if f"{level:g}" in seconds]
            reached = [(value, y) for value, y in asked if value is not None]
            missed = [(1.3 * cap * 1.2 ** (i / 2), y) for value, y in asked if value is None]
            axis.scatter(*zip(*reached, strict=True) if reached else ([], []), color=colour, label=name, **style)
            axis.scatter(*zip(*missed, strict=True) if missed else ([], []), facecolors="none", **style)
        axis.axvline(cap, color="0.6", linewidth=0.8, linestyle=":")
        axis.set_xscale("log")
        axis.set_xlabel(f"seconds to a relative suboptimality of {level:g}")
        axis.grid(axis="both", color="0.9")
        axis.set_axisbelow(True)
    axes[0].set_yticks(range(len(records)), [f"{record['set']}, {record['task'].upper()}" for record in records])
    axes[0].set_ylim(len(records) - 0.4, -0.6)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=6, frameon=False, fontsize=9)
    figure.text(0.99, 0.01, f"hollow: not within {cap:g} s", ha="right", fontsize=8, color="0.4")
    rows = -(-len(names) // 6)
    figure.tight_layout(rect=(0, 0.02, 1, 1 - (0.12 + 0.22 * rows) / figure.get_figheight()))
    figure.savefig(path, dpi=140)
