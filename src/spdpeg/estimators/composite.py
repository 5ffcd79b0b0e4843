"""Models with any loss, penalties and operator."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import losses
from ..errors import InputError
from ..operators import Identity
from ..penalties import Penalty
from .classification import LogisticClassifier
from .regression import AnyRegressor


@dataclass(eq=False, repr=False)
class Composite:
    """The terms of the composite models.

    Parameters
    ----------
    loss : Loss, default=None
        One of `spdpeg.losses`; None is least squares for numbers, logistic for classes. Parameters of this and the
        other terms are reached as in `set_params(loss__delta=2.0, r1__weight=0.1)`.
    r1 : Penalty, default=None
        One of `spdpeg.penalties`, on the coefficients, its weight included; None is no penalty.
    r2 : Penalty, default=None
        Another, on F x.
    F : Operator, sparse matrix or array with n_features columns, default=None
        None is the identity.
    """

    loss: Any = None
    r1: Any = None
    r2: Any = None
    F: Any = None

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return self.r1, self.r2

    def _operator(self, X: Any, weights: np.ndarray | None) -> Any:
        return Identity() if self.F is None else self.F

    def _loss_for(self, default: losses.Loss, binary: bool) -> losses.Loss:
        loss = default if self.loss is None else self.loss
        if not isinstance(loss, losses.Loss) or loss.binary != binary:
            kind, example = ("classes", "losses.Logistic()") if binary else ("numbers", "losses.Huber()")
            raise InputError(f"loss of {type(self).__name__} is {loss!r}. Give a loss for {kind}, such as {example}.")
        return loss


@dataclass(eq=False, repr=False)
class CompositeRegressor(Composite, AnyRegressor):
    """Regression with any loss, two penalties and a linear map.

    Minimises, over x and the intercept c,

        mean of loss(<a_i, x> + c, y_i)  +  r1(x)  +  r2(F x)

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    CompositeClassifier : The same for classes.
    GeneralizedLasso : Least squares and two l1 norms.
    spdpeg.Problem : The same without the interface of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import losses, operators, penalties
    >>> from spdpeg.estimators import CompositeRegressor
    >>> X = np.random.default_rng(0).standard_normal((100, 4))
    >>> model = CompositeRegressor(losses.Huber(), r2=penalties.L1(0.1), F=operators.Difference(2), random_state=0)
    >>> model.fit(X, X @ [1.0, 2.0, 3.0, 4.0]).set_params(r2__weight=0.2).r2
    L1(weight=0.2)
    """

    def _loss(self) -> losses.Loss:
        return self._loss_for(losses.Squared(), binary=False)


@dataclass(eq=False, repr=False)
class CompositeClassifier(Composite, LogisticClassifier):
    """Classification with any loss, two penalties and a linear map.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of loss(<a_i, x> + c, y_i)  +  r1(x)  +  r2(F x)

    where the mean over the rows a_i counts their weights. Probabilities and `multi_class="multinomial"` come
    with the logistic loss only.

    See Also
    --------
    CompositeRegressor : The same for numbers.
    GeneralizedLassoClassifier : The logistic loss and two l1 norms.
    spdpeg.Problem : The same without the interface of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import losses, penalties
    >>> from spdpeg.estimators import CompositeClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 4))
    >>> model = CompositeClassifier(losses.SquaredHinge(), penalties.ElasticNet(0.01, 0.01), random_state=0)
    >>> model.fit(X, X[:, 0] > 0.0).score(X, X[:, 0] > 0.0) > 0.95
    True
    """

    def _loss(self) -> losses.Loss:
        return self._loss_for(losses.Logistic(), binary=True)
