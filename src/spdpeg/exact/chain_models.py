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
    penalty : ChainPenalty
        The absolute values.
    ridge : array or None
        Weights of the squares.
    shares : pair of arrays or None
        Where the multipliers of the form's lines are among those of coordinates and steps, and which part of them; None
        if they are the same.
    exact : bool
        Whether a minimum is asked for, with its multipliers, or a point that is lower than the guess.
    """

    def __init__(
        self,
        penalties: PenaltyForm,
        penalty: ChainPenalty,
        ridge: np.ndarray | None,
        shares: tuple[np.ndarray, np.ndarray] | None,
        exact: bool = True,
    ) -> None:
        self._penalties, self._penalty, self._ridge, self._shares = penalties, penalty, ridge, shares
        self._exact = exact

    @classmethod
    def of(cls, problem: View, penalties: PenaltyForm) -> "ChainModels | None":
        """For a problem; None if its penalties are others."""
        fused = problem.penalty.fused
        # A chain with gaps is no chain; without an l1 norm nothing but the steps says what a face is.
        if fused is not None and penalties.along_chain:
            weight = np.zeros(problem.n_coordinates)
            weight[: problem.rows.n_features] = fused.l1
            return cls(penalties, ChainPenalty(weight, np.full(problem.F.n_outputs, fused.l2)), None, None)
        lines = penalties.lines if problem.r2.vanishes else None
        if lines is None or lines.cost.size:
            return None
        ridge = lines.ridge if lines.ridge.any() else None
        return cls(penalties, ChainPenalty(lines.weight, lines.cost), ridge, _shares(penalties.form, lines))

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        bent = H if self._ridge is None else H + np.diag(self._ridge)
        if not self._exact:
            w = lowered(bent, b, self._penalty, x)
            return Minimum(w, w, np.zeros(0), "optimal", 0.0)
        found = minimized(bent, b, self._penalty, x)
        if found is None:
            return self._penalties.models.minimum(H, b, x)
        if self._shares is None:
            y = np.concatenate([found.own[: found.along.size + 1], found.along])
        else:
            place, share = self._shares
            y = share * found.own[place]
        return Minimum(found.w, found.w, y, "optimal", found.gap)

    @property
    def rough(self) -> "ChainModels":
        """The same for lower points."""
        return ChainModels(self._penalties, self._penalty, self._ridge, self._shares, exact=False)


def _shares(form: ConicForm, lines: Lines) -> tuple[np.ndarray, np.ndarray]:
    """Which coordinate each line of the form belongs to, and its part of that coordinate's weight."""
    place = form.K.indices[np.minimum(form.K.indptr[:-1], max(form.K.nnz - 1, 0))].astype(np.int64)
    whole = lines.weight[place]
    share = np.divide(
        lines.restored(form, lines.weight, lines.cost), whole, out=np.zeros(whole.size), where=whole > 0.0
    )
    return place, share
