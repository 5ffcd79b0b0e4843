"""Models on dask collections: lazy predictions, and scores added up by the workers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..sums.rounds import Rounds, active_client
from ..sums.tasks import Summand
from ..view import Partitions, columns_of, of_each
from . import inputs


def fold_scores(held: Partitions, models: list[Any], score: Callable[..., float]) -> np.ndarray:
    """Mean scores of models over rows held out, from one round of tasks."""
    return held.mean(_scores, models, score)


def _scores(X: Any, y: np.ndarray, weights: np.ndarray, models: list[Any], score: Callable[..., float]) -> np.ndarray:
    return np.array([score(model, X, y, weights) for model in models])


def lazily(model: Any, method: str, X: Any, dtype: Any, n_columns: int = 0) -> Any:
    """A dask array of what a method of the model returns for the rows of X; nothing is computed.

    `n_columns` is the number of columns of that, 0 for a vector.
    """
    check_is_fitted(model)
    n_features, names = columns_of(X)
    inputs.check_columns(model, n_features, names)
    array = X if hasattr(X, "chunks") else X.to_dask_array()
    array = array.rechunk({1: -1}) if array.numblocks[1] > 1 else array
    if n_columns == 0:
        shape: dict[str, Any] = {"drop_axis": 1, "meta": np.empty(0, dtype=dtype)}
    else:
        shape = {"chunks": (array.chunks[0], (n_columns,)), "meta": np.empty((0, 0), dtype=dtype)}
    return array.map_blocks(_of_block, plain(model), method, dtype, n_columns, dtype=dtype, **shape)


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Accuracy of a classifier, R^2 of a regressor, from sums that the workers make."""
    check_is_fitted(model)
    inputs.check_columns(model, *columns_of(X))
    if y is None:
        raise InputError("y is missing. Give the labels as a column or an array of dask that is cut like X.")
    client = active_client("X")
    parts = client.compute(of_each(_scored, X, y, sample_weight, plain(model), is_classifier(model)))
    total, good, lost, whole, squares = Rounds(client, range(len(parts))).total(parts).sums
    if not total > 0.0:
        raise InputError("No row has a weight, so that there is nothing to score. Check X and sample_weight.")
    if is_classifier(model):
        return float(good / total)
    spread = squares - whole * whole / total
    return float(1.0 - lost / spread) if spread > 0.0 else float(lost == 0.0)


def _scored(X: Any, y: Any, weights: Any, model: Any, classes: bool) -> Summand:
    """Weight, weight of what is right, weighted squares of errors, labels, squares of labels."""
    y = np.asarray(y)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    if y.size == 0:
        return Summand((0.0,) * 5, np.zeros(0))
    table = X.to_numpy() if hasattr(X, "to_numpy") else X
    found = model.predict(table.to_scipy_sparse() if hasattr(table, "to_scipy_sparse") else table)
    if classes:
        return Summand((float(w.sum()), float(w @ (found == y)), 0.0, 0.0, 0.0), np.zeros(0))
    y = y.astype(float)
    sums = w.sum(), 0.0, w @ (found - y) ** 2, w @ y, w @ (y * y)
    return Summand(tuple(map(float, sums)), np.zeros(0))


def _of_block(rows: Any, model: Any, method: str, dtype: Any, n_columns: int) -> np.ndarray:
    if rows.shape[0] == 0:
        return np.empty((0, n_columns) if n_columns else 0, dtype=dtype)
    rows = rows.to_scipy_sparse() if hasattr(rows, "to_scipy_sparse") else rows
    return np.asarray(getattr(model, method)(rows)).astype(dtype, copy=False)


def plain(model: Any) -> Any:
    """The model without names of columns, which blocks do not have, and without all that predictions do not need."""
    kept = ("coef_", "intercept_", "classes_", "n_features_in_", "knots_")
    plain = type(model)(**model.get_params(deep=False))
    vars(plain).update({name: value for name, value in vars(model).items() if name in kept})
    return plain
