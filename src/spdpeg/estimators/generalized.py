"""The generalized lasso: any matrix inside the l1 norm."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..operators import Identity
from ..penalties import Penalty
from .base import bounded, weighted
from .classification import LogisticClassifier
from .pieces import InPieces
from .regression import Regressor


@dataclass(eq=False, repr=False)
class Generalized(InPieces):
    """The penalty of the generalized lasso.

    Parameters
    ----------
    F : Operator, sparse matrix or array with n_features columns, default=None
        What should be sparse is F x. None is the identity.
    lam1 : float or array of shape (n_features,), or "auto", default="auto"
        Weight of |x|_1; 0 for the generalized lasso in the narrow sense. "auto" takes a hundredth of the largest weight
        worth trying, kept in `lam1_`.
    lam2 : float or array with an entry for each row of F, or "auto", default="auto"
        Weight of |F x|_1. "auto" takes a hundredth of the largest weight worth trying, kept in `lam2_`.
    """

    F: Any = None
    lam1: Any = "auto"
    lam2: Any = "auto"

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return bounded(self, weighted(self, "lam1")), weighted(self, "lam2")

    def _operator(self, X: Any, weights: np.ndarray | None) -> Any:
        return Identity() if self.F is None else self.F


@dataclass(eq=False, repr=False)
class GeneralizedLasso(Generalized, Regressor):
    """Least squares with an l1 norm of any linear map of the coefficients.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 |x|_1  +  lam2 |F x|_1

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    FusedLasso : F takes differences of neighbours.
    CompositeRegressor : Any loss and penalties too.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GeneralizedLasso
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> F = np.array([[1.0, 1.0, 0.0]])  # the first two coefficients should cancel
    >>> model = GeneralizedLasso(F, lam1=0.0, lam2=0.1, random_state=0, tol=1e-8)
    >>> model.fit(X, X @ [1.0, -0.95, 2.0]).coef_.round(2).tolist()
    [0.98, -0.98, 2.0]
    """


@dataclass(eq=False, repr=False)
class GeneralizedLassoClassifier(Generalized, LogisticClassifier):
    """Logistic regression with an l1 norm of any linear map of the coefficients.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 |x|_1  +  lam2 |F x|_1

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    FusedLogisticRegression : F takes differences of neighbours.
    CompositeClassifier : Any loss and penalties too.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GeneralizedLassoClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.standard_normal((200, 3)), rng.standard_normal(200)
    >>> F = np.array([[1.0, -1.0, 0.0]])  # the first two coefficients should be equal
    >>> model = GeneralizedLassoClassifier(F, lam1=0.0, lam2=0.1, random_state=0, tol=1e-8)
    >>> a, b, c = model.fit(X, X @ [1.0, 0.9, -1.0] > noise).coef_[0]
    >>> bool(abs(a - b) < 1e-3 * a)
    True
    """
