"""Labels, as numbers for a regression loss or as -1 and 1 for a loss of two classes; weights of the rows."""

import math
from typing import Any

import numpy as np

from ..data.sources import NO_WEIGHTS
from ..errors import InputError
from ..kernels.jit import as_reals
from ..losses import Loss
from ..parameters import numbers, refuse_dask, shown, vector

AT_A_TIME = 1 << 20
"""Labels that are processed at a time, so that temporary arrays stay small."""

_LARGEST_OFFSET = 300.0
"""Largest offset under a log link: exponentials of it and of its negative leave room for products."""


def as_labels(y: Any, name: str) -> np.ndarray:
    """Labels as an array; complex numbers and dates are neither numbers nor classes."""
    refuse_dask(name, y)
    try:
        labels = np.asarray(y)
    # What a foreign object's __array__ raises is up to it.
    except Exception as error:
        raise InputError(f"{name} is a {type(y).__name__} that is no vector of labels ({error}). Rebuild it.") from None
    if labels.dtype.kind not in "biufOUST":
        raise InputError(f"{name} holds entries of type {labels.dtype}. Labels are real numbers or names of classes.")
    return labels


def as_numbers(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels as finite float64 numbers."""
    try:
        found = labels.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} holds entries that are not numbers. A regression loss needs numbers.") from None
    if not np.all(np.isfinite(found)):
        raise InputError(f"{name} holds NaN or infinite entries. Drop those rows or repair them.")
    return found


def two_classes(labels: np.ndarray, name: str, loss: Loss) -> np.ndarray:
    """The two different labels in order."""
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise InputError(f"{name} holds NaN or infinite labels. Drop those rows or repair them.")
    classes = different(labels, name)
    if classes.size != 2:
        some = ", ".join(map(str, classes[:5])) + (", ..." if classes.size > 5 else "")
        raise InputError(
            f"{name} has {classes.size} class(es) ({some}) and {type(loss).__name__} needs two. "
            "Compare one class with the rest, as in y == y[0], or choose a regression loss."
        )
    return classes


def as_signs(labels: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """-1 for the first class, 1 for the second."""
    negative, positive = classes
    signs = labels.dtype == np.float64 and negative == -1.0 and positive == 1.0
    if signs and all(np.all(np.abs(some) == 1.0) for some in _parts(labels)):
        return as_reals(labels)
    unknown = (labels != negative) & (labels != positive)
    if np.any(unknown):
        raise InputError(
            f"{name} holds the label {labels[unknown][0]!r} beside the classes {negative!r} and {positive!r}. "
            "Name the two classes with Stream(..., classes=(negative, positive)) or drop the rows."
        )
    return as_reals(np.where(labels == positive, 1.0, -1.0))


def classes_of_stream(labels: np.ndarray, given: tuple[Any, Any] | None) -> np.ndarray:
    """The two classes of a stream: those given, or those that its first chunk shows."""
    if given is not None:
        classes = as_labels(given, "classes")
        if classes.shape != (2,) or classes[0] == classes[1]:
            raise InputError(f"classes is {shown(given)}. Give the two labels, the positive one second.")
        return classes
    found = different(as_labels(labels, "y of a chunk"), "y of a chunk")
    if found.size == 2:
        return found
    if found.size == 1 and found[0] in (-1, 0):
        return np.array([found[0], 1])
    raise InputError(
        f"The first chunk shows the label(s) {', '.join(map(str, found[:5]))} only. "
        "Name the two classes with Stream(..., classes=(negative, positive))."
    )


def shifted(loss: Loss, labels: np.ndarray, weights: np.ndarray, offset: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels and weights under which the loss of <a, x> is that of <a, x> + offset at these labels and weights."""
    move = vector("offset", offset, labels.size)
    largest = float(np.max(np.abs(move), initial=0.0))
    if loss.log_link and largest > _LARGEST_OFFSET:
        raise InputError(
            f"offset reaches {largest:.3g} in size, whose exponential is out of range. "
            "An exposure belongs into it as its logarithm."
        )
    there = loss.shifted(labels, move)
    factors = weights if there.weights is None else there.weights * weights if weights.size else there.weights
    return as_reals(there.labels), as_reals(factors)


def different(labels: np.ndarray, name: str) -> np.ndarray:
    """The different labels in order."""
    try:
        # Some at a time: sorting takes a copy.
        found = [np.unique(some) for some in _parts(labels)]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"{name} mixes labels of the types {', '.join(kinds)}, which have no order. Make all of them one type."
        ) from None


def _parts(labels: np.ndarray) -> list[np.ndarray]:
    return [labels[start : start + AT_A_TIME] for start in range(0, max(labels.size, 1), AT_A_TIME)]


def checked_weights(weights: Any, n_samples: int) -> np.ndarray:
    """One finite number of at least 0 for each row."""
    array = numbers("sample_weight", weights)
    if array.shape != (n_samples,):
        raise InputError(f"sample_weight has shape {array.shape}. It must be a vector of {n_samples} entries.")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise InputError(
            "sample_weight holds negative, NaN or infinite entries. Weights must be finite and at least 0."
        )
    return array


def normalized(weights: Any, n_samples: int) -> np.ndarray:
    """Weights with mean 1: dividing the sum over rows by N is then the weighted mean."""
    if weights is None:
        return NO_WEIGHTS
    array = checked_weights(weights, n_samples)
    largest = float(array.max())
    if largest == 0.0:
        raise InputError("sample_weight is 0 everywhere. At least one row must count.")
    # Weights of size 1 have a sum that neither overflows nor vanishes, and a power of 2 rounds nothing.
    array = np.ldexp(array, -math.frexp(largest)[1])
    return as_reals(array * (n_samples / float(array.sum())))
