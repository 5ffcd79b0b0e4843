"""The minimum of a model as methods need it: on an exact face, with a dual point without noise."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import absolute, from_guess
from .crossover import to_face
from .minimization import minimize
from .model import Model, Status
from .refinement import on_face, refined

_FEW, _MOST_FILLED = 100, 20
"""Coordinates beyond which a curvature with at most so many entries a column is treated as sparse: of a signal, say."""


_APEX = 1e-6
"""Fraction of the objective that the way to the apex of a cone may cost."""


class Minimum(NamedTuple):
    """The minimum of a model."""

    point: np.ndarray
    """With exact zeros and pieces where those are certain."""
    w: np.ndarray
    """The minimiser that goes with the multipliers: H w - b + K^T y = 0. First x, then auxiliary variables."""
    y: np.ndarray
    status: Status
    gap: float
    """Bound on how far the model there is above its minimum."""
    slopes: np.ndarray | None = None
    """Slopes of the rows, if the model knew rows; they agree with y to more digits than those at w."""


def minimum(model: Model, guess: np.ndarray | None = None) -> Minimum:
    """The minimum of a model: near a guess if there is one, otherwise by interior points."""
    quick = model
    wide = isinstance(model.H, np.ndarray) and model.b.size > _FEW
    if wide and np.count_nonzero(model.H) <= _MOST_FILLED * model.b.size:
        quick = replace(model, H=sp.csr_array(model.H))
    found = None if guess is None else from_guess.minimized(quick, guess)
    if found is None:
        found = absolute.minimized(quick)
    if found is not None:
        face = found.face if found.simple else to_face(model, found.solution)
        return Minimum(found.solution.w if face is None else face, found.w, found.y, "optimal", found.solution.gap)
    solution = minimize(quick)
    face = to_face(quick, solution) if np.all(np.isfinite(solution.w)) else None
    point = within(model, solution.w if face is None else face)
    exact = solution
    if face is not None and model.form.weight.size:
        exact = on_face(model, solution, face)
    if exact is solution and isinstance(model.H, np.ndarray):
        exact = refined(model, solution)
    return Minimum(point, exact.w, exact.y, solution.status, solution.gap)


def within(model: Model, w: np.ndarray) -> np.ndarray:
    """w; with 0 where cones meet in 0 alone, of which interior points leave a direction by their last digits."""
    form, bounds = model.form, model.form.limits[0] | model.form.limits[1]
    cones = np.flatnonzero(bounds & (form.offset[: form.n_lines] == 0.0))
    if not cones.size or not model.misses(w):
        return w
    apex = w.copy()
    apex[np.unique(form.K[cones].indices)] = 0.0
    value = model.value(w)
    as_good = model.value(apex) <= value + _APEX * (abs(value) + float(np.abs(model.right()) @ np.abs(w)))
    return apex if as_good and not model.misses(apex) else w
