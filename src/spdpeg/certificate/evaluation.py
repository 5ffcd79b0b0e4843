"""What one read of the data tells about the loss at a point."""

import numpy as np

from ..sums import Evaluation, Token
from .view import ProblemView

__all__ = ["Evaluation", "look"]


def look(problem: ProblemView, x: np.ndarray, margins: Token = None) -> Evaluation:
    """Mean loss, margins and gradient at x, whose margins may be known. One read of the data."""
    return problem.sums.look(x, margins)
