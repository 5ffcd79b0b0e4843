"""Methods whose steps end with a read of all rows, and what the state keeps of it: loss, gradient and margins.

Margins belong to the rows. Where these are elsewhere, on a cluster for instance, the state has an empty vector in their
place, and only the run that made them still holds the token that stands for them. A run that is resumed without them
reads the rows once more.
"""

import math
from typing import ClassVar, TypeVar

import numpy as np

from ..solvers.base import Periodic, Watcher
from ..state import State
from ..sums import Evaluation, Sweep, Token
from ..view import View

T = TypeVar("T")


class FullReads(Periodic, Watcher):
    """A method that moves to a point by `_keep` once it has read all rows there, so that certificates read nothing."""

    on_sums: ClassVar[bool] = True

    _reached: tuple[np.ndarray, Token] | None = None
    """The margins of the state's vector beside it."""

    def steps_ahead(self, state: State) -> float:
        return 1.0  # how many rows a step reads is known after it only

    def evaluation(self, state: State) -> Evaluation | None:
        kept = state.vectors["margins"]
        margins = kept_for(kept, self._reached)
        if margins is None and kept.size:
            margins = kept
        if math.isnan(state.numbers["loss"]) or margins is None:
            return None
        return Evaluation(state.numbers["loss"], margins, state.vectors["gradient"], None)

    @staticmethod
    def _vectors(problem: View, x: np.ndarray) -> dict[str, np.ndarray]:
        """Those of a new state at x, where nothing has been read yet; its loss is NaN."""
        kept = problem.sums.length_kept()
        return {"x": x, "y": np.zeros(problem.F.n_outputs), "margins": np.zeros(kept), "gradient": np.zeros(x.size)}

    def _keep(self, problem: View, state: State, x: np.ndarray, sweep: Sweep) -> None:
        """Move to x, where all rows have been read."""
        v = state.vectors
        v["x"][:], v["gradient"][:], v["margins"] = x, sweep.gradient, problem.sums.kept(sweep.margins)
        self._reached = v["margins"], sweep.margins
        state.numbers["loss"] = sweep.loss


def kept_for(vector: np.ndarray, kept: tuple[np.ndarray, T] | None) -> T | None:
    """What a method has kept for this very vector of a state; None for that of another run, or of one resumed."""
    return kept[1] if kept is not None and kept[0] is vector else None
