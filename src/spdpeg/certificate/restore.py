"""Slopes moved into their intervals, and to where nothing sticks out of the domain of r1*, as little as possible."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..data.matrix import data_matrix
from .slopes import Slopes, given
from .view import ProblemView

_MOST_ENTRIES = 2e7
_MOST_COORDINATES = 1500
"""Sizes up to which a dense system is solved for that."""

_ROUNDS = 6
_ENOUGH = 8.0 * np.finfo(float).eps
_LEAST = 1e-13
"""Relative size of eigenvalues that count as 0."""


def restored(problem: ProblemView, slopes: Slopes, y: np.ndarray) -> Slopes | None:
    """Slopes u + d with A^T W (u + d) / N + F^T y in -dom r1*, d small where u is near the ends of its interval.

    None if the problem is too large or no such slopes are found. A correction by least squares, in which a row may move
    by the square of its distance from the nearer end; it is exact up to rounding after a few rounds.
    """
    n, d, block = problem.sums.n_rows, problem.n_coordinates, problem.sums.block
    if d > _MOST_COORDINATES or n * d > _MOST_ENTRIES or block is None or not problem.sums.resident:
        return None
    rows, labels, weights = block
    A = data_matrix(rows)
    A = A.toarray() if sp.issparse(A) else np.asarray(A, dtype=float)
    share = weights / n if weights.size else np.full(n, 1.0 / n)
    low, high = problem.loss.slope_range(labels)
    u = np.clip(slopes.values(), low, high)
    back = problem.F.adjoint(y)
    lengths = problem.column_sizes
    for _ in range(_ROUNDS):
        v = -(A.T @ (share * u) + back)
        excess = v - problem.regularizer.nearest_dual(v)
        size = lengths * float(np.sqrt(share @ (u * u))) + np.abs(back)
        if np.all(np.abs(excess) <= _ENOUGH * size):
            break
        room = np.minimum(u - low, high - u)
        room = np.where(np.isfinite(room), room, max(float(np.max(np.abs(u), initial=0.0)), 1e-300))
        freedom = room * room
        move = _least_move(A, share, freedom, excess, lengths)
        if move is None:
            return None
        ratios = np.divide(room, np.abs(move), out=np.full(n, np.inf), where=move != 0.0)
        u = np.clip(u + min(1.0, float(ratios.min())) * move, low, high)
    return given(problem, u)


def _least_move(
    A: np.ndarray, share: np.ndarray, freedom: np.ndarray, excess: np.ndarray, lengths: np.ndarray
) -> np.ndarray | None:
    """The move of slopes with A^T W move = excess that is smallest in the metric of their freedom."""
    scale = np.where(lengths > 0.0, lengths, 1.0)
    B = A / scale
    gram = (B * (share * freedom)[:, None]).T @ B
    try:
        values, vectors = scipy.linalg.eigh(gram)
    except (np.linalg.LinAlgError, ValueError):
        return None
    kept = values > _LEAST * max(float(values[-1]), 0.0)
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    delta = vectors @ (inverse * (vectors.T @ (excess / scale)))
    return freedom * (B @ delta)
