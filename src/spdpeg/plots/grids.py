"""Plots over two weights: cross-validation scores, and coefficients along a path."""

from typing import Any

import numpy as np

from .canvas import GREY, ORANGE, SEQUENTIAL, new_figure, tidy, weight_axis


def scores(model: Any) -> Any:
    """Mean scores of a model fitted by cross-validation over both weights, the chosen pair marked.

    Contours lie one and two standard errors below the best score.

    Parameters
    ----------
    model : estimator fitted by cross-validation

    Returns
    -------
    matplotlib.figure.Figure
    """
    means = model.mean_scores_
    figure = new_figure(6.4, 4.8)
    panel = figure.subplots()
    _surface(figure, panel, means, model.lam1_grid_, model.lam2_grid_, "mean score of the rows held out")
    best = np.unravel_index(means.argmax(), means.shape)
    chosen = (int(np.argmax(model.lam1_grid_ == model.lam1_)), int(np.argmax(model.lam2_grid_ == model.lam2_)))
    error = model.scores_[best].std(ddof=1) / np.sqrt(model.scores_.shape[2]) if model.scores_.shape[2] > 1 else 0.0
    levels = means.max() - error * np.array([2.0, 1.0])
    if error > 0.0 and min(means.shape) > 1 and means.min() < levels[1]:
        panel.contour(means, levels=levels, colors="black", linewidths=[0.8, 1.4], linestyles=["--", "-"])
    panel.plot(best[1], best[0], "o", color="black", markersize=11, fillstyle="none", label="best")
    panel.plot(chosen[1], chosen[0], "*", color=ORANGE, markersize=13, markeredgecolor="black", label="chosen")
    figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize="small")
    panel.set_title(f"lam1 = {model.lam1_:.3g}, lam2 = {model.lam2_:.3g}", fontsize="medium", loc="left")
    return figure


def path(found: Any, at: tuple[int, int] | None = None) -> Any:
    """How many coefficients are not 0 on the grid of a `Path`, and the coefficients along its two weights.

    The lines pass through the pair of weights with the indices `at`, the middle of the grid by default. Their colours
    follow the order of the features, so that neighbours look alike.

    Parameters
    ----------
    found : Path
    at : pair of int, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    k1, k2 = found.passes.shape
    i, j = (k1 // 2, k2 // 2) if at is None else at
    coef = found.coef.reshape(k1, k2, -1)
    figure = new_figure(11.5, 3.9)
    figure.get_layout_engine().set(wspace=0.06)  # between the label of the colours and that of the next panel
    surface, along1, along2 = figure.subplots(1, 3, width_ratios=(1.15, 1.0, 1.0))
    _surface(figure, surface, found.nonzero, found.lam1, found.lam2, "coefficients that are not 0")
    surface.axhline(i, color="white", linewidth=0.8, linestyle="--")
    surface.axvline(j, color="white", linewidth=0.8, linestyle="--")
    _lines(along1, coef[:, j], found.lam1, "lam1", f"lam2 = {found.lam2[j]:.3g}")
    _lines(along2, coef[i], found.lam2, "lam2", f"lam1 = {found.lam1[i]:.3g}")
    low, high = float(coef[:, j].min()), float(coef[:, j].max())
    low, high = min(low, float(coef[i].min())), max(high, float(coef[i].max()))
    for panel in (along1, along2):
        panel.set_ylim(low - 0.05 * (high - low or 1.0), high + 0.05 * (high - low or 1.0))
    along1.set_ylabel("coefficient")
    return figure


def _surface(figure: Any, panel: Any, values: np.ndarray, lam1: np.ndarray, lam2: np.ndarray, label: str) -> None:
    shown = panel.imshow(values, cmap=SEQUENTIAL, aspect="auto", origin="upper")
    weight_axis(panel.yaxis, lam1, "lam1")
    weight_axis(panel.xaxis, lam2, "lam2")
    figure.colorbar(shown, ax=panel, label=label)


def _lines(panel: Any, coef: np.ndarray, weights: np.ndarray, name: str, title: str) -> None:
    import matplotlib

    colors = matplotlib.colormaps[SEQUENTIAL](np.linspace(0.0, 0.95, coef.shape[1]))
    panel.axhline(0.0, color=GREY, linewidth=0.8)
    for line, color in zip(coef.T, colors, strict=True):
        panel.plot(line, color=color, linewidth=1.0, alpha=0.9)
    weight_axis(panel.xaxis, weights, name)
    panel.set_title(title, fontsize="medium")
    tidy(panel)
