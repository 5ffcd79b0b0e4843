"""SGADM: stochastic linearized ADMM, the z-step first.

Gao, Jiang, Zhang: On the information-adaptive variants of the ADMM, Journal of Scientific Computing 76 (2018).
"""

from ..view import View
from .base import About
from .linearized import Stochastic
from .steps import StepRule


class SGADM(Stochastic):
    """c_k = 1 / (kappa sqrt(k+1) + L + rho |F|^2), or 1 / (mu (k+1) + L + rho |F|^2); uniform average of x.

    The SPDPEG authors' published code stacks [F; I] to carry r1 and so adds rho to the denominator; here r1 goes by its
    prox, which is at least as good and cheaper.
    """

    about = About(
        name="sgadm",
        summary="stochastic linearized ADMM (Gao, Jiang, Zhang 2014)",
        update="y+ = prox2*(y + rho F (2 x - x-)); x+ = prox1(x - c (g + F^T y+))",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 5 d + 17 l flops",
        memory="4 d + 7 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2, F; finite sum or stream",
        assumptions="l convex with Lipschitz gradient, bounded sets, bounded variance; in expectation, for the average",
    )
    lead_x = 1.0

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        return self._decreasing(problem, self._worst_row(problem) + coupling, batch_size)
