"""The memory that a run is likely to need, and a refusal of one that would need too much."""

from typing import Any

from ..errors import InputError, UnsupportedError
from ..parameters import as_number, shown
from ..solvers.base import Solver
from ..sums.blocks import BLOCK_ENTRIES, MOST_ENTRIES
from ..view import View

_NUMBER = 8
"""Bytes of one."""

_ROW_VECTORS = 12
"""Numbers for each row in memory: margins, slopes and curvatures at two points and at the one before, what the state
keeps of them, and what a certificate takes for a moment."""

_BLOCK_VECTORS = 12
"""Numbers for each row of the current block, where one number stays with each row."""

_MATRICES = 12
"""Matrices of d x d: the curvature at two points, and what the quadratic model is solved with."""


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
