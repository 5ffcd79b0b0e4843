"""Sparse coefficients that neighbouring features share: the fused lasso and its relatives for classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import losses
from ..operators import FirstDifference, Operator
from ..penalties import Penalty
from .base import bounded, weighted
from .classification import Classifier, LogisticClassifier
from .pieces import InPieces
from .regression import Regressor


@dataclass(eq=False, repr=False)
class Fused(InPieces):
    """The penalty of the fused models.

    Parameters
    ----------
    lam1 : float or array of shape (n_features,), or "auto", default="auto"
        The larger, the more coefficients are 0. "auto" takes a hundredth of the largest weight worth trying, kept
        in `lam1_`.
    lam2 : float or array of shape (n_features - 1,), or "auto", default="auto"
        The larger, the more neighbouring coefficients are equal. "auto" takes a hundredth of the largest weight worth
        trying, kept in `lam2_`.
    """

    lam1: Any = "auto"
    lam2: Any = "auto"

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return bounded(self, weighted(self, "lam1")), weighted(self, "lam2")

    def _operator(self, X: Any, weights: np.ndarray | None) -> Operator:
        return FirstDifference()


@dataclass(eq=False, repr=False)
class FusedLasso(Fused, Regressor):
    """Fused lasso: least squares with coefficients that are sparse and piecewise constant along the features.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 sum_j |x_j|  +  lam2 sum_j |x_{j+1} - x_j|

    where the mean over the rows a_i counts their weights. The order of the columns matters.

    See Also
    --------
    FusedLassoCV : Choose lam1 and lam2 by cross-validation.
    TrendFilter : Piecewise polynomial instead of piecewise constant.
    GraphGuidedRegressor : Neighbours in a graph instead of along a line.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import FusedLasso
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> y = X @ [0.0, 0.0, 2.0, 2.0, 2.0, 0.0] + 1.0
    >>> model = FusedLasso(lam1=0.01, lam2=0.05, tol=1e-8, random_state=0).fit(X, y)
    >>> model.coef_.round(2).tolist()
    [0.01, 0.01, 1.96, 1.96, 1.96, 0.05]
    """


@dataclass(eq=False, repr=False)
class FusedLogisticRegression(Fused, LogisticClassifier):
    """Logistic regression with coefficients that are sparse and piecewise constant along the features.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 sum_j |x_j|  +  lam2 sum_j |x_{j+1} - x_j|

    where the mean over the rows a_i counts their weights. The order of the columns matters.

    See Also
    --------
    FusedLogisticRegressionCV : Choose lam1 and lam2 by cross-validation.
    FusedSVC : The hinge loss instead of the logistic one.
    GraphGuidedLogisticRegression : Neighbours in a graph instead of along a line.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLogisticRegression
    >>> X, y, truth = datasets.piecewise_constant(n_samples=2000, n_features=50)
    >>> model = FusedLogisticRegression(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """


@dataclass(eq=False, repr=False)
class FusedSVC(Fused, Classifier):
    """Support vector classifier with coefficients that are sparse and piecewise constant along the features.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of max(0, 1 - y_i (<a_i, x> + c))  +  lam1 sum_j |x_j|  +  lam2 sum_j |x_{j+1} - x_j|

    where the mean over the rows a_i counts their weights. The hinge has a kink, so that only the solvers that need no
    gradient apply ("lp", "spdhg-cers", "sdca-admm"), and there is neither `predict_proba` nor `partial_fit`. More than
    two classes are fitted one against the rest.

    See Also
    --------
    FusedLogisticRegression : A smooth loss, with probabilities.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedSVC
    >>> X, y, truth = datasets.piecewise_constant(n_samples=200, n_features=10)
    >>> model = FusedSVC(lam1=0.01, lam2=0.05).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    def _loss(self) -> losses.Loss:
        return losses.Hinge()
