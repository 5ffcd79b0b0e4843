"""Coefficients that form an image: piecewise constant, or of low rank."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..operators import GridDifference
from ..penalties import Nuclear, Penalty
from .base import weight, weighted
from .logistic import LogisticClassifier
from .pieces import InPieces
from .regression import Regressor


@dataclass(eq=False, repr=False)
class TotalVariation(InPieces):
    """The penalty of the total variation models.

    Parameters
    ----------
    shape : tuple of int, default=None
        Of the image or volume that a row of X holds in C order, such as (8, 8) or (40, 48, 40). None is a line.
    lam1 : float or array of shape (n_features,), default=0.01
        The larger, the more coefficients are 0.
    lam2 : float, default=0.01
        The larger, the more neighbouring coefficients, along any axis, are equal.
    """

    shape: Any = None
    lam1: Any = 0.01
    lam2: Any = 0.01

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return weighted(self, "lam1"), weighted(self, "lam2")

    def _operator(self, X: Any, weights: np.ndarray | None) -> GridDifference:
        return GridDifference((X.shape[1],) if self.shape is None else self.shape)


@dataclass(eq=False, repr=False)
class TotalVariationRegressor(TotalVariation, Regressor):
    """Least squares with coefficients that form a sparse, piecewise constant image: total variation and l1.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 |x|_1  +  lam2 sum over neighbours (j, k) of |x_j - x_k|

    where the mean over the rows a_i counts their weights, and neighbours differ by 1 along one axis of the grid.

    See Also
    --------
    TotalVariationClassifier : The same for classes.
    FusedLasso : A line instead of an image.
    LowRankRegressor : Few patterns instead of few regions.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import TotalVariationRegressor
    >>> truth = np.zeros((6, 6))
    >>> truth[1:4, 2:5] = 1.0  # a square
    >>> X = np.random.default_rng(0).standard_normal((200, 36))
    >>> model = TotalVariationRegressor(shape=(6, 6), random_state=0).fit(X, X @ truth.ravel())
    >>> bool(np.abs(model.coef_.reshape(6, 6) - truth).max() < 0.1)
    True
    """


@dataclass(eq=False, repr=False)
class TotalVariationClassifier(TotalVariation, LogisticClassifier):
    """Logistic regression with coefficients that form a sparse, piecewise constant image: total variation and l1.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 |x|_1  +  lam2 sum over neighbours (j, k) of |x_j - x_k|

    where the mean over the rows a_i counts their weights, and neighbours differ by 1 along one axis of the grid.

    See Also
    --------
    TotalVariationRegressor : The same for numbers.
    FusedLogisticRegression : A line instead of an image.
    LowRankClassifier : Few patterns instead of few regions.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spdpeg.estimators import TotalVariationClassifier
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> model = TotalVariationClassifier(shape=(8, 8), random_state=0).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.98
    True
    """


@dataclass(eq=False, repr=False)
class LowRank:
    """The penalty of the low-rank models.

    Parameters
    ----------
    shape : tuple of two ints, default=None
        Rows and columns of the matrix that a row of X holds in C order. None is a single column, whose nuclear norm is
        its length.
    lam1 : float or array of shape (n_features,), default=0
        The larger, the more coefficients are 0.
    lam2 : float, default=0.01
        The larger, the lower the rank of the coefficients.
    """

    shape: Any = None
    lam1: Any = 0.0
    lam2: Any = 0.01

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        lam2 = weight(self, "lam2")
        shape = (n_features, 1) if self.shape is None else self.shape
        return weighted(self, "lam1"), Nuclear(lam2, shape) if np.any(lam2) else None


@dataclass(eq=False, repr=False)
class LowRankRegressor(LowRank, Regressor):
    """Least squares with a coefficient matrix of low rank: the nuclear norm, and l1.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 |x|_1  +  lam2 (sum of the singular values of x as a matrix)

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    LowRankClassifier : The same for classes.
    TotalVariationRegressor : Few regions instead of few patterns.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import LowRankRegressor
    >>> rng = np.random.default_rng(0)
    >>> truth = np.outer(rng.standard_normal(6), rng.standard_normal(5))  # rank 1
    >>> X = rng.standard_normal((200, 30))
    >>> model = LowRankRegressor(shape=(6, 5), lam2=0.1, random_state=0).fit(X, X @ truth.ravel())
    >>> singular = np.linalg.svd(model.coef_.reshape(6, 5), compute_uv=False)
    >>> bool(singular[1] < 0.05 * singular[0])
    True
    """


@dataclass(eq=False, repr=False)
class LowRankClassifier(LowRank, LogisticClassifier):
    """Logistic regression with a coefficient matrix of low rank: the nuclear norm, and l1.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 |x|_1  +  lam2 (sum of the singular values of x as a matrix)

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    LowRankRegressor : The same for numbers.
    TotalVariationClassifier : Few regions instead of few patterns.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spdpeg.estimators import LowRankClassifier
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> model = LowRankClassifier(shape=(8, 8), random_state=0).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.98
    True
    """
