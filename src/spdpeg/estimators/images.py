"""Coefficients that form an image: piecewise constant, or of low rank."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..operators import GraphDifference, GridDifference, Operator
from ..operators.grid import neighbours
from ..operators.pieces import length_curvature
from ..parameters import shown, truth
from ..penalties import GroupL2, Nuclear, Penalty
from .base import bounded, weight, weighted
from .classification import LogisticClassifier
from .hat import ShrunkPieces
from .regression import Regressor


@dataclass(eq=False, repr=False)
class TotalVariation(ShrunkPieces):
    """The penalty of the total variation models.

    Parameters
    ----------
    shape : tuple of int, default=None
        Of the image or volume that a row of X holds in C order, such as (8, 8) or (40, 48, 40). None is a line.
    lam1 : float or array of shape (n_features,), or "auto", default="auto"
        The larger, the more coefficients are 0. "auto" takes a hundredth of the largest weight worth trying, kept
        in `lam1_`.
    lam2 : float, or "auto", default="auto"
        The larger, the more neighbouring coefficients, along any axis, are equal. "auto" takes a hundredth of the
        largest weight worth trying, kept in `lam2_`.
    mask : array of bool, default=None
        Of an image or volume in which only some places have a feature, such as a brain: the columns of X are the places
        where it is True, in C order. Neighbours are those that are both inside.
    isotropic : bool, default=False
        Penalise the lengths of the gradients, sqrt(sum over axes of squared differences), instead of the sum of
        absolute differences, so that slanted edges cost no more than others.

    Attributes
    ----------
    coef_image_ : array of the shape of the image, or (n_classes, ...)
        The coefficients in their places; 0 outside the mask.
    """

    shape: Any = None
    lam1: Any = "auto"
    lam2: Any = "auto"
    _: KW_ONLY
    mask: Any = None
    isotropic: bool = False

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        r1 = bounded(self, weighted(self, "lam1"))
        if not truth(f"isotropic of {type(self).__name__}", self.isotropic):
            return r1, weighted(self, "lam2")
        lam2 = weight(self, "lam2")
        return r1, GroupL2(lam2, neighbours(self._places(n_features))[:, 0]) if np.any(lam2) else None

    def _operator(self, X: Any, weights: np.ndarray | None) -> Operator:
        if self.mask is None:
            return self._grid(X.shape[1])
        return GraphDifference(neighbours(self._places(X.shape[1])), n_nodes=X.shape[1])

    def _grid(self, n_features: int) -> GridDifference:
        """Differences of neighbours in the image, which must have as many pixels as X has columns."""
        grid = GridDifference((n_features,) if self.shape is None else self.shape)
        if grid.known_inputs not in (None, n_features):
            raise InputError(
                f"shape of {type(self).__name__} is {shown(self.shape)}, which has {grid.known_inputs} pixels, and X "
                f"has {n_features} columns. Give the shape of the image that a row of X holds, or a mask of the pixels "
                "that have a column."
            )
        return grid

    def _places(self, n_features: int) -> np.ndarray:
        """Which places of the grid have a feature."""
        if self.mask is None:
            return np.ones(self._grid(n_features).bind(n_features).grid, dtype=bool)
        try:
            mask = np.asarray(self.mask)
        except ValueError:  # lists of different lengths
            mask = np.empty(0)
        inside = int(np.count_nonzero(mask)) if mask.dtype == bool else 0
        if mask.ndim == 0 or inside != n_features:
            raise InputError(
                f"mask of {type(self).__name__} has shape {mask.shape}, type {mask.dtype} and {inside} "
                f"places inside; X has {n_features} columns. Give an array of bools with one True for each column."
            )
        if self.shape is not None and tuple(self.shape) != mask.shape:
            raise InputError(f"shape is {shown(self.shape)} and mask has shape {mask.shape}. Leave shape out.")
        return mask

    @property
    def coef_image_(self) -> np.ndarray:
        """The coefficients in the shape of the image or volume, 0 outside the mask; of several classes, one each."""
        rows = np.atleast_2d(self._fitted().coef_)
        places = self._places(rows.shape[1])
        images = np.zeros((len(rows), *places.shape), dtype=rows.dtype)
        images[:, places] = rows
        return images if len(rows) > 1 else images[0]

    def _curvature(self, k: int) -> sp.sparray | None:
        """Curvature of lam2 times the lengths of those gradients that are not 0."""
        F, lam2 = self._fitted().F_, self._weight("lam2")
        if not self.isotropic or F is None or not np.any(lam2):
            return None
        coef = self._coef(k)
        return lam2 * length_curvature(F, neighbours(self._places(coef.size))[:, 0], coef)


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
    lam1 : float or array of shape (n_features,), or "auto", default=0
        The larger, the more coefficients are 0.
    lam2 : float, or "auto", default="auto"
        The larger, the lower the rank of the coefficients. "auto" takes a hundredth of the largest weight worth trying,
        kept in `lam2_`.
    """

    shape: Any = None
    lam1: Any = 0.0
    lam2: Any = "auto"

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
