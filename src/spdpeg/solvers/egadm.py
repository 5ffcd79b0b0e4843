"""EGADM: the deterministic extragradient ADMM that SPDPEG makes stochastic.

Lin, Ma, Zhang: An extragradient-based alternating direction method for convex minimization, Foundations of
Computational Mathematics 17 (2017); first 2013.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..data import Block
from ..errors import InputError
from ..kernels.terms import Terms
from ..parameters import one_of
from ..state import State
from ..view import View
from .base import About, Solution, require_positive, require_smooth
from .extragradient import Extragradient
from .ladmm import mean_rho
from .stacking import stacked
from .steps import StepRule, extragradient_limit

VARIANTS = ("prox", "original")


@dataclass(eq=False, repr=False)
class EGADM(Extragradient):
    """SPDPEG's step with full gradients and constant steps; uniform average.

    A step counts as two passes here; the SPDPEG authors' published code miscounts them.

    Parameters
    ----------
    variant : {"prox", "original"}
        "prox": r1 by its prox, primal step c the root of c L + sqrt(c rho) |F| = 1. "original": r1 carried by the
        stacked operator K = [F; I], one step 1 / sqrt(max(2 L^2 + |K|^2, 2 |K|^2)) for everything, as published; slow
        when L is much smaller than |K|.
    rho : float, optional
        Dual step of the prox variant; 0.25 L / |F|^2 by default.
    """

    about = About(
        name="egadm",
        summary="extragradient ADMM with full gradients (Lin, Ma, Zhang 2015)",
        update=(
            "y' = prox2*(y + rho F x); x' = prox1(x - c (G(x) + F^T y)); x+ = prox1(x - c (G(x') + F^T y')); y+ = y' +"
            " rho F (x' - x)"
        ),
        cost="2 passes, 2 F, 2 F^T, 2 prox1, 1 prox2*, 7 d + 14 l flops",
        memory="5 d + 6 l; original: 11 d + 6 l",
        rate="O(1/t)",
        needs="smooth loss; any r1, r2, F; finite sum",
        batches_per_step=2,
        deterministic=True,
        finite_sum=True,
        assumptions="l convex with Lipschitz gradient; for the average",
    )

    variant: str = "prox"
    rho: float | None = None

    def __post_init__(self) -> None:
        one_of("variant", self.variant, VARIANTS)
        require_positive(rho=self.rho)
        if self.variant == "original" and self.rho is not None:
            raise InputError("The original EGADM has a single step and no rho. Leave rho out or choose variant='prox'.")

    def check(self, problem: View) -> None:
        require_smooth(self, problem)

    def _dual_size(self, problem: View) -> int:
        return problem.F.n_outputs + (problem.n_coordinates if self.variant == "original" else 0)

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        if self.variant == "original":
            terms = stacked(problem).terms(problem)
        super().advance(problem, terms, state, block, order, steps)

    def solution(self, problem: View, state: State) -> Solution:
        whole = super().solution(problem, state)
        m = problem.F.n_outputs
        assert whole.z is not None
        return whole._replace(z=whole.z[:m], dual=whole.dual[:m])

    def _steps(self, problem: View, batch_size: int) -> tuple[StepRule, float]:
        L = problem.bounds.lipschitz
        if self.variant == "original":
            square = problem.F.squared_norm + 1.0
            gamma = 1.0 / math.sqrt(max(2.0 * L * L + square, 2.0 * square))
            return StepRule(base=1.0 / gamma, stable=gamma), gamma
        rho = mean_rho(self.rho, problem, L)
        step = extragradient_limit(L, rho * problem.F.squared_norm)
        return StepRule(base=1.0 / step if math.isfinite(step) else 1.0, stable=step), rho
