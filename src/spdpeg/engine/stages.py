"""A run is made of stages, each with a method of its own; between two of them x and the dual are handed over."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Certificate
from ..result import Stage, Status
from ..solvers.base import Periodic, Solution, Solver, Watcher
from ..state import Begun, State
from ..sums import Evaluation
from ..view import View
from . import feed
from .feed import Feed, Portion

_NO_ROWS = np.empty(0, dtype=np.int64)


class Planned(NamedTuple):
    """A stage to come.

    Attributes
    ----------
    method : Solver
    reason : str
        Why this method, in words that users read.
    leave : callable, optional
        `leave(problem, state, gap)` says at each certificate whether the next stage should take over; `gap` is
        `remaining(certificate)`, and `state.loop` holds that of the last one. The run is then certified even without a
        tolerance. None if the stage is the last one.
    """

    method: Solver
    reason: str
    leave: Callable[[View, State, float], bool] | None = None


def single_stage(method: Solver) -> list[Planned]:
    """The plan of a run whose method the user named."""
    return [Planned(method, "asked for")]


def remaining(certificate: Certificate) -> float:
    """How far from the optimum a point may be: the relative gap, or the residual where no gap is finite."""
    return certificate.rel_gap if math.isfinite(certificate.rel_gap) else certificate.residual


def begin(problem: View, stage: Planned, state: State, batch_size: int, x: np.ndarray, y: np.ndarray | None) -> None:
    """Start the method of a stage in `state`, at x and at the dual variable if there is one."""
    state.parameters = {**state.parameters, "batch_size": batch_size}
    _place(problem, stage.method, state, batch_size, x, y)
    state.batches = 0
    loop = state.loop
    loop.stages.append(Begun(stage.method.about.name, stage.reason, state.iterations, state.rows, state.seconds))
    loop.last_gap, loop.gap_at = math.inf, state.rows


def _place(problem: View, method: Solver, state: State, batch_size: int, x: np.ndarray, y: np.ndarray | None) -> None:
    """Start a method at x."""
    numbers, state.vectors = method.start(problem, batch_size, x)
    # Parameters of methods may be whole numbers of any size, which compiled code would take for another type.
    state.numbers = {name: float(number) for name, number in numbers.items()}
    if y is not None:
        method.set_dual(problem, state.vectors, y)


class AllRows:
    """What a method on sums is fed: it reads all rows itself, at every step, and nothing is fetched or drawn."""

    ended = Status.MAX_PASSES
    block: Any = None

    def __init__(self, n_rows: int) -> None:
        self.rows_per_pass = self.rows_per_step = n_rows

    def next(self, steps: int) -> Portion:
        """No rows, for so many steps."""
        return Portion(self.block, _NO_ROWS, steps, steps * self.rows_per_step)

    def rest(self) -> None:
        """No row waits for others."""

    def close(self) -> None:
        """Nothing to give back."""


class Stages:
    """The stages of a run: the current method, what its steps are taken with, and how it hands over to the next.

    Attributes
    ----------
    method : Solver
    feed : Feed
        Where its rows come from.
    terms : Terms or None
        The problem as compiled steps take it; None for a method on sums.
    """

    terms: Any
    feed: Feed | AllRows

    def __init__(self, problem: View, plan: Sequence[Planned], state: State, passes: float | None) -> None:
        self._problem, self._plan, self._state, self._passes = problem, plan, state, passes
        self._leave: Callable[[View, State, float], bool] | None
        self.method: Solver
        self.method, _, self._leave = plan[len(state.loop.stages) - 1]
        self._equip()

    def _equip(self) -> None:
        """Get what the steps of the current method are taken with."""
        if self.method.on_sums:
            self.terms, self.feed = None, AllRows(self._problem.sums.n_rows)
            return
        self.terms = self._problem.terms()
        self.feed = feed.make(self._problem, self.method, self._state, self._passes)

    @property
    def wants_certificates(self) -> bool:
        """Whether they decide when the next stage begins."""
        return self._leave is not None

    def certified(
        self, certificate: Certificate, evaluation: Evaluation, solution: Solution, tol: float | None
    ) -> bool:
        """Give the method a certificate, then begin the next stage if it is time; returns whether one began.

        The new method starts at the certified point, so it gets the certificate as well.
        """
        state, gap = self._state, remaining(certificate)
        self._tell(certificate, evaluation, tol)
        if self._leave is None or not self._leave(self._problem, state, gap):
            state.loop.last_gap, state.loop.gap_at = gap, state.rows
            return False
        following = self._plan[len(state.loop.stages)]
        self.method, _, self._leave = following
        begin(self._problem, following, state, self.method.default_batch(self._problem), solution.x, -solution.dual)
        self._tell(certificate, evaluation, tol)
        self.feed.close()
        self._equip()
        return True

    def back_to(self, solution: Solution) -> None:
        """Move the current method to the solution of an earlier one."""
        _place(self._problem, self.method, self._state, self._state.batch_size, solution.x, -solution.dual)

    def _tell(self, certificate: Certificate, evaluation: Evaluation, tol: float | None) -> None:
        if isinstance(self.method, Watcher):
            self.method.on_certificate(self._problem, self._state, certificate, evaluation, tol)

    def evaluation(self) -> Evaluation | None:
        """Loss and gradient at the solution, if the method has them."""
        return self.method.evaluation(self._state) if isinstance(self.method, Watcher) else None

    @property
    def proceeds(self) -> bool:
        """Whether the method reads all rows for its next step, and has one to take."""
        return isinstance(self.method, Periodic) and self.method.ended(self._state) is None

    def may_be_optimal(self, tol: float | None) -> bool:
        """Whether a certificate may prove the tolerance, as far as the method can tell; True if there is none."""
        return tol is None or not isinstance(self.method, Watcher) or self.method.may_be_optimal(self._state, tol)


def account(state: State, seconds: float, rows_per_pass: int) -> list[Stage]:
    """Iterations, passes and seconds of each stage, in a run of so many seconds."""
    begun = state.loop.stages
    ends = [(stage.iterations, stage.rows, stage.seconds) for stage in begun[1:]]
    ends.append((state.iterations, state.rows, seconds))
    return [
        Stage(
            stage.method,
            iterations - stage.iterations,
            rows / rows_per_pass - stage.rows / rows_per_pass,
            end - stage.seconds,
            stage.reason,
        )
        for stage, (iterations, rows, end) in zip(begun, ends, strict=True)
    ]
