"""One proximal step on an average, so that it is sparse and fused where the penalties make it so."""

from collections.abc import Callable

import numpy as np

from ..problem import Problem

_LENGTHS = 4.0 ** np.arange(6)
"""Multiples of the safe step that are tried."""

_SLACK = 1e-3
"""The longest step is taken whose objective is at most this part above that of the best one."""

_DUAL_STEPS = 50


def sharpened(
    problem: Problem, x: np.ndarray, gradient: np.ndarray, step: float, loss: Callable[[np.ndarray], float] | None
) -> np.ndarray:
    """prox_{s (r1 + r2(F .))}(x - s gradient), s being chosen by the objective on rows at hand.

    Parameters
    ----------
    problem : Problem
    x, gradient : array
        A point, and the gradient of the mean loss about there; the intercept, if any, stays as it is.
    step : float
        A safe s, of the order of 1 / L.
    loss : callable or None
        Mean loss on some rows. Without it the safe step is taken.
    """
    lengths = _LENGTHS if loss is not None else _LENGTHS[:1]
    candidates = [_stepped(problem, x, gradient, float(step * length)) for length in lengths]
    if loss is None:
        return candidates[0]
    values = np.array([loss(candidate) + problem.penalty_value(candidate) for candidate in candidates])
    good = values <= values.min() + _SLACK * abs(values.min())
    return candidates[int(np.flatnonzero(good)[-1])]


def _stepped(problem: Problem, x: np.ndarray, gradient: np.ndarray, step: float) -> np.ndarray:
    point = x - step * gradient
    moved = (
        _composite_prox(problem, point, step)
        if problem.joint_penalty is None
        else problem.joint_penalty.prox(point, step)
    )
    if problem.bias:
        moved[-1] = x[-1]
    return moved


def _composite_prox(problem: Problem, point: np.ndarray, step: float) -> np.ndarray:
    """The prox of step (r1 + r2(F .)) by fast projected steps on its dual."""
    F, length = problem.F, 1.0 / (step * problem.F.squared_norm) if problem.F.squared_norm else 1.0
    y = ahead = np.zeros(F.n_outputs)
    momentum = 1.0
    for _ in range(_DUAL_STEPS):
        x = problem.regularizer.prox(point - step * F.adjoint(ahead), step)
        following = problem.r2.dual_prox(ahead + length * F.forward(x), length)
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / faster * (following - y)
        y, momentum = following, faster
    return np.array(problem.regularizer.prox(point - step * F.adjoint(y), step))
