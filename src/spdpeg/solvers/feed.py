"""Where the next steps' rows come from: any order from a finite source, order of arrival from a stream."""

from typing import NamedTuple

import numpy as np

from ..data import Block, Stream
from ..errors import InputError
from ..problem import Problem
from ..state import State
from . import sampling
from .base import Solver

_ROWS_AT_ONCE = 1 << 16


class Portion(NamedTuple):
    """Rows for `steps` iterations."""

    block: Block
    order: np.ndarray
    steps: int


class FiniteFeed:
    """Rows drawn by a sampler, without end."""

    def __init__(self, problem: Problem, solver: Solver, state: State, batch_size: int) -> None:
        assert problem.n_samples is not None
        if batch_size > problem.n_samples:
            raise InputError(
                f"batch_size is {batch_size} but there are {problem.n_samples} rows. Choose at most that many."
            )
        self.block = problem.block
        self.rows_per_pass: int | None = problem.n_samples
        self._state = state
        self._batches = solver.batches_per_step
        self._most = max(1, _ROWS_AT_ONCE // (self._batches * batch_size))
        self._sampler = sampling.make(
            solver.sampling, problem.n_samples, batch_size, state.seed, problem.source.on_disk
        )

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations."""
        steps = min(steps, self._most)
        return Portion(self.block, self._sampler.draw(self._state.batches, steps * self._batches), steps)


class StreamFeed:
    """Rows in order of arrival, each read once per traversal."""

    def __init__(self, problem: Problem, solver: Solver, state: State, batch_size: int) -> None:
        assert isinstance(problem.source, Stream)
        if solver.sampling not in ("auto", "stream"):
            raise InputError(f"sampling is {solver.sampling!r}, but a stream is read in order of arrival. Leave it out.")
        self.block = problem.block
        self._problem = problem
        self._stream = problem.source
        self._rows_per_step = solver.batches_per_step * batch_size
        self._used = self._size = 0
        self.traversals = 0

    @property
    def rows_per_pass(self) -> int | None:
        """Known once the stream has ended for the first time."""
        return self._stream.rows_per_traversal

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations; None when the stream has ended for good."""
        if self._used == self._size and not self._load():
            return None
        steps = min(steps, (self._size - self._used) // self._rows_per_step, max(1, _ROWS_AT_ONCE // self._rows_per_step))
        stop = self._used + steps * self._rows_per_step
        order = np.arange(self._used, stop)
        self._used = stop
        return Portion(self.block, order, steps)

    def _load(self) -> bool:
        chunk = self._stream.take(self._rows_per_step)
        if chunk is None and self._stream.restartable:
            self._stream.restart()
            chunk = self._stream.take(self._rows_per_step)
        if chunk is None:
            return False
        self.block = self._problem.encode(*chunk)
        self._problem.check_block(self.block)
        self._used, self._size = 0, self.block.labels.size
        return True


def make(problem: Problem, solver: Solver, state: State, batch_size: int) -> FiniteFeed | StreamFeed:
    """The feed that fits the problem's source."""
    kind = StreamFeed if isinstance(problem.source, Stream) else FiniteFeed
    return kind(problem, solver, state, batch_size)
