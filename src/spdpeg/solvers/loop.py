"""The one outer loop: budgets, records, stopping, callbacks, interruption and the guard against divergence."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate import kkt_residual
from ..data import Stream
from ..errors import DivergedError, InputError
from ..kernels import jit
from ..problem import Problem
from ..result import History, Result, Status
from ..state import State
from . import feed
from .base import Solution, Solver

_SLICE_SECONDS = 0.05
"""Aim for compiled calls of this length: short enough for Ctrl-C and time budgets, long enough to cost nothing."""

_STREAM_CADENCE = 1 << 16
"""Rows between two records on a stream, whose length is unknown."""

_RUNAWAY = 1e6
"""An objective this many times above its start means divergence even if every number is still finite."""


@dataclass(frozen=True)
class Progress:
    """What a callback receives at each record."""

    passes: float
    iterations: int
    seconds: float
    objective: float
    violation: float
    x: np.ndarray


@dataclass(frozen=True)
class Budget:
    """How much may be spent in one call of `run`."""

    passes: float | None
    iterations: int | None
    seconds: float | None


class _Clock:
    """Seconds spent in the method itself: neither compiling nor recording."""

    def __init__(self, before: float) -> None:
        self.total = before
        self.first_compile = jit.compile_seconds()

    @contextmanager
    def running(self) -> Iterator[None]:
        start, compiled = time.perf_counter(), jit.compile_seconds()
        try:
            yield
        finally:
            self.total += time.perf_counter() - start - (jit.compile_seconds() - compiled)

    @property
    def compile_seconds(self) -> float:
        return jit.compile_seconds() - self.first_compile


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C into a flag, so that a step is never torn apart; a second Ctrl-C stops at once."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(signum: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, previous)


def run(
    problem: Problem,
    solver: Solver,
    state: State,
    budget: Budget,
    *,
    tol: float | None,
    record_every: float | None,
    callback: Callable[[Progress], Any] | None,
) -> Result:
    """Move `state` forward until a budget is used up, `tol` is met, or something asks to stop."""
    clock = _Clock(state.seconds)
    terms = problem.terms()
    source = feed.make(problem, solver, state, int(state.parameters["batch_size"]), budget.passes)
    rows_per_step = source.rows_per_step
    recorder = _Recorder(problem, solver, source, clock, tol)
    cadence = _cadence(problem, budget, record_every)
    last_iteration = math.inf if budget.iterations is None else state.iterations + budget.iterations
    deadline = math.inf if budget.seconds is None else state.seconds + budget.seconds
    last_row = math.inf
    if budget.passes is not None and not isinstance(problem.source, Stream):
        assert problem.n_samples is not None
        last_row = state.allowance = max(state.allowance, float(state.rows)) + budget.passes * problem.n_samples

    recorder.record(state)
    slice_steps = 64.0
    status: Status | None = None
    with _interruptible() as interrupted:
        while status is None:
            before = clock.total
            with clock.running():
                state.rows += solver.prepare(problem, terms, state)
            next_record = (state.rows // cadence + 1) * cadence
            to_record = math.ceil((next_record - state.rows) / rows_per_step)
            steps = min(to_record, last_iteration - state.iterations, slice_steps, solver.steps_ahead(state))
            if last_row - state.rows < rows_per_step:
                status = Status.MAX_PASSES
            elif state.iterations >= last_iteration:
                status = Status.MAX_ITERATIONS
            elif clock.total >= deadline:
                status = Status.MAX_SECONDS
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not None:
                break

            with clock.running():
                portion = source.next(int(min(steps, (last_row - state.rows) // rows_per_step)))
                if portion is not None:
                    extra = solver.advance(problem, terms, state, portion.block, portion.order, portion.steps)
            if portion is None:
                status = source.ended
                break
            state.iterations += portion.steps
            state.batches += portion.steps * solver.batches_per_step
            state.rows += portion.steps * rows_per_step + (extra or 0)
            state.seconds = clock.total
            pace = (clock.total - before) / portion.steps
            slice_steps = min(4 * slice_steps, max(1.0, _SLICE_SECONDS / max(pace, 1e-9)))
            _require_finite(solver, state)
            if state.rows >= next_record:
                status = recorder.record(state, callback)
    source.close()
    if recorder.iterations[-1] != state.iterations:
        status = Status.TOLERANCE if recorder.record(state, callback) is Status.TOLERANCE else status
    if status is not Status.MAX_PASSES:
        state.allowance = float(state.rows)
    return recorder.result(state, status)


class _Recorder:
    """Evaluates the output on a cadence, outside the clock."""

    def __init__(self, problem: Problem, solver: Solver, source: Any, clock: _Clock, tol: float | None) -> None:
        self._problem, self._solver, self._source, self._clock, self._tol = problem, solver, source, clock, tol
        self.rows: list[int] = []
        self.iterations: list[int] = []
        self.seconds: list[float] = []
        self.objective: list[float] = []
        self.violation: list[float] = []
        self.residual: float | None = None

    def record(self, state: State, callback: Callable[[Progress], Any] | None = None) -> Status | None:
        """Evaluate and keep; says so if the run should stop here."""
        solution = self._solver.solution(self._problem, state)
        self.rows.append(state.rows)
        self.iterations.append(state.iterations)
        self.seconds.append(self._clock.total)
        self.objective.append(self._evaluate(solution))
        self.violation.append(float(np.linalg.norm(self._problem.F.forward(solution.x) - solution.z)))
        self._guard(state)
        if self._tol is not None:
            self.residual = kkt_residual(self._problem, solution.x, solution.dual)
            if self.residual <= self._tol:
                return Status.TOLERANCE
        if callback is not None:
            progress = Progress(
                self._passes(state.rows),
                state.iterations,
                self.seconds[-1],
                self.objective[-1],
                self.violation[-1],
                solution.x,
            )
            if callback(progress):
                return Status.CALLBACK
        return None

    def result(self, state: State, status: Status) -> Result:
        """The account of the run."""
        solution = self._solver.solution(self._problem, state)
        history = History(
            np.array([self._passes(rows) for rows in self.rows]),
            np.array(self.iterations),
            np.array(self.seconds),
            np.array(self.objective),
            np.array(self.violation),
        )
        return Result(
            *solution,
            objective=self.objective[-1],
            violation=self.violation[-1],
            iterations=state.iterations,
            passes=self._passes(state.rows),
            seconds=self._clock.total,
            compile_seconds=self._clock.compile_seconds,
            status=status,
            residual=self.residual,
            history=history,
            state=state,
        )

    def _passes(self, rows: int) -> float:
        # A stream that never ended has no length but what was read of it.
        length = self._source.rows_per_pass or max(self.rows[-1], rows)
        return rows / length if length else 0.0

    def _evaluate(self, solution: Solution) -> float:
        problem = self._problem
        at = problem.F.forward(solution.x) if problem.r2.finite else solution.z
        return (
            problem.loss_value(solution.x, self._source.block)
            + problem.regularizer.value(solution.x)
            + problem.r2.value(at)
        )

    def _guard(self, state: State) -> None:
        now, start = self.objective[-1], self.objective[0]
        if math.isnan(now) or (math.isfinite(start) and now > _RUNAWAY * (1.0 + abs(start))):
            raise _diverged(self._solver, state)


def _require_finite(solver: Solver, state: State) -> None:
    if not all(np.isfinite(state.vectors[name]).all() for name in ("x", "y")):
        raise _diverged(solver, state)


def _diverged(solver: Solver, state: State) -> DivergedError:
    rule = solver.step_rule(state)
    largest = float(rule(np.zeros(1))[0])
    if rule.provably_convergent:
        advice = (
            f"Steps up to {rule.stable:.3g} are stable for the mean gradient, so single rows must be far larger than "
            "the mean: scale the columns of X, raise batch_size, or pass a larger lipschitz."
        )
    else:
        advice = f"The largest stable step is {rule.stable:.3g}: reduce scale or rho until it is respected."
    return DivergedError(
        f"{solver.name} diverged at iteration {state.iterations} with the step rule c_k = {rule}, whose first step is "
        f"{largest:.3g}. {advice}"
    )


def _cadence(problem: Problem, budget: Budget, record_every: float | None) -> int:
    """Rows between two records."""
    if record_every is not None and not record_every > 0:
        raise InputError(f"record_every is {record_every}. It counts passes and must be positive.")
    if isinstance(problem.source, Stream):
        if record_every is not None:
            raise InputError("record_every counts passes, and a stream has no known length. Leave it out.")
        return _STREAM_CADENCE
    assert problem.n_samples is not None
    passes = record_every if record_every is not None else max(1.0, (budget.passes or 0.0) / 20)
    return max(1, round(passes * problem.n_samples))
