"""Checks of user input: arrays, data frames, sources read block by block, dask collections.

Refusals of scikit-learn become errors of this package, and a call that fails leaves the model as it was.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight

from ..data import Source, Stream, Tables, as_source
from ..data.selection import pieces, take
from ..errors import InputError, InputTypeError, SpdpegError, UnsupportedError
from ..parameters import is_dask, refuse_dask
from ..sparse import sound
from ..view import Partitions, computed

_MISSING = (
    "Fill in what is missing first, as scikit-learn's SimpleImputer does, or drop those rows. spdpeg.denoise takes a "
    "signal with gaps."
)
_TEXT = "Make numbers of it first, as scikit-learn's OneHotEncoder does within a ColumnTransformer, or drop it."
_SAME_CATEGORIES = " Open it with categorical=rows.categories, where rows are those of the fit."
_NO_NUMBER = ("could not convert string to float", "could not convert object to float")


@contextmanager
def translated_errors(X: Any = None) -> Iterator[None]:
    """Turn what scikit-learn's checks and scores raise at input that cannot be used into an InputError on one line.

    X is the table that is checked, if there is one, so that columns of text can be named.
    """
    try:
        yield
    except (SpdpegError, Warning, MemoryError, OSError):
        raise
    except TypeError as error:
        raise InputTypeError(_sentence(error, X)) from None
    # What a foreign object's __array__ or __float__ raises is up to it.
    except Exception as error:
        raise InputError(_sentence(error, X)) from None


def usable(name: str, value: Any) -> Any:
    """The value itself; refused if it is a damaged sparse matrix, or an array that hides some of its entries."""
    if sp.issparse(value):
        return sound(value, name)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} is a masked array with entries that are hidden. {_MISSING}")
    return value


def _sentence(error: Exception, X: Any) -> str:
    """The error message: the fault and the remedy, without the input itself."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    if first.startswith(_NO_NUMBER):
        names = _columns_of_text(X)
        where = f"Column {names[0]!r} of X" if len(names) == 1 else "A column of X"
        where = f"Columns {', '.join(map(repr, names[:5]))} of X" if len(names) > 1 else where
        return f"{where} {'hold' if len(names) > 1 else 'holds'} text ({first}). {_TEXT}"
    if "contains NaN" in first:
        return f"{first} {_MISSING}"
    if first.startswith("The feature names should match"):
        return " ".join([first, *others])
    return f"{first.rstrip(':')}. {others[-1]}" if first.endswith(":") and others else first


def _columns_of_text(X: Any) -> list[Any]:
    """The names of the columns of a data frame that hold neither numbers nor truth values."""
    names, kinds = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if names is None or kinds is None:
        return []
    return [name for name, kind in zip(names, kinds, strict=True) if getattr(kind, "kind", "O") in "OSUT"]


@contextmanager
def intact(model: Any) -> Iterator[None]:
    """Restore the attributes of the model if the block fails, so that a corrected call finds no traces of it."""
    before = dict(vars(model))
    learners = [copy.copy(learner) for learner in before.get("_learners", [])]
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        if "_learners" in before:
            model._learners = learners
        raise


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
    with translated_errors():
        weights: np.ndarray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weights


def check_width(model: Any, source: Source, reset: bool) -> None:
    """Number and names of the columns, kept by a fit and compared by what follows it."""
    names = source.names
    if reset:
        model.n_features_in_ = source.n_features
        vars(model).pop("feature_names_in_", None)
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        return
    check_columns(model, source.n_features, names, _SAME_CATEGORIES if getattr(source, "categories", None) else "")


def check_columns(model: Any, n_features: int, names: Any, advice: str = "") -> None:
    """Refuse other columns than those of the fit."""
    if n_features != model.n_features_in_:
        raise InputError(
            f"X has {n_features} columns, but {type(model).__name__} was fitted to {model.n_features_in_}. "
            f"Give the same columns.{advice}"
        )
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != list(names):
        raise InputError(
            f"The columns of X have other names than in fit, or another order. Give the same columns.{advice}"
        )


def chunks(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The chunks that `partial_fit` learns from: the rows of a source in pieces, anything else whole."""
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


def partitions(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """The rows of a fit, on the cluster of the active client; what the coefficients multiply."""
    if y is None and not isinstance(X, Partitions):
        raise InputError("y is missing. Give the labels as a column or an array of dask that is cut like X.")
    source = X if isinstance(X, Partitions) else Partitions(X, y, sample_weight, model._loss())
    check_width(model, source, reset=True)
    return model._design(source, True)


def is_there(X: Any) -> bool:
    """Whether X lives on a cluster: a collection of dask, or what was made of one."""
    return is_dask(X) or isinstance(X, Partitions)
