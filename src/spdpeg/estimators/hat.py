"""Degrees of freedom where the penalties are curved: the trace of the hat matrix.

As long as the pieces stay, the coefficients are x = B z with a column of ones in B for each piece. With H the curvature
of the mean loss and Q that of the penalties, fitted values move by A B (B'HB + B'QB)^-1 B'HB z where the observed ones
move by A B z, and the trace of that matrix is the degrees of freedom (Vaiter, Deledalle, Fadili, Peyre, Dossal: The
degrees of freedom of partly smooth regularizers, Annals of the Institute of Statistical Mathematics 69, 2017).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..errors import UnsupportedError
from ..operators.pieces import shrunk_freedom
from ..problem import Problem
from . import fitting
from .pieces import InPieces

MOST_PIECES = 1000
"""Pieces up to which the hat matrix is computed; that takes about as long as a step of a fit."""


@dataclass(eq=False, repr=False)
class ShrunkPieces(InPieces):
    """Base of the models whose penalties may be curved as long as the pieces stay."""

    def _curvature(self, k: int) -> sp.sparray | None:
        """Second derivative of the penalties for the k-th row of the coefficients; None if they are straight."""
        raise NotImplementedError

    def _shrinks(self, k: int) -> bool:
        """Whether a degree of freedom counts for less than one: not in a fit again without penalties."""
        return self.refit is False and self._curvature(k) is not None

    def _derive(self) -> None:
        self.hat_traces_: list[float | None] | None = None  # of another fit, if there was one

    def _conclude(self, plan: fitting.Plan, details: bool) -> None:
        if details and plan.problems and self._shrinks(0):
            self.hat_traces_ = [self._measured(k, problem) for k, problem in enumerate(plan.problems)]

    def _measured(self, k: int, problem: Problem) -> float | None:
        """Degrees of freedom, computed from the rows."""
        labels, curvature = self._labels_if_any(k), self._curvature(k)
        if labels is None or curvature is None:
            return None
        still = ~self._moves(k)
        if still.any():
            labels = np.where((np.bincount(labels, still) > 0.0)[labels], -1, labels)
        x = problem.join(self._coef(k), float(np.atleast_1d(self._fitted().intercept_)[k]))
        return hat_trace(problem, x, labels, curvature)

    def _freedom(self, k: int) -> int | float:
        if not self._shrinks(k):
            return super()._freedom(k)
        found = None if self.hat_traces_ is None else self.hat_traces_[k]
        if found is None:
            raise UnsupportedError(
                f"{type(self).__name__} has no degrees of freedom: beside a ridge or with isotropic=True fit measures "
                f"them, for a smooth loss, rows in memory, up to {MOST_PIECES} pieces and targets of their own. Choose "
                "by cross-validation."
            )
        return float(found)


def hat_trace(problem: Problem, x: np.ndarray, labels: np.ndarray, curvature: sp.sparray) -> float | None:
    """Degrees of freedom of the fitted values at x.

    Parameters
    ----------
    problem : Problem
    x : array
        Coefficients, and the intercept if there is one.
    labels : array of int
        The piece of each coefficient, or a negative number if it does not move.
    curvature : sparse matrix
        Second derivative of the penalties, with a row and a column for each coefficient.

    Returns
    -------
    float or None
        None unless the rows are in memory, the loss smooth and the pieces at most `MOST_PIECES`.
    """
    sums, moves = problem.view.sums, np.flatnonzero(labels >= 0)
    names, numbers = np.unique(labels[moves], return_inverse=True)
    if names.size > MOST_PIECES or not (sums.resident and problem.view.loss.smooth):
        return None
    count = names.size + x.size - labels.size
    if names.size == 0:
        return float(count)
    # An intercept is a piece of its own, the last.
    pieces = np.concatenate([np.full(labels.size, -1), np.arange(names.size, count)])
    pieces[moves] = numbers
    B = sp.csr_array((np.ones(moves.size), (moves, numbers)), shape=(labels.size, count))
    H = sums.collapse(pieces, count).at_margins(sums.at(x).margins, curvature=True).curvature
    assert H is not None
    return shrunk_freedom(H, (B.T @ curvature @ B).toarray())
