"""ADMM-Newton: ground truth for small and ill-conditioned problems.

ADMM on K = [F; I] whose x-step, a smooth problem, is solved by Newton's method: few hundred Newton steps reach 1e-8
where first-order methods crawl.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from ..data import Block
from ..data.blocks import data_matrix
from ..errors import UnsupportedError
from ..kernels.row_sums import margins
from ..kernels.terms import Terms
from ..state import State
from ..view import View
from .base import About, Periodic, Solution, require_given, require_positive, require_smooth
from .stacking import stacked
from .steps import StepRule

_DENSE = 2000
"""Up to this d Newton systems are factorised; beyond, conjugate gradients."""

_MOST_NEWTON = 30
"""Newton's steps of one x-step."""
_MOST_HALVINGS = 20
"""Most halvings of one step."""

_TINY = 1e-12
"""A relative descent so small that values hardly show it: Newton's method converges so fast there that one full step
more is exact up to rounding."""


@dataclass(eq=False, repr=False)
class ADMMNewton(Periodic):
    """x by Newton on l(x) + (rho/2) |K x - z + y/rho|^2, z by the prox of (r2, r1), y += rho (K x - z); the last
    iterate.

    Parameters
    ----------
    rho : float, optional
        L / 5 by default; L / 50 suits badly conditioned data better.
    accuracy : float
        Newton stops when the gradient of the x-step is this small relative to the gradient of l at 0.
    """

    about = About(
        name="admm-newton",
        summary="ADMM with Newton x-steps, deterministic reference",
        update=(
            "x+ = argmin of l(x) + rho/2 |K x - z + y / rho|^2 by Newton, K = [F; I]; y+ = prox2*(y + rho K x+); z+ = "
            "K x+ + (y - y+) / rho"
        ),
        cost="3 passes and a d x d system for each Newton step: factorised up to d = 2000, conjugate gradients beyond",
        memory="3 d + 2 l; at work 2 d^2 and a copy of the data up to d = 2000",
        rate="O(1/t), linear in practice",
        needs="smooth loss; any r1, r2, F; finite sum",
        deterministic=True,
        finite_sum=True,
        assumptions="convex terms, x-steps solved exactly; for the average",
    )

    rho: float | None = None
    accuracy: float = 1e-10

    def __post_init__(self) -> None:
        require_positive(rho=self.rho)
        require_given(accuracy=self.accuracy)

    def check(self, problem: View) -> None:
        require_smooth(self, problem)
        if problem.loss.curvature == 0.0:
            raise UnsupportedError('admm-newton needs a loss. Use "condat-vu" for problems without one.')

    def _dual_size(self, problem: View) -> int:
        return problem.F.n_outputs + problem.n_coordinates

    def steps_ahead(self, state: State) -> float:
        return 1.0  # each step reads a number of rows of its own

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        rho = self.rho or (problem.bounds.lipschitz / 5.0 if problem.bounds.lipschitz > 0.0 else 1.0)
        z = stacked(problem).K.forward(x0)
        small = self.accuracy * (1e-300 + float(np.linalg.norm(problem.gradient(np.zeros(problem.n_coordinates)))))
        numbers = {"rho": rho, "small": small, **StepRule(base=1.0).to_numbers()}
        return numbers, {"x": x0.copy(), "y": np.zeros(z.size), "z": z}

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        K, penalty = stacked(problem)
        rho, v = state.numbers["rho"], state.vectors
        x, rows = self._minimize(problem, v["x"], rho, K.matrix(), v["z"] - v["y"] / rho, state.numbers["small"])
        v["x"][:] = x
        Kx = K.forward(x)
        y = penalty.dual_prox(v["y"] + rho * Kx, rho)
        v["z"][:] = Kx + (v["y"] - y) / rho
        v["y"][:] = y
        return rows

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        m = problem.F.n_outputs
        # The identity block of z carries the exact zeros that x itself only approaches.
        return Solution(v["z"][m:].copy(), v["x"].copy(), v["z"][:m].copy(), -v["y"][:m])

    def _minimize(
        self, problem: View, x: np.ndarray, rho: float, K: sp.csr_array, target: np.ndarray, small: float
    ) -> tuple[np.ndarray, int]:
        """Newton with step halving on l(x) + (rho/2) |K x - target|^2: the minimiser and the rows read."""
        A = data_matrix(problem.rows.block.rows)

        def value(point: np.ndarray) -> float:
            return problem.mean_loss(point) + 0.5 * rho * float(np.sum(np.square(K @ point - target)))

        reads, now = 1, value(x)
        for _ in range(_MOST_NEWTON):
            slope = problem.gradient(x) + rho * (K.T @ (K @ x - target))
            reads += 1
            if np.linalg.norm(slope) <= small:
                break
            direction = -_solve(A, _curvature(problem, x), rho, K, slope)
            reads += 1
            descent = float(slope @ direction)
            if -descent <= _TINY * abs(now):
                x = x + direction
                break
            for halving in range(_MOST_HALVINGS):
                step = 0.5**halving
                after = value(x + step * direction)
                reads += 1
                if after <= now + 1e-4 * step * descent:
                    break
            else:
                break
            x, now = x + step * direction, after
        return x, reads * problem.rows.block.labels.size


def _curvature(problem: View, x: np.ndarray) -> np.ndarray:
    """(1/N) w_i phi''(<a_i, x>)."""
    rows, labels, weights = problem.rows.block
    t = np.empty(labels.size)
    margins(rows, x, t)
    return (weights if weights.size else 1.0) * problem.loss.second_derivative(t, labels) / labels.size


def _solve(A: Any, curvature: np.ndarray, rho: float, K: sp.csr_array, right: np.ndarray) -> np.ndarray:
    """(A^T diag(curvature) A + rho K^T K)^{-1} right."""
    d = right.size
    if d <= _DENSE:
        weighted = A.multiply(curvature[:, None]).tocsr() if sp.issparse(A) else A * curvature[:, None]
        hessian = A.T @ weighted
        hessian = (hessian.toarray() if sp.issparse(hessian) else hessian) + rho * (K.T @ K).toarray()
        return np.asarray(scipy.linalg.solve(hessian, right, assume_a="pos"))
    operator = scipy.sparse.linalg.LinearOperator(
        (d, d), matvec=lambda v: A.T @ (curvature * (A @ v)) + rho * (K.T @ (K @ v)), dtype=float
    )
    solution, _ = scipy.sparse.linalg.cg(operator, right, rtol=1e-8, maxiter=10 * d)
    return np.asarray(solution)
