"""The structure of coefficients: segments or regions, degrees of freedom, information criteria."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import UnsupportedError
from ..operators.pieces import freedom, line_order, pieces, segments
from . import fitting
from .base import bounds_of, weight

_LIKELIHOODS = ("Logistic", "Poisson")
"""Losses that are minus the logarithm of a likelihood, up to a constant."""


@dataclass(eq=False, repr=False, kw_only=True)
class InPieces:
    """Base of the models whose coefficients form pieces.

    Parameters
    ----------
    refit : bool or {"aic", "bic"}, default=False
        True fits again, without penalties, on the pieces that were found: their levels are no longer shrunk, and
        `objective_` and `certificate_` stay those of the fit that found the pieces. With "aic" or "bic", for least
        squares, neighbouring pieces are first joined one by one as long as that criterion falls: a jump that was found
        as a staircase becomes one.
    positive : bool, default=False
        No coefficient may be negative.
    bounds : pair of floats or of arrays of shape (n_features,), default=None
        The least and the largest values that the coefficients may have; infinite where there is none.

    Attributes
    ----------
    n_pieces_ : int
        Segments or connected regions of equal coefficients. Of several classes or outputs, this and what follows is a
        list.
    segments_ : list
        Tuples (start, stop, value) along a line, (members, value) elsewhere. For trends of order 2 and more a segment
        reaches from knot to knot, and its value is the mean.
    df_ : int or float
        Degrees of freedom: the dimension of all coefficients with the same zeros and the same zeros of F x, and one
        more for an intercept; at most the number of rows (Tibshirani and Taylor, 2012). A ridge or the
        lengths of isotropic gradients shrink these directions, so that each counts for less than one: the trace of the
        hat matrix (Vaiter and others, 2017).
    aic_, bic_ : float
        Minus twice the log-likelihood plus 2 or log(n) times `df_`, n being the sum of the weights of the rows. The
        variance of least squares is its estimate RSS / n.
    flat_ : array of bool or None
        Which entries of F x vanish.
    mean_loss_ : float
        The mean loss of the penalised fit.
    n_rows_ : float
        The sum of the weights of the rows.
    """

    refit: Any = False
    positive: bool = False
    bounds: Any = None

    @property
    def n_pieces_(self) -> Any:
        """Number of pieces."""
        return self._for_each(lambda k: int(self._labels(k).max()) + 1)

    @property
    def segments_(self) -> Any:
        """The pieces, with their values."""
        line = self._line_order() is not None
        return self._for_each(lambda k: segments(self._labels(k), self._coef(k), line))

    @property
    def df_(self) -> Any:
        """Degrees of freedom."""
        return self._for_each(self._freedom)

    @property
    def aic_(self) -> Any:
        """Akaike's information criterion."""
        return self._criterion(2.0)

    @property
    def bic_(self) -> Any:
        """The Bayesian information criterion."""
        return self._criterion(math.log(max(self._spoken(), 1.0)))

    def _fitted(self) -> Any:
        """The model itself, once it is fitted; its other bases hold these attributes."""
        check_is_fitted(self)
        return self

    def _for_each(self, tell: Any) -> Any:
        """A list with one entry for each row of coefficients; the entry itself if there is only one."""
        rows = len(np.atleast_2d(self._fitted().coef_))
        return tell(0) if rows == 1 else [tell(k) for k in range(rows)]

    def _coef(self, k: int) -> np.ndarray:
        return np.asarray(np.atleast_2d(self._fitted().coef_)[k], dtype=float)

    def _zero(self, k: int) -> np.ndarray:
        """Which entries of F x vanish for the k-th row of the coefficients."""
        flat = getattr(self, "flat_", None)
        if flat is None:
            return np.asarray(self._fitted().F_.forward(self._coef(k)) == 0.0)
        return np.asarray(flat if np.ndim(flat[0]) == 0 else flat[k])

    def _line_order(self) -> int | None:
        """The order of differences along a line; None for other F."""
        F = self._fitted().F_
        return 1 if F is None else line_order(F)

    def _labels(self, k: int) -> np.ndarray:
        """The piece of each coefficient."""
        labels = self._labels_if_any(k)
        if labels is None:
            raise UnsupportedError(
                f"F of {type(self).__name__} takes no differences of two coefficients, so they form no pieces. "
                "Look at coef_ and flat_."
            )
        return labels

    def _labels_if_any(self, k: int) -> np.ndarray | None:
        """The piece of each coefficient; None where F has no pieces."""
        F, coef = self._fitted().F_, self._coef(k)
        if F is None or F.n_outputs == 0:
            return np.arange(coef.size)
        return pieces(F, self._zero(k), self._line_order())

    def _freedom(self, k: int) -> int | float:
        F = self._fitted().F_
        if getattr(self, "coupled", False) and len(np.atleast_2d(self._fitted().coef_)) > 1:
            raise UnsupportedError(
                "No degrees of freedom are known for outputs that are coupled. Choose by cross-validation."
            )
        moves = self._moves(k)
        found = int(np.count_nonzero(moves)) if F is None else freedom(F, self._zero(k), moves)
        return int(min(found + bool(self._fitted()._intercept), self._spoken()))

    def _moves(self, k: int) -> np.ndarray:
        """Which coefficients are neither at 0, if r1 makes zeros, nor at a bound."""
        coef, limits = self._coef(k), bounds_of(self)
        moves = np.abs(coef) > 1e-12 * float(np.max(np.abs(coef), initial=0.0))
        if not self._sparse() and coef.any():
            moves = np.ones(coef.size, dtype=bool)
        return moves if limits is None else np.asarray(moves & (coef > limits[0]) & (coef < limits[1]))

    def _weight(self, name: str) -> Any:
        """lam1 or lam2, given or chosen; 0 if the model has none."""
        chosen = getattr(self, f"{name}_", None)
        if chosen is not None:
            return chosen
        return weight(self, name) if hasattr(self, name) else 0.0

    def _sparse(self) -> bool:
        """Whether r1 makes zeros."""
        return bool(np.any(self._weight("lam1")))

    def _spoken(self) -> float:
        n_rows = getattr(self._fitted(), "n_rows_", None)
        if n_rows is None:
            raise UnsupportedError(f"{type(self).__name__} does not know its rows after partial_fit. Call fit.")
        return float(n_rows)

    def _criterion(self, price: float) -> Any:
        n, loss = self._spoken(), self._fitted()._loss()
        if loss.quadratic:
            return self._for_each(
                lambda k: (
                    n * (math.log(2.0 * math.pi) + math.log(2.0 * max(self._mean_loss(k), 1e-300)) + 1.0)
                    + price * self._freedom(k)
                )
            )
        if type(loss).__name__ not in _LIKELIHOODS:
            raise UnsupportedError(
                f"{loss!r} is no likelihood, so {type(self).__name__} has no information criteria. Choose by "
                "cross-validation."
            )
        if not isinstance(self._fitted().mean_loss_, list):
            rows = range(len(np.atleast_2d(self._fitted().coef_)))
            return 2.0 * n * self._mean_loss(0) + price * sum(self._freedom(k) for k in rows)
        return self._for_each(lambda k: 2.0 * n * self._mean_loss(k) + price * self._freedom(k))

    def _mean_loss(self, k: int) -> float:
        found = self._fitted().mean_loss_
        return float(found[k] if isinstance(found, list) else found)

    def _basis(self, k: int) -> fitting.Basis:
        """Coefficients with the same pieces, for `refit`."""
        order = self._line_order()
        if order is not None and order > 1:
            places = getattr(self, "knots_", None)
            places = np.arange(self._coef(k).size) if places is None else places
            return fitting.curve_basis(places, self._fitted().F_.matrix(), order, np.flatnonzero(~self._zero(k)))
        return fitting.piece_basis(self._labels(k), self._coef(k), self._fitted().F_, self._sparse())
