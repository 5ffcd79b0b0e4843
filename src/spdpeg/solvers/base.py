"""What a solver is: a rule that starts a state, moves it forward and reads the solution off it."""

import math
from typing import ClassVar, NamedTuple

import numpy as np

from ..certificate import Certificate, Evaluation
from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import Parameterized
from ..problem import Problem
from ..state import State
from .sampling import InOrder, Sampler
from .sampling import make as make_sampler
from .steps import StepRule


class Solution(NamedTuple):
    """What a state says about the problem."""

    x: np.ndarray
    x_last: np.ndarray
    z: np.ndarray
    dual: np.ndarray
    slopes: np.ndarray | None = None
    """Slopes of the loss, one for each row, where the method keeps them: at a corner x does not tell."""


class Solver(Parameterized):
    """One algorithm. It never loops over passes, never stops, never prints: `loop.run` does, once for all.

    Everything that changes lives in the state; everything else is recomputed from the problem.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the table of solvers."""
    update: ClassVar[str]
    """One step, in the notation of docs/solvers.md."""
    cost: ClassVar[str]
    """Of a step: batches of rows, products with F and F^T, proxes, and the flops of all other loops."""
    memory: ClassVar[str]
    """Numbers kept beyond the data and the problem."""
    rate: ClassVar[str]
    needs: ClassVar[str]
    """What the problem must offer, in words."""
    batches_per_step: ClassVar[int] = 1
    deterministic: ClassVar[bool] = False
    """Every batch is the whole data set."""
    finite_sum: ClassVar[bool] = False
    """Needs rows that can be read again: no stream."""
    converges: ClassVar[bool] = False
    """Runs until a tolerance is met unless told otherwise; the others run for a few passes."""

    sampling: str = "auto"

    def check(self, problem: Problem) -> None:
        """Refuse a problem that the method does not cover, naming the part and an alternative."""

    def sampler(self, problem: Problem, state: State) -> Sampler:
        """Which rows the batches hold."""
        n = problem.block.labels.size
        if self.deterministic:
            return InOrder(n)
        return make_sampler(self.sampling, n, state.batch_size, state.seed, problem.on_disk)

    def default_batch(self, problem: Problem) -> int:
        """Batch size if the user names none."""
        return 1

    def dual_size(self, problem: Problem) -> int:
        """Length of the dual variable that the state keeps."""
        return problem.F.n_outputs

    def prepare(self, problem: Problem, terms: Terms, state: State) -> int:
        """Work that is due before the next step, such as a snapshot; returns the number of rows it read."""
        return 0

    def steps_ahead(self, state: State) -> float:
        """Steps until `prepare` has work to do again."""
        return math.inf

    def seen(self, state: State) -> Evaluation | None:
        """What the method knows of the loss at its solution, which makes a certificate free of reads."""
        return None

    def promising(self, state: State, tol: float) -> bool:
        """Whether the point may meet a tolerance, as far as the method can tell without a certificate."""
        return True

    def adapt(
        self, problem: Problem, state: State, certificate: Certificate, seen: Evaluation, tol: float | None
    ) -> None:
        """Change course at a certificate, and only there; `seen` is what was read for it at the solution."""

    def start(
        self, problem: Problem, batch_size: int, x0: np.ndarray
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Constants and vectors of a new state."""
        raise NotImplementedError

    def vectors(self, problem: Problem, batch_size: int, x0: np.ndarray) -> dict[str, np.ndarray]:
        """Those of a new state; a method that can make them without choosing its constants says so here."""
        return self.start(problem, batch_size, x0)[1]

    def set_dual(self, problem: Problem, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        """Start from this dual variable, in the sign that the vectors have."""
        vectors["y"][: y.size] = y

    def advance(
        self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int
    ) -> int | None:
        """Do `steps` iterations on the rows `order` of `block`, in place.

        Returns the number of rows that were read, if those were not the ones in `order`.
        """
        raise NotImplementedError

    def solution(self, problem: Problem, state: State) -> Solution:
        """The output of the method at this state; fresh arrays."""
        raise NotImplementedError

    def step_rule(self, state: State) -> StepRule:
        """The step sizes in use, for messages."""
        return StepRule.from_numbers(state.numbers)


def require_positive(**values: float | None) -> None:
    """Refuse parameters that are neither None nor positive numbers."""
    for name, value in values.items():
        if value is not None and not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} is {value}. It must be a positive number, or None to have it chosen.")


def require_smooth(solver: Solver, problem: Problem) -> None:
    """Refuse a loss without a Lipschitz gradient."""
    if not math.isfinite(problem.loss.curvature):
        raise UnsupportedError(
            f"{solver.name} needs a smooth loss and {problem.loss!r} is not. "
            'Use "sdca-admm" or "spdhg-cers", a smoothed loss, or put the loss into r2.'
        )


def unweighted(problem: Problem, u: np.ndarray) -> np.ndarray:
    """Slopes of the loss, from dual variables that hold the weights of the rows as factors."""
    weights = problem.block.weights
    return np.divide(u, weights, out=np.zeros_like(u), where=weights > 0.0) if weights.size else u.copy()
