"""The residual of the optimality conditions, scaled to have no units, for points where no bound exists."""

import math

import numpy as np

from ..sums import Evaluation
from ..view import View


def kkt_residual(problem: View, x: np.ndarray, dual: np.ndarray) -> float:
    """Relative residual of the optimality conditions at (x, dual); 0 exactly at a solution. Costs one read."""
    return residual(problem, x, -dual, problem.sums.evaluate(x))


def residual(problem: View, x: np.ndarray, y: np.ndarray, evaluation: Evaluation) -> float:
    """Root of what a step of each half of the problem would still gain, as a fraction of the objective.

    The first half is a proximal gradient step in the metric of the columns of A; the second, how far F x moves in a
    proximal step of r2 along y, which is 0 exactly if y is a subgradient. Both gains are numbers in the units of the
    objective, so that rescaling x, the columns, the rows of F or the objective changes nothing. The root makes it safe:
    a gain of tol^2 leaves a suboptimality of at most tol unless the problem, in the metric, has a condition number
    above 1 / tol.
    """
    value = evaluation.loss + problem.penalty.value(x)
    if not math.isfinite(value) or not problem.loss.smooth:
        return math.inf  # outside the domain nothing is optimal, and at a kink no single slope tells
    size = abs(value) or 1.0
    slope = evaluation.gradient + problem.F.adjoint(y)
    gain = _primal_gain(problem, x, evaluation, slope) + _dual_gain(problem, x, y, size)
    return math.sqrt(gain / size)


def _primal_gain(problem: View, x: np.ndarray, evaluation: Evaluation, slope: np.ndarray) -> float:
    """d'Md/2 of the step d that minimises g'd + d'Md/2 + r1(x + d), M a diagonal above the loss's curvature."""
    curvature, lipschitz = problem.loss.curvature, problem.bounds.lipschitz
    if not math.isfinite(curvature):  # where there is no bound, that of the point
        curvature = problem.sums.at_margins(evaluation.margins).curvature_range[1]
        lipschitz = curvature * float(np.sum(problem.bounds.column_sizes**2))
    squares = curvature * problem.bounds.column_sizes**2
    # The columns together may curve the loss this many times as much as each alone.
    factor = lipschitz / float(squares.max(initial=0.0)) if np.any(squares) else 1.0
    metric = np.maximum(max(factor, 1.0) * squares, np.finfo(float).tiny)
    # An empty column has no size of its own; a short step is the safe one.
    metric[squares == 0.0] = float(metric.max())
    # A penalty that ties coordinates together has no prox in a metric of several numbers; the largest one is safe for
    # all.
    scaled = problem.regularizer.scaled(1.0 / metric)
    if scaled is None:
        metric = np.full(x.size, float(metric.max()))
        scaled = problem.regularizer.scaled(1.0 / metric)
    assert scaled is not None
    d = scaled.prox(x - slope / metric) - x
    return 0.5 * float(d @ (metric * d))


def _dual_gain(problem: View, x: np.ndarray, y: np.ndarray, size: float) -> float:
    """|F x - prox_{s r2}(F x + s y)|^2 / s for the s at which |s y|^2 / s is as large as the objective."""
    if not y.size:
        return 0.0
    Fx = problem.F.forward(x)
    forward, dual = float(Fx @ Fx), float(y @ y)
    # In the units of F x over those of y.
    step = size / dual if dual > 0.0 else forward / size if forward > 0.0 else 1.0
    violation = Fx - problem.r2.prox(Fx + step * y, step)
    return float(violation @ violation) / step
