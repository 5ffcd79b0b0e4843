"""The shape of a model's coefficients, and the names of their parts."""

from typing import Any

import numpy as np


def shape_of(model: Any) -> tuple[int, ...] | None:
    """Shape of the image or volume that the coefficients form; None if they form none."""
    shape = None if model.F_ is None else model.F_.grid
    shape = getattr(model, "shape", None) if shape is None else shape
    if shape is None:
        return None
    found = tuple(int(n) for n in shape)
    return found if len(found) in (2, 3) else None


def mark_of(model: Any) -> str:
    """How coefficients are drawn: as "steps" along a chain, as a "line" if they are smoother, otherwise as "stems"."""
    order = None if model.F_ is None else model.F_.line_order
    if order is not None:
        return "line" if order > 1 else "steps"
    return "stems" if model.F_ is None or model.F_.grid is None else "steps"


def places_of(model: Any) -> np.ndarray:
    """Positions of the coefficients: those of a curve, or 0, 1, 2, ..."""
    knots = getattr(model, "knots_", None)
    return np.arange(np.atleast_2d(model.coef_).shape[1]) if knots is None else np.asarray(knots)


def names_of(model: Any) -> list[str] | None:
    """Names of the features, if they have any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def titles_of(model: Any, rows: np.ndarray) -> list[str]:
    """Titles for the rows of coefficients: classes or outputs, or the number of non-zeros."""
    if len(rows) > 1:
        classes = getattr(model, "classes_", None)
        return [f"output {k}" for k in range(len(rows))] if classes is None else [f"class {name}" for name in classes]
    return [f"{np.count_nonzero(rows)} of {rows.size} coefficients are not 0"]
