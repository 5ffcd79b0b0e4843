"""Optima by an interior-point solver (cvxpy with Clarabel), from a formulation of their own."""

import warnings
from functools import cache
from typing import Any, NamedTuple

import cvxpy
import numpy as np

from support import catalogue
from support.instances import Instance

cp: Any = cvxpy
"""Its annotations do not cover its own functions."""

TIGHT = {f"tol_{name}": 1e-13 for name in ("gap_abs", "gap_rel", "feas", "infeas_abs", "infeas_rel", "ktratio")}


class Optimum(NamedTuple):
    """Solution, multiplier of F x = z (lambda in the paper) and value."""

    x: np.ndarray
    dual: np.ndarray
    objective: float


def solve(instance: Instance) -> Optimum:
    """min l(x) + r1(x) + r2(z) subject to F x = z, x in the domain."""
    n, d = instance.X.shape
    x, z = cp.Variable(d), cp.Variable(instance.F.shape[0])
    weights = instance.scaled_weights / n
    used = weights > 0
    objective = weights[used] @ _loss(instance.loss, instance.X[used] @ x, instance.labels[used])
    linked = instance.F @ x - z == 0
    constraints = [linked]
    for penalty, at in ((instance.r1, x), (instance.domain, x), (instance.r2, z)):
        cost, sets = _penalty(penalty, at)
        objective += cost
        constraints += sets
    with warnings.catch_warnings():
        # Beyond what double precision allows; test_optima.py checks how good the answer is.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        value = _least(objective, constraints)
    # cvxpy adds <dual, F x - z>, so its multiplier is a subgradient of r2; the paper subtracts it.
    return Optimum(x.value, -linked.dual_value, value)


def _least(objective: Any, constraints: list[Any]) -> float:
    """The minimum, to 1e-8 where the solver gives up because the last digits cannot be had."""
    problem = cp.Problem(cp.Minimize(objective), constraints)
    try:
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    except cvxpy.error.SolverError:
        problem = cp.Problem(cp.Minimize(objective), constraints)
        problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@cache
def optimum(loss: str, r1: str, r2: str, operator: str, weighted: bool = False) -> tuple[Instance, Optimum]:
    """A catalogue problem with its optimum, computed once per test session."""
    instance = catalogue.instance(loss, r1, r2, operator, weighted)
    return instance, solve(instance)


def _loss(loss: Any, t: Any, b: np.ndarray) -> Any:
    match type(loss).__name__:
        case "Logistic":
            return cp.logistic(-cp.multiply(b, t))
        case "Squared":
            return cp.square(t - b) / 2
        case "Huber":
            return cp.huber(t - b, loss.delta) / 2
        case "SquaredHinge":
            return cp.square(cp.pos(1 - cp.multiply(b, t))) / 2
        case "SmoothedHinge":
            # The infimal convolution of the hinge and a parabola: min over s of (1 - s)_+ + |s - t|^2 / (2 width).
            s = cp.Variable(b.size)
            return cp.pos(1 - s) + cp.square(cp.multiply(b, t) - s) / (2 * loss.width)
        case "Hinge":
            return cp.pos(1 - cp.multiply(b, t))
        case "Quantile":
            return cp.maximum(loss.level * (b - t), (loss.level - 1) * (b - t))
    raise NotImplementedError(type(loss).__name__)


def _penalty(penalty: Any, v: Any) -> tuple[Any, list[Any]]:
    """Cost and constraints."""
    match type(penalty).__name__:
        case "NoneType" | "Zero":
            return 0, []
        case "L1":
            return cp.sum(cp.multiply(np.broadcast_to(penalty.weight, v.shape), cp.abs(v))), []
        case "L2Squared":
            return cp.sum(cp.multiply(np.broadcast_to(penalty.weight, v.shape), cp.square(v))) / 2, []
        case "ElasticNet":
            return penalty.l1 * cp.norm1(v) + penalty.l2 / 2 * cp.sum_squares(v), []
        case "FusedL1":
            return penalty.l1 * cp.norm1(v) + penalty.l2 * cp.norm1(cp.diff(v)), []
        case "GroupL2":
            blocks = range(0, v.size, penalty.groups)
            return penalty.weight * sum(cp.norm2(v[start : start + penalty.groups]) for start in blocks), []
        case "LInf":
            return penalty.weight * cp.norm_inf(v), []
        case "HuberL1":
            return penalty.weight * cp.sum(cp.huber(v, penalty.delta)) / (2 * penalty.delta), []
        case "Nuclear":
            return penalty.weight * cp.normNuc(cp.reshape(v, penalty.shape, order="C")), []
        case "Hinge":
            return penalty.weight * cp.sum(cp.pos(1 - cp.multiply(penalty.labels, v))), []
        case "Quantile":
            r = penalty.labels - v
            return penalty.weight * cp.sum(cp.maximum(penalty.level * r, (penalty.level - 1) * r)), []
        case "Box":
            return 0, [v >= penalty.lower, v <= penalty.upper]
        case "NonNegative":
            return 0, [v >= 0]
        case "L2Ball":
            return 0, [cp.norm2(v) <= penalty.radius]
        case "L1Ball":
            return 0, [cp.norm1(v) <= penalty.radius]
        case "Simplex":
            return 0, [v >= 0, cp.sum(v) == penalty.total]
        case "SeparableSum":
            costs, sets = [], []
            for part, stop, size in zip(penalty.parts, np.cumsum(penalty.sizes), penalty.sizes, strict=True):
                cost, constraints = _penalty(part, v[stop - size : stop])
                costs.append(cost)
                sets += constraints
            return sum(costs), sets
    raise NotImplementedError(type(penalty).__name__)
