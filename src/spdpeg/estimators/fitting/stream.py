"""A fit that goes on chunk by chunk."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Stream
from ...engine import solve
from ...problem import Problem
from ...result import uninterrupted
from ...state import State
from .flow import Data, Model, Solution, Start, Terms, starts_of, store, terms_of

_ROWS_PER_STEP = 2
"""SPDPEG takes two gradients a step, each from a row of its own."""


def learn(model: Model, data: Data) -> None:
    """Take a step of SPDPEG for each pair of rows, for each target, and keep where that leads.

    Parameters
    ----------
    model : estimator
        It holds the learners of the chunks before, if there were any.
    data : Data
        The chunk.
    """
    terms = terms_of(model, data, getattr(model, "F_", None))
    learners: list[Learner] = getattr(model, "_learners", [])
    if not learners:
        learners = [Learner(start, model._intercept) for start in starts_of(model, data, True)]
    together = zip(learners, data.targets, strict=True)
    store(
        model, terms, [learner.learn(data.X, target, data.weights, terms) for learner, target in together], 1, learners
    )


@dataclass
class Learner:
    """SPDPEG on rows that arrive in chunks: ends where one run over all of them would, and keeps none of them.

    Attributes
    ----------
    start : Start
    intercept : bool or float
        Whether there is one; after the first chunk, the value of the constant column that stands for it.
    state : State or None
    waiting : tuple or None
        The last row, as long as it has no partner to make a step with.
    """

    start: Start
    intercept: bool | float
    state: State | None = None
    waiting: tuple[Any, np.ndarray, np.ndarray | None] | None = None

    def learn(self, X: Any, labels: np.ndarray, weights: np.ndarray | None, terms: Terms) -> Solution:
        """Take the steps that this chunk allows."""
        chunk = (X, labels, weights)
        chunks = [chunk] if self.waiting is None else [self.waiting, chunk]
        rows = sum(len(part[1]) for part in chunks)
        self.waiting = None
        if rows % _ROWS_PER_STEP:
            # A copy, so that the chunk itself can go.
            self.waiting = (X[-1:].copy(), labels[-1:].copy(), None if weights is None else weights[-1:].copy())
        stream = Stream(chunks, classes=(-1.0, 1.0) if terms.loss.binary else None)
        problem = Problem(stream, **terms._asdict(), intercept=self.intercept)
        resumed = {"state": self.state} if self.state is not None else self.start.arguments(problem)
        if rows < _ROWS_PER_STEP:
            return Solution(problem, solve(problem, "spdpeg", max_iterations=0, **resumed))
        result = uninterrupted(solve(problem, "spdpeg", max_passes=1, **resumed))
        self.state = result.state
        if self.intercept is True:
            self.intercept = problem.bias
        return Solution(problem, result)
