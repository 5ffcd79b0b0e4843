"""SADMM: stochastic ADMM, and its optimal form.

Ouyang, He, Tran, Gray: Stochastic alternating direction method of multipliers, ICML 2013.
Azadi, Sra: Towards an optimal stochastic alternating direction method of multipliers, ICML 2014.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from ..errors import UnsupportedError
from ..view import View
from .base import About, require_positive
from .exact_x_step import Exact, check_regime, decreasing
from .steps import StepRule


@dataclass(eq=False, repr=False)
class SADMM(Exact):
    """eta_k = 1 / (L_max + kappa sqrt(k+1)), or 1 / (mu (k+1)); uniform average.

    The SPDPEG authors' published code keeps eta constant and inverts a dense matrix.

    Parameters
    ----------
    regime : {"convex", "strongly-convex"}
        The latter takes the modulus mu of r1.
    rho : float, optional
        L_max / |F|^2 by default.
    kappa : float, optional
        Noise over distance in the convex steps; estimated from the data by default.
    averaging : {"uniform", "linear", "increasing", "last"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="sadmm",
        summary="stochastic ADMM with exact x-step (Ouyang et al. 2013)",
        update=(
            "x+ = (rho F^T F + H)^-1 (H x - g - s + F^T (rho z - y)), H = I / eta, s a subgradient of r1; y+ = "
            "prox2*(y + rho F x+); z+ = F x+ + (y - y+) / rho"
        ),
        cost=(
            "1 batch, 1 F, 1 F^T, 1 subgradient, 1 prox2*, 8 d + 13 l flops and the solve: 10 d flops for a chain, 4 "
            "d^2 for d <= 200, conjugate gradients (1 F, 1 F^T, 18 d flops an iteration) beyond"
        ),
        memory="6 d + 5 l, and 4 d + l for the solve; d^2 more for d <= 200 unless F is a chain",
        rate="O(1/sqrt(t)); O(log(t)/t) strongly convex",
        needs="smooth loss; r1 with a subgradient; any r2, F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded; in expectation, for the average",
    )
    strong: ClassVar[tuple[float, float]] = (1.0, 1.0)

    regime: str = "convex"
    rho: float | None = None
    kappa: float | None = None
    averaging: str = "uniform"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        check_regime(self, self.regime, self.kappa)
        require_positive(rho=self.rho)

    def check(self, problem: View) -> None:
        super().check(problem)
        if self.regime == "strongly-convex" and problem.penalty.strong_convexity == 0.0:
            raise UnsupportedError(
                f"{self.about.name} with regime='strongly-convex' needs strong convexity in r1. "
                "Add ridge (penalties.L2Squared, penalties.ElasticNet) or choose regime='convex'."
            )

    def _steps(self, problem: View, batch_size: int) -> StepRule:
        return decreasing(self.regime, self.kappa, problem.bounds.lipschitz_max, problem, batch_size, self.strong)


@dataclass(eq=False, repr=False)
class OptimalSADMM(SADMM):
    """SADMM whose later iterates weigh more; strongly convex: eta_k = 2 / (mu (k+2)).

    Its averaging is "linear" by default.
    """

    about = replace(
        SADMM.about,
        name="optimal-sadmm",
        summary="stochastic ADMM with linear weights (Azadi, Sra 2014)",
        rate="O(1/sqrt(t)); O(1/t) strongly convex",
        assumptions="l convex, gradients and sets bounded; in expectation, for the weighted average",
    )
    strong = (0.5, 2.0)

    averaging: str = "linear"
