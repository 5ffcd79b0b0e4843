"""Where the next steps' rows come from: any order from a finite source, order of arrival from a stream."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..data import Block, Stream, Tables
from ..data.blocks import pick
from ..errors import InputError, UnsupportedError
from ..parameters import shown
from ..result import Status
from ..solvers.base import Solver
from ..state import State
from ..view import Partitions, View
from .shuffle import OrderWatch, Passage, Shuffler

_ROWS_AT_ONCE = 1 << 16
"""Rows whose order is drawn at a time: it takes half a megabyte."""


class Portion(NamedTuple):
    """Rows for `steps` iterations, and how many were read for it."""

    block: Block
    order: np.ndarray
    steps: int
    rows: int


class Rest(NamedTuple):
    """Rows of a stream that wait for others, when there are none: some to use, others to choose by, then those too."""

    all: Block
    first: list[Portion]
    unused: Block | None
    last: list[Portion]


class FiniteFeed:
    """Rows drawn by a sampler, without end."""

    ended = Status.MAX_PASSES

    def __init__(self, problem: View, solver: Solver, state: State) -> None:
        n = self.rows_per_pass = problem.sums.n_rows
        self.block = problem.rows.block
        if problem.rows.on_disk:
            _ = problem.rows.statistics  # which refuses what is no number
        self._state = state
        self._batches = solver.batches_per_step
        self._sampler = solver.sampler(problem, state)
        self.rows_per_step = self._batches * (n if solver.about.deterministic else state.batch_size)

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations."""
        steps = min(steps, max(1, _ROWS_AT_ONCE // self.rows_per_step))
        order = self._sampler.draw(self._state.batches, steps * self._batches)
        return Portion(self.block, order, steps, steps * self.rows_per_step)

    def rest(self) -> None:
        """No row waits for others."""

    def close(self) -> None:
        """Nothing to give back."""


class StreamFeed:
    """Rows as they come, each read once per traversal and mixed in a buffer if the solver has one.

    At most `passes` traversals. Rows that wait for others live in the state between runs.
    """

    def __init__(self, problem: View, solver: Solver, state: State, passes: float | None) -> None:
        assert isinstance(problem.rows.source, Stream)
        self.block = problem.rows.block
        self.ended = Status.STREAM_ENDED
        self.rows_per_step = solver.batches_per_step * state.batch_size
        self._batches = solver.batches_per_step
        self._problem = problem
        self._stream = problem.rows.source
        self._state = state
        self._traversals = math.inf if passes is None else math.ceil(passes)
        self._watch = OrderWatch(state, solver.buffer_rows) if problem.loss.binary and solver.buffer_rows else None
        self._shuffler = Shuffler.resumed(solver.buffer_rows, state, problem.rows.n_features, problem.rows.bias)
        self._passage: Passage | None = None
        self._used = 0
        self._unreported = 0
        """Rows read since the last portion."""

    @property
    def rows_per_pass(self) -> int | None:
        """Known once the stream has ended for the first time."""
        return self._stream.rows_per_traversal

    def next(self, steps: int) -> Portion | None:
        """Rows for at most `steps` iterations; None when there are no more."""
        while self._passage is None or self._passage.order.size - self._used < self.rows_per_step:
            if not self._load():
                return None
        here = (self._passage.order.size - self._used) // self.rows_per_step
        steps = min(steps, here, max(1, _ROWS_AT_ONCE // self.rows_per_step))
        start, self._used = self._used, self._used + steps * self.rows_per_step
        rows, self._unreported = self._unreported, 0
        return Portion(self.block, self._passage.order[start : self._used], steps, rows)

    def rest(self) -> Rest | None:
        """The rows that wait, as if no others were to come."""
        kept = self._shuffler.kept
        if kept is None:
            return None
        first, unused, last = self._shuffler.rest()
        return Rest(
            kept,
            list(self._portions(kept, first)),
            pick(kept, unused) if unused.size else None,
            list(self._portions(kept, last)),
        )

    def _portions(self, block: Block, order: np.ndarray) -> Iterator[Portion]:
        """Whole steps, then one of what is left."""
        whole = order.size // self.rows_per_step
        start = whole * self.rows_per_step
        left = (order.size - start) // self._batches * self._batches
        if whole:
            yield Portion(block, order[:start], whole, 0)
        if left:
            yield Portion(block, order[start : start + left], 1, 0)

    def close(self) -> None:
        """Store the waiting rows in the state, and return those that were not needed to the stream."""
        self._state.rows += self._unreported
        if self._passage is not None:
            came = self._passage.came
            needed = self._shuffler.stop(self._passage, self._used)
            self._stream.give_back(self._chunk, needed)
            self._state.rows -= came - needed
        self._state.held = self._shuffler.arrays()

    def _load(self) -> bool:
        if self._passage is not None:
            self._shuffler.advance(self._passage, self._used)
            self._passage = None
        chunk = self._stream.take(1)
        if chunk is None:
            self._traversals -= 1
            if not self._stream.restartable:
                return False
            self._stream.restart()
            if self._traversals <= 0:
                self.ended = Status.MAX_PASSES
                return False
            chunk = self._stream.take(1)
            if chunk is None:
                return False
        came = self._problem.rows.checked_chunk(chunk)
        if self._watch is not None:
            self._watch.watch(came.labels)
        self._chunk = chunk
        self._passage, self._used = self._shuffler.receive(came), 0
        self._unreported += came.labels.size
        self.block = self._passage.pool
        return True


Feed = FiniteFeed | StreamFeed


def check(problem: View, solver: Solver) -> None:
    """Refuse a stream where the solver asks for rows in an order of its own, and blocks where it wants single rows."""
    if isinstance(problem.rows.source, Tables | Partitions) and not solver.on_sums:
        where = problem.rows.source.name
        raise UnsupportedError(
            f"{solver.about.name} reads single rows in an order of its own, and {where} is read block by block. "
            'Use "auto", "prox-newton" or "working-set", stream it with "spdpeg", or load it into memory.'
        )
    if not isinstance(problem.rows.source, Stream):
        return
    if solver.about.finite_sum or solver.about.deterministic:
        raise UnsupportedError(
            f"{solver.about.name} must read rows again and a stream shows each once. "
            'Use "spdpeg", or write the stream to disk first (spdpeg.data.write_csr).'
        )
    if not isinstance(solver.sampling, str) or solver.sampling != "auto":
        raise InputError(
            f"sampling is {shown(solver.sampling)}, but a stream is read in order of arrival. Leave it out."
        )


def make(problem: View, solver: Solver, state: State, passes: float | None) -> Feed:
    """The feed that fits the problem's source."""
    if isinstance(problem.rows.source, Stream):
        return StreamFeed(problem, solver, state, passes)
    return FiniteFeed(problem, solver, state)
