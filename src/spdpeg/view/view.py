"""What a method sees of a problem."""

from functools import cached_property

import numpy as np

from ..kernels.rows import gradient_sum
from ..kernels.terms import Terms
from ..sums import Sums
from .bounds import Bounds
from .moments import KeptMoments
from .regularization import Regularization
from .rows import LabelledRows


class View:
    """min (1/N) sum_i w_i phi(<a_i, x>, b_i) + regularizer(x) + r2(F x), as a method may use it; `problem.view` is one.

    Attributes
    ----------
    loss : Loss
    regularizer, r2 : Penalty
        The first is r1 plus the set that x stays in; no part of it sees the intercept.
    F : Operator
        Without rows where r2 is zero.
    n_coordinates : int
        Length of x.
    rows : LabelledRows
        The data row by row: where they live, how many, their labels.
    moments : KeptMoments
        The mean squared loss from one read of the data.
    bounds : Bounds
        Lipschitz constants and other sizes of the loss.
    penalty : Regularization
        r1 and r2(F .) taken together.
    """

    def __init__(self, rows: LabelledRows, penalty: Regularization, known: "View | None" = None) -> None:
        self.loss = rows.loss
        self.regularizer, self.r2, self.F = penalty.regularizer, penalty.r2, penalty.F
        self.n_coordinates = penalty.n_coordinates
        self.rows, self.penalty = rows, penalty
        # What is known of the rows holds for all problems on them.
        self.moments: KeptMoments = KeptMoments(rows) if known is None else known.moments
        self.bounds: Bounds = Bounds(rows) if known is None else known.bounds

    @cached_property
    def sums(self) -> Sums:
        """The data as the exact methods and the certificate see them: sums over all rows, wherever these live."""
        return self.rows.sums

    def terms(self) -> Terms:
        """The problem as kernels take it."""
        return Terms(
            self.loss.derivative_term,
            self.regularizer.prox_term(self.n_coordinates),
            self.r2.dual_prox_term(self.F.n_outputs),
            self.F.forward_term,
            self.F.adjoint_term,
        )

    def objective(self, x: np.ndarray) -> float:
        """E[l] + r1(x) + r2(F x); infinite outside the domain."""
        return self.mean_loss(x) + self.penalty.value(x)

    def mean_loss(self, x: np.ndarray) -> float:
        """E[l] at x."""
        self.rows.require_finite_sum("objective and loss")
        return self.sums.loss(x) if x.any() else self.rows.loss_at_zero

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Gradient of the mean loss at x."""
        self.rows.require_finite_sum("gradient")
        if not self.rows.in_memory:
            return self.sums.evaluate(x).gradient
        out = np.empty(self.n_coordinates)
        rows, labels, weights = self.rows.block
        gradient_sum(rows, labels, weights, self.loss.derivative_term, x, out)
        out /= labels.size
        return out

    def with_penalty(self, penalty: Regularization) -> "View":
        """The same data under other penalties: nothing is read again."""
        return View(self.rows, penalty, known=self)

    def streamed(self) -> "View":
        """The same problem with its rows as a stream, each traversal of which is a pass; for data read in blocks."""
        return View(self.rows.streamed(), self.penalty)
