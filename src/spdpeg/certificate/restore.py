"""Slopes and multipliers moved into the domain of r1*, as little as possible."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..data.blocks import data_matrix
from ..kernels.double_double import add, multiply, two_product
from ..kernels.jit import kernel
from ..view import View
from .slopes import Slopes, given

_MOST_ENTRIES = 2e7
_MOST_COORDINATES = 1500
"""Sizes up to which a dense system is solved for that."""
_MOST_READ = 1e6
"""Entries up to which rows on a disk are read once more for it."""

_ROUNDS = 6
_LOW_ROUNDS = 8
"""Corrections at most, and those of the low digits."""
_ENOUGH = 8.0 * np.finfo(float).eps
_ENOUGH_LOW = 1e-29
_EDGE = 1e-7
"""Fraction of its interval by which a slope at an end may at least move; what leaves the interval is cut off."""
_AT_END = 1e-10
"""Fraction of the sums of absolute values within which an entry counts as at an end of its interval, up to rounding:
equations that all hold at a solution contradict each other by rounding if some are to keep what that left."""
_NEAR = 1e-6
"""Fraction of the sums of absolute values within which an entry counts as near the border of a domain."""
_LEAST = 1e-14
"""Relative size of eigenvalues and singular values that count as 0."""
_SMALL = 5e7
"""Entries times coordinates up to which a singular value decomposition is affordable."""


class Restored(NamedTuple):
    """Slopes u and a multiplier y of 32 digits, of which these are the first 16."""

    slopes: Slopes
    y: np.ndarray
    v: np.ndarray
    """-(A^T W u / N + F^T y) of all digits, moved into the domain of r1*."""
    excess: np.ndarray
    """What stuck out of it."""
    products: float
    """|u| and |y| times what they multiply at x, added up."""


def restored(
    problem: View,
    slopes: Slopes,
    y: np.ndarray,
    x: np.ndarray,
    noise: float = 0.0,
    held: bool = False,
    own: bool = False,
) -> Restored | None:
    """Slopes u and a multiplier y with A^T W u / N + F^T y in -dom r1*, near those given.

    None if the problem is too large or none are found. A correction by least squares, in which slopes and multipliers
    may move by the square of their distance from the nearer end of their interval, and an entry of y with no such end
    by its `own` square, so that what is 0 stays 0; or all entries of y by their own. It is exact up to rounding after a
    few rounds; a few more find digits beyond the first 16. Multipliers with less than `noise` times the strongest
    effect count as 0. Slopes that are `held` do not move.
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
    none = np.full(y.size, -np.inf), np.full(y.size, np.inf)
    ends = zip(problem.loss.slope_range(labels), none if own else problem.r2.dual_ends(y.size), strict=True)
    low, high = (np.concatenate(both) for both in ends)
    sizes = np.abs(B)
    u = np.clip(problem.sums.vector(slopes.values()), low[:n], high[:n])
    across = sizes[n:].max(axis=1, initial=0.0)
    strongest = float((sizes.T @ (weight * np.abs(np.concatenate([u, y])))).max(initial=0.0))
    noisy = (across > 0.0) & (np.abs(y) * across <= noise * strongest)
    z = np.clip(np.concatenate([u, np.where(noisy, 0.0, y)]), low, high)
    # What is at the end of its interval could never leave it again; it is given a little freedom of its own.
    width = high - low
    least = _EDGE * np.where(np.isfinite(width), width, 0.0)
    least[: n if held else 0] = 0.0
    domain = _Domain(problem)
    for _ in range(_ROUNDS):
        v = -(B.T @ (weight * z))
        magnitude = sizes.T @ (weight * np.abs(z))
        if np.all(np.abs(domain.missed_by(v)) <= _ENOUGH * magnitude):
            break
        tight = domain.is_tight(v, _NEAR * magnitude)
        room = _room(z, low, high, n if held else 0)
        move = _least_move(B[:, tight], weight, np.square(np.maximum(room, least)))
        if move is None:
            return None
        z = _moved(z, move((v - domain.nearest(v, _AT_END * magnitude))[tight]), room, least, low, high)
    parts, v = _with_low_digits(B, weight, z, domain, np.square(_room(z, low, high, n if held else 0)), (low, high))
    z = parts[0]
    products = float((weight * np.abs(z)) @ np.abs(B @ x))
    excess = np.abs(domain.missed_by(v[0], v[1]))
    return Restored(given(problem, z[:n]), z[n:], domain.nearest(v[0]), excess, products)


def _with_low_digits(
    B: np.ndarray, weight: np.ndarray, z: np.ndarray, domain: "_Domain", freedom: np.ndarray, ends: tuple[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """z and -B^T W z in two parts each, after corrections of what 16 digits leave."""
    v, parts = np.zeros((2, B.shape[1])), np.vstack([z, np.zeros(z.size)])
    _product(B, weight, parts, v)
    magnitude = np.abs(B).T @ (weight * np.abs(z))
    tight = domain.is_tight(v[0], _NEAR * magnitude)
    move = _least_move(B[:, tight], weight, freedom)
    if move is None:
        return parts, v
    goal = domain.nearest(v[0], _AT_END * magnitude)
    for _ in range(_LOW_ROUNDS):
        excess = ((v[0] - goal) + v[1])[tight]
        if not np.any(np.abs(excess) > _ENOUGH_LOW * magnitude[tight]):
            break
        _add(parts, move(excess), *ends)
        _product(B, weight, parts, v)
    return parts, v


def sharper_value(problem: View, x: np.ndarray) -> float | None:
    """The objective with margins and F x of 32 digits, rounded; None if rows are not at hand or the problem is large.

    Where columns almost depend on each other, x is large and its products with rows cancel.
    """
    block, m = problem.sums.block, problem.F.n_outputs
    if block is None or (problem.sums.n_rows + m) * x.size > _MOST_READ:
        return None
    margins, image = np.empty(problem.sums.n_rows), np.empty(m)
    _image(_dense(data_matrix(block.rows)), x, margins)
    loss = problem.sums.evaluate(x, margins).loss
    if m:
        _image(_dense(problem.F.matrix()), x, image)
    return loss + problem.regularizer.value(x) + problem.penalty.value_of_r2(x, image)


class _Domain:
    """The domain of r1*: bounds on its entries, and the projection of r1 for what else there is."""

    def __init__(self, problem: View) -> None:
        self._penalty = problem.regularizer
        self._low, self._high = self._penalty.dual_ends(problem.n_coordinates)

    def missed_by(self, v: np.ndarray, rest: np.ndarray | float = 0.0) -> np.ndarray:
        """The part of v + rest outside the domain, where `rest` holds digits that v cannot."""
        out = np.minimum((v - self._low) + rest, 0.0) + np.maximum((v - self._high) + rest, 0.0)
        inside = np.clip(v, self._low, self._high)
        return np.asarray(out + (inside - self._penalty.nearest_dual(inside)))

    def nearest(self, v: np.ndarray, near: np.ndarray | float = 0.0) -> np.ndarray:
        """v without its excess; an entry that is `near` an end, and nearer than to the other, becomes that end."""
        near = np.minimum(near, 0.25 * (self._high - self._low))
        v = np.where(v <= self._low + near, self._low, np.where(v >= self._high - near, self._high, v))
        return self._penalty.nearest_dual(v)

    def is_tight(self, v: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Which entries of v are outside, or would be after a small move: the others are free to move."""
        return np.asarray((self.missed_by(v + distance) != 0.0) | (self.missed_by(v - distance) != 0.0))


def _room(z: np.ndarray, low: np.ndarray, high: np.ndarray, held: int) -> np.ndarray:
    """How far slopes and multipliers may move: what is near an end hardly moves, so that nothing crosses it."""
    room = np.minimum(z - low, high - z)
    room = np.where(np.isfinite(room), room, np.maximum(np.abs(z), 1e-300))
    room[:held] = 0.0
    return room


def _moved(
    z: np.ndarray, move: np.ndarray, room: np.ndarray, least: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Move as far as all entries stay inside; those that began at an end are clipped instead."""
    bounded = (room > least) & (np.isfinite(low) | np.isfinite(high)) & (move != 0.0)
    ratios = np.divide(room, np.abs(move), out=np.full(z.size, np.inf), where=bounded)
    return np.clip(z + min(1.0, float(ratios.min(initial=1.0))) * move, low, high)


def _add(parts: np.ndarray, move: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Add a small move to numbers of two parts, and cut off what leaves the interval."""
    _sum(parts, move)
    for end, beyond in ((low, (parts[0] - low) + parts[1] < 0.0), (high, (parts[0] - high) + parts[1] > 0.0)):
        parts[0, beyond], parts[1, beyond] = end[beyond], 0.0


@kernel
def _sum(parts: np.ndarray, move: np.ndarray) -> None:
    for i in range(move.size):
        parts[0, i], parts[1, i] = add(parts[0, i], parts[1, i], move[i], 0.0)


@kernel
def _image(B: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """B x, added up in 32 digits."""
    for i in range(B.shape[0]):
        high, low = 0.0, 0.0
        for j in range(B.shape[1]):
            more, less = two_product(B[i, j], x[j])
            high, low = add(high, low, more, less)
        out[i] = high


@kernel
def _product(B: np.ndarray, weight: np.ndarray, parts: np.ndarray, v: np.ndarray) -> None:
    """v = -B^T W z for z of two parts, in two parts."""
    for j in range(v.shape[1]):
        v[0, j] = v[1, j] = 0.0
    for i in range(B.shape[0]):
        high, low = multiply(parts[0, i], parts[1, i], -weight[i], 0.0)
        if high != 0.0:
            for j in range(B.shape[1]):
                more, less = multiply(high, low, B[i, j], 0.0)
                v[0, j], v[1, j] = add(v[0, j], v[1, j], more, less)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def _least_move(B: np.ndarray, weight: np.ndarray, freedom: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """excess -> the move with B^T W move = excess that is smallest in the metric of the freedom."""
    root = np.sqrt(freedom)
    C = B * (weight * root)[:, None]
    scale = np.linalg.norm(C, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    C /= scale
    try:
        if C.size * scale.size <= _SMALL:  # products of C with itself would lose half of the digits
            left, values, right = scipy.linalg.svd(C, full_matrices=False)
            inverse = _inverse(values, float(values.max(initial=0.0)))
            return lambda excess: root * (left @ (inverse * (right @ (excess / scale))))
        values, vectors = scipy.linalg.eigh(C.T @ C)
    except (np.linalg.LinAlgError, ValueError):
        return None
    inverse = _inverse(values, float(values[-1]))
    return lambda excess: root * (C @ (vectors @ (inverse * (vectors.T @ (excess / scale)))))


def _inverse(values: np.ndarray, largest: float) -> np.ndarray:
    kept = values > _LEAST * max(largest, 0.0)
    return np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
