"""Adaptive SADMM: stochastic ADMM whose metric learns from the gradients seen.

Zhao, Yang, Zhang, Li: Adaptive stochastic alternating direction method of multipliers, ICML 2015.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..errors import UnsupportedError
from ..kernels.jit import Kernel, Term, call_linear
from ..kernels.terms import Terms
from ..schemes.primal_dual import Estimator, blend, descend, dual_update, plain
from ..schemes.records import Pace, gather
from ..state import State
from ..view import View
from . import averaging
from .base import About, require_positive
from .exact_x_step import Exact
from .steps import StepRule, distance_scale

_MOST_FEATURES = 500
_REFRESH = 10
"""Steps between two factorisations of the full metric; one at every step gives the same curves at 10 times the cost."""


@dataclass(eq=False, repr=False)
class SADMMDiag(Exact):
    """H_t = I + diag(root of the summed squared gradients), x-step metric H_t / eta; uniform average.

    The SPDPEG authors' published code counts r1 twice and reports an average that it never updates.

    Parameters
    ----------
    eta : float, optional
        D_inf / sqrt(2), D_inf being a bound on |x - x*|_inf; by default the guessed distance to the solution over
        sqrt(2 d).
    rho : float, optional
        L_max / |F|^2 by default.
    averaging : {"uniform", "linear", "increasing", "last"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="sadmm-diag",
        summary="stochastic ADMM, diagonal adaptive metric (Zhao et al. 2015)",
        update=(
            "x+ = (rho F^T F + H)^-1 (H x - g - s + F^T (rho z - y)), H = (I + diag sqrt(sum (g + s)^2)) / eta; y+ = "
            "prox2*(y + rho F x+); z+ = F x+ + (y - y+) / rho"
        ),
        cost=(
            "1 batch, 1 F, 1 F^T, 1 subgradient, 1 prox2*, 12 d + 13 l flops and the solve: 10 d flops for a chain, "
            "conjugate gradients (1 F, 1 F^T, 18 d flops an iteration) otherwise"
        ),
        memory="6 d + 5 l, and 4 d + l for the solve",
        rate="O(1/sqrt(t))",
        needs="smooth loss; r1 with a subgradient; any r2, F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded; in expectation, for the average",
    )
    adaptive = True

    eta: float | None = None
    rho: float | None = None
    averaging: str = "uniform"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        require_positive(eta=self.eta, rho=self.rho)

    def _steps(self, problem: View, batch_size: int) -> StepRule:
        eta = self.eta or distance_scale(problem) / math.sqrt(2.0 * problem.n_coordinates)
        return StepRule(base=1.0 / eta)


class SADMMFull(SADMMDiag):
    """H_t = I + (sum of g g^T)^(1/2): the full metric, for d up to 500; uniform average.

    The matrix root is refreshed every 10 steps. The SPDPEG authors' published code sums only the diagonal and so runs
    the diagonal method under this name.
    """

    about = About(
        name="sadmm-full",
        summary="stochastic ADMM, full adaptive metric (Zhao et al. 2015)",
        update=(
            "x+ = (rho F^T F + H)^-1 (H x - g - s + F^T (rho z - y)), H = (I + (sum (g + s)(g + s)^T)^(1/2)) / eta; y+"
            " = prox2*(y + rho F x+); z+ = F x+ + (y - y+) / rho"
        ),
        cost=(
            "1 batch, 1 F, 1 F^T, 1 subgradient, 1 prox2*, 6 d^2 flops; every 10th step a factorisation, about 12 d^3 "
            "flops"
        ),
        memory="3 d^2 + 6 d + 5 l, and as much as 6 d^2 at work",
        rate="O(1/sqrt(t))",
        needs="d at most 500; smooth loss; r1 with a subgradient; any r2, F; finite sum or stream",
        assumptions="l convex, gradients and sets bounded; in expectation, for the average",
    )

    def check(self, problem: View) -> None:
        super().check(problem)
        if problem.n_coordinates > _MOST_FEATURES:
            d = problem.n_coordinates
            raise UnsupportedError(
                f"sadmm-full factorises d x d matrices; d = {d} would take {32e-9 * d * d:.1f} GB and minutes a step. "
                'Use "sadmm-diag".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        numbers, vectors = super().start(problem, batch_size, x0)
        d = problem.n_coordinates
        for name in ("outer", "metric", "inverse"):
            vectors[name] = np.zeros((d, d))
        return numbers, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        gram = problem.F.matrix()
        full_metric_steps(
            block,
            order,
            order.size // steps,
            state.steps,
            Pace(self.step_rule(state)(k), averaging.rule(self.averaging)(k), state.numbers["rho"]),
            terms,
            plain(),
            problem.penalty.r1.subgradient_term(problem.n_coordinates),
            np.ascontiguousarray((gram.T @ gram).toarray()),
            gather(Work, state.vectors),
        )


class Work(NamedTuple):
    """Vectors of a step: iterates, averages, the metric, and room to work in."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    x_average: np.ndarray
    y_average: np.ndarray
    z_average: np.ndarray
    outer: np.ndarray
    metric: np.ndarray
    inverse: np.ndarray
    gradient: np.ndarray
    back: np.ndarray
    y_next: np.ndarray


def _full_metric_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    first: int,
    pace: Pace,
    terms: Terms,
    estimator: Estimator,
    subgradient: Term,
    gram: np.ndarray,
    work: Work,
) -> None:
    """`thetas.size` iterations; as `exact_steps`, with H = (I + outer^(1/2)) / eta a full matrix."""
    etas, thetas, rho = pace
    x, y, z, x_average, y_average, z_average, outer, metric, inverse, gradient, back, y_next = work
    d = x.size
    for k in range(thetas.size):
        eta, theta = etas[k], thetas[k]
        call_linear(subgradient, x, back)
        for j in range(d):
            gradient[j] = -back[j]
        descend(block, order[k * batch : (k + 1) * batch], 1.0, terms.derivative, estimator, x, gradient)
        for i in range(d):
            for j in range(d):
                outer[i, j] += gradient[i] * gradient[j]
        if (first + k) % _REFRESH == 0:
            values, vectors = np.linalg.eigh(outer)
            metric[:] = np.dot(vectors * np.sqrt(np.maximum(values, 0.0)), vectors.T) / eta
            for j in range(d):
                metric[j, j] += 1.0 / eta
            inverse[:] = np.linalg.inv(rho * gram + metric)
        for i in range(y.size):
            y_next[i] = rho * z[i] - y[i]
        call_linear(terms.adjoint, y_next, back)
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += metric[i, j] * x[j]
            gradient[i] += back[i] + total
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += inverse[i, j] * gradient[j]
            x[i] = total

        dual_update(terms, rho, x, y, z, y_next, np.empty(y.size))
        blend(theta, y, y_average)
        blend(theta, z, z_average)
        blend(theta, x, x_average)


full_metric_steps = Kernel(_full_metric_steps, allocates=True)
