"""What a solver is: a rule that starts a state, moves it forward and reads the solution off it."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data import Block
from ..parameters import Parameterized
from ..problem import Problem, Terms
from ..state import State
from .steps import StepRule


class Solution(NamedTuple):
    """What a state says about the problem."""

    x: np.ndarray
    x_last: np.ndarray
    z: np.ndarray
    dual: np.ndarray


class Solver(Parameterized):
    """One algorithm. It never loops over passes, never stops, never prints: `loop.run` does, once for all.

    Everything that changes lives in the state; everything else is recomputed from the problem.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the table of solvers."""
    needs: ClassVar[str]
    """What the problem must offer, in words."""
    rate: ClassVar[str]
    batches_per_step: ClassVar[int]

    sampling: str = "auto"

    def check(self, problem: Problem) -> None:
        """Refuse a problem that the method does not cover, naming the part and an alternative."""

    def start(self, problem: Problem, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Constants and vectors of a new state."""
        raise NotImplementedError

    def advance(self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        """Do `steps` iterations on the rows `order` of `block`, in place."""
        raise NotImplementedError

    def solution(self, problem: Problem, state: State) -> Solution:
        """The output of the method at this state; fresh arrays."""
        raise NotImplementedError

    def step_rule(self, state: State) -> StepRule:
        """The step sizes in use, for messages."""
        return StepRule.from_numbers(state.numbers)

    def description(self) -> dict[str, Any]:
        """For the table of solvers."""
        return {"name": self.name, "summary": self.summary, "rate": self.rate, "needs": self.needs}
