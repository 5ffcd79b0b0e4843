"""LADMM: linearized ADMM with full gradients.

Yang, Yuan: Linearized augmented Lagrangian and alternating direction methods for nuclear norm minimization, Mathematics
of Computation 82 (2013), with the loss linearized too.
"""

import math
from dataclasses import dataclass

from ..view import View
from . import averaging as averages
from .base import About, require_positive, require_smooth
from .linearized import Linearized
from .steps import StepRule


@dataclass(eq=False, repr=False)
class LADMM(Linearized):
    """c = 1 / (L/2 + rho |F|^2), constant; the last iterate. The same iterates as Condat-Vu with those steps.

    Parameters
    ----------
    rho : float, optional
        0.25 L / |F|^2 by default.
    lipschitz : float, optional
        Of the gradient of the mean loss; estimated by default.
    averaging : {"last", "uniform", "linear", "increasing"}
    """

    about = About(
        name="ladmm",
        summary="linearized ADMM with full gradients (Yang, Yuan 2013)",
        update="y+ = prox2*(y + rho F (2 x - x-)); x+ = prox1(x - c (G(x) + F^T y+))",
        cost="1 pass, 1 F, 1 F^T, 1 prox1, 1 prox2*, 5 d + 17 l flops",
        memory="4 d + 7 l",
        rate="O(1/t)",
        needs="smooth loss; any r1, r2, F; finite sum",
        deterministic=True,
        finite_sum=True,
        assumptions="l convex with Lipschitz gradient, c (L/2 + rho |F|^2) at most 1; for the average",
    )
    lead_x = 1.0

    rho: float | None = None
    lipschitz: float | None = None
    averaging: str = "last"

    def __post_init__(self) -> None:
        require_positive(rho=self.rho, lipschitz=self.lipschitz)

    def check(self, problem: View) -> None:
        averages.rule(self.averaging)
        require_smooth(self, problem)

    def _L(self, problem: View) -> float:
        return problem.bounds.lipschitz if self.lipschitz is None else self.lipschitz

    def _rho(self, problem: View) -> float:
        return mean_rho(self.rho, problem, self._L(problem))

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        base = self._L(problem) / 2 + coupling
        return StepRule(base=base or 1.0, stable=1.0 / base if base else math.inf)


def mean_rho(rho: float | None, problem: View, lipschitz: float) -> float:
    """`rho`, or a quarter of L / |F|^2."""
    if rho is not None:
        return rho
    square = problem.F.squared_norm
    if square == 0.0:
        return 1.0
    return 0.25 * lipschitz / square if lipschitz > 0.0 else 1.0 / math.sqrt(square)
