"""The budget of a run, and the clock that measures it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import jit
from ..result import Status
from ..state import MOST_ROWS, State
from ..view import View

_SLICE = 64
"""Steps between two looks at the clock where passes do not count yet."""

_LATE, _LEAST_LATE = 0.1, 1.0
"""Fraction of a budget of seconds, and seconds, by which a step may end late: one that is cut short was in vain."""


@dataclass(frozen=True)
class Budget:
    """The most that one call of `run` may spend."""

    passes: float | None
    iterations: int | None
    seconds: float | None
    least_seconds: float = 0.0
    """Passes and iterations are not limited before this: a thousand passes over three rows take no time."""
    timer: Callable[[], float] = time.perf_counter
    """The clock; `time.thread_time` leaves out other work on the machine."""


class Clock:
    """Seconds spent in the method itself, neither compiling nor recording: it runs inside a `with` block."""

    def __init__(self, before: float, timer: Callable[[], float] = time.perf_counter) -> None:
        self.total = before
        self.timer = timer
        self.first_compile = jit.compile_seconds()

    def __enter__(self) -> None:
        self._start = self.timer() - jit.compile_seconds()

    def __exit__(self, *error: object) -> None:
        self.total += max(0.0, self.timer() - jit.compile_seconds() - self._start)

    @property
    def compile_seconds(self) -> float:
        """Spent on compiling since the clock was made."""
        return jit.compile_seconds() - self.first_compile


class Limits:
    """The rows, iterations and seconds at which one call must end."""

    def __init__(self, problem: View, state: State, budget: Budget) -> None:
        self._start = (state.rows, state.iterations, state.seconds)
        rows = math.inf
        if budget.passes is not None and problem.rows.n_samples is not None:
            granted = state.allowance + budget.passes * problem.rows.n_samples
            rows = state.allowance = min(granted, 0.5 * MOST_ROWS)
        iterations = math.inf if budget.iterations is None else state.iterations + budget.iterations
        seconds = math.inf if budget.seconds is None else state.seconds + budget.seconds
        self._end = (rows, iterations, seconds)
        self._least = state.seconds + budget.least_seconds

    def steps(self, state: State, rows_per_step: int) -> float:
        """Steps that may still be done."""
        rows = self._end[0] - state.rows
        if state.seconds < self._least:
            rows = max(rows, _SLICE * rows_per_step)
        # inf // n is NaN, which min() would let hide the other budget.
        steps = rows // rows_per_step if math.isfinite(rows) else math.inf
        return min(steps, self._end[1] - state.iterations)

    def reached(self, state: State, rows_per_step: int) -> Status | None:
        """The budget that is used up, if any."""
        if state.rows + rows_per_step > self._end[0] and state.seconds >= self._least:
            return Status.MAX_PASSES
        if state.iterations >= self._end[1]:
            return Status.MAX_ITERATIONS
        return Status.MAX_SECONDS if state.seconds >= self._end[2] else None

    def seconds_left(self, total: float) -> float:
        """Seconds in which a step must end, once so many are used up: it may take a little longer than the budget."""
        return self._end[2] - total + max(_LATE * (self._end[2] - self._start[2]), _LEAST_LATE)

    def fraction(self, state: State) -> float:
        """Fraction of the budget that is used up."""
        now = (state.rows, state.iterations, state.seconds)
        used = zip(self._start, now, self._end, strict=True)
        return min(1.0, max((at - start) / (end - start) if end > start else 1.0 for start, at, end in used))
