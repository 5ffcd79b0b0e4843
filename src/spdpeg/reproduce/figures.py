"""The paper's figures: objective, test loss and accuracy in three rows, a column for each data set, six at most."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .methods import AUTHORS
from .palette import looks
from .results import METRICS, Results

AXES = {"passes": "passes over the data", "seconds": "seconds"}
_TITLES = {"objective": "objective value", "test_loss": "test loss"}
_LINES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
_MARKERS = {
    "circle": "o",
    "square": "s",
    "x": "x",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "star": "*",
    "pentagon": "p",
    "hexagon": "h",
    "cross": "P",
    "triangle-left": "<",
}
_PANEL, _LEGEND = 3.1, 2.2
"""Inches that a column of panels and an entry of the legend are wide."""
_MOST_COLUMNS = 6
"""More sets begin three rows of their own."""
_HEADROOM = 1.3
"""Curves that shoot above the start are cut off at this many times its value."""


def require() -> None:
    """Refuse before anything is computed if the figures could not be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UnsupportedError("The figures need matplotlib. Run: pip install plotly matplotlib.") from None


def draw(results: Results, directory: Path) -> list[Path]:
    """A PNG and an SVG for each task and axis."""
    from matplotlib.figure import Figure

    directory.mkdir(exist_ok=True)
    written = []
    for task in results.study.tasks:
        sets = [data for of, data in results.pace if of == task]
        for axis in AXES if sets else ():
            figure = Figure(layout="constrained")
            _fill(figure, results, task, sets, axis)
            for suffix in ("png", "svg"):
                written.append(directory / f"{task}_{axis}.{suffix}")
                figure.savefig(written[-1], dpi=120)
    return written


def _fill(figure: Any, results: Results, task: str, sets: list[str], axis: str) -> None:
    bands = -(-len(sets) // _MOST_COLUMNS)
    columns = -(-len(sets) // bands)
    figure.set_size_inches(0.6 + _PANEL * columns, 0.7 + 8.1 * bands)
    panels = figure.subplots(len(METRICS) * bands, columns, squeeze=False)
    for number, data in enumerate(sets):
        band, column = divmod(number, columns)
        own = panels[len(METRICS) * band :, column][: len(METRICS)]
        own[0].set_title(data)
        own[-1].set_xlabel(AXES[axis])
        for panel in own[:-1]:
            panel.sharex(own[-1])
            panel.tick_params(labelbottom=False)
        for panel, metric in zip(own, METRICS, strict=True):
            _panel(panel, results, task, data, axis, metric)
            if column == 0:
                panel.set_ylabel(_TITLES.get(metric, results.score_name(task)))
    for panel in panels.flat:
        panel.set_visible(bool(panel.get_lines()))
    lines = {line.get_label(): line for panel in panels.flat for line in panel.get_lines()}
    entries = max(2, int(_PANEL * columns / _LEGEND))
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=entries, frameon=False)
    figure.suptitle(results.study.tasks[task].title)


def _panel(panel: Any, results: Results, task: str, data: str, axis: str, metric: str) -> None:
    methods = results.study.methods[task]
    tops, bottoms = [], []
    for name, look in looks(methods).items():
        mean = results.mean(task, data, name)
        theirs = methods[name].family == "rival" and methods[name].setting == AUTHORS
        if mean is None or mean.passes.size < 2 or theirs:  # the page shows all of them, one panel at a time
            continue
        x = getattr(mean, axis)[1:]
        middle, low, high = mean.metrics[metric][:, 1:]
        style = {"linestyle": _LINES[look.dash], "marker": _MARKERS[look.marker], "markersize": 3, "linewidth": 1.2}
        panel.plot(x, middle, color=look.color, label=results.label(task, name), **style)
        panel.fill_between(x, low, high, color=look.color, alpha=0.1, linewidth=0)
        tops.append(high.max())
        bottoms.append(low.min())
        start = mean.metrics[metric][0, 0]
    optima = results.optimum(task, data)
    if all(o.proved for o in optima):
        best = float(np.mean([getattr(o, metric) for o in optima]))
        panel.axhline(best, color="black", linewidth=0.8, linestyle=(0, (1, 3)), label="optimum")
        bottoms.append(best)
    panel.set_xscale("log")
    panel.grid(alpha=0.25)
    if metric != "score" and tops:
        bottom = min(bottoms)
        top = min(max(tops), _HEADROOM * start)
        panel.set_ylim(bottom - 0.04 * (top - bottom), top + 0.04 * (top - bottom))
