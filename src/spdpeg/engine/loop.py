"""The one outer loop: steps in slices, records, stopping, callbacks, interruption."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..data import Stream
from ..kernels.terms import Terms
from ..problem import Problem
from ..result import Result, Status
from ..solvers.base import Periodic, Solver
from ..state import State
from .budgets import Budget, Clock, Limits
from .recorder import Progress, Recorder, diverged
from .stages import Course, Planned

_SLICE_SECONDS = 0.05
"""Aim for compiled calls of this length: short enough for Ctrl-C and time budgets, long enough to cost nothing."""

_STREAM_CADENCE = 1 << 16
"""Rows between two records on a stream, whose length is unknown."""

_NEVER = 2.0**60
"""Rows that no run reads."""

_RECORDS = 20
"""Records of a run unless asked otherwise; never more than one a pass."""


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C into a flag, so that a step is never torn apart; a second Ctrl-C stops at once.

    Only where Python's own handler is in place: a program that handles or ignores the signal itself goes on doing so.
    """
    pressed = threading.Event()
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
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
    clock = Clock(state.seconds, budget.timer)
    terms = problem.terms()
    # A resumed run begins in the stage that its state names, with the feed where it left off.
    course = Course(problem, plan, state, budget.passes)
    cadence = _cadence(problem, budget, record_every, course.feed.rows_per_step, tol is not None)
    limits = Limits(problem, state, budget)
    recorder = Recorder(problem, course, clock, tol, limits)
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
            # A certificate may have handed over to the next stage, so the method is asked for here, not before.
            method, rows_per_step = course.method, course.feed.rows_per_step
            # A method that cannot go on gets a last certificate, which ends the run or hands over to the next stage.
            status = method.ended(state) if isinstance(method, Periodic) else None
            if status is Status.EXHAUSTED and course.wants_certificates:
                status = recorder.check(state, callback) or (status if course.method is method else None)
                if status is None:
                    continue  # with the next stage
            if status is not None:
                break
            # Snapshots and the like read rows too, so a certificate may have become due by now.
            with clock.running():
                prepared = method.prepare(problem, terms, state) if isinstance(method, Periodic) else 0
            if prepared:
                state.rows += prepared
                recorder.forget()
            if recorder.certificate_due(state):
                continue  # before the next step, as in a run that is resumed here
            # Compiled calls end where something is due: a record, a certificate, work of the method, the budget. They
            # depend on rows and steps alone, never on time, so that a run cut anywhere meets the same points; only
            # slice_steps follows the clock, and slices change nothing.
            next_record = (state.rows // cadence + 1) * cadence if math.isfinite(cadence) else math.inf
            next_stop = min(next_record, recorder.next_certificate(state))
            to_record = math.ceil((next_stop - state.rows) / rows_per_step)
            ahead = method.steps_ahead(state) if isinstance(method, Periodic) else math.inf
            steps = min(max(1, to_record), slice_steps, ahead, limits.steps(state, rows_per_step))
            status = limits.reached(state, rows_per_step)
            if status is None and interrupted():
                status = Status.INTERRUPTED
            if status is not None:
                break

            with clock.running():
                portion = course.feed.next(int(steps))
                if portion is not None:
                    try:
                        read = method.advance(problem, terms, state, portion.block, portion.order, portion.steps)
                    except np.linalg.LinAlgError:
                        raise diverged(method, state) from None
            if portion is None:
                status = course.feed.ended
                break
            recorder.forget()
            # A method that reads rows of its own choice says how many; all others have read what the feed gave them.
            state.iterations += portion.steps
            state.batches += portion.steps * method.batches_per_step
            state.rows += portion.rows if read is None else read
            state.seconds = clock.total
            pace = (clock.total - before) / portion.steps
            # At most four times as long as the last slice: the first one may have been quick by chance.
            slice_steps = min(4 * slice_steps, max(1.0, _SLICE_SECONDS / max(pace, 1e-9)))
            _require_finite(method, state)
            if state.rows >= next_record or not course.may_be_optimal(tol):
                status = recorder.record(state, callback)
    # Asked once the old handler is back, so that no Ctrl-C falls between the two; callers that go from run to run must
    # hear of one in the last step as well.
    if interrupted():
        status = Status.INTERRUPTED
    course.feed.close()
    ended = isinstance(problem.source, Stream) and status is course.feed.ended
    shown = _with_rest(problem, terms, state, course) if ended else state
    if recorder.iterations[-1] != shown.iterations or ended:
        if ended:
            recorder.forget()
        recorder.record(shown, callback)
    # A run that used up its passes may go on later with what rounding to whole steps left of them; others may not.
    if status is not Status.MAX_PASSES or ended:
        state.allowance = float(state.rows)
    rows = state.rows
    result = recorder.result(shown, status)
    # What the last certificate reads from a disk is told in the result and not kept: a run that goes on from here takes
    # the steps of one that was never cut.
    state.rows = rows
    result.state = state
    return result


def _with_rest(problem: Problem, terms: Terms, state: State, course: Course) -> State:
    """The state at the end of a stream if the rows that wait for others were used too; the run's own keeps them."""
    shown = state.copy()
    for portion in course.feed.rest():
        course.method.advance(problem, terms, shown, portion.block, portion.order, portion.steps)
        shown.iterations += portion.steps
    course.method.polish(problem, shown, course.feed.waiting)
    _require_finite(course.method, shown)
    return shown


def _require_finite(solver: Solver, state: State) -> None:
    if not all(np.isfinite(vector).all() for vector in state.vectors.values()):
        raise diverged(solver, state)


def _cadence(
    problem: Problem, budget: Budget, record_every: float | None, rows_per_step: int, certified: bool
) -> float:
    """Rows between two records; where there are certificates, those make records enough."""
    if isinstance(problem.source, Stream):
        return _STREAM_CADENCE
    assert problem.n_samples is not None
    if record_every is not None:
        return max(1, round(min(float(record_every) * problem.n_samples, _NEVER)))
    if certified:
        return math.inf
    whole = min(
        math.inf if budget.passes is None else budget.passes * problem.n_samples,
        math.inf if budget.iterations is None else budget.iterations * rows_per_step,
    )
    return max(problem.n_samples, round(whole / _RECORDS) if math.isfinite(whole) else 0)
