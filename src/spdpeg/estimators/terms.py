"""Penalties from the parameters of an estimator."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..penalties import L1, L2Squared, Penalty

R1: dict[str, type[L1] | type[L2Squared]] = {"l1": L1, "ridge": L2Squared}


def weight(owner: object, name: str) -> Any:
    """The parameter `name` of `owner`, refused unless it holds finite numbers of at least 0."""
    value = getattr(owner, name)
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if not np.all(np.isfinite(numbers)) or np.any(numbers < 0.0):
        raise InputError(
            f"{name} of {type(owner).__name__} is {value!r}. Give a finite number of at least 0, or one for each entry."
        )
    return value


def weighted(owner: object, name: str, penalty: type[L1] | type[L2Squared] = L1) -> Penalty | None:
    """The penalty with the weight that the parameter `name` holds; None if that is 0."""
    value = weight(owner, name)
    return penalty(value) if np.any(value) else None
