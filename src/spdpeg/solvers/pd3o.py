"""PD3O: the best generic deterministic first-order reference.

Yan: A new primal-dual algorithm for minimizing the sum of three functions with a linear operator, Journal of Scientific
Computing 76 (2018).
"""

from dataclasses import dataclass

import numpy as np

from ..data import Block
from ..kernels.terms import Terms
from ..schemes.pd3o import Work, pd3o
from ..schemes.primal_dual import plain
from ..schemes.records import gather, uniform
from ..state import State
from ..view import View
from .base import About, Solution, Solver, require_positive, require_smooth
from .steps import StepRule


@dataclass(eq=False, repr=False)
class PD3O(Solver):
    """c = 1.9 / L and rho = 1 / (c |F|^2), whose limits do not depend on each other; the last iterate.

    Parameters
    ----------
    step : float, optional
        c, below 2 / L; 1.9 / L by default.
    rho : float, optional
        Dual step, at most 1 / (c |F|^2), which is the default.
    """

    about = About(
        name="pd3o",
        summary="deterministic three-operator primal-dual splitting (Yan 2018)",
        update="x = prox1(q); h = x - c G(x); y+ = prox2*(y + rho F (x + h - q - c F^T y)); q+ = h - c F^T y+",
        cost="1 pass, 1 F, 1 F^T, 1 prox1, 1 prox2*, 6 d + 5 l flops",
        memory="4 d + 3 l",
        rate="O(1/t)",
        needs="smooth loss; any r1, r2, F; finite sum",
        deterministic=True,
        finite_sum=True,
        assumptions="l convex with Lipschitz gradient, c below 2/L, c rho |F|^2 at most 1; for the average",
    )

    step: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step, rho=self.rho)

    def check(self, problem: View) -> None:
        require_smooth(self, problem)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        L, square = problem.bounds.lipschitz, problem.F.squared_norm
        c = self.step or (1.9 / L if L > 0.0 else 1.0)
        rho = self.rho or (1.0 / (c * square) if square > 0.0 else 1.0)
        rule = StepRule(base=1.0 / c, stable=2.0 / L if L > 0.0 else np.inf)
        d, m = problem.n_coordinates, problem.F.n_outputs
        vectors = {"x": x0.copy(), "q": x0.copy(), "z": problem.F.forward(x0)}
        vectors |= {name: np.zeros(d) for name in ("back", "ahead")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_ahead")}
        return {"rho": rho, **rule.to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        c, rho = 1.0 / state.numbers["step_base"], state.numbers["rho"]
        pd3o(block, order, order.size // steps, terms, plain(), uniform(c, rho), gather(Work, state.vectors))

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        vectors["y"][:], vectors["back"][:] = y, problem.F.adjoint(y)

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])
