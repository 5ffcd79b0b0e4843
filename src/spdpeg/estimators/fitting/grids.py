"""The weights that a path or a cross-validation goes through."""

from typing import Any

import numpy as np

from ...errors import InputError
from ...parameters import as_number, numbers, shown, whole_number
from .largest import suggested
from .settings import check_estimator

NAMES = ("lam1", "lam2")

_MOST = 100_000
"""Weights on a grid."""

EPS = 1e-3
"""The smallest weight of a grid over the largest, unless another is wanted."""


def chosen(
    estimator: Any, data: tuple[Any, ...], lam1: Any, lam2: Any, n_lam1: int, n_lam2: int, eps: float
) -> dict[str, np.ndarray]:
    """Both grids, largest weights first: those given, checked, and those that the data suggest.

    Parameters
    ----------
    estimator : estimator
    data : tuple
        X, y and, if there are any, sample_weight and offset, as in `fit`.
    lam1, lam2 : arrays or None
    n_lam1, n_lam2, eps
        Lengths of the grids that are None, and their smallest weight over the largest.

    Returns
    -------
    dict of arrays
        By name; a weight that the estimator does not have gets a single 0.
    """
    check_estimator(estimator)
    known = estimator.get_params(deep=False)
    if "lam2" not in known:
        raise InputError(f"{type(estimator).__name__} has no parameter lam2. A path needs a model with lam1 or lam2.")
    if not 0.0 < as_number(eps) < 1.0:
        raise InputError(f"eps is {shown(eps)}. Give a number between 0 and 1.")
    given = {"lam1": lam1, "lam2": lam2}
    sizes = {"lam1": n_lam1, "lam2": n_lam2}
    found = {}
    for name in NAMES:
        if name not in known:
            if given[name] is not None:
                raise InputError(f"{type(estimator).__name__} has no parameter {name}. Leave {name} out.")
            found[name] = np.zeros(1)
        elif given[name] is not None:
            found[name] = _checked(name, given[name])
        elif whole_number(f"n_{name}", sizes[name], least=1) > _MOST:
            raise InputError(f"n_{name} is {sizes[name]}. Give at most {_MOST}.")
    missing = {name: int(size) for name, size in sizes.items() if name not in found}
    return {**(suggested(estimator, data, missing, eps) if missing else {}), **found}


def _checked(name: str, values: Any) -> np.ndarray:
    grid = np.unique(numbers(name, values))[::-1]
    if grid.size == 0 or not np.all(np.isfinite(grid)) or np.any(grid < 0.0):
        raise InputError(f"{name} is {values!r}. Give an array of finite weights of at least 0.")
    return grid
