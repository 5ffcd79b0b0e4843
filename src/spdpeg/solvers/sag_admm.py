"""SAG-ADMM: stochastic ADMM with the average of the gradients last seen.

Zhong, Kwok: Fast stochastic alternating direction method of multipliers, ICML 2014 (FSADMM, SA-ADMM).
"""

import logging
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..errors import UnsupportedError
from ..kernels.jit import call_linear, call_prox, call_scalar, kernel
from ..kernels.rows import add_row, row_dot, weight_of
from ..kernels.terms import Terms
from ..parameters import one_of
from ..schemes.normal_equations import Normal, prepare, solve_normal
from ..schemes.primal_dual import Estimator, blend, dual_update, expect
from ..schemes.records import gather
from ..state import State
from ..view import View
from . import averaging as averages
from .base import About, Solution, per_problem, require_positive, require_smooth
from .linearized import Linearized, worst_row_rho
from .stacking import stacked
from .steps import StepRule

_log = logging.getLogger(__name__)

VARIANTS = ("simple", "inexact", "exact")

_MOST_MEMORY = 2 << 30
"""Bytes that the table of points may take."""


@dataclass(eq=False, repr=False)
class SAGADMM(Linearized):
    """Three variants: the gradients last seen, averaged, and a step from x or from where they were seen.

    "simple" steps from x (SAG): linear but with a rough start. "inexact" (SA-IU-ADMM) and "exact"
    (SA-ADMM) also average the points at which the stored gradients were taken; what they need is said
    before it is allocated, and refused above 2 GiB. The code that circulates for this method fills the table of
    gradients but steps along the plain stochastic gradient.

    Parameters
    ----------
    variant : {"simple", "inexact", "exact"}
    lipschitz : float, optional
        L in the step 1 / (L + rho |F|^2). By default 3 L_max for "simple", a tenth of the mean's L for "inexact" and a
        fifth for "exact".
    rho : float, optional
        L_max / |F|^2 for "simple" and L / |F|^2 for the others by default.
    averaging : {"last", "uniform", "linear", "increasing"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="sag-admm",
        summary="stochastic average gradient ADMM, three variants (Zhong, Kwok 2014)",
        update="y+ = prox2*(y + rho F x); x+ = prox1(x - c (g + F^T (2 y+ - y))), g = mean of the gradients last seen",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 7 d + 17 l flops; inexact: 2 F; exact: a solve as in sadmm",
        memory="5 d + 7 l + N; inexact: N d + N + 7 d + 8 l; exact: N d + N + 17 d + 9 l, d^2 more as in sadmm",
        rate="O(1/t)",
        needs="smooth loss; any r1, r2, F; finite sum",
        finite_sum=True,
        assumptions=(
            "l convex with Lipschitz rows, variants exact and inexact; in expectation, for the average. The variant "
            "simple has no proof"
        ),
    )
    lead_y = 1.0

    variant: str = "simple"
    lipschitz: float | None = None
    rho: float | None = None
    averaging: str = "last"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        one_of("variant", self.variant, VARIANTS)
        require_positive(lipschitz=self.lipschitz, rho=self.rho)

    def check(self, problem: View) -> None:
        averages.rule(self.averaging)
        require_smooth(self, problem)
        if self.variant != "simple":
            needed = 8 * problem.rows.block.labels.size * problem.n_coordinates
            if needed > _MOST_MEMORY:
                raise UnsupportedError(
                    f"sag-admm with variant={self.variant!r} keeps a point per row, {needed / 2**30:.1f} GiB here. "
                    "Use variant='simple' or \"svrg-admm\", which keep a number for each row."
                )
            _log.info("sag-admm, variant %s: allocating %.1f MiB for the stored points", self.variant, needed / 2**20)

    def _dual_size(self, problem: View) -> int:
        return problem.F.n_outputs + (problem.n_coordinates if self.variant == "exact" else 0)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        numbers, vectors = super().start(problem, batch_size, x0)
        n, d = problem.rows.block.labels.size, problem.n_coordinates
        vectors |= {"table": np.zeros(n), "mean": np.zeros(d)}
        if self.variant == "simple":
            return numbers, vectors
        del vectors["Fx_before"], vectors["Fx_ahead"]
        K = stacked(problem).K if self.variant == "exact" else problem.F
        z = K.forward(x0)
        vectors |= {"points": np.tile(x0, (n, 1)), "point_mean": x0.copy(), "z": z, "z_average": z.copy()}
        vectors |= {"shift": np.zeros(d)}
        vectors |= {name: np.zeros(K.n_outputs) for name in ("y", "y_average", "y_next", "Fx")}
        return numbers, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        if self.variant == "simple":
            super().advance(problem, terms, state, block, order, steps)
            return
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        exact = self.variant == "exact"
        stored_point_steps(
            block,
            order,
            order.size // steps,
            Metric(exact, self._L(problem), state.numbers["rho"] * problem.F.squared_norm),
            state.numbers["rho"],
            averages.rule(self.averaging)(k),
            terms,
            stacked(problem).terms(problem) if exact else terms,
            self._normal(problem),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        whole = super().solution(problem, state)
        m = problem.F.n_outputs
        assert whole.z is not None
        return whole._replace(z=whole.z[:m], dual=whole.dual[:m])

    def _estimator(self, problem: View, state: State) -> Estimator:
        n = problem.rows.block.labels.size
        weight = float(state.parameters["batch_size"]) / n
        return Estimator(weight, 1.0 / n, state.vectors["table"], state.vectors["mean"])

    def _L(self, problem: View) -> float:
        if self.lipschitz is not None:
            return self.lipschitz
        return {
            "simple": 3.0 * problem.bounds.lipschitz_max,
            "inexact": 0.1 * problem.bounds.lipschitz,
            "exact": 0.2 * problem.bounds.lipschitz,
        }[self.variant]

    def _rho(self, problem: View) -> float:
        if self.variant == "simple" or self.rho is not None:
            return worst_row_rho(self.rho, problem)
        square = problem.F.squared_norm
        return problem.bounds.lipschitz / square if square > 0.0 and problem.bounds.lipschitz > 0.0 else 1.0

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        base = self._L(problem) + coupling
        return StepRule(base=base or 1.0, stable=1.0 / (problem.bounds.lipschitz_max + coupling) if base else 1.0)

    @per_problem
    def _normal(self, problem: View) -> Normal:
        return prepare(problem.F, scalar_shift=True)


class Work(NamedTuple):
    """Vectors of a step: iterates, averages, slopes and points last seen, and room to work in."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    x_average: np.ndarray
    y_average: np.ndarray
    z_average: np.ndarray
    table: np.ndarray
    mean: np.ndarray
    points: np.ndarray
    point_mean: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    shift: np.ndarray
    y_next: np.ndarray
    Fx: np.ndarray


class Metric(NamedTuple):
    """Whether the x-step is solved exactly, L of the model, and rho |F|^2."""

    exact: bool
    lipschitz: float
    coupling: float


@kernel
def stored_point_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    metric: Metric,
    rho: float,
    thetas: np.ndarray,
    terms: Terms,
    form: Terms,
    normal: Normal,
    work: Work,
) -> None:
    """`thetas.size` iterations; point_mean is the average of the points at which the slopes in `table` were taken.

    exact:   x <- (rho K^T K + L I)^{-1} (L point_mean - mean + K^T (rho z - y)),  K = [F; I]
    inexact: x <- prox_{r1 / s}((coupling x + L point_mean - mean - F^T (y + rho (F x - z))) / s),  s = L + coupling
    y <- y+ = prox_{rho r2*}(y + rho K x),  z <- K x + (y - y+) / rho
    """
    exact, lipschitz, coupling = metric
    x, y, z, x_average, y_average, z_average, table, mean, points, point_mean, ahead, back, shift, y_next, Fx = work
    n = table.size
    total = lipschitz + coupling
    for k in range(thetas.size):
        theta = thetas[k]
        expect(block, order, (k + 1) * batch, (k + 2) * batch)
        for b in range(k * batch, (k + 1) * batch):
            i = order[b]
            slope = weight_of(block.weights, i) * call_scalar(
                terms.derivative, row_dot(block.rows, i, x), block.labels[i]
            )
            add_row(block.rows, i, (slope - table[i]) / n, mean)
            table[i] = slope
            for j in range(x.size):
                point_mean[j] += (x[j] - points[i, j]) / n
                points[i, j] = x[j]
        if exact:
            for e in range(y.size):
                y_next[e] = rho * z[e] - y[e]
            call_linear(form.adjoint, y_next, back)
            for j in range(x.size):
                shift[j] = rho + lipschitz
                ahead[j] = lipschitz * point_mean[j] - mean[j] + back[j]
            solve_normal(normal, terms, rho, shift, ahead, x)
        else:
            call_linear(form.forward, x, Fx)
            for e in range(y.size):
                y_next[e] = y[e] + rho * (Fx[e] - z[e])
            call_linear(form.adjoint, y_next, back)
            for j in range(x.size):
                ahead[j] = (coupling * x[j] + lipschitz * point_mean[j] - mean[j] - back[j]) / total
            call_prox(form.prox1, ahead, 1.0 / total, x)
        dual_update(form, rho, x, y, z, y_next, Fx)
        blend(theta, y, y_average)
        blend(theta, z, z_average)
        blend(theta, x, x_average)
