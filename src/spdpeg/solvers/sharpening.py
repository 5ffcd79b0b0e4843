"""One proximal step on an average, so that it is sparse and fused where the penalties make it so."""

from collections.abc import Callable

import numpy as np

from ..kernels.composition import apply_prox
from ..schemes.composite_prox import Work, composite_prox
from ..view import View

_LENGTHS = 4.0 ** np.arange(6)
"""Multiples of the safe step that are tried."""

_SLACK = 1e-3
"""The longest step is taken whose objective is at most this part above that of the best one."""

_DUAL_STEPS = 50


def sharpened(
    problem: View, x: np.ndarray, gradient: np.ndarray, step: float, loss: Callable[[np.ndarray], float] | None
) -> np.ndarray:
    """prox_{s (r1 + r2(F .))}(x - s gradient), s being chosen by the objective on rows at hand.

    Parameters
    ----------
    problem : View
    x, gradient : array
        A point, and the gradient of the mean loss about there; the intercept, if any, stays as it is.
    step : float
        A safe s, of the order of 1 / L.
    loss : callable or None
        Mean loss on some rows. Without it the safe step is taken.
    """
    lengths = _LENGTHS if loss is not None else _LENGTHS[:1]
    prox = _prox(problem)
    candidates = [prox(x - step * length * gradient, float(step * length)) for length in lengths]
    if problem.rows.bias:
        for candidate in candidates:
            candidate[-1] = x[-1]
    if loss is None:
        return candidates[0]
    values = np.array([loss(candidate) + problem.penalty.value(candidate) for candidate in candidates])
    good = values <= values.min() + _SLACK * abs(values.min())
    return candidates[int(np.flatnonzero(good)[-1])]


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
