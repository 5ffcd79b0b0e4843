"""RDA-ADMM: regularized dual averaging ADMM.

Suzuki: Dual averaging and proximal gradient descent for online alternating direction multiplier method, ICML 2013.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, kernel
from ..kernels.terms import Terms
from ..schemes.primal_dual import Estimator, descend, expect, plain
from ..schemes.records import Pace, gather
from ..state import State
from ..view import View
from .base import About, Solution, Solver, require_positive, require_smooth
from .linearized import worst_row_rho
from .steps import StepRule, noise_scale


@dataclass(frozen=True)
class GrowingSteps(StepRule):
    """c_k = 1 / (kappa / sqrt(k+1) + base / (k+1)): steps on averaged gradients grow."""

    def __call__(self, k: np.ndarray) -> np.ndarray:
        return 1.0 / (self.kappa / np.sqrt(k + 1.0) + self.base / (k + 1.0))

    def __str__(self) -> str:
        return f"1 / ({self.kappa:.3g} / sqrt(k+1) + {self.base:.3g} / (k+1))"


@dataclass(eq=False, repr=False)
class RDAADMM(Solver):
    """Each x is the prox of the averaged gradient: c_k = eta_t / gamma_t, eta_t = sqrt(t) / kappa; uniform average of
    x.

    gamma_t = 1 + rho eta_t |F|^2 / t, t = k + 1. Distances are measured from the start x0. The SPDPEG authors'
    published code lets eta_t grow like t and leans on a tuned scale.

    Parameters
    ----------
    rho : float, optional
        L_max / |F|^2 by default.
    kappa : float, optional
        Noise over distance; estimated from the data by default.
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="rda-admm",
        summary="regularized dual averaging ADMM (Suzuki 2013)",
        update=(
            "x+ = prox1(x0 - c (mean g + F^T (mean y + rho (F mean x - mean z)))); y+ = prox2*(y + rho F x+); z+ = F "
            "x+ + (y - y+) / rho"
        ),
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 8 d + 17 l flops",
        memory="6 d + 7 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2, F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded; in expectation, for the average",
    )

    rho: float | None = None
    kappa: float | None = None
    sampling: str = "auto"

    def __post_init__(self) -> None:
        require_positive(rho=self.rho, kappa=self.kappa)

    def check(self, problem: View) -> None:
        require_smooth(self, problem)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        rho = worst_row_rho(self.rho, problem)
        kappa = self.kappa or noise_scale(problem, batch_size)
        base = rho * problem.F.squared_norm
        rule = GrowingSteps(base=base if base or kappa else 1.0, kappa=kappa)
        d, m = problem.n_coordinates, problem.F.n_outputs
        vectors = {"x": x0.copy(), "center": x0.copy(), "Fx": problem.F.forward(x0), "z": problem.F.forward(x0)}
        vectors |= {name: np.zeros(d) for name in ("x_average", "gradient", "ahead", "back")}
        vectors |= {name: np.zeros(m) for name in ("y", "z_average", "y_average", "Fx_average", "y_next")}
        return {"rho": rho, **rule.to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        dual_averaging(
            block,
            order,
            order.size // steps,
            Pace(self.step_rule(state)(k), 1.0 / (k + 1.0), state.numbers["rho"]),
            terms,
            plain(),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        if state.steps == 0:
            return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])
        return Solution(v["x_average"].copy(), v["x"].copy(), v["z_average"].copy(), -v["y_average"])

    def step_rule(self, state: State) -> StepRule:
        return GrowingSteps.from_numbers(state.numbers)


class Work(NamedTuple):
    """Vectors of a step: the start, iterates, averages, and room to work in."""

    center: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    Fx: np.ndarray
    x_average: np.ndarray
    y_average: np.ndarray
    z_average: np.ndarray
    Fx_average: np.ndarray
    gradient: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    y_next: np.ndarray


@kernel
def dual_averaging(
    block: Block,
    order: np.ndarray,
    batch: int,
    pace: Pace,
    terms: Terms,
    estimator: Estimator,
    work: Work,
) -> None:
    """`steps.size` iterations of RDA-ADMM; `gradient` is minus the average of all gradients so far.

    x+ = prox_{c r1}(center - c (average gradient + F^T (average y + rho (F average x - average z))))
    y+ = prox_{rho r2*}(y + rho F x+),  z+ = F x+ + (y - y+) / rho
    """
    steps, thetas, rho = pace
    center, x, y, z, Fx, x_average, y_average, z_average, Fx_average, gradient, ahead, back, y_next = work
    for k in range(steps.size):
        c, theta = steps[k], thetas[k]
        expect(block, order, (k + 1) * batch, (k + 2) * batch)
        for j in range(x.size):
            x_average[j] += theta * (x[j] - x_average[j])
        for j in range(x.size):
            gradient[j] -= theta * gradient[j]
        descend(block, order[k * batch : (k + 1) * batch], theta, terms.derivative, estimator, x, gradient)
        for i in range(y.size):
            y_average[i] += theta * (y[i] - y_average[i])
        for i in range(y.size):
            z_average[i] += theta * (z[i] - z_average[i])
        for i in range(y.size):
            Fx_average[i] += theta * (Fx[i] - Fx_average[i])
        for i in range(y.size):
            y_next[i] = y_average[i] + rho * (Fx_average[i] - z_average[i])
        call_linear(terms.adjoint, y_next, back)
        for j in range(x.size):
            ahead[j] = center[j] + c * (gradient[j] - back[j])
        call_prox(terms.prox1, ahead, c, x)
        call_linear(terms.forward, x, Fx)
        for i in range(y.size):
            z[i] = y[i] + rho * Fx[i]
        call_prox(terms.dual_prox2, z, rho, y_next)
        for i in range(y.size):
            z[i] = Fx[i] + (y[i] - y_next[i]) / rho
        for i in range(y.size):
            y[i] = y_next[i]
