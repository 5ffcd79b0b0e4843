"""SVRG-ADMM: linearized ADMM with the gradient corrected by a snapshot.

Zheng, Kwok: Fast-and-light stochastic ADMM, IJCAI 2016.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..data import Block
from ..kernels.row_sums import snapshot
from ..kernels.terms import Terms
from ..schemes.primal_dual import Estimator
from ..state import State
from ..view import View
from . import averaging as averages
from .base import About, Periodic, require_positive, require_smooth
from .linearized import Linearized, worst_row_rho
from .steps import StepRule


@dataclass(eq=False, repr=False)
class SVRGADMM(Linearized, Periodic):
    """Snapshots every m = N / batch steps; step eta / (1 + eta rho |F|^2), constant; the last iterate.

    Each snapshot is taken at the mean of the x of the steps before it, costs a pass and stores one slope per row.
    The paper's output for convex problems, the mean of the snapshots, is far behind the
    last iterate in practice; averaging="uniform" gives the mean of all x.

    Parameters
    ----------
    eta : float, optional
        1 / (3 L_max) by default.
    rho : float, optional
        L_max / |F|^2 by default.
    averaging : {"last", "uniform", "linear", "increasing"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="svrg-admm",
        summary="linearized ADMM with SVRG gradients (Zheng, Kwok 2016)",
        update="y+ = prox2*(y + rho F (2 x - x-)); x+ = prox1(x - c (g(x) - g(w) + G(w) + F^T y+)), w a snapshot",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, 10 d + 17 l flops, and a pass for each snapshot",
        memory="6 d + 7 l + N",
        rate="O(1/t); linear if strongly convex and F has full row rank",
        needs="smooth loss; any r1, r2, F; finite sum",
        finite_sum=True,
        assumptions=(
            "l convex with Lipschitz rows, steps and epochs as in the paper; in expectation, for the mean of the "
            "snapshots. The last iterate, which is the output here, is not covered"
        ),
    )
    lead_x = 1.0

    eta: float | None = None
    rho: float | None = None
    averaging: str = "last"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        require_positive(eta=self.eta, rho=self.rho)

    def check(self, problem: View) -> None:
        averages.rule(self.averaging)
        require_smooth(self, problem)

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        numbers, vectors = super().start(problem, batch_size, x0)
        n = problem.rows.block.labels.size
        epoch = -(-n // batch_size)
        vectors |= {"table": np.zeros(n), "mean": np.zeros(x0.size), "x_mean": x0.copy()}
        return numbers | {"epoch": epoch, "in_epoch": epoch}, vectors

    def steps_ahead(self, state: State) -> float:
        return state.numbers["epoch"] - state.numbers["in_epoch"]

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        if self.steps_ahead(state) > 0:
            return 0
        v = state.vectors
        block = problem.rows.block
        snapshot(block.rows, block.labels, block.weights, terms.derivative, v["x_mean"], v["table"], v["mean"])
        state.numbers["in_epoch"] = 0
        return block.labels.size

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        super().advance(problem, terms, state, block, order, steps)
        state.numbers["in_epoch"] += steps

    def _estimator(self, problem: View, state: State) -> Estimator:
        return Estimator(1.0, 0.0, state.vectors["table"], state.vectors["mean"])

    def _mean(self, state: State) -> tuple[np.ndarray, int]:
        return state.vectors["x_mean"], int(state.numbers["in_epoch"])

    def _rho(self, problem: View) -> float:
        return worst_row_rho(self.rho, problem)

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        largest = problem.bounds.lipschitz_max
        base = (1.0 / self.eta if self.eta else 3.0 * largest) + coupling
        return StepRule(base=base or 1.0, stable=1.0 / (largest + coupling) if largest + coupling else math.inf)
