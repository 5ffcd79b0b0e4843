"""Online ADMM: stochastic ADMM that does not linearize the sampled loss.

Wang, Banerjee: Online alternating direction method, ICML 2012.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..errors import InputError
from ..kernels.jit import Term, call_linear, call_scalar_prox, kernel
from ..kernels.rows import add_row, row_dot, weight_of
from ..kernels.terms import Terms
from ..schemes.normal_equations import Normal, solve_normal
from ..schemes.primal_dual import blend, dual_update, expect
from ..schemes.records import Pace, gather
from ..state import State
from ..view import View
from . import averaging
from .base import About, Solution, require_positive
from .exact_x_step import Exact
from .linearized import worst_row_rho
from .stacking import stacked
from .steps import StepRule, noise_scale


@dataclass(eq=False, repr=False)
class OnlineADMM(Exact):
    """x-step with the sampled loss itself and the proximal weight eta_k = kappa sqrt(k+1); uniform average.

    For one row the step comes down to a scalar equation and two linear systems. r1 is carried by the stacked operator
    [F; I], so exact zeros appear in z only.

    Parameters
    ----------
    rho : float, optional
        L_max / |F|^2 by default.
    kappa : float, optional
        Noise over distance; estimated from the data by default.
    averaging : {"uniform", "linear", "increasing", "last"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="online-admm",
        summary="online ADMM, sampled loss not linearized (Wang, Banerjee 2012)",
        update=(
            "x+ = argmin of l_i(x) + <y, K x> + rho/2 |K x - z|^2 + eta/2 |x - x_k|^2, K = [F; I]; y+ = prox2*(y + rho"
            " K x+); z+ = K x+ + (y - y+) / rho"
        ),
        cost="1 row, 1 K, 1 K^T, 1 prox of the loss, 1 prox2*, 21 d + 13 l flops and two solves as in sadmm",
        memory="13 d + 6 l, and 4 d + l for the solves; d^2 more for d <= 200 unless F is a chain",
        rate="O(1/sqrt(t))",
        needs="batch_size 1; any r1, r2, F; finite sum or stream",
        assumptions="losses convex, gradients and sets bounded; as regret, hence in expectation for the average",
    )

    rho: float | None = None
    kappa: float | None = None
    averaging: str = "uniform"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        require_positive(rho=self.rho, kappa=self.kappa)

    def check(self, problem: View) -> None:
        averaging.rule(self.averaging)

    def _dual_size(self, problem: View) -> int:
        return problem.F.n_outputs + problem.n_coordinates

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        if batch_size != 1:
            raise InputError(f"online-admm solves for one row at a time and batch_size is {batch_size}. Set it to 1.")
        d, m = problem.n_coordinates, self._dual_size(problem)
        z = stacked(problem).K.forward(x0)
        vectors = {"x": x0.copy(), "x_average": x0.copy(), "z": z, "z_average": z.copy()}
        vectors |= {name: np.zeros(d) for name in ("right", "still", "answer", "back", "shift")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_average", "y_next", "ahead")}
        rho = worst_row_rho(self.rho, problem)
        kappa = self.kappa or noise_scale(problem, batch_size) or 1.0
        return {"rho": rho, **StepRule(base=0.0, kappa=kappa).to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        online_steps(
            block,
            order,
            Pace(1.0 / self.step_rule(state)(k), averaging.rule(self.averaging)(k), state.numbers["rho"]),
            problem.loss.prox_term,
            terms,
            stacked(problem).terms(problem),
            self._normal(problem),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        whole = super().solution(problem, state)
        m = problem.F.n_outputs
        assert whole.z is not None
        return whole._replace(z=whole.z[:m], dual=whole.dual[:m])


class Work(NamedTuple):
    """Vectors of a step: iterates, averages, and room to work in."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    x_average: np.ndarray
    y_average: np.ndarray
    z_average: np.ndarray
    right: np.ndarray
    still: np.ndarray
    answer: np.ndarray
    back: np.ndarray
    shift: np.ndarray
    y_next: np.ndarray
    ahead: np.ndarray


@kernel
def online_steps(
    block: Block,
    order: np.ndarray,
    pace: Pace,
    loss_prox: Term,
    terms: Terms,
    stack: Terms,
    normal: Normal,
    work: Work,
) -> None:
    """`etas.size` iterations of online ADMM with K = [F; I].

    With M = rho K^T K + eta I = rho F^T F + (rho + eta) I, the x that minimises the sampled loss plus the quadratic is
    still - phi'(s) answer, where still = M^{-1} (eta x + K^T (rho z - y)), answer = M^{-1} a and the margin s solves
    s + <a, answer> phi'(s) = <a, still>: a prox of phi.
    """
    etas, thetas, rho = pace
    x, y, z, x_average, y_average, z_average, right, still, answer, back, shift, y_next, ahead = work
    for k in range(etas.size):
        i, eta, theta = order[k], etas[k], thetas[k]
        expect(block, order, k + 1, k + 2)
        for e in range(y.size):
            y_next[e] = rho * z[e] - y[e]
        call_linear(stack.adjoint, y_next, back)
        for j in range(x.size):
            shift[j] = rho + eta
            right[j] = eta * x[j] + back[j]
            still[j] = x[j]
        solve_normal(normal, terms, rho, shift, right, still)
        for j in range(x.size):
            right[j] = 0.0
            answer[j] = 0.0
        add_row(block.rows, i, 1.0, right)
        solve_normal(normal, terms, rho, shift, right, answer)
        response = row_dot(block.rows, i, answer)
        if response > 0.0:
            margin = row_dot(block.rows, i, still)
            moved = call_scalar_prox(loss_prox, margin, weight_of(block.weights, i) * response, block.labels[i])
            slope = (margin - moved) / response
        else:
            slope = 0.0
        for j in range(x.size):
            x[j] = still[j] - slope * answer[j]

        dual_update(stack, rho, x, y, z, y_next, ahead)
        blend(theta, y, y_average)
        blend(theta, z, z_average)
        blend(theta, x, x_average)
