"""A signal or an image before and after."""

from typing import Any

import numpy as np

from .canvas import BLUE, GREY, SEQUENTIAL, new_figure, tidy


def denoised(result: Any) -> Any:
    """y and x of a `Denoised`: points and a line, two images, or the middle slices of two volumes.

    Values on a graph are drawn in the order of y.

    Parameters
    ----------
    result : Denoised

    Returns
    -------
    matplotlib.figure.Figure
    """
    if result.x.ndim == 1:
        return _line(result)
    y, x = result.y, result.x
    while y.ndim > 2:
        y, x = y[len(y) // 2], x[len(x) // 2]
    figure = new_figure(8.0, 4.2)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    low, high = np.nanmin(y), np.nanmax(y)
    for panel, image, title in zip(panels, (y, x), ("given", "denoised"), strict=True):
        shown = panel.imshow(image, cmap=SEQUENTIAL, vmin=low, vmax=high)
        panel.set_title(title, fontsize="medium")
        panel.set_axis_off()
    figure.colorbar(shown, ax=panels, shrink=0.8)
    return figure


def _line(result: Any) -> Any:
    figure = new_figure(8.0, 3.6)
    panel = figure.subplots()
    places = np.arange(result.x.size)
    panel.plot(places, result.y, ".", color=GREY, markersize=3, alpha=0.6, label="given")
    on_line = bool(result.segments) and hasattr(result.segments[0], "start")
    if not on_line:
        panel.plot(places, result.x, "o", color=BLUE, markersize=4, label="denoised")
    elif all(np.ptp(result.x[start:stop]) == 0.0 for start, stop, _ in result.segments):
        edges = np.append([start for start, _, _ in result.segments], result.x.size) - 0.5
        values = [value for _, _, value in result.segments]
        panel.stairs(values, edges, baseline=None, color=BLUE, linewidth=1.8, label="denoised")
    else:
        panel.plot(places, result.x, color=BLUE, linewidth=1.8, label="denoised")
    panel.legend(frameon=False, fontsize="small")
    panel.set_xlabel("position" if on_line else "value")
    panel.set_title(f"{result.n_pieces} pieces, lam2 = {np.max(result.lam2):.3g}", fontsize="medium")
    tidy(panel)
    return figure
