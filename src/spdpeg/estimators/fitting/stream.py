"""A fit that goes on chunk by chunk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...data import Stream
from ...engine import quietly
from ...problem import Problem
from ...result import uninterrupted
from ...state import State
from .flow import Solution, account, store
from .plan import Data, Start, Terms, check_settings, starts_of, terms_of

_SEEDS = 2**31


def learn(model: Any, data: Data) -> None:
    """Go on with SPDPEG on a chunk, for each target, and store the solution.

    Parameters
    ----------
    model : estimator
        It holds the learners of the chunks before, if there were any.
    data : Data
        The chunk.
    """
    check_settings(model)
    terms = terms_of(model, data, getattr(model, "F_", None))
    learners: list[Learner] = getattr(model, "_learners", [])
    if not learners:
        seed = int(check_random_state(model.random_state).randint(_SEEDS))
        learners = [Learner(start, model._intercept, seed) for start in starts_of(model, data, True)]
    solutions = [
        learner.learn(data.X, target, data.weights, terms, model.buffer_size)
        for learner, target in zip(learners, data.targets, strict=True)
    ]
    store(model, terms, solutions, 1, learners, account(solutions, terms.r2, terms.F, None))


@dataclass
class Learner:
    """SPDPEG on rows that arrive in chunks: ends where one run over all of them would.

    Attributes
    ----------
    start : Start
    intercept : bool
    seed : int
        Of the order in which rows leave the buffer.
    state : State or None
        Holds the rows in the buffer, too.
    """

    start: Start
    intercept: bool
    seed: int
    state: State | None = None

    def learn(self, X: Any, labels: np.ndarray, weights: np.ndarray | None, terms: Terms, buffer_size: int) -> Solution:
        """Take the steps that this chunk allows; the solution counts the rows in the buffer as well."""
        binary = terms.loss is not None and terms.loss.binary
        stream = Stream([(X, labels, weights)], classes=(-1.0, 1.0) if binary else None)
        # The method finds the size of the intercept's column by itself; here 1.0 is only its unit.
        problem = Problem(stream, **terms._asdict(), intercept=1.0 if self.intercept else False)
        begun = {"state": self.state} if self.state is not None else self.start.arguments(problem)
        result = uninterrupted(
            quietly(problem, "spdpeg", max_passes=1, seed=self.seed, buffer_size=buffer_size, **begun)
        )
        self.state = result.state
        return Solution(problem, result)
