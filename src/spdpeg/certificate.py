"""How far a point is from optimal."""

import numpy as np

from .problem import Problem


def kkt_residual(problem: Problem, x: np.ndarray, dual: np.ndarray) -> float:
    """Relative residual of the optimality conditions at (x, dual); 0 exactly at a solution. Costs one pass.

    With y = -dual: the larger of |x - prox_{s r1}(x - s (grad l(x) + F^T y))| / (1 + |x|), s = 1 / lipschitz, and
    |y - prox_{r2*}(y + F x)| / (1 + |y|).
    """
    y = -dual
    step = 1.0 / problem.lipschitz if problem.lipschitz > 0 else 1.0
    slope = problem.gradient(x) + problem.F.adjoint(y)
    primal = x - problem.regularizer.prox(x - step * slope, step)
    ahead = y - problem.r2.dual_prox(y + problem.F.forward(x))
    return float(
        max(
            np.linalg.norm(primal) / (1.0 + np.linalg.norm(x)),
            np.linalg.norm(ahead) / (1.0 + np.linalg.norm(y)),
        )
    )
