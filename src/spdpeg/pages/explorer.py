"""The page of a path: a slider for each weight, and what the model is there."""

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .frame import asset, numbers, write

_MOST = 4_000_000
"""Coefficients that a page holds: more make it slow to open."""

_DIGITS = 4
"""Digits of the coefficients."""


class Look(NamedTuple):
    """How the coefficients of a row are drawn."""

    mark: str
    """"steps", "line" or "stems"."""
    shape: tuple[int, int] | None
    """Shape of the image that they form."""
    places: np.ndarray
    """Their places on the axis."""
    names: list[str] | None


def publish(
    path: Any,
    title: str,
    summary: str,
    weights: tuple[np.ndarray, np.ndarray],
    coef: np.ndarray,
    rows: list[str],
    look: Look,
    surfaces: dict[str, np.ndarray],
    chosen: tuple[int, int] | None,
) -> None:
    """Write the page.

    Parameters
    ----------
    path : str or path
    title, summary : str
    weights : pair of arrays
        lam1 and lam2, largest first.
    coef : array of shape (k1, k2, n_rows, n_features)
    rows : list of str
        What the rows of coefficients are called: classes.
    look : Look
    surfaces : dict of arrays of shape (k1, k2)
        What is known of each fit, by name; the first is shown first.
    chosen : pair of int or None
        Indices of the chosen pair.
    """
    if coef.size > _MOST:
        raise InputError(
            f"The path holds {coef.size:,} coefficients, and a page can show {_MOST:,}. Take a coarser grid of weights."
        )
    limit = float(np.abs(coef).max(initial=0.0))
    write(
        path,
        title=title,
        body=asset("explorer.html"),
        style=asset("chart.css") + asset("explorer.css"),
        script=asset("chart.js") + asset("explorer.js"),
        data={
            "summary": summary,
            "lam1": numbers(weights[0]),
            "lam2": numbers(weights[1]),
            "coef": numbers(coef, _DIGITS),
            "range": [min(0.0, float(coef.min())), max(0.0, float(coef.max()))],
            "limit": limit or 1.0,
            "rows": rows,
            "mark": look.mark,
            "shape": look.shape,
            "places": numbers(look.places),
            "names": look.names,
            "surfaces": {name: numbers(values, 6) for name, values in surfaces.items()},
            "chosen": list(chosen) if chosen is not None else None,
            "start": list(chosen) if chosen is not None else [coef.shape[0] // 2, coef.shape[1] // 2],
        },
    )
