"""The one outer loop: steps in slices, records, stopping, callbacks, interruption."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..data import Stream
from ..errors import DivergedError
from ..kernels.deadline import OutOfTime, within
from ..result import Result, Status
from ..solvers.base import Periodic, Solver
from ..state import State
from ..view import View
from .budgets import Budget, Clock, Limits
from .feed import Portion
from .recorder import Progress, Recorder, diverged
from .stages import Planned, Stages

_SLICE_SECONDS = 0.05
"""Aim for compiled calls of this length: short enough for Ctrl-C and time budgets, long enough to cost nothing."""

_STREAM_CADENCE = 1 << 16
"""Rows between two records on a stream, whose length is unknown."""

_NEVER = 2.0**60
"""Rows that no run reads."""

_RECORDS = 20
"""Default number of records of a run; never more than one a pass."""


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C into a flag, so that a step is never torn apart; a second Ctrl-C stops at once.

    Only where Python's own handler is in place: a program that handles or ignores the signal itself goes on doing so.
    """
    pressed: list[int] = []
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return

    def note(signum: int, frame: Any) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(signum)

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, previous)


def run(
    problem: View,
    plan: Sequence[Planned],
    state: State,
    budget: Budget,
    *,
    tol: float | None,
    record_every: float | None,
    callback: Callable[[Progress], Any] | None,
) -> Result:
    """Move `state` forward through the stages of a plan until a budget is used up, `tol` is met, or something stops it.

    The loop alone decides when to stop: methods take steps, the recorder looks at what they reached.
    """
    going = _Run(problem, plan, state, budget, tol, record_every, callback)
    status: Status | None = None
    with _interruptible() as interrupted:
        while status is None:
            try:
                status = going.turn(interrupted)
            except DivergedError:
                # Of a stage that takes over from another, where that one had come to a point of its own.
                if not going.fell_back():
                    raise
                status = Status.EXHAUSTED
            except OutOfTime:
                status = going.cut_short()
    # Read once the old handler is back, so that no Ctrl-C falls between the two. Callers that make many runs must learn
    # of one in the last step, too.
    return going.result(Status.INTERRUPTED if interrupted() else status)


class _Run:
    """One call of `run`."""

    def __init__(
        self,
        problem: View,
        plan: Sequence[Planned],
        state: State,
        budget: Budget,
        tol: float | None,
        record_every: float | None,
        callback: Callable[[Progress], Any] | None,
    ) -> None:
        self._clock = Clock(state.seconds, budget.timer)
        self._problem, self._state = problem, state
        self._tol, self._callback = tol, callback
        # A resumed run begins in the stage that its state names, with the feed where it left off.
        self._stages = Stages(problem, plan, state, budget.passes)
        self._cadence = _cadence(problem, budget, record_every, self._stages.feed.rows_per_step, tol is not None)
        self._limits = Limits(problem, state, budget)
        self._recorder = Recorder(problem, self._stages, self._clock, tol, self._limits)
        waits = _reads_are_dear(problem) and not self._stages.may_be_optimal(tol)
        if waits and np.any(self._stages.method.solution(problem, state).x):
            # The first certificate comes after the first read of the method, which gives the objective here, too.
            self._prepare(self._stages.method)
        self._recorder.record(state)
        # A run that goes on knows its pace already.
        # A new one begins with few steps and finds its pace within some slices, whatever a step costs.
        pace = state.seconds / state.iterations if state.iterations else 0.0
        self._slice_steps = max(1.0, _SLICE_SECONDS / pace) if pace > 0.0 else 64.0

    def turn(self, interrupted: Callable[[], bool]) -> Status | None:
        """Certify if that is due, then take a slice of steps; the status if the run should stop here."""
        state, before = self._state, self._clock.total
        # First of all: a method that stops because it is done must end with the proof.
        if self._recorder.certificate_due(state):
            status = self._recorder.check(state, self._callback)
            if status is not None:
                return status
        # A certificate may have handed over to the next stage, so the method is asked for here, not before.
        method = self._stages.method
        ended = method.ended(state) if isinstance(method, Periodic) else None
        if ended is not None:
            return self._hand_over(method, ended)
        # Snapshots and the like read rows too, so a certificate may have become due by now.
        if self._prepare(method) and self._recorder.certificate_due(state):
            return None  # it comes before the next step, as in a run that is resumed here
        steps, next_record = self._slice(method)
        status = self._limits.reached(state, self._stages.feed.rows_per_step)
        if status is None and interrupted():
            status = Status.INTERRUPTED
        return self._advance(method, steps, next_record, before) if status is None else status

    def fell_back(self) -> bool:
        """Whether a run that diverged could go back to what an earlier stage had found."""
        return self._recorder.fell_back()

    def result(self, status: Status) -> Result:
        """The account of the run, with a last record and a last certificate."""
        problem, state, stages, recorder = self._problem, self._state, self._stages, self._recorder
        stages.feed.close()
        ended = isinstance(problem.rows.source, Stream) and status is stages.feed.ended
        shown = _with_rest(problem, state, stages) if ended else state
        if recorder.iterations[-1] != shown.iterations or ended:
            if ended:
                recorder.forget()
            recorder.record(shown, self._callback)
        # A run that used up its passes may go on later with what rounding to whole steps left of them; others may not.
        if status is not Status.MAX_PASSES or ended:
            state.allowance = float(state.rows)
        rows = state.rows
        result = recorder.result(shown, status)
        # What the last certificate reads from a disk counts in the result and is not kept: a run that goes on from here
        # takes the steps of one that was never cut.
        state.rows = rows
        result.state = state
        return result

    def cut_short(self) -> Status:
        """Count a step that could not end within the budget of seconds. Its point is whole: the last or the next."""
        state, problem = self._state, self._problem
        if self._stages.method.on_sums:
            state.rows += round((problem.sums.reads - self._reads) * problem.sums.n_rows)
        state.iterations += 1
        state.seconds = self._clock.total
        self._recorder.forget()
        return Status.MAX_SECONDS

    @contextmanager
    def _timed(self, method: Solver) -> Iterator[None]:
        """What a method does is on the clock, and must end soon after the budget of seconds does."""
        if method.on_sums:
            self._reads = self._problem.sums.reads
        with self._clock, within(self._limits.seconds_left(self._clock.total), self._clock.timer):
            yield

    def _hand_over(self, method: Solver, ended: Status) -> Status | None:
        """End the run, or begin the next stage (None), after a method that cannot go on."""
        if ended is not Status.EXHAUSTED or not self._stages.wants_certificates:
            return ended
        # A last certificate ends the run, or hands over to the next stage.
        status = self._recorder.check(self._state, self._callback)
        return status or (ended if self._stages.method is method else None)

    def _prepare(self, method: Solver) -> int:
        """Work of the method between its compiled steps, as snapshots are; returns the number of rows read for it."""
        with self._timed(method):
            read = method.prepare(self._problem, self._stages.terms, self._state) if isinstance(method, Periodic) else 0
        if read:
            self._state.rows += read
            self._recorder.forget()
        return read

    def _slice(self, method: Solver) -> tuple[float, float]:
        """How many steps the next compiled call takes, and the rows at which the next record is due.

        Calls end where something is due: a record, a certificate, work of the method, the budget. All of these depend
        on rows and steps alone, never on time, so that a run cut anywhere meets the same points. Only the longest slice
        follows the clock, and slices change nothing.
        """
        state, rows_per_step = self._state, self._stages.feed.rows_per_step
        cadence = self._cadence
        next_record = (state.rows // cadence + 1) * cadence if math.isfinite(cadence) else math.inf
        next_stop = min(next_record, self._recorder.next_certificate(state))
        to_stop = math.ceil((next_stop - state.rows) / rows_per_step)
        ahead = method.steps_ahead(state) if isinstance(method, Periodic) else math.inf
        steps = min(max(1, to_stop), self._slice_steps, ahead, self._limits.steps(state, rows_per_step))
        return steps, next_record

    def _advance(self, method: Solver, steps: float, next_record: float, before: float) -> Status | None:
        """Take the steps, count them, and record where that is due; `before` is when the turn began."""
        state, feed = self._state, self._stages.feed
        with self._timed(method):
            portion = feed.next(int(steps))
            if portion is not None:
                try:
                    read = method.advance(
                        self._problem, self._stages.terms, state, portion.block, portion.order, portion.steps
                    )
                except np.linalg.LinAlgError:  # iterates have grown until a factorisation failed
                    raise diverged(method, state) from None
        if portion is None:
            return feed.ended
        self._recorder.forget()
        state.iterations += portion.steps
        state.batches += portion.steps * method.batches_per_step
        # A method that reads rows of its own choice says how many; all others have read what the feed gave them.
        state.rows += portion.rows if read is None else read
        state.seconds = self._clock.total
        pace = (self._clock.total - before) / portion.steps
        # At most four times as long as the last slice: the first one may have been quick by chance.
        self._slice_steps = min(4 * self._slice_steps, max(1.0, _SLICE_SECONDS / max(pace, 1e-9)))
        _require_finite(method, state)
        # A step that may be optimal is recorded with its certificate, from the same evaluation.
        if state.rows >= next_record or not self._stages.may_be_optimal(self._tol):
            return self._recorder.record(state, self._callback)
        return None


def _with_rest(problem: View, state: State, stages: Stages) -> State:
    """The state at the end of a stream if the rows that wait for others were used too; the run's own keeps them."""
    shown, method, rest = state.copy(), stages.method, stages.feed.rest()

    def use(portions: list[Portion]) -> None:
        for portion in portions:
            method.advance(problem, stages.terms, shown, portion.block, portion.order, portion.steps)
            shown.iterations += portion.steps

    if rest is not None:
        use(rest.first)
        if rest.unused is not None:
            method.weigh(problem, shown, rest.unused)
        use(rest.last)
    method.polish(problem, shown, rest.all if rest is not None else None)
    _require_finite(method, shown)
    return shown


def _require_finite(solver: Solver, state: State) -> None:
    for name, vector in state.vectors.items():
        if name not in solver.derived and not np.logical_and.reduce(np.isfinite(vector), axis=None):
            raise diverged(solver, state)


def _reads_are_dear(problem: View) -> bool:
    """Whether rows are on a disk or on a cluster."""
    return not isinstance(problem.rows.source, Stream) and not problem.sums.resident


def _cadence(problem: View, budget: Budget, record_every: float | None, rows_per_step: int, certified: bool) -> float:
    """Rows between two records; where there are certificates, those make records enough."""
    if isinstance(problem.rows.source, Stream):
        return _STREAM_CADENCE
    assert problem.rows.n_samples is not None
    if record_every is not None:
        return max(1, round(min(float(record_every) * problem.rows.n_samples, _NEVER)))
    if certified:
        return math.inf
    whole = min(
        math.inf if budget.passes is None else budget.passes * problem.rows.n_samples,
        math.inf if budget.iterations is None else budget.iterations * rows_per_step,
    )
    return max(problem.rows.n_samples, round(whole / _RECORDS) if math.isfinite(whole) else 0)
