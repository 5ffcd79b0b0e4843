"""Logistic regression: probabilities of two classes, and of several in two ways."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import losses
from ..lazy import is_dask
from ..parameters import one_of
from . import cluster
from .classification import Classifier

_MULTI_CLASS = ("ovr", "multinomial")


def _gives_probabilities(classifier: Any) -> bool:
    return bool(classifier._loss().log_odds)


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticClassifier(Classifier):
    """Base of the classifiers that give probabilities.

    Parameters
    ----------
    multi_class : {"ovr", "multinomial"}, default="ovr"
        What more than two classes mean. "ovr" fits each against the rest. "multinomial" fits all of them at once: the
        loss is the mean of -log softmax(scores of row i)_{y_i}, and the penalties of all classes are added. It takes
        time and memory that grow with the cube and the square of n_classes * n_features, and has no `partial_fit`.
    """

    multi_class: str = "ovr"

    def _loss(self) -> losses.Loss:
        return losses.Logistic()

    @property
    def _streams(self) -> bool:
        return super()._streams and self.multi_class == "ovr"

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; those of one class against the rest are scaled to sum to 1.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        if is_dask(X):
            check_is_fitted(self)
            return cluster.lazily(self, "predict_proba", X, np.float64, self.classes_.size)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores if self.multi_class == "multinomial" else log_expit(scores), axis=1))

    def _joint(self, n_targets: int) -> bool:
        one_of(f"multi_class of {type(self).__name__}", self.multi_class, _MULTI_CLASS)
        return self.multi_class == "multinomial" and n_targets > 1
