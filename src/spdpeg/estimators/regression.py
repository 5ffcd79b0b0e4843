"""Regression: numbers from rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from .. import losses
from ..parameters import numbers
from . import fitting, sources
from .base import Estimator, takes_chunks


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, Estimator):
    """Base of the regressors.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    """

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    @available_if(takes_chunks)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with a chunk of rows, which is read once: SPDPEG on a stream, in constant memory.

        The outcome is that of one run of SPDPEG over all chunks so far. It approaches the solution with the number of
        rows and makes no claim to have reached it: `solver`, `tol` and `max_passes` are those of `fit`. Weights
        multiply the losses of the rows as they are. The outcome does not depend on how the rows are cut into chunks.
        Rows are mixed in a buffer (`buffer_size`); rows sorted in longer runs than that lead it astray.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with fitting.intact(self):
            for chunk in sources.chunks(X, y, sample_weight):
                fitting.learn(self, self._data(*chunk, reset=not hasattr(self, "coef_")))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicted numbers for the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._scores(X)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> fitting.Data:
        return self._data(X, y, sample_weight, reset=True)

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> fitting.Data:
        X, y, weights = self._checked(X, y, sample_weight, reset, y_numeric=True)
        return fitting.Data(X, [numbers("y", y)], weights)

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, float]:
        return coef[0], float(intercept[0])
