"""What one read of the data tells about the loss at a point."""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import STRETCH
from ..kernels.rows import evaluate
from .view import ProblemView


class Evaluation(NamedTuple):
    """Loss, margins and gradient at a point."""

    loss: float
    margins: np.ndarray
    gradient: np.ndarray
    rising: np.ndarray | None
    """The gradient's part from rows with positive slopes; None where nobody has asked for it."""


def look(problem: ProblemView, x: np.ndarray, margins: np.ndarray | None = None) -> Evaluation:
    """Mean loss, margins and gradient at x, whose margins may be known. One read of the data."""
    known = margins is not None
    t = np.empty(problem.block.labels.size) if margins is None else margins
    gradient, rising = np.empty(x.size), np.empty(x.size)
    loss = evaluate(*problem.block, problem.loss.read_term, x, known, t, np.empty(STRETCH), gradient, rising)
    return Evaluation(float(loss), t, gradient, rising)
