"""The family of stochastic ADMM with the exact x-step: SADMM, its optimal and its adaptive forms."""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.jit import Term, call_linear, kernel
from ..kernels.terms import Terms
from ..parameters import one_of
from ..schemes.normal_equations import Normal, prepare, solve_normal
from ..schemes.primal_dual import Estimator, blend, descend, dual_update, expect, plain
from ..schemes.records import Pace, gather
from ..state import State
from ..view import View
from . import averaging
from .base import Solution, Solver, per_problem, require_positive, require_smooth
from .linearized import REGIMES, worst_row_rho
from .steps import StepRule, noise_scale


class Exact(Solver):
    """Base of the methods whose x-step solves with rho F^T F + (a diagonal).

    r1 enters by a subgradient, so no coefficient is exactly zero.
    """

    rho: float | None
    averaging: str
    adaptive: bool = False

    def check(self, problem: View) -> None:
        averaging.rule(self.averaging)
        require_smooth(self, problem)
        require_subgradient(self, problem)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        rule = self._steps(problem, batch_size)
        d, m = problem.n_coordinates, problem.F.n_outputs
        Fx = problem.F.forward(x0)
        vectors = {"x": x0.copy(), "x_average": x0.copy(), "z": Fx, "z_average": Fx.copy()}
        vectors |= {name: np.zeros(d) for name in ("squares", "gradient", "back", "shift")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_average", "y_next")}
        return {"rho": worst_row_rho(self.rho, problem), **rule.to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        exact_steps(
            block,
            order,
            order.size // steps,
            Pace(self.step_rule(state)(k), averaging.rule(self.averaging)(k), state.numbers["rho"]),
            self.adaptive,
            terms,
            plain(),
            problem.penalty.r1.subgradient_term(problem.n_coordinates),
            self._normal(problem),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x_average"].copy(), v["x"].copy(), v["z_average"].copy(), -v["y_average"])

    @per_problem
    def _normal(self, problem: View) -> Normal:
        """Not part of the state, since it follows from F."""
        return prepare(problem.F, scalar_shift=not self.adaptive)

    def _steps(self, problem: View, batch_size: int) -> StepRule:
        """eta_k."""
        raise NotImplementedError


def require_subgradient(solver: Solver, problem: View) -> None:
    """Refuse r1 and domains that only a prox can handle."""
    if problem.penalty.domain is not None or problem.penalty.r1.kernel_subgradient is None:
        part = (
            f"domain={problem.penalty.domain!r}" if problem.penalty.domain is not None else f"r1={problem.penalty.r1!r}"
        )
        raise UnsupportedError(
            f"{solver.about.name} takes r1 by a subgradient, which {part} does not have. "
            'Use a solver with a prox of r1, such as "sgadm" or "spdpeg".'
        )


class Work(NamedTuple):
    """Vectors of a step: iterates, averages, sums of squared gradients, and room to work in."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    x_average: np.ndarray
    y_average: np.ndarray
    z_average: np.ndarray
    squares: np.ndarray
    gradient: np.ndarray
    back: np.ndarray
    shift: np.ndarray
    y_next: np.ndarray


@kernel
def exact_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    pace: Pace,
    adaptive: bool,
    terms: Terms,
    estimator: Estimator,
    subgradient: Term,
    normal: Normal,
    work: Work,
) -> None:
    """`steps.size` iterations of stochastic ADMM; `gradient` is minus the stochastic subgradient of l + r1.

    x <- (rho F^T F + H)^{-1} (H x + gradient + F^T (rho z - y)),   H = I / eta or, adaptive, (I + diag|g|) / eta
    y <- y+ = prox_{rho r2*}(y + rho F x),  z <- F x + (y - y+) / rho
    with |g|_j the root of the sum of all squared j-th entries of the gradients so far.
    """
    steps, thetas, rho = pace
    x, y, z, x_average, y_average, z_average, squares, gradient, back, shift, y_next = work
    for k in range(steps.size):
        eta, theta = steps[k], thetas[k]
        expect(block, order, (k + 1) * batch, (k + 2) * batch)
        call_linear(subgradient, x, back)
        for j in range(x.size):
            gradient[j] = -back[j]
        descend(block, order[k * batch : (k + 1) * batch], 1.0, terms.derivative, estimator, x, gradient)
        if adaptive:
            for j in range(x.size):
                squares[j] += gradient[j] * gradient[j]
            for j in range(x.size):
                shift[j] = (1.0 + np.sqrt(squares[j])) / eta
        else:
            for j in range(x.size):
                shift[j] = 1.0 / eta
        for i in range(y.size):
            y_next[i] = rho * z[i] - y[i]
        call_linear(terms.adjoint, y_next, back)
        for j in range(x.size):
            gradient[j] += shift[j] * x[j] + back[j]
        solve_normal(normal, terms, rho, shift, gradient, x)

        dual_update(terms, rho, x, y, z, y_next, normal.image)
        blend(theta, y, y_average)
        blend(theta, z, z_average)
        blend(theta, x, x_average)


def decreasing(
    regime: str, kappa: float | None, base: float, problem: View, batch_size: int, strong: tuple[float, float]
) -> StepRule:
    """eta_k = 1 / (kappa sqrt(k+1) + base) or 1 / (slope mu (k + shift)), with (slope, shift) = `strong`.

    The latter is published for losses with bounded slopes; others get L_max added, without which it diverges.
    """
    if regime == "strongly-convex":
        slope, shift = strong
        brake = 0.0 if problem.loss.bounded_slope else problem.bounds.lipschitz_max
        return StepRule(base=brake, slope=slope * problem.penalty.strong_convexity, shift=shift)
    chosen = noise_scale(problem, batch_size) if kappa is None else kappa
    return StepRule(base=base if base or chosen else 1.0, kappa=chosen)


def check_regime(solver: Solver, regime: str, kappa: float | None) -> None:
    """Refuse an unknown regime, or kappa where it has no part."""
    one_of("regime", regime, REGIMES)
    require_positive(kappa=kappa)
    if regime == "strongly-convex" and kappa is not None:
        raise InputError("kappa belongs to the convex steps. Leave it out or choose regime='convex'.")
