"""SPDHG of Qiao and others: stochastic Arrow-Hurwicz.

Qiao, Lin, Jiang, Yang, Liu, Lu: Stochastic primal-dual hybrid gradient algorithm with adaptive step-sizes, 2018; first
as Qiao, Lin, Qin, Lu: Stochastic primal dual hybrid gradient, 2016. Not the method of Chambolle and others
(`spdhg-cers`), which has the same name.
"""

from ..view import View
from .base import About
from .linearized import Stochastic
from .steps import StepRule


class SPDHG(Stochastic):
    """c_k = 1 / (kappa sqrt(k+1) + L), or 1 / (mu (k+1) + L), no extrapolation; uniform average of x.

    rho is the dual step. The method is stated for r1 = 0; r1 goes by its prox here. The authors' published code takes a
    dual step so small that the dual variable hardly moves.
    """

    about = About(
        name="spdhg",
        summary="stochastic Arrow-Hurwicz (Qiao et al. 2016)",
        update="y+ = prox2*(y + rho F x); x+ = prox1(x - c (g + F^T y+))",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 5 d + 17 l flops",
        memory="4 d + 7 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2 with bounded dual domain (norms), F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded, r1 = 0; in expectation, for the average",
    )

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        return self._decreasing(problem, self._worst_row(problem), batch_size)
