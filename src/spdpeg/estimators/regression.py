"""Regression models."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from .. import losses
from ..errors import InputError, UnsupportedError
from ..parameters import is_dask, numbers, shown, truth, vector
from . import cluster, families, fitting, inputs
from .base import SumOverRows, takes_chunks
from .inputs import intact


@dataclass(eq=False, repr=False, kw_only=True)
class AnyRegressor(RegressorMixin, SumOverRows):
    """Base of the regressors, whatever their loss.

    Attributes
    ----------
    coef_ : array of shape (n_features,), or (n_outputs, n_features) for several outputs
    intercept_ : float, or array of shape (n_outputs,)
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None, exposure: Any = None) -> Self:
        """Fit to all rows, up to `tol`.

        Parameters
        ----------
        X : array, sparse matrix, data frame or source of shape (n_samples, n_features)
            A source of `spdpeg.data`, such as those of `open_parquet` and `open_csr`, need not fit into memory; nor
            need a polars LazyFrame.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Several outputs have coefficients of their own, with the same penalties. May be left out for a source that
            brings its labels.
        sample_weight : array of shape (n_samples,), optional
            Weight k equals k copies of a row; weight 0 drops it.
        offset : array of the shape of y or (n_samples,), optional
            Added to <a_i, x> + c, as a column whose coefficient is 1 would be.
        exposure : array of the shape of y or (n_samples,), optional
            Times, areas or amounts behind the counts of rows: log(exposure) is added to the offset. For families with
            the log link, "poisson" and "gamma".

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, families.joined(self._loss(), offset, exposure))

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
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with intact(self):
            for chunk in inputs.chunks(X, y, sample_weight):
                fitting.learn(self, self._data(*chunk, not hasattr(self, "coef_")))
        return self

    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predicted means of the rows of X; their quantiles, for that family.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset, exposure : arrays of the shape of y or (n_samples,), optional
            As in `fit`. Without an exposure the mean is that of exposure 1, a rate.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        loss = self._loss()
        if is_dask(X):
            _refuse_offset(offset, exposure)
            return cluster.lazily(self, "predict", X, np.float64)
        return families.mean_of(loss, self._margins(X, families.joined(loss, offset, exposure)))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None) -> float:
        """The score on the rows of X: R^2, or the fraction of deviance explained for another family.

        Of several outputs, the mean.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight, offset, exposure : arrays, optional
            As in `fit`.

        Returns
        -------
        float
            1 at best; 0 for the best constant.
        """
        if is_dask(X):
            _refuse_offset(offset, exposure)
            families.require_squares(self._loss())
            return cluster.score(self, X, y, sample_weight)
        return families.explained(self._loss(), y, self.predict(X, offset, exposure), sample_weight)

    def _margins(self, X: Any, offset: np.ndarray | None) -> np.ndarray:
        """Scores with the offset."""
        scores = self._scores(X)
        if offset is None:
            return scores
        if offset.ndim == 2 and offset.shape == scores.shape and np.all(np.isfinite(offset)):
            return np.asarray(scores + offset)
        added = vector("offset", offset, len(scores))
        return np.asarray(scores + (added if scores.ndim == 1 else added[:, None]))

    def _rows(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> fitting.Data:
        if inputs.is_there(X):
            rows = inputs.partitions(self, X, y, sample_weight)
            return fitting.Data(rows, [None], None, offset)
        return self._data(X, y, sample_weight, True, offset)

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool, offset: Any = None) -> fitting.Data:
        X, y, weights = self._checked(X, y, sample_weight, reset, y_numeric=True, multi_output=True)
        if np.asarray(y).dtype.kind in "USO":
            _refuse_text(self, y)
        y = numbers("y", y if np.ndim(y) == 2 and np.shape(y)[1] > 1 else column_or_1d(y, warn=True))
        if offset is not None and sample_weight is not None and len(offset) == np.shape(sample_weight)[0]:
            offset = offset[np.asarray(sample_weight) > 0.0]
        return fitting.Data(X, [y] if y.ndim == 1 else list(np.ascontiguousarray(y.T)), weights, offset)

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, Any]:
        return (coef, intercept) if len(coef) > 1 else (coef[0], float(intercept[0]))


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(AnyRegressor):
    """Base of the regressors that are named after their penalty.

    Parameters
    ----------
    family : {"gaussian", "poisson", "gamma", "huber", "quantile"} or Loss, default="gaussian"
        What the numbers are like. "gaussian" is least squares, the loss above. "poisson" for counts and "gamma" for
        positive numbers have means exp(<a_i, x> + c), which `predict` returns, and half the deviance for their loss.
        "huber" forgives outliers, "quantile" fits the median. A loss of `spdpeg.losses` sets what these leave open, as
        losses.Huber(2.0) or losses.Quantile(0.9) do.
    coupled : bool, default=False
        For several outputs: take the lengths over all outputs of what r1 and r2 take the absolute values or the lengths
        of, as the multi-task lasso does, so that the outputs share their zeros and their jumps. The losses of the
        outputs are added up. False fits each output as if it were alone.
    """

    family: Any = "gaussian"
    coupled: bool = False

    @property
    def _streams(self) -> bool:
        return super()._streams and not self.coupled

    def _joint(self, data: fitting.Data) -> fitting.Joint | None:
        if not truth(f"coupled of {type(self).__name__}", self.coupled) or len(data.targets) == 1:
            return None
        fitting.in_memory(self, data.X, "Leave coupled out.")
        return fitting.Coupled(data.X, data.targets, self._loss(), data.weights, data.offset, self._intercept)

    def _loss(self) -> losses.Loss:
        return families.loss_of(self, self.family)


def _refuse_text(model: object, y: Any) -> None:
    for entry in np.ravel(y):
        if isinstance(entry, str | bytes):
            raise InputError(
                f"y holds text, such as {shown(entry)}, and {type(model).__name__} predicts numbers. Give numbers, or "
                "take a classifier, such as FusedLogisticRegression."
            )


def _refuse_offset(offset: Any, exposure: Any) -> None:
    if offset is not None or exposure is not None:
        raise UnsupportedError("offset or exposure is given, and X is a collection of dask. Leave it out.")
