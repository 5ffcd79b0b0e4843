"""The document of a signal or an image without its noise."""

from typing import Any

import numpy as np

from . import document
from .model import segments


def publish(found: Any, path: Any, name: str = "Signal") -> None:
    """Write the page of a `Denoised`: what was given, the solution, its segments, the proof.

    Parameters
    ----------
    found : Denoised
    path : str or path
    name : str
        What the values are called.
    """
    given, x = found.y, found.x
    while x.ndim > 2:
        given, x = given[len(given) // 2], x[len(x) // 2]
    line = found.line
    sections = {
        "How good the solution is": [
            document.proof(f"The solution is {found.certificate}.", found.certificate.met is not None)
        ]
    }
    if x.ndim == 2:
        middle = " (the middle slice)" if found.x.ndim > 2 else ""
        panels = {f"given{middle}": given, f"denoised{middle}": x}
        sections["Before and after"] = [document.images(panels)]
    else:
        places = np.arange(x.size)
        curve = "points" if line is None else "steps" if line == 1 else "line"
        marks = [
            document.mark("points", places, given, "grey", "given"),
            document.mark(curve, places, x, "blue", "denoised"),
        ]
        chart = document.chart(marks, "position", name, "What was given, and the solution.")
        sections = {"The signal": [chart], **sections}
    if line is not None:
        sections["Segments"] = segments([(a, b - 1, b - a, value) for a, b, value in found.segments])
    lam2 = f"{float(found.lam2):.4g}" if np.ndim(found.lam2) == 0 else "an array"
    size = " x ".join(f"{side:,}" for side in found.x.shape)
    document.publish(path, name, f"{size} values; lam2 = {lam2}, lam1 = {found.lam1:.4g}.", sections)
