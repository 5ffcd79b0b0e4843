"""Where a run starts, and how one goes on chunk by chunk."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data import Stream
from ..engine import solve
from ..problem import Problem
from ..result import Result, uninterrupted
from ..state import State

_ROWS_PER_STEP = 2
"""SPDPEG takes two gradients a step, each from a row of its own."""


class Start(NamedTuple):
    """Coefficients, intercept and multipliers to begin with."""

    coef: np.ndarray
    intercept: Any = 0.0
    dual: np.ndarray | None = None

    def arguments(self, problem: Problem) -> dict[str, Any]:
        """For `solve`; multipliers of another F are left out."""
        fits = self.dual is not None and self.dual.shape == (problem.F.n_outputs,)
        return {"x0": problem.join(self.coef, self.intercept), "dual0": self.dual if fits else None}


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

    def learn(
        self, X: Any, labels: np.ndarray, weights: np.ndarray | None, terms: dict[str, Any]
    ) -> tuple[Problem, Result]:
        """Take the steps that this chunk allows."""
        chunk = (X, labels, weights)
        chunks = [chunk] if self.waiting is None else [self.waiting, chunk]
        rows = sum(len(part[1]) for part in chunks)
        self.waiting = None
        if rows % _ROWS_PER_STEP:
            # A copy, so that the chunk itself can go.
            self.waiting = (X[-1:].copy(), labels[-1:].copy(), None if weights is None else weights[-1:].copy())
        stream = Stream(chunks, classes=(-1.0, 1.0) if terms["loss"].binary else None)
        problem = Problem(stream, **terms, intercept=self.intercept)
        resumed = {"state": self.state} if self.state is not None else self.start.arguments(problem)
        if rows < _ROWS_PER_STEP:
            return problem, solve(problem, "spdpeg", max_iterations=0, **resumed)
        result = uninterrupted(solve(problem, "spdpeg", max_passes=1, **resumed))
        self.state = result.state
        if self.intercept is True:
            self.intercept = problem.bias
        return problem, result
