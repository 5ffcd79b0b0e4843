"""The family of primal-dual extragradient methods: SPDPEG with samples, EGADM with full gradients."""

import numpy as np

from ..data import Block
from ..kernels.terms import Terms
from ..schemes.extragradient import Work, extragradient
from ..schemes.primal_dual import plain
from ..schemes.records import Pace, gather, uniform
from ..state import State
from ..view import View
from . import averaging
from .base import Solution, Solver
from .steps import StepRule


class Extragradient(Solver):
    """The base class: one compiled step, two batches each; members choose steps and weights."""

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        rule, rho = self._steps(problem, batch_size)
        return {"rho": rho, **rule.to_numbers()}, self.vectors(problem, batch_size, x0)

    def _dual_size(self, problem: View) -> int:
        """Length of the dual variable that the state keeps."""
        return problem.F.n_outputs

    def vectors(self, problem: View, batch_size: int, x0: np.ndarray) -> dict[str, np.ndarray]:
        d, m = problem.n_coordinates, self._dual_size(problem)
        vectors = {"x": x0.copy(), "x_average": x0.copy()}
        vectors |= {name: np.zeros(d) for name in ("x_bar", "ahead", "back")}
        vectors |= {name: np.zeros(m) for name in ("y", "z_average", "y_average", "y_bar", "Fx", "Fx_bar")}
        vectors["z_average"][: problem.F.n_outputs] = problem.F.forward(x0)
        return vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        k = np.arange(state.steps, state.steps + steps, dtype=float)
        samples, rho = self.batches_per_step, state.numbers["rho"]
        extragradient(
            block,
            order,
            order.size // (samples * steps),
            True,
            samples == 2,
            Pace(self.step_rule(state)(k), self._thetas(k), rho),
            terms,
            plain(),
            uniform(1.0, rho),
            gather(Work, state.vectors),
        )

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x_average"].copy(), v["x"].copy(), v["z_average"].copy(), -v["y_average"])

    def _thetas(self, k: np.ndarray) -> np.ndarray:
        return averaging.uniform(k)

    def _steps(self, problem: View, batch_size: int) -> tuple[StepRule, float]:
        """Step sizes and rho."""
        raise NotImplementedError
