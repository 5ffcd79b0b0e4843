"""How a run went."""

from typing import Any

import numpy as np

from .canvas import BLUE, GREY, ORANGE, PURPLE, new_figure, tidy

_AXES = {"passes": "passes over the data", "seconds": "seconds"}


def run(result: Any) -> Any:
    """Objective, gap and constraint violation of a `Result`, against passes and seconds.

    The gap is that of each record's objective to the lower bound that the run ended with, relative to the objective.
    It is left out where there is no bound.

    Parameters
    ----------
    result : Result

    Returns
    -------
    matplotlib.figure.Figure
    """
    history, certificate = result.history, result.certificate
    bound = -np.inf if certificate is None else certificate.dual
    curves = {"objective": (history.objective, BLUE)}
    if np.isfinite(bound):
        curves["relative gap"] = ((history.objective - bound) / np.abs(history.objective), PURPLE)
    curves["violation |Fx - z|"] = (history.violation, ORANGE)
    figure = new_figure(8.0, 0.8 + 1.9 * len(curves))
    panels = figure.subplots(len(curves), len(_AXES), sharex="col", sharey="row", squeeze=False)
    for row, (label, (values, color)) in zip(panels, curves.items(), strict=True):
        row[0].set_ylabel(label)
        for panel, axis in zip(row, _AXES, strict=True):
            shown = values if label == "objective" else np.where(values > 0.0, values, np.nan)
            panel.plot(getattr(history, axis), shown, color=color, marker="o", markersize=3, linewidth=1.5)
            if label == "objective" and np.isfinite(bound):
                panel.axhline(bound, color=GREY, linewidth=1, linestyle="--", label="lower bound")
            elif np.any(np.isfinite(shown)) and label != "objective":
                panel.set_yscale("log")
            tidy(panel)
    if np.isfinite(bound):
        panels[0, 0].legend(frameon=False)
    for panel, label in zip(panels[-1], _AXES.values(), strict=True):
        panel.set_xlabel(label)
    figure.suptitle(f"{result.ran}: {result.status}", fontsize="medium")
    return figure
