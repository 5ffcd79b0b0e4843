"""One proximal step on an average, so that it is sparse and fused where the penalties make it so."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.terms import apply_prox
from ..schemes.composite_prox import Work, composite_prox
from ..view import View

LENGTHS = 4.0 ** np.arange(6)
"""Multiples of the safe step that are tried."""

_SLACK = 0.128
"""The longest step is taken whose objective is at most this part above that of the best one, over the number of rows
that it is evaluated on: few rows cannot tell steps apart that many can."""

_DUAL_STEPS = 50
"""Dual steps that compute the prox of r1 + r2(F .)."""


def sharpened(problem: View, x: np.ndarray, gradient: np.ndarray, step: float) -> np.ndarray:
    """prox_{s (r1 + r2(F .))}(x - s gradient), s being the step; the intercept, if any, stays as it is."""
    return _step(problem, x, gradient, _prox(problem), step)


class Choice(NamedTuple):
    """A step in multiples of the safe one, where it leads, and the objective there."""

    length: float
    x: np.ndarray
    value: float


def best_length(
    problem: View,
    x: np.ndarray,
    gradient: np.ndarray,
    step: float,
    lengths: np.ndarray,
    objective: Callable[[np.ndarray], float],
    rows: int,
) -> Choice:
    """The longest of the steps that are about as good as the best; those after the first that is worse are not tried.

    Parameters
    ----------
    problem : View
    x, gradient : array
        A point, and the gradient of the mean loss about there.
    step : float
        A safe one, of the order of 1 / L.
    lengths : array
        Multiples of it, increasing.
    objective : callable
        On some rows.
    rows : int
        How many these are.
    """
    prox, tried = _prox(problem), []
    least = math.inf
    for length in lengths:
        point = _step(problem, x, gradient, prox, float(step * length))
        tried.append(Choice(float(length), point, objective(point)))
        least = min(least, tried[-1].value)
        if not tried[-1].value <= least + _SLACK / rows * abs(least):
            break
    return next((one for one in reversed(tried) if one.value <= least + _SLACK / rows * abs(least)), tried[0])


def _step(
    problem: View, x: np.ndarray, gradient: np.ndarray, prox: Callable[[np.ndarray, float], np.ndarray], step: float
) -> np.ndarray:
    moved = prox(x - step * gradient, step)
    if problem.rows.bias:
        moved[-1] = x[-1]
    return moved


def _prox(problem: View) -> Callable[[np.ndarray, float], np.ndarray]:
    """Point and step to the prox of step (r1 + r2(F .)); terms are packed once, for all points."""
    d, F = problem.n_coordinates, problem.F
    if problem.penalty.joint is not None:
        term = problem.penalty.joint.prox_term(d)

        def exact(point: np.ndarray, step: float) -> np.ndarray:
            out = np.empty(d)
            apply_prox(term, point, step, out)
            return out

        return exact
    terms, work = problem.terms(), Work.of(d, F.n_outputs)

    def by_dual_steps(point: np.ndarray, step: float) -> np.ndarray:
        out = np.empty(d)
        length = 1.0 / (step * F.squared_norm) if F.squared_norm else 1.0
        composite_prox(terms, point, step, length, _DUAL_STEPS, work, out)
        return out

    return by_dual_steps
