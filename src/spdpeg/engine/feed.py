"""Where the next steps' rows come from: any order from a finite source, order of arrival from a stream."""

import math
from typing import NamedTuple

import numpy as np

from ..data import Block, Stream
from ..errors import InputError, UnsupportedError
from ..problem import Problem
from ..result import Status
from ..solvers.base import Solver
from ..state import State

_ROWS_AT_ONCE = 1 << 16


class Portion(NamedTuple):
    """Rows for `steps` iterations."""

    block: Block
    order: np.ndarray
    steps: int


class FiniteFeed:
    """Rows drawn by a sampler, without end."""

    ended = Status.MAX_PASSES

    def __init__(self, problem: Problem, solver: Solver, state: State) -> None:
        n = self.rows_per_pass = problem.block.labels.size
        self.block = problem.block
        self._state = state
        self._batches = solver.about.batches_per_step
        self._sampler = solver.sampler(problem, state)
        self.rows_per_step = self._batches * (n if solver.about.deterministic else state.batch_size)

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations."""
        steps = min(steps, max(1, _ROWS_AT_ONCE // self.rows_per_step))
        return Portion(self.block, self._sampler.draw(self._state.batches, steps * self._batches), steps)

    def close(self) -> None:
        """Nothing to give back."""


class StreamFeed:
    """Rows in order of arrival, each read once per traversal; at most `passes` traversals."""

    def __init__(self, problem: Problem, solver: Solver, batch_size: int, passes: float | None) -> None:
        assert isinstance(problem.source, Stream)
        self.block = problem.block
        self.ended = Status.STREAM_ENDED
        self.rows_per_step = solver.about.batches_per_step * batch_size
        self._problem = problem
        self._stream = problem.source
        self._traversals = math.inf if passes is None else math.ceil(passes)
        self._used = self._size = 0

    @property
    def rows_per_pass(self) -> int | None:
        """Known once the stream has ended for the first time."""
        return self._stream.rows_per_traversal

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations; None when there are no more."""
        if self._used == self._size and not self._load():
            return None
        here = (self._size - self._used) // self.rows_per_step
        steps = min(steps, here, max(1, _ROWS_AT_ONCE // self.rows_per_step))
        start, self._used = self._used, self._used + steps * self.rows_per_step
        return Portion(self.block, np.arange(start, self._used), steps)

    def close(self) -> None:
        """Give the rows that were not used back to the stream, for the run that goes on from here."""
        if self._used < self._size:
            self._stream.give_back(self._chunk, self._used)

    def _load(self) -> bool:
        chunk = self._stream.take(self.rows_per_step)
        if chunk is None:
            self._traversals -= 1
            if not self._stream.restartable:
                return False
            self._stream.restart()
            if self._traversals <= 0:
                self.ended = Status.MAX_PASSES
                return False
            chunk = self._stream.take(self.rows_per_step)
            if chunk is None:
                return False
        self._chunk = chunk
        self.block = self._problem.encode(*chunk)
        self._problem.check_block(self.block)
        self._used, self._size = 0, self.block.labels.size
        return True


Feed = FiniteFeed | StreamFeed


def check(problem: Problem, solver: Solver) -> None:
    """Refuse a stream where the solver asks for rows in an order of its own."""
    if not isinstance(problem.source, Stream):
        return
    if solver.about.finite_sum or solver.about.deterministic:
        raise UnsupportedError(
            f"{solver.about.name} must read rows again and a stream shows each once. "
            'Use "spdpeg", or write the stream to disk first (spdpeg.data.write_csr).'
        )
    if solver.sampling != "auto":
        raise InputError(f"sampling is {solver.sampling!r}, but a stream is read in order of arrival. Leave it out.")


def make(problem: Problem, solver: Solver, state: State, passes: float | None) -> Feed:
    """The feed that fits the problem's source."""
    if isinstance(problem.source, Stream):
        return StreamFeed(problem, solver, state.batch_size, passes)
    return FiniteFeed(problem, solver, state)
