"""Shared by all plots: the figure, the colours, and axes of weights."""

import math
from typing import Any

import numpy as np

from ..errors import UnsupportedError

BLUE, ORANGE, PURPLE, GREY = "#2f7fd6", "#e8710a", "#7b52d1", "#85898f"
DIVERGING, SEQUENTIAL = "RdBu_r", "viridis"
_TICKS = 5
"""Weights that an axis names at most."""


def new_figure(width: float, height: float) -> Any:
    """An empty figure that pyplot knows, so that it shows up in notebooks and in `plt.show()`."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise UnsupportedError("Pictures need matplotlib. Run: pip install matplotlib.") from None
    return plt.figure(figsize=(width, height), layout="constrained")


def tidy(panel: Any) -> None:
    """A light grid behind the lines, and no frame on the right and above."""
    panel.grid(alpha=0.25)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def weight_axis(axis: Any, weights: np.ndarray, name: str) -> None:
    """Name the places 0, 1, ... of an axis by weights, which need not be evenly spaced in any sense."""
    places = np.arange(0, weights.size, max(1, math.ceil((weights.size - 1) / (_TICKS - 1))))
    axis.set_ticks(places, [f"{weight:.1g}" if weight < 10.0 else f"{weight:.0f}" for weight in weights[places]])
    axis.set_label_text(name)
