"""The data as the exact methods and the certificate see them: a few sums over rows.

Whoever keeps rows somewhere else (on a disk, on other machines) writes a class with the methods of `Sums`, and all that
is built on them runs unchanged. What belongs to single rows is never looked at by the callers. They get it as a token,
hand it back, and ask for sums over it: here tokens are vectors with a number for each row, on a cluster they would be
names of such vectors that stay where the rows are.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data import Block
from .moments import Moments

Token = Any
"""Numbers that stay with the rows."""


@dataclass
class Sweep:
    """The sums that one read of the data computes at a point.

    Attributes
    ----------
    loss : float
        Mean loss.
    gradient : array
    curvature : array or None
        A^T W diag(phi'') A / N, symmetric; None unless asked for. Of few rows it may be what multiplies
        vectors as that matrix does.
    margins : Token
        A x.
    at_rows : Token
        What a model of the loss is made of: margins, slopes phi' and curvatures phi''.
    curvature_range : pair of float
        The least and the largest phi''.
    predicted : Token, optional
        Slopes that the model before predicted: a dual point.
    predicted_gradient : array, optional
        A^T W of them over N.
    """

    loss: float
    gradient: np.ndarray
    curvature: Any
    margins: Token
    at_rows: Token
    curvature_range: tuple[float, float]
    predicted: Token = None
    predicted_gradient: np.ndarray | None = None


class Evaluation(NamedTuple):
    """Loss, margins and gradient at a point."""

    loss: float
    margins: Token
    """None where no row was read."""
    gradient: np.ndarray
    positive_part: np.ndarray | None
    """The gradient's part from rows with positive slopes; None unless it was asked for."""
    objective: float | None = None
    """The objective, where the read has found it."""


class Sample(NamedTuple):
    """Some rows in memory."""

    block: Block
    read: int
    """Rows that were read for it: where they come in groups, those of a whole group."""


class RowStatistics(NamedTuple):
    """Sizes of the rows, weights included."""

    max_square: float
    mean_square: float
    mean_noise: float
    """Mean of |gradient of one row's loss at x = 0|^2."""
    mean_slope: float = math.nan
    """Mean of (w phi'(0))^2; NaN on a cluster."""


def evaluated_rows(sums: "Sums", x: np.ndarray, margins: Token = None) -> Evaluation:
    """`sums.evaluate` with margins as a vector, for what needs those of single rows."""
    found = sums.evaluate(x, margins)
    return found._replace(margins=sums.vector(found.margins))


class Sums(Protocol):
    """Sums over N rows a_i with labels and weights w_i, for one loss; `A` has the rows, an intercept's column last.

    All means are (1/N) sum w_i ..., the weights having mean 1. One call of a method marked "one read" touches each row
    once. Sums must not depend on who computed which part of them: blocks of rows are fixed and added up in a fixed
    order.

    Attributes
    ----------
    n_rows, n_columns : int
    n_entries : int
        Numbers that are stored, all of them for dense rows.
    is_sparse : bool
    block : Block or None
        The rows, if they are in the memory of this process or mapped into it; None elsewhere. Only what needs single
        rows asks for it.
    resident : bool
        Reads cost no more than adding up; otherwise a start from a sample saves some of them.
    reads : int
        Those made so far.
    """

    n_rows: int
    n_columns: int
    n_entries: int
    is_sparse: bool
    block: Block | None
    resident: bool
    reads: int

    # At a point.

    def at(
        self,
        x: np.ndarray,
        *,
        curvature: bool = False,
        floor: float = 0.0,
        model: Sweep | None = None,
        ahead: np.ndarray | None = None,
    ) -> Sweep:
        """All sums at x; `ahead` is where the model of an earlier sweep has its minimum. One read.

        Curvatures of rows below `floor` are raised to it. The other sums belong to the loss as it is.
        """

    def at_margins(self, margins: Token, *, curvature: bool = False, floor: float = 0.0) -> Sweep:
        """The same at a point whose margins are known. One read."""

    def losses_between(self, start: Sweep, end: Sweep, lengths: np.ndarray) -> np.ndarray:
        """Mean losses at parts of the way from one point to the other; reads margins only."""

    def between(self, start: Sweep, end: Sweep, length: float, floor: float = 0.0) -> Sweep:
        """All sums, curvature too, at one of these points. One read."""

    def evaluate(self, x: np.ndarray, margins: Token = None, shift: float = 0.0) -> Evaluation:
        """Mean loss and gradient in two parts at x, or at known margins plus `shift`. One read."""

    def loss(self, x: np.ndarray) -> float:
        """Mean loss alone. One read."""

    # For lower bounds: slopes u of the rows, and the conjugate of the loss.

    def slopes(self, margins: Token, shift: float, up: float, down: float) -> Token:
        """phi' at margins + shift, positive slopes times `up`, the others times `down`."""

    def scaled(self, u: Token, up: float, down: float) -> Token:
        """u, its positive entries times `up`, the others times `down`."""

    def adjoint(self, u: Token) -> np.ndarray:
        """A^T W u / N. One read."""

    def margins_at_zero(self) -> Token:
        """Margins at x = 0."""

    def mean_square(self, u: Token) -> float:
        """Mean of w u^2."""

    def mean_slopes(self, margins: Token, shifts: np.ndarray) -> np.ndarray:
        """Means of w phi'(margin + shift), for several shifts at once."""

    def conjugate(self, u: Token, scale: float) -> float:
        """Mean of w phi*(scale u)."""

    def conjugate_at(self, margins: Token, shift: float, up: float, down: float) -> float:
        """The same for `slopes(margins, shift, up, down)`, which are not kept."""

    # Of the data alone.

    def statistics(self) -> RowStatistics:
        """Sizes of the rows; those with NaN or infinite entries are refused. One read."""

    def moments(self) -> Moments:
        """Second moments of rows and labels, all that the squared loss depends on. One read."""

    def column_squares(self) -> np.ndarray:
        """Means of w a_ij^2. One read."""

    def sample(self, n_rows: int) -> Sample | None:
        """About so many rows from all over the data, in memory; None if that would take a read of all rows."""

    def collapse(self, labels: np.ndarray, count: int) -> "Sums":
        """The same rows with columns added up over `count` pieces; labels[j] is the piece of column j, or -1. One read.

        An intercept's column must be a piece of its own, the last. Tokens of margins may be exchanged between both.
        """

    # Of single rows.

    def vector(self, token: Token) -> np.ndarray:
        """A token as a vector, for what needs single rows; refused where they are elsewhere. One read at most."""

    # Between runs.

    def kept(self, token: Token) -> np.ndarray:
        """A token as the vector that the state of a run keeps; empty where tokens must stay with the rows."""

    def length_kept(self) -> int:
        """Length of the vectors that `kept` returns."""
