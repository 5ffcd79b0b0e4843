"""Classification: two classes as one problem, several as one problem each; probabilities under the logistic loss."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .. import losses
from ..errors import InputError, UnsupportedError
from ..exact.multinomial import Multinomial
from ..parameters import is_dask, one_of, shown
from ..sparse import sound
from ..view import Positive
from . import cluster, fitting, inputs
from .base import SumOverRows, takes_chunks
from .inputs import intact, translated_errors

_MULTI_CLASS = ("ovr", "multinomial")


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, SumOverRows):
    """Base of the classifiers.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class; "balanced" gives all classes the same total.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features), or (n_classes, n_features) for more than two classes
    intercept_ : array of shape (1,) or (n_classes,)
    """

    class_weight: Any = None

    @available_if(takes_chunks)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with a chunk of rows, which is read once: SPDPEG on a stream, in constant memory.

        The outcome is that of one run of SPDPEG over all chunks so far. It approaches the solution with the number of
        rows and makes no claim to have reached it: `solver`, `tol` and `max_passes` are those of `fit`. Weights
        multiply the losses of the rows as they are. The outcome does not depend on how the rows are cut into chunks.
        Rows are mixed in a buffer (`buffer_size`); runs of one class that are longer are noticed and warned about.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array, optional
            All labels that will ever come; needed in the first call.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with intact(self):
            if classes is None and y is None and not hasattr(self, "classes_"):
                classes = getattr(inputs.found(X), "labels", None)  # all of them are known
            for X_chunk, y_chunk, weights in inputs.chunks(X, y, sample_weight):
                self._learn(X_chunk, y_chunk, classes, weights)
        return self

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Go on with a chunk."""
        known: np.ndarray | None = getattr(self, "classes_", None)
        X, y, weights = self._checked(X, y, sample_weight, reset=known is None)
        if known is None or not _comparable(y, known):
            _require_classes(y)
        if known is None:
            if classes is None:
                raise InputError("classes is missing. Name all labels that will come in the first call of partial_fit.")
            known = _labels(classes)
        elif classes is not None and not np.array_equal(_labels(classes), known):
            raise InputError(f"classes is {shown(classes)} where earlier calls had {known}. They must stay the same.")
        codes = np.searchsorted(known, y)
        unknown = known[np.minimum(codes, known.size - 1)] != y
        if np.any(unknown):
            label = y[unknown].tolist()[0]
            raise InputError(f"y holds the label {label!r}, which is not in classes, {known}. Name it there.")
        if isinstance(self.class_weight, str):
            raise InputError(
                f"class_weight is {self.class_weight!r}, which needs all rows. Give partial_fit a dict of weights."
            )
        self.classes_ = known
        fitting.learn(self, fitting.Data(X, self._targets(codes), self._class_weighted(codes, weights)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows: above 0 for the second of two classes; the largest wins among several.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        if is_dask(X):
            check_is_fitted(self)
            n_columns = 0 if self.classes_.size == 2 else self.classes_.size
            return cluster.lazily(self, "decision_function", X, np.float64, n_columns)
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Labels as in `classes_`.
        """
        if is_dask(X):
            check_is_fitted(self)
            return cluster.lazily(self, "predict", X, self.classes_.dtype)
        scores = self.decision_function(X)
        return self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Fraction of the rows whose class is predicted.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        if is_dask(X):
            return cluster.score(self, X, y, sample_weight)
        with translated_errors():
            return float(super().score(X, sound(y, "y"), sound(sample_weight, "sample_weight")))

    def _rows(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> fitting.Data:
        if offset is not None:
            raise UnsupportedError(f"{type(self).__name__} takes no offset, which is for regressors. Leave it out.")
        if inputs.is_there(X):
            return self._rows_on_cluster(X, y, sample_weight)
        X, y, weights = self._checked(X, y, sample_weight, reset=True)
        _require_classes(y)
        classes = np.unique(y)
        self._set_classes(classes)
        codes = (y == classes[1]).astype(np.intp) if classes.size == 2 else np.searchsorted(classes, y)
        return fitting.Data(X, self._targets(codes), self._class_weighted(codes, weights))

    def _rows_on_cluster(self, X: Any, y: Any, sample_weight: Any) -> fitting.Data:
        rows = inputs.partitions(self, X, y, sample_weight)
        _require_classes(rows.classes)
        self._set_classes(rows.classes)
        if self.class_weight is not None:
            rows = rows.reweighted(self._weights_of_classes(rows.totals))
        positives = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        return fitting.Data(rows, [Positive(label) for label in positives], None)

    def _set_classes(self, classes: np.ndarray) -> None:
        if classes.size < 2:
            found = f"one class only, {classes.tolist()[0]!r}" if classes.size else "no class at all"
            raise InputError(
                f"y holds {found} (rows of weight 0 do not count). A classifier needs rows of at least two classes."
            )
        self.classes_ = classes

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return coef, intercept

    def _targets(self, codes: np.ndarray) -> list[np.ndarray]:
        """Labels -1 and +1, for the second of two classes or for each of several against the rest."""
        positives = [1] if self.classes_.size == 2 else range(self.classes_.size)
        return [np.where(codes == positive, 1.0, -1.0) for positive in positives]

    def _class_weighted(self, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Weights of the rows, those of their classes included."""
        if self.class_weight is None:
            return weights
        totals = np.bincount(codes, None if weights is None else weights / weights.max(), self.classes_.size)
        of_row: np.ndarray = self._weights_of_classes(totals)[codes]
        return of_row if weights is None else of_row * weights

    def _weights_of_classes(self, totals: np.ndarray) -> np.ndarray:
        """Class weights from the parameter, 1 for a class that it omits; `totals` are the weights of their rows."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return np.asarray(totals.sum() / (totals.size * totals))
        if isinstance(self.class_weight, dict):
            with suppress(TypeError, ValueError, OverflowError):
                classes = self.classes_
                found = np.asarray(compute_class_weight(self.class_weight, classes=classes, y=classes), dtype=float)
                if np.all(np.isfinite(found)) and np.all(found >= 0.0):
                    return found
        raise InputError(
            f"class_weight of {type(self).__name__} is {shown(self.class_weight)}. Give 'balanced', None, or a dict of "
            "finite weights of at least 0 by class."
        )


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

    def _joint(self, data: fitting.Data) -> fitting.Joint | None:
        one_of(f"multi_class of {type(self).__name__}", self.multi_class, _MULTI_CLASS)
        if self.multi_class != "multinomial" or len(data.targets) == 1:
            return None
        fitting.in_memory(self, data.X, "Choose multi_class='ovr'.")
        if not self._loss().log_odds:
            raise InputError(
                f"multi_class of {type(self).__name__} is 'multinomial' and its loss {self._loss()!r}. "
                "Only the logistic loss has such a form; choose 'ovr'."
            )
        return Multinomial(data.X, np.argmax(data.targets, axis=0), data.weights, self._intercept)


def _require_classes(y: Any) -> None:
    with translated_errors():
        check_classification_targets(y)


def _comparable(y: np.ndarray, known: np.ndarray) -> bool:
    """Whether labels compare with those known as they are: both are numbers, or both text."""
    return all(each.dtype.kind in "biuf" for each in (y, known)) or all(each.dtype.kind == "U" for each in (y, known))


def _labels(classes: Any) -> np.ndarray:
    """The different labels in order; two or more of one type."""
    try:
        known = np.unique(np.asarray(classes))
    # What a foreign object's __array__ raises is up to it, and labels of different types have no order.
    except Exception:
        known = np.empty(0)
    if known.ndim != 1 or known.size < 2 or known.dtype.kind not in "biufOUST":
        raise InputError(f"classes is {shown(classes)}. Give all labels that will come, two or more of one type.")
    return known
