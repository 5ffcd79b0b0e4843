"""A step for each coordinate and the centre of the rows, from what the columns of the rows so far show."""

import math

import numpy as np

from ..view import View

_BAND = math.log(10.0)
"""Mean squares of entries, which units decide, count fully only beyond this distance from the usual one."""
_WITHIN = 0.25
"""Part by which mean squares within _BAND of the usual one count: they may say as much about a column as its unit."""

_ENOUGH = 32.0
"""Entries that a column is taken to have beside those read, times 1 + columns / rows: what is rare must be read often
enough to be worth a longer step.
"""

_CONSTANT = 1e-10
"""Part of a column's sum of squares that is left by rounding where all its entries are the same."""

_FARTHEST = 60.0
"""No column's mean square counts as further from the usual one, in logarithms."""

_ENTRIES = 10.0
"""Entries of usual size that a column is taken to have, for its mean square."""


def column_metric(squares: np.ndarray, counts: np.ndarray, rows: float) -> np.ndarray:
    """Factors of the steps: longer along columns whose entries are small or rare, so that units matter less.

    Parameters
    ----------
    squares, counts : array
        Sums of squares, and numbers of entries that are not 0, of the columns.
    rows : float
        That these come from.

    Returns
    -------
    array
        Such that the mean square of the rows is the same in the metric.
    """
    if not squares.any():
        return np.ones(squares.size)
    used = squares > 0.0
    entry = np.zeros(squares.size)
    entry[used] = np.log(squares[used] / counts[used])
    entry[used] -= entry[used].mean()
    entry = np.clip(entry, -_FARTHEST, _FARTHEST) * counts / (counts + _ENTRIES)
    entry -= (1.0 - _WITHIN) * np.clip(entry, -_BAND, _BAND)
    enough = _ENOUGH * (1.0 + squares.size / rows)
    metric = np.exp(-entry) * np.sqrt(rows / (counts + enough))
    # Added up here: BLAS would wake its threads for it, which costs far more than it saves.
    return np.asarray(metric * (squares.sum() / np.sum(squares * metric)))


def about_mean(sums: np.ndarray, squares: np.ndarray, lost: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Means of the columns, and sums of squares about them: 0 for columns that are constant so far.

    What was lost of the squares of outliers is added again.
    """
    mean = sums / rows
    rest = squares - sums * mean + lost
    return mean, np.where(rest > _CONSTANT * squares, rest, 0.0)


def dual_factors(problem: View, metric: np.ndarray) -> np.ndarray:
    """Factors w of the dual steps with |w^(1/2) F metric^(1/2)| <= 1; one for all where a prox does not allow others.

    w_e = 1 / sum_j |F_ej| C_j metric_j with C_j = sum_e |F_ej|, by the test of Schur.
    """
    absolute = abs(problem.F.matrix())
    columns = np.asarray(absolute.sum(axis=0), dtype=float).reshape(-1)
    reach = np.asarray(absolute @ (columns * metric), dtype=float).reshape(-1)
    factors = 1.0 / np.where(reach > 0.0, reach, 1.0)
    if problem.r2.l1_weights(problem.F.n_outputs) is None:
        factors[:] = factors.min(initial=1.0)
    return factors
