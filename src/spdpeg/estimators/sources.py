"""Data that estimators read block by block: checked as arrays are, as far as that is possible without reading them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ..data import Source, Stream, Tables, as_source
from ..data.selection import pieces, take
from ..errors import InputError, UnsupportedError
from ..lazy import is_dask, refuse_dask
from ..view import computed
from .refusals import told


def found(X: Any) -> Source | None:
    """X as a source, if it is one or must be read in batches; None for what scikit-learn checks."""
    refuse_dask("X", X)
    if isinstance(X, Stream):
        raise UnsupportedError("X is a stream, which shows each row once. Give its chunks to partial_fit.")
    if isinstance(X, Source):
        return X
    lazy = hasattr(X, "collect_batches") or (hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"))
    return as_source(X) if lazy else None


def checked(model: Any, source: Source, y: Any, sample_weight: Any, reset: bool) -> tuple[Source, np.ndarray, Any]:
    """Rows, labels and weights; rows of weight 0 are dropped where that needs no copy of the others."""
    check_width(model, source, reset)
    y = source.labels if y is None else y
    if y is None:
        raise InputError("y is missing, and X brings no labels. Give y, or name the target when you open the data.")
    y = np.asarray(y)
    if y.shape != (source.n_samples,):
        raise InputError(f"y has shape {y.shape}. It must be a vector of {source.n_samples} entries.")
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise InputError("y holds NaN or infinite entries. Drop those rows or repair them.")
    if sample_weight is None:
        return source, y, None
    weights = checked_weights(sample_weight, source)
    used = weights > 0.0
    if used.all() or not used.any() or not isinstance(source, Tables):
        return source, y, weights
    return take(source, used), y[used], weights[used]


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray:
    """One finite weight of at least 0 for each row of X, not all of them 0."""
    with told():
        weights: np.ndarray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weights


def check_width(model: Any, source: Source, reset: bool) -> None:
    """Number and names of the columns, kept by a fit and compared by what follows it."""
    names = getattr(source, "names", None)
    if reset:
        model.n_features_in_ = source.n_features
        vars(model).pop("feature_names_in_", None)
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        return
    check_columns(model, source.n_features, names)


def check_columns(model: Any, n_features: int, names: Any) -> None:
    """Refuse other columns than those of the fit."""
    if n_features != model.n_features_in_:
        raise InputError(
            f"X has {n_features} columns, but {type(model).__name__} was fitted to {model.n_features_in_}. "
            "Give the same columns."
        )
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != list(names):
        raise InputError("The columns of X have other names than in fit, or another order. Give the same columns.")


def chunks(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """What `partial_fit` learns from, one after the other: the rows of a source in pieces, anything else whole."""
    if is_dask(X):
        yield from computed(X, y, sample_weight)
        return
    source = found(X)
    if source is None:
        yield X, y, sample_weight
        return
    y = source.labels if y is None else y
    if y is None:
        raise InputError("y is missing, and X brings no labels. Give y, or name the target when you open the data.")
    y, start = np.asarray(y), 0
    for piece in pieces(source):
        some = slice(start, start + piece.shape[0])
        start = some.stop
        yield piece, y[some], None if sample_weight is None else np.asarray(sample_weight)[some]
