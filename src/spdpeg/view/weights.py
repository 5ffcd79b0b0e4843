"""Weights of the rows."""

import math
from typing import Any

import numpy as np

from ..data.base import no_weights
from ..errors import InputError
from ..kernels.jit import as_reals
from ..parameters import numbers


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
        return no_weights()
    array = checked_weights(weights, n_samples)
    largest = float(array.max())
    if largest == 0.0:
        raise InputError("sample_weight is 0 everywhere. At least one row must count.")
    # Weights of size 1 have a sum that neither overflows nor vanishes, and a power of 2 rounds nothing.
    array = np.ldexp(array, -math.frexp(largest)[1])
    return as_reals(array * (n_samples / float(array.sum())))
