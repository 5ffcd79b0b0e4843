"""Models with an l1 norm, alone or along a chain, minimised face by face from where the last step ended."""

import numpy as np

from ..penalties.conic import ConicForm
from ..quadratic import Minimum
from ..quadratic.along_chain import ChainPenalty, lowered, minimized
from ..view import View
from .penalty_form import PenaltyForm
from .pieces import Lines


class ChainModels:
    """For weighted absolute values and squares of the coordinates, alone or along a chain.

    Parameters
    ----------
    penalties : PenaltyForm
    lines : Lines
        The same.
    exact : bool
        Whether a minimum is asked for, with its multipliers, or a point that is lower than the guess.
    """

    def __init__(self, penalties: PenaltyForm, lines: Lines, exact: bool = True) -> None:
        self._penalties, self._lines, self._exact = penalties, lines, exact
        self._all, self._ridge = penalties.models, lines.ridge if lines.ridge.any() else None
        self._penalty = ChainPenalty(lines.weight, lines.cost)
        self._place, self._share = _shares(penalties.form, lines)

    @classmethod
    def of(cls, problem: View, penalties: PenaltyForm) -> "ChainModels | None":
        """For a problem; None if its penalties are others."""
        lines, fused = penalties.lines, problem.penalty.fused
        # A chain with gaps is no chain; without an l1 norm nothing but the steps says what a face is.
        edges = 0 if problem.r2.vanishes else problem.rows.n_features - 1 if fused is not None else -1
        if lines is None or lines.cost.size != edges or (fused is not None and fused.l1 == 0.0):
            return None
        return cls(penalties, lines)

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        bent = H if self._ridge is None else H + np.diag(self._ridge)
        if not self._exact:
            w = lowered(bent, b, self._penalty, x)
            return Minimum(w, w, np.zeros(self._place.size), "optimal", 0.0)
        found = minimized(bent, b, self._penalty, x)
        if found is None:
            return self._all.minimum(H, b, x)
        y = self._share * np.concatenate([found.own, found.along])[self._place]
        return Minimum(found.w, found.w, y, "optimal", found.gap)

    @property
    def rough(self) -> "ChainModels":
        """The same for lower points."""
        return ChainModels(self._penalties, self._lines, exact=False)


def _shares(form: ConicForm, lines: Lines) -> tuple[np.ndarray, np.ndarray]:
    """Which coordinate or step each line of the form belongs to, steps after coordinates, and its part of it."""
    d, lengths = lines.weight.size, np.diff(form.K.indptr)
    first = np.minimum(form.K.indptr[:-1], max(form.K.nnz - 1, 0))
    place = form.K.indices[first].astype(np.int64) if form.K.nnz else np.zeros(lengths.size, dtype=np.int64)
    pairs = np.flatnonzero(lengths == 2)
    place[pairs] = d + np.minimum(place[pairs], form.K.indices[first[pairs] + 1])
    whole = np.concatenate([lines.weight, lines.cost])[place]
    share = np.divide(
        lines.restored(form, lines.weight, lines.cost), whole, out=np.zeros(whole.size), where=whole > 0.0
    )
    return place, share
