"""Checks of the arguments of `solve`, before anything is computed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import Stream
from ..errors import InputError, UnsupportedError
from ..parameters import as_number, shown, vector, whole_number
from ..solvers.base import Solver
from ..sums.row_blocks import BLOCK_ENTRIES, MOST_ENTRIES
from ..view import View
from .budgets import Budget

LARGEST_SEED = 2**63 - 1
"""What fits into 64 bits with a sign."""

_NUMBER = 8
"""Bytes of one."""

_ROW_VECTORS = 12
"""Numbers for each row in memory: margins, slopes and curvatures at two points and at the one before, what the state
keeps of them, and what a certificate takes for a moment."""

_BLOCK_VECTORS = 12
"""Numbers for each row of the current block, where one number stays with each row."""

_MATRICES = 12
"""Matrices of d x d: the curvature at two points, and what the quadratic model is solved with."""


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
    """The dual variable y = -lambda, in the sign that methods use."""
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


def needed_memory(problem: View, n_jobs: int) -> int:
    """Bytes that a method on sums takes at most beyond the data, about."""
    sums = problem.sums
    d = sums.n_columns + problem.F.n_outputs
    matrices = (_MATRICES + 3 * n_jobs) * d * d
    if sums.resident:
        return _NUMBER * (_ROW_VECTORS * sums.n_rows + matrices)
    entries = min(sums.n_entries, BLOCK_ENTRIES)
    rows = -(-sums.n_rows * entries // max(1, sums.n_entries))
    blocks = (3 if n_jobs == 1 else 2 * n_jobs + 2) * entries + n_jobs * _BLOCK_VECTORS * rows
    return _NUMBER * (sums.n_rows + matrices + blocks + min(sums.n_entries // 4, MOST_ENTRIES))


def check_memory(max_memory: Any, problem: View, method: Solver, n_jobs: int) -> None:
    """Refuse a run that would need more than `max_memory` bytes beyond the data."""
    if max_memory is None:
        return
    if not as_number(max_memory) > 0.0:
        raise InputError(f"max_memory is {shown(max_memory)}. Give a positive number of bytes, such as 2e9.")
    if not method.on_sums:
        raise UnsupportedError(
            f"max_memory is given, and what {method.about.name} needs is not known before it runs. "
            'Use "prox-newton" or "working-set", or leave max_memory out.'
        )
    most = needed_memory(problem, n_jobs)
    if most > max_memory:
        raise InputError(
            f"{method.about.name} needs about {most / 2**20:,.0f} MiB beyond the data for {problem.sums.n_rows} rows "
            f"and {problem.n_coordinates} coordinates, and max_memory allows {float(max_memory) / 2**20:,.0f} MiB. "
            'Take fewer rows or columns, or stream the data with "spdpeg".'
        )
