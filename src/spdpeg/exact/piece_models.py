"""Models of many coordinates, minimised on a working set of pieces where few of them differ.

What `working_set` does with the data is done here with the model: a proximal step names the coordinates that may become
non-zero and the neighbours that may part, and the model among these pieces is solved. At d coordinates and k pieces a
round takes d^2 operations and some k^3, where all coordinates together would take some 15 d^3.
"""

import numpy as np

from ..kernels.weighted_chain import chain_flows
from ..problem import View
from ..quadratic import Minimum, Model, minimum
from ..quadratic.simple_face import collapsed
from .identify import Identified, Identifier
from .newton_models import ConicModels
from .penalty_form import PenaltyForm
from .pieces import Lines

_FEWEST = 150
"""Coordinates up to which all of them are solved for at once, which takes no longer."""

_MOST_PIECES = 0.5
"""Part of the coordinates beyond which pieces are not few."""

_MOST_ROUNDS = 30

_FIRST_PIECES, _GROWTH, _WIDER = 40, 2, 4
"""Pieces that a round may have at first; times those that are not 0 later; and the factor on both after a round that
found nothing new without being at the end."""

_SURE = 1e-10
"""Relative gap up to which the pieces found are the right ones."""


_TINY = 2.0**-60

_NOISE = 1e-14
"""Part of the largest force that rounding leaves where a coordinate has no weight."""


class PieceModels:
    """For weighted absolute values and squares of the coordinates, alone or along a chain.

    Parameters
    ----------
    problem : View
    penalties : PenaltyForm
    lines : Lines
        Its penalties.
    """

    def __init__(self, problem: View, penalties: PenaltyForm, lines: Lines) -> None:
        self._form, self._lines = penalties.form, lines
        self._all, self._chain = ConicModels(penalties.form), problem.fused
        self._identify = Identifier(lines, problem.fused)

    @classmethod
    def of(cls, problem: View, penalties: PenaltyForm) -> "PieceModels | None":
        """For a problem; None if its penalties are others, or its coordinates are few."""
        if penalties.form.width <= _FEWEST:
            return None
        lines = penalties.lines
        # A chain with gaps is no chain, and steps along other rows take as long as the model of all coordinates.
        edges = 0 if problem.r2.vanishes else problem.n_features - 1 if problem.fused is not None else -1
        if problem.fused is not None and problem.fused.l1 == 0.0:
            return None
        return cls(problem, penalties, lines) if lines is not None and lines.cost.size == edges else None

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        found = self._among_pieces(H, b, x)
        return self._all.minimum(H, b, x) if found is None else found

    def _among_pieces(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum | None:
        """None where pieces are many, or where the right ones are not found."""
        most, largest = int(_MOST_PIECES * x.size), float(H.diagonal().max())
        if not 0.0 < largest < np.inf:
            return None
        point = x
        labels, cap = np.full(x.size, -2), _FIRST_PIECES
        for _ in range(_MOST_ROUNDS):
            identified = self._identify(point, H @ point - b, 1.0 / largest, cap)
            pieces = identified.pieces
            if np.array_equal(pieces.labels, labels):
                found = self._judged(H, b, point, identified)
                if found is not None or cap >= most:
                    return found
                cap = min(_WIDER * cap, most)  # what is missing lies beyond the pieces that may be opened
                continue
            if pieces.number > most:
                return None
            labels = pieces.labels
            model = Model(*collapsed(H, b, labels, pieces.number), self._lines.collapsed(pieces).form)
            reduced = minimum(model)
            if reduced.status != "optimal":
                return None
            point = pieces.expand(reduced.point)
            cap = max(cap, _GROWTH * int(np.count_nonzero(reduced.point)))
        return None

    def _judged(self, H: np.ndarray, b: np.ndarray, w: np.ndarray, identified: Identified) -> Minimum | None:
        """The minimum with its multipliers, if w is one."""
        lines, chain = self._lines, self._chain
        force = b - H @ w - lines.ridge * w
        value, terms = lines.value(w), float(np.abs(b) @ np.abs(w))
        gap = value - 0.5 * float(lines.ridge @ (w * w)) - float(force @ w)
        along = identified.multipliers
        if along is None:
            along = self._flows(w, force)
        own = force - lines.K.T @ along
        held = np.clip(own, -lines.weight, lines.weight)
        left = np.abs(own - held)
        if chain is not None:
            # The flow is one of many that would do, and exact at the solution only; that there is one is what counts.
            n = lines.cost.size + 1
            left[:n] = (1.0 - chain.dual_scale(force[:n])) * lines.weight[:n]
        outside = left > _SURE * lines.weight + _NOISE * float(np.abs(b).max())
        if outside.any() or not abs(gap) + float(left @ np.abs(w)) <= _SURE * (value + terms):
            return None
        return Minimum(w, w.copy(), lines.restored(self._form, held, along), "optimal", abs(gap))

    def _flows(self, point: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Multipliers of the chain, by a point whose pieces are exact and the forces that the penalties hold."""
        assert self._chain is not None
        n = self._lines.cost.size + 1
        signs = (
            _TINY * point[:n]
        )  # of which only signs and steps matter; so small, it leaves the digits of forces alone
        flows = np.empty(n - 1)
        chain_flows(
            signs + force[:n], np.zeros(0), float(self._chain.l1), self._lines.cost, signs, np.empty(2 * n), flows
        )
        return flows
