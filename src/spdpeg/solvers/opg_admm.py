"""OPG-ADMM: online proximal gradient ADMM.

Suzuki: Dual averaging and proximal gradient descent for online alternating direction multiplier method, ICML 2013.
"""

from ..view import View
from .base import About
from .linearized import Stochastic
from .steps import StepRule


class OPGADMM(Stochastic):
    """c_k = 1 / (kappa sqrt(k+1) + rho |F|^2), or 1 / (mu (k+1) + rho |F|^2), the x-step first; uniform average of x.

    In the paper's letters eta_t / gamma_t with eta_t = 1 / (kappa sqrt(t)) and gamma_t = 1 + rho eta_t |F|^2. The
    SPDPEG authors' published code keeps the step constant and forgets a division by rho in the prox.
    """

    about = About(
        name="opg-admm",
        summary="online proximal gradient ADMM (Suzuki 2013)",
        update="y+ = prox2*(y + rho F x); x+ = prox1(x - c (g + F^T (2 y+ - y)))",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 5 d + 17 l flops",
        memory="4 d + 7 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2, F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded; in expectation, for the average",
    )
    lead_y = 1.0

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        return self._decreasing(problem, coupling, batch_size)
