"""The parameters that all estimators share, made sure of."""

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ...errors import InputError
from ...parameters import as_number, shown, truth
from ...solvers.base import Solver
from ...sums.threads import checked_jobs

_SEEDS = 2**31


class Settings(NamedTuple):
    """How `solve` is called."""

    solver: str | Solver
    tol: float
    max_passes: float
    seed: int
    progress: bool
    n_jobs: int


def check_settings(model: Any) -> None:
    """Refuse parameters that `solve` could not use; nothing random is drawn."""
    owner = type(model).__name__
    for name in ("fit_intercept", "warm_start", "verbose"):
        truth(f"{name} of {owner}", getattr(model, name))
    if not isinstance(model.solver, str | Solver):
        raise InputError(f"solver of {owner} is {shown(model.solver)}. Give the name of a solver.")
    if not 0.0 < as_number(model.tol) < math.inf:
        raise InputError(f"tol of {owner} is {shown(model.tol)}. It must be a positive number.")
    if not 0.0 <= as_number(model.max_passes) < math.inf:
        raise InputError(f"max_passes of {owner} is {shown(model.max_passes)}. It must be a number of at least 0.")
    if not isinstance(model.random_state, int | np.integer | np.random.RandomState | None):
        raise _odd_seed(model)


def _odd_seed(model: Any) -> InputError:
    return InputError(
        f"random_state of {type(model).__name__} is {shown(model.random_state)}. "
        "Give a whole number, a RandomState or None."
    )


def settings_of(model: Any) -> Settings:
    """The parameters of the model that `solve` is given."""
    check_settings(model)
    try:
        seed = int(check_random_state(model.random_state).randint(_SEEDS))
    except (TypeError, ValueError):
        raise _odd_seed(model) from None
    return Settings(model.solver, model.tol, model.max_passes, seed, bool(model.verbose), checked_jobs(model.n_jobs))


def check_estimator(estimator: Any) -> None:
    """Refuse what is no model of this package, or the class of one."""
    if not isinstance(estimator, BaseEstimator) or not hasattr(estimator, "_rows"):
        raise InputError(f"The estimator is {shown(estimator)}. Give one of spdpeg.estimators, such as FusedLasso().")
