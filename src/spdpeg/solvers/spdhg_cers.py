"""SPDHG of Chambolle and others: primal-dual hybrid gradient that updates one dual block at a time.

Chambolle, Ehrhardt, Richtarik, Schonlieb: Stochastic primal-dual hybrid gradient algorithm with arbitrary sampling and
imaging applications, SIAM Journal on Optimization 28 (2018).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..errors import InputError
from ..kernels.jit import Term, call_linear, call_prox, call_scalar_prox, kernel
from ..kernels.row_sums import row_squares
from ..kernels.rows import add_row, row_dot, weight_of
from ..kernels.terms import Terms
from ..parameters import as_number, shown
from ..schemes.primal_dual import expect
from ..schemes.records import gather
from ..state import State
from ..view import View
from . import averaging as averages
from .base import About, Solution, Solver, require_given, unweighted
from .sampling import Independent
from .steps import StepRule

_SAFETY = 0.99
"""Fraction of the longest steps that are proved to converge."""

_COINS = 1 << 40
"""Fine enough to tell probabilities apart."""


@dataclass(eq=False, repr=False)
class SPDHGCERS(Solver):
    """The dual blocks of K = [A / N; F] one by one: a row with probability (1 - p) / N, F with probability p.

    Steps sigma_j = 0.99 gamma / |K_j| and tau = 0.99 min_j p_j / (gamma |K_j|) need no smoothness, so exact hinge and
    quantile losses work; variance vanishes by itself. A step is one row and the updates of F drawn before it. The last
    iterate.

    Parameters
    ----------
    gamma : float
        Balance of dual against primal steps.
    probability : float
        p, that of F.
    averaging : {"last", "uniform", "linear", "increasing"}
    """

    about = About(
        name="spdhg-cers",
        summary="dual-coordinate PDHG (Chambolle, Ehrhardt, Richtarik, Schonlieb 2018)",
        update=(
            "x+ = prox1(x - tau (q + dq / prob)), q = A^T u / N + F^T y, dq its last change; then u_i+ by the prox of "
            "the loss, or y+ = prox2*(y + sigma F x+)"
        ),
        cost=(
            "1 row, 1 prox of the loss, 1 prox1, 5 d flops, and p / (1 - p) times on average: 1 F, 1 F^T, 1 prox1, 1 "
            "prox2*, 5 d + 5 l flops"
        ),
        memory="5 d + 4 l + 2 N",
        rate="O(1/t); linear if strongly convex and smooth",
        needs="batch_size 1; any loss with a prox, hinge included; any r1, r2, F; finite sum",
        finite_sum=True,
        assumptions=(
            "convex terms, the default steps; in expectation, for the average; linear rate if l is smooth and r1, r2* "
            "are strongly convex"
        ),
    )

    gamma: float = 1.0
    probability: float = 0.5
    averaging: str = "last"

    def __post_init__(self) -> None:
        require_given(gamma=self.gamma)
        if not 0.0 < as_number(self.probability) < 1.0:
            raise InputError(f"probability is {shown(self.probability)}. It must lie strictly between 0 and 1.")

    def check(self, problem: View) -> None:
        averages.rule(self.averaging)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        if batch_size != 1:
            raise InputError(f"spdhg-cers takes one row at a time and batch_size is {batch_size}. Set it to 1.")
        n = problem.rows.block.labels.size
        norms = np.empty(n)
        row_squares(problem.rows.block.rows, norms)
        np.sqrt(norms, out=norms)
        p = self.probability if problem.F.n_outputs else 0.0
        limits = [(1.0 - p) / norm for norm in (norms.max(),) if norm > 0.0]
        limits += [p / problem.F.norm] if problem.F.norm > 0.0 else []
        tau = _SAFETY * min(limits, default=1.0) / self.gamma
        z = problem.F.forward(x0)
        vectors = {"x": x0.copy(), "x_average": x0.copy(), "z": z, "norms": norms, "u": np.zeros(n)}
        vectors |= {name: np.zeros(problem.n_coordinates) for name in ("adjoint", "back", "ahead")}
        vectors |= {name: np.zeros(problem.F.n_outputs) for name in ("y", "y_next", "y_ahead")}
        vectors |= {"pending": np.array([_NOTHING]), "change": np.zeros(1)}
        sigma = _SAFETY * self.gamma / problem.F.norm if problem.F.norm > 0.0 else 1.0
        return {"sigma": sigma, "probability": p, **StepRule(base=1.0 / tau, stable=tau).to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        dual_coordinate_steps(
            block,
            order,
            self._updates_of_F(state, steps),
            Sizes(
                1.0 / state.numbers["step_base"],
                state.numbers["sigma"],
                _SAFETY * self.gamma,
                state.numbers["probability"],
            ),
            averages.rule(self.averaging)(k),
            problem.loss.prox_term,
            terms,
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x_average"].copy(), v["x"].copy(), v["z"].copy(), -v["y"], unweighted(problem, v["u"]))

    def _updates_of_F(self, state: State, steps: int) -> np.ndarray:
        """How many updates of F come before each row: geometric, which is what independent coin tosses give."""
        p = state.numbers["probability"]
        if p == 0.0:
            return np.zeros(steps, dtype=np.int64)
        tosses = Independent(_COINS, 1, state.seed + 1).draw(state.steps, steps)
        return np.floor(np.log((tosses + 1.0) / _COINS) / np.log(p)).astype(np.int64)


_NOTHING, _FROM_F = -1, -2
"""What the extrapolation still has to account for, beside the number of a row."""


class Work(NamedTuple):
    """Vectors of a step: iterates, the average, what is pending, and room to work in."""

    x: np.ndarray
    u: np.ndarray
    y: np.ndarray
    z: np.ndarray
    norms: np.ndarray
    adjoint: np.ndarray
    pending: np.ndarray
    change: np.ndarray
    x_average: np.ndarray
    back: np.ndarray
    ahead: np.ndarray
    y_next: np.ndarray
    y_ahead: np.ndarray


class Sizes(NamedTuple):
    """Primal step, dual step of F, that of a row times its norm, and the probability of F."""

    tau: float
    sigma: float
    gamma: float
    probability: float


@kernel
def dual_coordinate_steps(
    block: Block,
    order: np.ndarray,
    updates_of_F: np.ndarray,
    sizes: Sizes,
    thetas: np.ndarray,
    loss_prox: Term,
    terms: Terms,
    work: Work,
) -> None:
    """`order.size` row updates and the updates of F before them; adjoint = A^T u / N + F^T y.

    Each update first moves x <- prox_{tau r1}(x - tau (adjoint + last change of adjoint / its probability)); the second
    term is kept: `pending` is the row and `change` that of its dual, or `pending` says that it is `back`, the change
    of F.
    """
    tau, sigma, gamma, probability = sizes
    x, u, y, z, norms, adjoint, pending, change, x_average, back, ahead, y_next, y_ahead = work
    n = u.size
    for k in range(order.size):
        expect(block, order, k + 1, k + 2)
        i = order[k]
        for update in range(updates_of_F[k] + 1):
            for j in range(x.size):
                ahead[j] = x[j] - tau * adjoint[j]
            if pending[0] >= 0:
                add_row(block.rows, pending[0], -tau * change[0] / (1.0 - probability), ahead)
            elif pending[0] == _FROM_F:
                for j in range(x.size):
                    ahead[j] -= tau / probability * back[j]
            call_prox(terms.prox1, ahead, tau, x)
            if update < updates_of_F[k]:
                call_linear(terms.forward, x, z)
                for e in range(y.size):
                    y_ahead[e] = y[e] + sigma * z[e]
                call_prox(terms.dual_prox2, y_ahead, sigma, y_next)
                for e in range(y.size):
                    y_ahead[e] = y_next[e] - y[e]
                for e in range(y.size):
                    z[e] -= y_ahead[e] / sigma
                for e in range(y.size):
                    y[e] = y_next[e]
                call_linear(terms.adjoint, y_ahead, back)
                for j in range(x.size):
                    adjoint[j] += back[j]
                pending[0] = _FROM_F
            else:
                # prox of (sigma_i / N) phi_i* by Moreau; sigma_i / N = gamma / |a_i|.
                change[0] = 0.0
                if norms[i] > 0.0:
                    step = gamma / norms[i]
                    point = u[i] + step * row_dot(block.rows, i, x)
                    after = point - step * call_scalar_prox(
                        loss_prox, point / step, weight_of(block.weights, i) / step, block.labels[i]
                    )
                    change[0] = after - u[i]
                    u[i] = after
                    add_row(block.rows, i, change[0] / n, adjoint)
                pending[0] = i
        for j in range(x.size):
            x_average[j] += thetas[k] * (x[j] - x_average[j])
