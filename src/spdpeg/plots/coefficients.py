"""Coefficients in the shape that F gives them: steps along a chain, an image on a grid, a coloured graph."""

import math
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..operators import GraphDifference
from .canvas import BLUE, DIVERGING, GREY, new_figure, tidy
from .form import mark_of, names_of, places_of, shape_of, titles_of

_MOST_SLICES = 12
"""Slices of a volume that are shown."""

_MOST_NAMES = 30
"""Features that an axis or a graph names."""

_MOST_EXACT = 100
"""Nodes of a piece of a graph whose picture keeps the lengths of all shortest ways; larger ones are left to springs."""


def coefficients(model: Any) -> Any:
    """The coefficients of a fitted estimator, a panel for each class; returns the figure.

    Steps where F takes differences along a chain, a curve where it takes differences of higher order, an image where
    the features form a grid (slices along the first axis if it is a volume), the graph itself where F belongs to one,
    and bars otherwise.
    """
    rows = np.atleast_2d(model.coef_)
    shape, graph = shape_of(model), model.F_ is not None and model.F_.edges is not None
    if getattr(model, "mask", None) is not None and np.ndim(model.mask) in (2, 3):
        return _images(model, model.coef_image_.reshape(len(rows), -1), np.shape(model.mask))
    if shape is not None:
        return _images(model, rows, shape)
    columns = 1 if not graph else math.ceil(math.sqrt(len(rows)))
    lines = math.ceil(len(rows) / columns)
    width, height = (7.0 * columns, 5.6) if graph else (8.0, 1.0 + 6.0 / (1 + len(rows)))
    figure = new_figure(width, height * lines)
    panels = figure.subplots(lines, columns, squeeze=False, sharex=not graph).ravel()
    for panel, coef, title in zip(panels, rows, titles_of(model, rows), strict=False):
        panel.set_title(title, fontsize="medium")
        if graph:
            _graph(figure, panel, coef, model.F_, names_of(model))
        else:
            _line(panel, coef, model)
    for panel in panels[len(rows) :]:
        panel.set_axis_off()
    if not graph:
        positions = getattr(model, "knots_", None)
        panels[-1].set_xlabel("feature" if positions is None else "position")
        _name_features(panels[-1], names_of(model))
    return figure


def _line(panel: Any, coef: np.ndarray, model: Any) -> None:
    """Steps, a curve or bars."""
    places, mark, name = places_of(model), mark_of(model), type(model).__name__
    panel.axhline(0.0, color=GREY, linewidth=0.8)
    if mark == "line":
        panel.plot(places, coef, color=BLUE, linewidth=1.5, label=name)
    elif mark == "steps":
        middles = (places[1:] + places[:-1]) / 2.0
        edges = np.concatenate([2.0 * places[:1] - middles[:1], middles, 2.0 * places[-1:] - middles[-1:]])
        if coef.size > 1:
            panel.stairs(coef, edges, baseline=None, color=BLUE, linewidth=1.5, label=name)
            panel.stairs(coef, edges, fill=True, color=BLUE, alpha=0.15)
    else:
        panel.vlines(places, 0.0, coef, color=BLUE, linewidth=1.5)
        panel.plot(places, coef, "o", color=BLUE, markersize=3, label=name)
    panel.set_ylabel("coefficient")
    tidy(panel)


def _name_features(panel: Any, names: list[str] | None) -> None:
    if names is not None and len(names) <= _MOST_NAMES:
        panel.set_xticks(range(len(names)), names, rotation=45, ha="right")


def _images(model: Any, rows: np.ndarray, shape: tuple[int, ...]) -> Any:
    """A panel for each class, or for each of some slices of its volume; white is 0, and one scale holds for all."""
    stacks = rows.reshape(len(rows), *(shape if len(shape) == 3 else (1, *shape)))
    slices = np.unique(np.linspace(0, stacks.shape[1] - 1, min(_MOST_SLICES, stacks.shape[1])).round().astype(int))
    titles = titles_of(model, rows)
    pictures = [
        (title if len(shape) == 2 else f"{title}, slice {k}" if len(rows) > 1 else f"slice {k}", stack[k])
        for title, stack in zip(titles, stacks, strict=True)
        for k in slices
    ]
    columns = math.ceil(math.sqrt(len(pictures)))
    lines = math.ceil(len(pictures) / columns)
    figure = new_figure(1.2 + 3.2 * columns if len(pictures) > 1 else 5.4, 3.3 * lines if len(pictures) > 1 else 4.6)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    limit = float(np.abs(rows).max()) or 1.0
    for panel in panels:
        panel.set_axis_off()
    for panel, (title, picture) in zip(panels, pictures, strict=False):
        shown = panel.imshow(picture, cmap=DIVERGING, vmin=-limit, vmax=limit)
        panel.set_title(title, fontsize="medium")
    figure.colorbar(shown, ax=list(panels), label="coefficient", shrink=0.8)
    return figure


def _graph(figure: Any, panel: Any, coef: np.ndarray, F: GraphDifference, names: list[str] | None) -> None:
    """Nodes in the colours of their coefficients; edges across which these are equal are dark, the others light."""
    ends = np.asarray(F.edges, dtype=int).reshape(-1, 2)
    places = _layout(ends, coef.size)
    limit = float(np.abs(coef).max()) or 1.0
    differences = np.abs(coef[ends[:, 0]] - coef[ends[:, 1]])
    for together, color in ((False, "#d5d8dc"), (True, "#4a4f57")):
        chosen = ends[(differences <= 1e-3 * limit) == together]
        lines = np.full((3 * len(chosen), 2), np.nan)
        lines[0::3], lines[1::3] = places[chosen[:, 0]], places[chosen[:, 1]]
        panel.plot(*lines.T, color=color, linewidth=0.9, zorder=1, label="equal ends" if together else "others")
    size = float(np.clip(6000.0 / coef.size, 12.0, 220.0))
    shown = panel.scatter(
        *places.T, c=coef, s=size, cmap=DIVERGING, vmin=-limit, vmax=limit, edgecolors=GREY, linewidths=0.6, zorder=2
    )
    if coef.size <= _MOST_NAMES:
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=2.0, foreground="white")]  # names cross edges, and each other
        form = {"textcoords": "offset points", "ha": "center", "fontsize": "x-small", "path_effects": halo}
        for j, place in enumerate(places):
            panel.annotate(str(j) if names is None else names[j], place, xytext=(0, 9), **form)
    panel.set_axis_off()
    panel.margins(0.08)
    figure.colorbar(shown, ax=panel, label="coefficient", shrink=0.8)


def _layout(ends: np.ndarray, n_nodes: int) -> np.ndarray:
    """Places where joined nodes are close to each other, the same each time."""
    try:
        import networkx as nx
    except ImportError:
        raise UnsupportedError("The picture of a graph needs networkx. Run: pip install networkx.") from None
    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(ends.tolist())
    places = np.empty((n_nodes, 2))
    width, left, top, height = math.sqrt(2.0 * n_nodes), 0.0, 0.0, 0.0
    # Pieces that no edge joins are laid out one by one, on shelves: springs would drive them far apart.
    for nodes in sorted(nx.connected_components(graph), key=lambda nodes: (-len(nodes), min(nodes))):
        radius = 0.5 * math.sqrt(len(nodes))
        if left > 0.0 and left + 2.0 * radius > width:
            left, top, height = 0.0, top - height, 0.0
        middle = (left + radius, top - radius)
        piece, place = graph.subgraph(nodes), {"scale": 0.8 * radius, "center": middle}
        if len(nodes) <= _MOST_EXACT:
            inside = nx.kamada_kawai_layout(piece, **place)
        else:
            inside = nx.spring_layout(piece, seed=0, iterations=200, **place)
        places[list(inside)] = list(inside.values())
        left, height = left + 2.0 * radius, max(height, 2.0 * radius)
    return places
