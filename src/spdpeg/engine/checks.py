"""What `solve` is given, made sure of before anything is computed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import Stream
from ..errors import InputError
from ..parameters import as_number, shown, vector, whole_number
from ..view import View
from .budgets import Budget

LARGEST_SEED = 2**63 - 1


def checked_budget(passes: Any, seconds: Any, iterations: Any) -> Budget:
    """Finite numbers of at least 0, or None."""
    for name, value in (("max_passes", passes), ("max_seconds", seconds), ("max_iterations", iterations)):
        if value is not None and not 0.0 <= as_number(value) < math.inf:
            raise InputError(f"{name} is {shown(value)}. It must be a finite number of at least 0, or None.")
    return Budget(passes, None if iterations is None else whole_number("max_iterations", iterations), seconds)


def check_tolerance(tol: Any, problem: View) -> None:
    """A number of at least 0, for data that can be read as a whole."""
    if not as_number(tol) >= 0.0:
        raise InputError(f"tol is {shown(tol)}. It must be positive, or 0 to run to the end of the budget.")
    if tol > 0.0 and isinstance(problem.rows.source, Stream):
        raise InputError("tol needs a full gradient, which a stream does not have. Use a budget instead.")


def checked_batch(batch_size: Any, problem: View) -> int:
    """A whole number between 1 and the rows of the data."""
    size = whole_number("batch_size", batch_size, least=1)
    if problem.rows.n_samples is not None and size > problem.rows.n_samples:
        raise InputError(f"batch_size is {size} but there are {problem.rows.n_samples} rows. Choose at most that many.")
    return size


def checked_seed(seed: Any) -> int:
    """A whole number that a state can keep."""
    number = whole_number("seed", seed, least=0)
    if number > LARGEST_SEED:
        raise InputError(f"seed is {number}. It must be at most {LARGEST_SEED}.")
    return number


def checked_start(problem: View, x0: Any) -> np.ndarray:
    """Zeros unless a start is given."""
    return np.zeros(problem.n_coordinates) if x0 is None else vector("x0", x0, problem.n_coordinates)


def checked_dual(problem: View, dual0: Any) -> np.ndarray | None:
    """In the sign that methods use."""
    return None if dual0 is None else -vector("dual0", dual0, problem.F.n_outputs)


def check_callback(callback: Callable[..., Any] | None) -> None:
    """Something to call, or None."""
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {shown(callback)}. Give a function of one argument, the progress, or None.")


def check_cadence(record_every: Any, problem: View) -> None:
    """A number of passes, for data that have any."""
    if record_every is None:
        return
    if not 0.0 < as_number(record_every) < math.inf:
        raise InputError(f"record_every is {shown(record_every)}. It counts passes and must be positive.")
    if isinstance(problem.rows.source, Stream):
        raise InputError("record_every counts passes, and a stream has no known length. Leave it out.")
