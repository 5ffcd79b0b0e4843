"""Condat-Vu: the deterministic primal-dual reference for smooth + prox + prox composed with F.

Condat: A primal-dual splitting method for convex optimization, JOTA 158 (2013); Vu, Adv. Comput. Math. 38 (2013).
"""

import math
from dataclasses import dataclass

import numpy as np

from ..data import Block
from ..errors import InputError
from ..kernels.terms import Terms
from ..parameters import as_number, shown
from ..schemes.condat_vu import Work, condat_vu
from ..schemes.primal_dual import plain
from ..schemes.records import gather, uniform
from ..state import State
from ..view import View
from .base import About, Solution, Solver, require_positive, require_smooth
from .ladmm import mean_rho
from .steps import StepRule

_NOTHING = np.empty(0)


@dataclass(eq=False, repr=False)
class CondatVu(Solver):
    """c = 1 / (L/2 + rho |F|^2); the last iterate.

    Parameters
    ----------
    rho : float, optional
        Dual step; 0.25 L / |F|^2 by default.
    lipschitz : float, optional
        Of the gradient of the mean loss; estimated by default.
    relaxation : float
        Goes this many times as far as the plain step, within [1, 2 - (L/2) / (1/c - rho |F|^2)); 1 with the default
        step, which uses up the whole room. A relaxed run takes c = 1 / (L + rho |F|^2), which allows up to 1.5.
    """

    about = About(
        name="condat-vu",
        summary="deterministic primal-dual splitting (Condat 2013, Vu 2013)",
        update="x+ = prox1(x - c (G(x) + F^T y)); y+ = prox2*(y + rho F (2 x+ - x))",
        cost="1 pass, 1 F, 1 F^T, 1 prox1, 1 prox2*, 7 d + 8 l flops",
        memory="4 d + 4 l",
        rate="O(1/t)",
        needs="smooth loss; any r1, r2, F; finite sum",
        deterministic=True,
        finite_sum=True,
        assumptions="l convex with Lipschitz gradient, 1/c - rho |F|^2 at least L/2; for the average",
    )

    rho: float | None = None
    lipschitz: float | None = None
    relaxation: float = 1.0

    def __post_init__(self) -> None:
        require_positive(rho=self.rho, lipschitz=self.lipschitz)
        if not 1.0 <= as_number(self.relaxation) < 1.5:
            raise InputError(f"relaxation is {shown(self.relaxation)}. It must be at least 1 and below 1.5.")

    def check(self, problem: View) -> None:
        require_smooth(self, problem)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        L = problem.bounds.lipschitz if self.lipschitz is None else self.lipschitz
        rho = mean_rho(self.rho, problem, L)
        coupling = rho * problem.F.squared_norm
        base = (L / 2 if self.relaxation == 1.0 else L) + coupling
        stable = 1.0 / (L / 2 + coupling) if L + coupling > 0.0 else math.inf
        rule = StepRule(base=base or 1.0, stable=stable)
        d, m = problem.n_coordinates, problem.F.n_outputs
        vectors = {"x": x0.copy(), "z": problem.F.forward(x0)}
        vectors |= {name: np.zeros(d) for name in ("ahead", "back", "x_next")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_next", "y_ahead")}
        return {"rho": rho, **rule.to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        c, rho = 1.0 / state.numbers["step_base"], state.numbers["rho"]
        work = gather(Work, {**state.vectors, "anchor": _NOTHING})
        condat_vu(
            block, order, order.size // steps, terms, plain(), uniform(c, rho), float(self.relaxation), 1, 0, work
        )

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        vectors["y"][:], vectors["back"][:] = y, problem.F.adjoint(y)

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])
