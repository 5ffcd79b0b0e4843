"""The view of a problem: its terms, rows and penalties, and statistics of the rows that are computed once."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..data import Block
from ..kernels.row_sums import gradient_sum, gram_product
from ..kernels.terms import Terms
from ..operators.spectrum import eigenvalue_bound, eigenvalue_estimate
from ..sums import Sums
from ..sums.moments import DiagonalMoments, Moments, Quadratic, ShiftedSignal, is_diagonal
from .regularization import Regularization
from .rows import LabelledRows

_SAMPLED_ROWS = 10_000
"""Rows that stand for all of them where those are read from far away."""

_NORM_ENTRIES = 1e7
"""Stored entries above which the norm of the data is that of evenly spaced rows."""
_SAMPLED_MARGIN = 1.05
"""Factor on the norm of evenly spaced rows, for what they may miss."""
_ROUGH_ENTRIES = 1e6
"""Stored entries above which a rough norm of the data is that of evenly spaced rows."""


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


class KeptMoments:
    """Second moments of some rows, computed once: problems on the same rows share this object."""

    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows
        self._signal: bool | None = None
        self._loss: Quadratic | None = None
        self._shifted: ShiftedSignal | None = None
        self._compared = False
        """Whether the rows have been checked for a signal with an intercept."""
        self._owed = 0

    @property
    def known(self) -> bool:
        """Whether `loss` reads nothing."""
        return self._loss is not None

    @property
    def is_signal(self) -> bool:
        """Whether the loss is squared and no row of X has more than one entry: X is the identity, or diagonal."""
        if self._signal is None:
            self._signal = self._are_squares and is_diagonal(self._rows.block)
        return self._signal

    @property
    def shifted_signal(self) -> ShiftedSignal | None:
        """The mean loss of a signal with an intercept: rows with the same single entry each; None for other rows."""
        if not self._compared:
            self._compared = True
            if self._are_squares:
                block = self._rows.block
                self._shifted = ShiftedSignal.of(block)
                self._owed += 0 if self._shifted is None else block.labels.size
        return self._shifted

    @property
    def loss(self) -> Quadratic:
        """The mean squared loss from its second moments; one read if it was not known."""
        if self._loss is None:
            rows = self._rows
            self._loss = DiagonalMoments.of(rows.block) if self.is_signal else rows.sums.moments().loss(rows.bias)
            self._owed = rows.sums.n_rows
        return self._loss

    def adopt(self, moments: Moments) -> None:
        """Take second moments that are known to be those of the rows, as those of a fold follow from the others."""
        self._loss, self._signal, self._compared = moments.loss(self._rows.bias), False, True

    def uncounted_rows(self) -> int:
        """Rows that were read since this was last asked; the run that asks counts them as its own."""
        owed, self._owed = self._owed, 0
        return owed

    @property
    def _are_squares(self) -> bool:
        """Whether the loss is squared and rows can be had, all of them."""
        rows = self._rows
        return rows.loss.quadratic and rows.in_memory and rows.n_samples is not None


class Bounds:
    """Sizes of the mean loss of some rows; each is computed when it is first needed, and kept.

    Those of a stream are those of its first chunk.
    """

    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows

    @cached_property
    def lipschitz(self) -> float:
        """Upper bound on the Lipschitz constant of the gradient of the mean loss."""
        rows, curvature = self._rows, self._rows.loss.curvature
        if curvature == 0.0 or rows.statistics.mean_square == 0.0:
            return 0.0
        if not math.isfinite(curvature):
            return math.inf
        block = rows.block if rows.in_memory else None
        if block is None:
            sample = rows.sums.sample(_SAMPLED_ROWS)
            block = None if sample is None else sample.block
        norm = math.inf if block is None else _gram_norm(block, rows.n_coordinates)
        return curvature * min(norm, rows.statistics.mean_square)

    @property
    def lipschitz_max(self) -> float:
        """Largest Lipschitz constant of a single row's gradient: curvature * max w_i |a_i|^2."""
        largest = self._rows.statistics.max_square
        return self._rows.loss.curvature * largest if largest > 0.0 else 0.0

    @cached_property
    def rough_gram_norm(self) -> float:
        """Largest eigenvalue of A^T W A / N, roughly: eight products and no guarantee."""
        return self.rough_norm(np.ones(self._rows.n_coordinates))

    def rough_norm(self, scale: np.ndarray) -> float:
        """Largest eigenvalue of S A^T W A S / N, S = diag(scale)^(1/2), as roughly."""
        product, used, margin = _gram(self._rows.block, _ROUGH_ENTRIES)
        root = np.sqrt(scale)
        return margin * eigenvalue_estimate(lambda v: root * product(root * v), scale.size) / used

    @cached_property
    def column_sizes(self) -> np.ndarray:
        """Root of the mean of w a_ij^2, for each column."""
        return np.sqrt(self._rows.sums.column_squares())


def _gram_norm(block: Block, n_coordinates: int) -> float:
    """Upper bound on the largest eigenvalue of A^T W A / N."""
    product, used, margin = _gram(block, _NORM_ENTRIES)
    return margin * eigenvalue_bound(product, n_coordinates) / used


def _gram(block: Block, entries: float) -> tuple[Callable[[np.ndarray], np.ndarray], int, float]:
    """Product with A^T W A of evenly spaced rows with so many entries, their number, a margin for the rest."""
    rows, labels, weights = block
    stride = max(1, int(rows.values.size / entries))

    def product(v: np.ndarray) -> np.ndarray:
        out = np.empty_like(v)
        gram_product(rows, weights, stride, v, out)
        return out

    return product, -(-labels.size // stride), _SAMPLED_MARGIN if stride > 1 else 1.0
