"""Trend filtering: piecewise polynomial curves and coefficients."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Source
from ..errors import InputError, UnsupportedError
from ..operators import Difference, FirstDifference, Matrix, Operator
from ..operators.difference import checked_order
from ..penalties import Penalty
from .base import bounded, weighted
from .pieces import InPieces
from .regression import Regressor


@dataclass(eq=False, repr=False)
class TrendFilter(InPieces, Regressor):
    """Trend filtering: a piecewise polynomial curve through noisy data, or coefficients that form one.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam2 |D x|_1

    where the mean over the rows a_i counts their weights and D takes differences of the given order. If X has a single
    column, it holds positions: x is the curve at the different ones among them, a_i picks that of row i, c is left out
    since the curve has a level of its own, and `predict` interpolates by polynomials of degree order - 1. Positions
    need not be evenly spaced; they count in units of their mean distance. With more columns, the a_i are the rows of X
    as in any regression.

    Parameters
    ----------
    order : int, default=2
        1 for piecewise constant, 2 for piecewise linear, 3 for piecewise quadratic curves.
    lam2 : float or array with an entry for each row of D, or "auto", default="auto"
        The larger, the fewer pieces. "auto" takes a hundredth of the largest weight worth trying, kept in `lam2_`.

    Attributes
    ----------
    knots_ : array or None
        The different positions, in order.

    See Also
    --------
    FusedLasso : Piecewise constant and sparse coefficients.

    References
    ----------
    Tibshirani: Adaptive piecewise polynomial estimation via trend filtering. Annals of Statistics 42 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import TrendFilter
    >>> t = np.arange(50.0)
    >>> model = TrendFilter(lam2=0.1, tol=1e-8, random_state=0).fit(t.reshape(-1, 1), np.abs(t - 20.0))
    >>> model.predict([[20.0], [30.5]]).round(1).tolist()
    [0.1, 10.5]
    """

    order: int = 2
    lam2: Any = "auto"

    def _line_order(self) -> int | None:
        return int(self.order)

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return bounded(self, None), weighted(self, "lam2")

    def _operator(self, X: Any, weights: np.ndarray | None) -> Operator:
        differences = Difference(self.order).bind(X.shape[1])
        if differences.order == 1:
            return FirstDifference()  # at any distances, and the solvers know it well
        return differences if self.knots_ is None else _differences(self.knots_, differences)

    @property
    def _intercept(self) -> bool:
        return self.knots_ is None and super()._intercept

    def _design(self, X: Any, reset: bool) -> Any:
        if isinstance(X, Source) and X.shape[1] == 1:
            raise UnsupportedError(
                f"{type(self).__name__} takes one column as positions, which must be in memory. Load the column first."
            )
        order = checked_order(f"order of {type(self).__name__}", self.order)
        if reset:
            self.knots_ = np.unique(_positions(X)) if X.shape[1] == 1 else None
        return X if self.knots_ is None else _interpolation(self.knots_, _positions(X), order)


def _positions(X: Any) -> np.ndarray:
    column = X.toarray() if sp.issparse(X) else X
    return column.ravel().astype(np.float64)


def _differences(knots: np.ndarray, even: Difference) -> Operator:
    """Differences of the values at knots; at even distances, and of order 1 at any, those of the chain.

    One order more divides by the distance over which the last differences reach, and takes differences.
    """
    gaps = np.diff(knots)
    if even.order == 1 or gaps.size == 0 or np.ptp(gaps) <= 1e-9 * gaps.max():
        return even
    places = (knots - knots[0]) / gaps.mean()
    D = sp.csr_array(sp.eye_array(knots.size))
    for k in range(even.order):
        reach = k / (places[k:] - places[:-k]) if k else np.ones(knots.size)
        D = sp.csr_array(sp.diags_array(reach) @ D)
        D = D[1:] - D[:-1]
    return Matrix(D)


def _interpolation(knots: np.ndarray, points: np.ndarray, order: int) -> sp.csr_array:
    """Rows that take values at knots to the values at points of the polynomials through `order` knots around each.

    Beyond the ends the outer polynomials go on.
    """
    if knots.size < order:
        raise InputError(
            f"X holds {knots.size} different positions and order is {order}. Give at least {order}, or lower the order."
        )
    first = np.searchsorted(knots, points, side="right") - 1 - (order - 1) // 2
    window = np.clip(first, 0, knots.size - order)[:, None] + np.arange(order)
    near = knots[window]
    factors = np.ones(near.shape)
    for i in range(order):
        others = np.arange(order) != i
        factors[:, others] *= (points[:, None] - near[:, [i]]) / (near[:, others] - near[:, [i]])
    rows = np.repeat(np.arange(points.size), order)
    weights = sp.csr_array((factors.ravel(), (rows, window.ravel())), shape=(points.size, knots.size))
    weights.eliminate_zeros()
    return weights
