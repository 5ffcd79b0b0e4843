"""Slopes and multipliers moved to where nothing sticks out of the domain of r1*, as little as possible."""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..data.blocks import data_matrix
from ..penalties import Penalty
from ..view import View
from .slopes import Slopes, given

_MOST_ENTRIES = 2e7
_MOST_COORDINATES = 1500
"""Sizes up to which a dense system is solved for that."""
_MOST_READ = 1e6
"""Entries up to which rows on a disk are read once more for it."""

_ROUNDS = 6
_ENOUGH = 8.0 * np.finfo(float).eps
_EDGE = 1e-7
"""Part of its interval by which a slope at an end may at least move; what leaves the interval is cut off."""
_NEAR = 1e-6
"""Part of the sums of absolute values within which an entry counts as near the border of a domain."""
_LEAST = 1e-14
"""Relative size of eigenvalues and singular values that count as 0."""
_SMALL = 5e7
"""Entries times coordinates up to which a singular value decomposition is affordable."""


def restored(
    problem: View, slopes: Slopes, y: np.ndarray, noise: float = 0.0, held: bool = False
) -> tuple[Slopes, np.ndarray] | None:
    """Slopes u and a multiplier y with A^T W u / N + F^T y in -dom r1*, near those given.

    None if the problem is too large or none are found. A correction by least squares, in which a slope may move by the
    square of its distance from the nearer end of its interval, and an entry of y by its own square, so that what is 0
    stays 0. It is exact up to rounding after a few rounds. Multipliers with less than `noise` times the
    strongest effect count as 0. Slopes that are `held` do not move.
    """
    n, d, block = problem.sums.n_rows, problem.n_coordinates, problem.sums.block
    most = _MOST_ENTRIES if problem.sums.resident else _MOST_READ
    if d > _MOST_COORDINATES or (n + y.size) * d > most or block is None:
        return None
    rows, labels, weights = block
    mean_weights = weights / n if weights.size else np.full(n, 1.0 / n)
    F = problem.F.matrix() if y.size else sp.csr_array((0, d))
    B = np.concatenate([_dense(data_matrix(rows)), _dense(F)])
    weight = np.concatenate([mean_weights, np.ones(y.size)])
    low, high = (np.concatenate([end, np.full(y.size, far)]) for end, far in _ends(problem, labels))
    sizes = np.abs(B)
    u = np.clip(problem.sums.vector(slopes.values()), low[:n], high[:n])
    effect = np.abs(y) * sizes[n:].max(axis=1, initial=0.0)
    strongest = float((sizes.T @ (weight * np.abs(np.concatenate([u, y])))).max(initial=0.0))
    z = np.concatenate([u, np.where(effect > noise * strongest, y, 0.0)])
    # A slope at the end of its interval could never leave it again; it is given a little freedom of its own.
    least = np.concatenate([_EDGE * np.where(np.isfinite(high[:n] - low[:n]), high[:n] - low[:n], 0.0), 0.0 * y])
    least *= not held
    for _ in range(_ROUNDS):
        v = -(B.T @ (weight * z))
        excess = v - problem.regularizer.nearest_dual(v)
        if np.all(np.abs(excess) <= _ENOUGH * (sizes.T @ (weight * np.abs(z)))):
            break
        tight = _tight(problem.regularizer, v, _NEAR * (sizes.T @ (weight * np.abs(z))))
        # Moves in proportion to the squared room: slopes near an end hardly move, so that none crosses it.
        room = np.minimum(z - low, high - z)
        room = np.where(np.isfinite(room), room, np.maximum(np.abs(z), 1e-300))
        room[: n if held else 0] = 0.0
        move = _least_move(B[:, tight], weight, np.square(np.maximum(room, least)), excess[tight])
        if move is None:
            return None
        # The longest part of the move that keeps all slopes inside; those that began at an end are clipped instead.
        inner = (room > least)[:n]
        ratios = np.divide(room[:n], np.abs(move[:n]), out=np.full(n, np.inf), where=inner & (move[:n] != 0.0))
        z = np.clip(z + min(1.0, float(ratios.min(initial=1.0))) * move, low, high)
    return given(problem, z[:n]), z[n:]


def _tight(penalty: Penalty, v: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Which entries of v are outside the domain of r1*, or would be after a small move: the others are free to move."""
    above, below = v + reach, v - reach
    return (penalty.nearest_dual(above) != above) | (penalty.nearest_dual(below) != below)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def _ends(problem: View, labels: np.ndarray) -> tuple[tuple[np.ndarray, float], tuple[np.ndarray, float]]:
    low, high = problem.loss.slope_range(labels)
    return (low, -np.inf), (high, np.inf)


def _least_move(B: np.ndarray, weight: np.ndarray, freedom: np.ndarray, excess: np.ndarray) -> np.ndarray | None:
    """The move with B^T W move = excess that is smallest in the metric of the freedom."""
    root = np.sqrt(freedom)
    C = B * (weight * root)[:, None]
    scale = np.linalg.norm(C, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    C /= scale
    try:
        if C.size * scale.size <= _SMALL:  # products of C with itself would lose half of the digits
            return root * scipy.linalg.lstsq(C.T, excess / scale, cond=_LEAST)[0]
        values, vectors = scipy.linalg.eigh(C.T @ C)
    except (np.linalg.LinAlgError, ValueError):
        return None
    kept = values > _LEAST * max(float(values[-1]), 0.0)
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    return root * (C @ (vectors @ (inverse * (vectors.T @ (excess / scale)))))
