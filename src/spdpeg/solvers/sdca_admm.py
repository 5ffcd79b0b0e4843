"""SDCA-ADMM: stochastic dual coordinate ascent with ADMM.

Suzuki: Stochastic dual coordinate ascent with alternating direction method of multipliers, ICML 2014.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar_prox, kernel
from ..kernels.rows import add_row, row_dot, row_square, weight_of
from ..kernels.terms import Terms
from ..schemes.primal_dual import expect
from ..schemes.records import gather
from ..state import State
from ..view import View
from . import averaging as averages
from .base import About, Solution, Solver, require_given, require_positive, unweighted
from .stacking import stacked
from .steps import StepRule

_ABOVE = 1.01
"""The method wants bounds strictly above the norms."""


@dataclass(eq=False, repr=False)
class SDCAADMM(Solver):
    """ADMM on the dual, one batch of dual variables at a time; the multiplier is x. The last iterate.

    Needs neither L nor smoothness, so exact hinge and quantile losses work. r1 is carried by the stacked operator [F;
    I].

    Parameters
    ----------
    rho : float, optional
        In units of 1 / |a|^2; 2 / mean |a_i|^2 by default.
    gamma : float
        Multiplier step times N: 1 is fastest in practice, theory requires 1/4.
    averaging : {"last", "uniform", "linear", "increasing"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="sdca-admm",
        summary="stochastic dual coordinate ascent with ADMM (Suzuki 2014)",
        update=(
            "y+ = prox2*(y + K (x - rho N r) / (rho N |K|^2)), r = A^T u / N + K^T y, K = [F; I]; u_i+ by the prox of "
            "the loss; x+ = x - gamma rho (N r+ - (N - 1) r)"
        ),
        cost="1 batch, 1 K, 1 K^T, a prox of the loss per row, 1 prox2*, 19 d + 4 l flops",
        memory="9 d + 3 l + N",
        rate="linear under local strong convexity and smoothness",
        needs="any loss with a prox, hinge included; any r1, r2, F; finite sum",
        finite_sum=True,
        assumptions="local strong convexity around the solution, gamma = 1/4; in expectation",
    )

    rho: float | None = None
    gamma: float = 1.0
    averaging: str = "last"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        require_positive(rho=self.rho)
        require_given(gamma=self.gamma)

    def check(self, problem: View) -> None:
        averages.rule(self.averaging)

    def _dual_size(self, problem: View) -> int:
        return problem.F.n_outputs + problem.n_coordinates

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        d, m = problem.n_coordinates, self._dual_size(problem)
        rho = self.rho or (
            2.0 / problem.rows.statistics.mean_square if problem.rows.statistics.mean_square > 0.0 else 1.0
        )
        vectors = {"x": x0.copy(), "x_average": x0.copy(), "u": np.zeros(problem.rows.block.labels.size)}
        vectors |= {name: np.zeros(d) for name in ("mean", "adjoint", "before", "ahead")}
        vectors |= {name: np.zeros(m) for name in ("y", "image", "z")}
        vectors["z"][:] = stacked(problem).K.forward(x0)
        return {"rho": rho, "norm": _ABOVE * (problem.F.squared_norm + 1.0), **StepRule(base=1.0).to_numbers()}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        dual_ascent_steps(
            block,
            order,
            order.size // steps,
            state.numbers["rho"],
            float(self.gamma),
            state.numbers["norm"],
            averages.rule(self.averaging)(k),
            problem.loss.prox_term,
            stacked(problem).terms(problem),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        m = problem.F.n_outputs
        return Solution(
            v["x_average"].copy(), v["x"].copy(), v["z"][:m].copy(), -v["y"][:m], unweighted(problem, v["u"])
        )


class Work(NamedTuple):
    """Vectors of a step: iterates, the average, sums over rows, and room to work in."""

    x: np.ndarray
    u: np.ndarray
    y: np.ndarray
    z: np.ndarray
    x_average: np.ndarray
    mean: np.ndarray
    adjoint: np.ndarray
    before: np.ndarray
    ahead: np.ndarray
    image: np.ndarray


@kernel
def dual_ascent_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    rho: float,
    gamma: float,
    norm: float,
    thetas: np.ndarray,
    loss_prox: Term,
    stack: Terms,
    work: Work,
) -> None:
    """`thetas.size` iterations with K = [F; I]; mean = A^T u / N, adjoint = K^T y, y being the paper's dual over N.

    y   <- prox_{psi* / s}(y + K (x - rho N (mean + adjoint)) / s),  s = rho N |K|^2
    u_I <- prox_{phi* / (rho eta)}(u_I + A_I (x - rho N (mean + new adjoint)) / (rho eta)),  eta = |A_I|^2
    x   <- x - gamma rho (N (new mean + new adjoint) - (N - batch) (mean + adjoint))
    """
    x, u, y, z, x_average, mean, adjoint, before, ahead, image = work
    n = u.size
    weight = rho * n
    scale = weight * norm
    for k in range(thetas.size):
        rows = order[k * batch : (k + 1) * batch]
        expect(block, order, (k + 1) * batch, (k + 2) * batch)
        for j in range(x.size):
            before[j] = mean[j] + adjoint[j]
        for j in range(x.size):
            ahead[j] = x[j] - weight * before[j]
        call_linear(stack.forward, ahead, image)
        for e in range(y.size):
            image[e] = y[e] + image[e] / scale
        call_prox(stack.dual_prox2, image, 1.0 / scale, y)
        for e in range(y.size):
            z[e] = scale * (image[e] - y[e])
        call_linear(stack.adjoint, y, adjoint)

        for j in range(x.size):
            ahead[j] = x[j] - weight * (mean[j] + adjoint[j])
        square = 0.0
        for b in range(rows.size):
            square += row_square(block.rows, rows[b])
        if square > 0.0:
            step = 1.0 / (rho * _ABOVE * square)
            for b in range(rows.size):
                i = rows[b]
                point = u[i] + step * row_dot(block.rows, i, ahead)
                after = point - step * call_scalar_prox(
                    loss_prox, point / step, weight_of(block.weights, i) / step, block.labels[i]
                )
                add_row(block.rows, i, (after - u[i]) / n, mean)
                u[i] = after
        for j in range(x.size):
            x[j] -= gamma * rho * (n * (mean[j] + adjoint[j]) - (n - batch) * before[j])
        for j in range(x.size):
            x_average[j] += thetas[k] * (x[j] - x_average[j])
