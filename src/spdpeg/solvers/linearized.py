"""The family of linearized ADMM: one compiled step; methods differ by order, gradient estimate, step and average."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import one_of
from ..schemes.linearized import Work, linearized
from ..schemes.primal_dual import Estimator, plain
from ..schemes.records import Pace, gather
from ..state import State
from ..view import View
from . import averaging
from .base import Solution, Solver, require_positive, require_smooth
from .steps import StepRule, noise_scale

_NOTHING = np.empty(0)

REGIMES = ("convex", "strongly-convex")


class Linearized(Solver):
    """Base of SGADM, OPG-ADMM, SPDHG, LADMM, SVRG-ADMM and SAG-ADMM."""

    lead_x: ClassVar[float] = 0.0
    lead_y: ClassVar[float] = 0.0

    rho: float | None
    averaging: str

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        d, m = problem.n_coordinates, problem.F.n_outputs
        Fx = problem.F.forward(x0)
        vectors = {"x": x0.copy(), "x_average": x0.copy(), "z_average": Fx.copy(), "Fx_before": Fx}
        vectors |= {name: np.zeros(d) for name in ("ahead", "back")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_average", "y_next", "Fx", "Fx_ahead")}
        return self.constants(problem, batch_size), vectors

    def constants(self, problem: View, batch_size: int) -> dict[str, float]:
        """rho and the step rule.

        Returns
        -------
        dict
        """
        rho = self._rho(problem)
        return {"rho": rho, **self._steps(problem, rho * problem.F.squared_norm, batch_size).to_numbers()}

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        x_mean, averaged = self._mean(state)
        v = state.vectors
        linearized(
            block,
            order,
            order.size // steps,
            Pace(self.step_rule(state)(k), averaging.rule(self.averaging)(k), state.numbers["rho"]),
            self.lead_x,
            self.lead_y,
            averaged,
            terms,
            self._estimator(problem, state),
            gather(Work, {**v, "x_mean": x_mean}),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x_average"].copy(), v["x"].copy(), v["z_average"].copy(), -v["y_average"])

    def _estimator(self, problem: View, state: State) -> Estimator:
        return plain()

    def _mean(self, state: State) -> tuple[np.ndarray, int]:
        """A vector for the plain mean of x and the number of x in it already; none unless a member needs it."""
        return _NOTHING, 0

    def _rho(self, problem: View) -> float:
        raise NotImplementedError

    def _steps(self, problem: View, coupling: float, batch_size: int) -> StepRule:
        """Step sizes, given rho |F|^2."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class Stochastic(Linearized):
    """Members that follow the plain stochastic gradient with decreasing steps.

    Parameters
    ----------
    regime : {"convex", "strongly-convex"}
        Steps like 1/sqrt(k), or like 1/(mu k) with the modulus mu of r1.
    rho : float, optional
        Augmented-Lagrangian weight; L_max / |F|^2 by default.
    kappa : float, optional
        Noise over distance in the convex steps; estimated from the data by default.
    lipschitz : float, optional
        L in the steps; that of the worst row by default.
    averaging : {"uniform", "linear", "increasing", "last"}
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    regime: str = "convex"
    rho: float | None = None
    kappa: float | None = None
    lipschitz: float | None = None
    averaging: str = "uniform"
    sampling: str = "auto"

    def __post_init__(self) -> None:
        one_of("regime", self.regime, REGIMES)
        require_positive(rho=self.rho, kappa=self.kappa, lipschitz=self.lipschitz)
        if self.regime == "strongly-convex" and self.kappa is not None:
            raise InputError("kappa belongs to the convex steps. Leave it out or choose regime='convex'.")

    def check(self, problem: View) -> None:
        averaging.rule(self.averaging)
        require_smooth(self, problem)
        if self.regime == "strongly-convex" and problem.penalty.strong_convexity == 0.0:
            raise UnsupportedError(
                f"{self.about.name} with regime='strongly-convex' needs strong convexity in r1. "
                "Add ridge (penalties.L2Squared, penalties.ElasticNet) or choose regime='convex'."
            )

    def _rho(self, problem: View) -> float:
        return worst_row_rho(self.rho, problem)

    def _worst_row(self, problem: View) -> float:
        return problem.bounds.lipschitz_max if self.lipschitz is None else self.lipschitz

    def _decreasing(self, problem: View, base: float, batch_size: int) -> StepRule:
        if base == 0.0 and not problem.loss.bounded_slope:
            base = problem.bounds.lipschitz_max  # without any brake a single row could run away
        stable = 1.0 / base if base > 0.0 else math.inf
        if self.regime == "strongly-convex":
            return StepRule(base=base, slope=problem.penalty.strong_convexity, stable=stable)
        kappa = noise_scale(problem, batch_size) if self.kappa is None else self.kappa
        return StepRule(base=base if kappa or base else 1.0, kappa=kappa, stable=stable)


def worst_row_rho(rho: float | None, problem: View) -> float:
    """`rho`, or L_max / |F|^2; a non-smooth loss counts as one of curvature 1."""
    if rho is not None:
        return rho
    smooth = math.isfinite(problem.loss.curvature)
    largest = problem.bounds.lipschitz_max if smooth else problem.rows.statistics.max_square
    square = problem.F.squared_norm
    return largest / square if square > 0.0 and largest > 0.0 else 1.0
