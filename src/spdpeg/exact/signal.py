"""A signal along a chain or on a graph: X is diagonal, the penalties are l1 norms of x and of its differences.

    min  sum_j curvature_j (x_j + level - target_j)^2 / 2  +  l1 |x|_1  +  sum_j l2_j |x_(j+1) - x_j|

The prox of the penalties is exact and takes linear time, and its dual variable is the flow along the chain. The level
is 0, or an intercept: the derivative of the minimum over x is an increasing, piecewise linear function of it, whose
root is found exactly.

Along the edges of a grid or a graph, with weights of every kind and squares of x, minimum cuts find it level by level
(`quadratic.level_sets`), as exactly, but for an intercept.
"""

import time
from typing import NamedTuple

import numpy as np

from ..certificate import Certificate
from ..kernels.weighted_chain import MEMORY, chain_dual, chain_flows, weighted_chain_signal
from ..penalties import FusedL1
from ..quadratic import Model, level_sets
from ..result import History, Run, Status
from ..sums.moments import DiagonalMoments, ShiftedSignal
from ..view import View
from .penalty_form import PenaltyForm
from .pieces import AbsolutePenalties
from .quadratic_bound import lower_bound

SURE = 1e-8
"""Relative error of the loss, and gap unless a larger one is asked for, up to which no row is read again."""

_EPS = float(np.finfo(float).eps)
_NOISE = 4.0 * _EPS
"""Relative rounding error of the terms of a sum, entry by entry."""
_ERRORS = 4.0
"""Factor on the rounding error of the loss at the bound: it covers the objective at x, which is close to it."""

_MOST_LEVELS = 200
"""Levels that are tried; bisection alone ends far earlier."""

ChainLoss = DiagonalMoments | ShiftedSignal


class SignalSolution(NamedTuple):
    """x, the flow y, and a lower bound on the objective."""

    x: np.ndarray
    y: np.ndarray
    lower: float


def is_chain(problem: View) -> bool:
    """Whether the problem is the prox of a chain: X diagonal, l1 norms of x and its differences."""
    return (
        problem.moments.is_signal or problem.moments.shifted_signal is not None
    ) and problem.penalty.fused is not None


def chain_loss(problem: View) -> ChainLoss:
    """The loss of a problem that `is_chain`."""
    loss = problem.moments.shifted_signal or problem.moments.loss
    assert isinstance(loss, DiagonalMoments | ShiftedSignal)
    return loss


def along_chain(problem: View) -> SignalSolution:
    """The solution of a problem that `is_chain`."""
    loss, fused = chain_loss(problem), problem.penalty.fused
    assert fused is not None
    if isinstance(loss, DiagonalMoments):
        x, y = _prox(loss, fused, 0.0)
        return SignalSolution(x, y, _bound(loss, fused.l1, x, y)[0])
    signal = loss.signal
    level = _best_level(signal, fused)
    alone, y = _prox(signal, fused, level)
    x = np.append(alone, level / loss.unit)
    lower, residual = _bound(signal, fused.l1, loss.shifted(x), y)
    if fused.l1 > 0.0:  # without it a level of 0 is as good as any
        value = loss.value(x) + problem.penalty.value(x)
        lower -= abs(residual) * _farthest_level(signal, fused.l1, value)
    return SignalSolution(x, y, lower)


def differences(problem: View) -> AbsolutePenalties | None:
    """The penalties of a signal on a graph: weighted absolute values and squares of x, and of differences of two of its
    entries; None if X is not diagonal, or for others."""
    form = PenaltyForm.of(problem) if problem.moments.is_signal else None
    lines = None if form is None else form.lines
    return lines if lines is not None and lines.cost.size and lines.pairs.all() else None


def along_edges(problem: View, lines: AbsolutePenalties) -> SignalSolution:
    """The solution of a problem with these `differences`."""
    loss, form = problem.moments.loss, PenaltyForm.of(problem)
    assert isinstance(loss, DiagonalMoments)
    assert form is not None
    curvature = loss.curvature + lines.ridge
    target = np.divide(loss.b, curvature, out=np.zeros(curvature.size), where=curvature > 0.0)
    graph = level_sets.Graph.of(*lines.ends, curvature.size)
    x, y = level_sets.minimized(graph, level_sets.Terms(curvature, target, lines.weight, lines.cost))
    slopes = np.clip(curvature * (target - x) - lines.K.T @ y, -lines.weight, lines.weight)
    value = loss.value(x) + problem.penalty.value(x)
    multipliers = np.concatenate([slopes[lines.weight > 0.0], y])
    lower = lower_bound(Model(loss.H, loss.b, lines.form), loss, x, multipliers, value)
    return SignalSolution(x, form.multiplier_of_lines(x, slopes, y), lower)


def solve_chain(problem: View, tol: float) -> Run | None:
    """The whole run for one of many weights; None where rounding leaves too little to prove it.

    Next to a prox of some microseconds, what a run needs to be cut, watched and resumed would cost far more.
    """
    begun = time.perf_counter()
    x, y, lower = along_chain(problem)
    loss = chain_loss(problem)
    value = loss.value(x) + problem.penalty.value(x)
    certificate = Certificate(value, lower, np.nan).judged(tol)
    if certificate.met != "relative gap" or not loss.error(x) <= SURE * abs(value):
        return None
    passes = problem.moments.uncounted_rows() / problem.sums.n_rows
    record = (passes, 1, time.perf_counter() - begun, value, 0.0)
    history = History(*(np.array([number]) for number in record))
    return Run(x, -y, value, certificate, history, passes, Status.TOLERANCE)


def _prox(signal: DiagonalMoments, fused: FusedL1, level: float) -> tuple[np.ndarray, np.ndarray]:
    """x and the flow at a level."""
    target = signal.target - level if level else signal.target
    if signal.uniform_curvature is not None:
        step, limits = 1.0 / signal.uniform_curvature, np.asarray(fused.l2)
        flat = FusedL1(0.0, limits).prox(target, step)
        x = flat - np.clip(flat, -step * fused.l1, step * fused.l1)
        return x, np.clip(signal.uniform_curvature * np.cumsum(flat - target)[:-1], -limits, limits)
    # The entries count differently, or not at all.
    size, l1 = target.size, float(fused.l1)
    limits = np.full(size - 1, fused.l2, dtype=float)
    memory, x, y = np.empty(MEMORY * size), np.empty(size), np.empty(size - 1)
    weighted_chain_signal(target, signal.curvature, l1, limits, memory, x)
    chain_flows(target, signal.curvature, l1, limits, x, memory, y)
    return x, y


def _best_level(signal: DiagonalMoments, fused: FusedL1) -> float:
    """Where the slope of the minimum over x vanishes: Newton's method on a broken line, kept within a bracket."""
    observed = signal.curvature > 0.0
    curvature, target = signal.curvature[observed], signal.target[observed]
    level = float(np.average(target, weights=curvature))
    if fused.l1 == 0.0:
        return level
    low, high = float(target.min()), float(target.max())
    for _ in range(_MOST_LEVELS):
        x = _prox(signal, fused, level)[0][observed]
        left = x + level - target
        slope, noise = float(curvature @ left), _EPS * float(curvature @ (np.abs(x) + abs(level) + np.abs(target)))
        if abs(slope) <= noise:
            break
        low, high = (level, high) if slope < 0.0 else (low, level)
        # Entries that are not 0 move against the level and leave the loss as it is.
        hessian = float(np.sum(curvature[x == 0.0]))
        level = level - slope / hessian if hessian > 0.0 else low
        if not low < level < high:
            level = low + 0.5 * (high - low)
        if not low < level < high:
            break
    return level


def _bound(signal: DiagonalMoments, l1: float, point: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """A number below the optimum, from the flow y at x, and the sum of the slopes, which is 0 at the best level.

    `point` is x with the level.
    """
    value, noise, loss, cancelled, residual = chain_dual(signal.target, signal.curvature, float(l1), point, y)
    error = signal.rounding(signal.rest + loss, cancelled)
    return signal.rest + value - _NOISE * noise - _ERRORS * error, residual


def _farthest_level(signal: DiagonalMoments, l1: float, value: float) -> float:
    """Bound on the level of any solution, whose objective is at most `value`: neither x nor x + level is large."""
    best = int(np.argmax(signal.curvature))
    return float(abs(signal.target[best]) + np.sqrt(2.0 * value / signal.curvature[best]) + value / l1)
