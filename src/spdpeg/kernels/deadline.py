"""When a run's budget of seconds ends, for the parts of a step that may take longer than all that is left of it.

Steps read data, and most end soon. A model that is minimised without data may take minutes, though: a factorisation
that fills in, interior points that crawl, one attempt after another. Where such work goes round, it asks here; the loop
that set the deadline then ends the run at the last point that is whole.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from . import jit


class OutOfTime(Exception):
    """The seconds of a run are used up, and more."""


class _Deadline(NamedTuple):
    timer: Callable[[], float]
    end: float

    @property
    def left(self) -> float:
        # Compiling is off the clock.
        return self.end - self.timer() + jit.compile_seconds()


_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float, timer: Callable[[], float]) -> Iterator[None]:
    """Give what is done inside so many seconds of a clock; infinity for no limit."""
    if seconds == math.inf:
        yield
        return
    before = _deadline.set(_Deadline(timer, timer() - jit.compile_seconds() + seconds))
    try:
        yield
    finally:
        _deadline.reset(before)


def seconds_left() -> float:
    """What is left; infinity without a limit."""
    deadline = _deadline.get()
    return math.inf if deadline is None else deadline.left


def check(ahead: float = 0.0) -> None:
    """Raise OutOfTime if less than `ahead` seconds are left, which the next piece of work should take."""
    deadline = _deadline.get()
    if deadline is not None and deadline.left < ahead:
        raise OutOfTime
