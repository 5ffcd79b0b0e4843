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

from ..certificate import Certificate, Evaluation, certify, look
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

_RECORDS = 20
"""Records of a run unless asked otherwise; never more than one a pass."""

_PATIENCE = 0.25
"""Certificates come after this many times the rows read so far, and no less than a pass: their number stays small."""

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
    gap: float
    """Relative duality gap at the last certificate, or the residual where there is none; NaN before the first."""
    share: float
    """Of the budget of this call that is used up, between 0 and 1; 0 if there is none."""
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
    cadence = _cadence(problem, budget, record_every, rows_per_step, tol is not None)
    limits = _Limits(problem, state, budget)
    recorder = _Recorder(problem, solver, source, clock, tol, limits)
    recorder.record(state)
    slice_steps = 64.0
    status: Status | None = None
    with _interruptible() as interrupted:
        while status is None:
            before = clock.total
            if recorder.certificate_due(state):
                status = recorder.check(state, callback)
                if status is not None:
                    break
            with clock.running():
                read = solver.prepare(problem, terms, state)
            if read:
                state.rows += read
                recorder.forget()
            if recorder.certificate_due(state):
                continue  # before the next step, as in a run that is resumed here
            next_record = (state.rows // cadence + 1) * cadence if math.isfinite(cadence) else math.inf
            next_stop = min(next_record, recorder.next_certificate(state))
            to_record = math.ceil((next_stop - state.rows) / rows_per_step)
            steps = min(max(1, to_record), slice_steps, solver.steps_ahead(state), limits.steps(state, rows_per_step))
            status = limits.reached(state, rows_per_step)
            if status is None and interrupted():
                status = Status.INTERRUPTED
            if status is not None:
                break

            with clock.running():
                portion = source.next(int(steps))
                if portion is not None:
                    extra = solver.advance(problem, terms, state, portion.block, portion.order, portion.steps)
            if portion is None:
                status = source.ended
                break
            recorder.forget()
            state.iterations += portion.steps
            state.batches += portion.steps * solver.batches_per_step
            state.rows += portion.steps * rows_per_step + (extra or 0)
            state.seconds = clock.total
            pace = (clock.total - before) / portion.steps
            slice_steps = min(4 * slice_steps, max(1.0, _SLICE_SECONDS / max(pace, 1e-9)))
            _require_finite(solver, state)
            if state.rows >= next_record or (tol is not None and not solver.promising(state, tol)):
                status = recorder.record(state, callback)
    source.close()
    if recorder.iterations[-1] != state.iterations:
        recorder.record(state, callback)
    if status is not Status.MAX_PASSES:
        state.allowance = float(state.rows)
    return recorder.result(state, status)


class _Limits:
    """Where the budgets of one call end."""

    def __init__(self, problem: Problem, state: State, budget: Budget) -> None:
        self._start = (state.rows, state.iterations, state.seconds)
        rows = math.inf
        if budget.passes is not None and problem.n_samples is not None:
            rows = state.allowance = state.allowance + budget.passes * problem.n_samples
        iterations = math.inf if budget.iterations is None else state.iterations + budget.iterations
        seconds = math.inf if budget.seconds is None else state.seconds + budget.seconds
        self._end = (rows, iterations, seconds)

    def steps(self, state: State, rows_per_step: int) -> float:
        """Steps that may still be done."""
        rows = self._end[0] - state.rows
        # inf // n is NaN, which min() would let hide the other budget.
        steps = rows // rows_per_step if math.isfinite(rows) else math.inf
        return min(steps, self._end[1] - state.iterations)

    def reached(self, state: State, rows_per_step: int) -> Status | None:
        """The budget that is used up, if any."""
        if state.rows + rows_per_step > self._end[0]:
            return Status.MAX_PASSES
        if state.iterations >= self._end[1]:
            return Status.MAX_ITERATIONS
        return Status.MAX_SECONDS if state.seconds >= self._end[2] else None

    def share(self, state: State) -> float:
        """Of the budget that is used up."""
        now = (state.rows, state.iterations, state.seconds)
        used = zip(self._start, now, self._end, strict=True)
        return min(1.0, max((at - start) / (end - start) if end > start else 1.0 for start, at, end in used))


class _Recorder:
    """Evaluates the output on a cadence, outside the clock."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        source: feed.Feed,
        clock: _Clock,
        tol: float | None,
        limits: _Limits,
    ) -> None:
        self._problem, self._solver, self._source, self._clock = problem, solver, source, clock
        self._tol, self._limits = tol, limits
        self.rows: list[int] = []
        self.iterations: list[int] = []
        self.seconds: list[float] = []
        self.objective: list[float] = []
        self.violation: list[float] = []
        self.certificate: Certificate | None = None
        self._certified_at = -1
        self._solved: Solution | None = None
        self._seen: Evaluation | None = None

    def next_certificate(self, state: State) -> float:
        """Rows at which the next certificate is due; the state knows, so that a resumed run keeps to the schedule."""
        if self._tol is None and not self._solver.watches(state):
            return math.inf
        first = float(state.rows)
        if self._tol is not None and not np.any(state.vectors["x"]):
            first += self._problem.block.labels.size + 1  # nobody starts at 0 in the hope that it is the solution
        return state.numbers.setdefault("certify_at", first)

    def certificate_due(self, state: State) -> bool:
        """Whether it is time for a certificate; always where it needs no read of its own and may be the last."""
        if self._tol is not None and not self._solver.promising(state, self._tol):
            return False
        return state.rows >= self.next_certificate(state) or (
            self._tol is not None and self._solver.seen(state) is not None and state.iterations > self.iterations[-1]
        )

    def check(self, state: State, callback: Callable[[Progress], Any] | None) -> Status | None:
        """Certify, on the clock and in the count of rows; tell the solver, and say so if the run should stop here."""
        with self._clock.running():
            seen = self._examined(state)
            certificate = self._certified(state, seen)
            self._solver.adapt(self._problem, state, certificate, seen, self._tol)
        state.numbers["certify_at"] = state.rows + max(self._problem.block.labels.size, _PATIENCE * state.rows)
        if self._tol is not None and certificate.met is not None:
            state.numbers["certify_at"] = float(state.rows)
            return Status.TOLERANCE
        return self.record(state, callback) if state.iterations > self.iterations[-1] else None

    def record(self, state: State, callback: Callable[[Progress], Any] | None = None) -> Status | None:
        """Evaluate and keep; says so if the run should stop here."""
        solution = self._solution(state)
        self.rows.append(state.rows)
        self.iterations.append(state.iterations)
        self.seconds.append(self._clock.total)
        if self._tol is not None and self.certificate_due(state):
            with self._clock.running():
                self._examined(state)  # as the certificate that comes next asks for
        self.objective.append(self._evaluate(solution, self._seen or self._solver.seen(state)))
        with np.errstate(over="ignore", invalid="ignore"):  # in a run that is about to be called diverged
            self.violation.append(float(np.linalg.norm(self._problem.F.forward(solution.x) - solution.z)))
        self._guard(state)
        if callback is not None:
            progress = Progress(
                self._passes(state.rows),
                state.iterations,
                self.seconds[-1],
                self.objective[-1],
                self.violation[-1],
                self._last_gap(),
                self._limits.share(state),
                solution.x,
            )
            if callback(progress):
                return Status.CALLBACK
        return None

    def result(self, state: State, status: Status) -> Result:
        """The account of the run."""
        if not isinstance(self._problem.source, Stream):
            certificate = self._certified(state, self._seen or self._solver.seen(state))
            if self._tol is not None and certificate.met is not None:
                status = Status.TOLERANCE
        history = History(
            np.array([self._passes(rows) for rows in self.rows]),
            np.array(self.iterations),
            np.array(self.seconds),
            np.array(self.objective),
            np.array(self.violation),
        )
        return Result(
            *self._solution(state),
            objective=self.objective[-1],
            violation=self.violation[-1],
            iterations=state.iterations,
            passes=self._passes(state.rows),
            seconds=self._clock.total,
            compile_seconds=self._clock.compile_seconds,
            status=status,
            certificate=self.certificate,
            history=history,
            state=state,
        )

    def _solution(self, state: State) -> Solution:
        """Read off the state once, until it moves."""
        if self._solved is None:
            self._solved = self._solver.solution(self._problem, state)
        return self._solved

    def _examined(self, state: State) -> Evaluation:
        """What the data say at this point: known to the solver, or read once."""
        if self._seen is None:
            self._seen = self._solver.seen(state)
        if self._seen is None:
            self._seen = look(self._problem, self._solution(state).x)
            state.rows += self._problem.block.labels.size
        return self._seen

    def forget(self) -> None:
        """The state has moved."""
        self._solved = self._seen = None

    def _certified(self, state: State, seen: Evaluation | None) -> Certificate:
        """Certificate at this point, with the best lower bound of the run; made once for each step."""
        if self.certificate is None or self._certified_at != state.iterations:
            best = -math.inf if self.certificate is None else self.certificate.dual
            x, _, _, dual, slopes = self._solution(state)
            certificate = certify(self._problem, x, dual, best, seen, slopes)
            self.certificate = certificate.judged(self._tol or 0.0, self.objective[0])
            self._certified_at = state.iterations
        return self.certificate

    def _last_gap(self) -> float:
        if self.certificate is None:
            return math.nan
        gap = self.certificate.rel_gap
        return gap if math.isfinite(gap) else self.certificate.residual

    def _passes(self, rows: int) -> float:
        # A stream that never ended has no length but what was read of it.
        length = self._source.rows_per_pass or max(self.rows[-1], rows)
        return rows / length if length else 0.0

    def _evaluate(self, solution: Solution, seen: Evaluation | None) -> float:
        problem = self._problem
        at = problem.F.forward(solution.x) if problem.r2.finite else solution.z
        penalty = problem.regularizer.value(solution.x) + problem.r2.value(at)
        return (problem.loss_value(solution.x, self._source.block) if seen is None else seen.loss) + penalty

    def _guard(self, state: State) -> None:
        now, start = self.objective[-1], self.objective[0]
        # Methods that carry r1 through the operator approach its set from outside, where the objective is infinite.
        outside = math.isinf(now) and not self._problem.regularizer.finite
        if math.isnan(now) or (math.isfinite(start) and now > _RUNAWAY * (1.0 + abs(start)) and not outside):
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


def _cadence(
    problem: Problem, budget: Budget, record_every: float | None, rows_per_step: int, certified: bool
) -> float:
    """Rows between two records; where there are certificates, those make records enough."""
    if record_every is not None and not record_every > 0:
        raise InputError(f"record_every is {record_every}. It counts passes and must be positive.")
    if isinstance(problem.source, Stream):
        if record_every is not None:
            raise InputError("record_every counts passes, and a stream has no known length. Leave it out.")
        return _STREAM_CADENCE
    assert problem.n_samples is not None
    if record_every is not None:
        return max(1, round(record_every * problem.n_samples))
    if certified:
        return math.inf
    whole = min(
        math.inf if budget.passes is None else budget.passes * problem.n_samples,
        math.inf if budget.iterations is None else budget.iterations * rows_per_step,
    )
    return max(problem.n_samples, round(whole / _RECORDS) if math.isfinite(whole) else 0)
