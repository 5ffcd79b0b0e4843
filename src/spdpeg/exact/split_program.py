"""A non-smooth loss beside penalties without a conic form (a nuclear norm, say): all terms split off at once.

The mean loss is a penalty of A x, so that the problem is min over x of p(K x) with K = (A, F, I): a model without
curvature, which augmented Lagrangians minimise to all digits. Its multipliers are the slopes of the rows and the
multipliers of F x. F and I enter in the units of A, since one number weighs all rows of K.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from ..data.blocks import data_matrix
from ..penalties import Penalty
from ..quadratic import augmented
from ..quadratic.augmented import Split
from ..view import View
from .penalty_form import MOST_SPLIT


class SplitSolution(NamedTuple):
    """A solution, a subgradient of r2 at F x, and multipliers of the rows."""

    x: np.ndarray
    y: np.ndarray
    rows: np.ndarray


def mean_weights(problem: View) -> np.ndarray:
    """Weights of the rows in the mean loss."""
    _, labels, weights = problem.rows.block
    return (weights if weights.size else np.ones(labels.size)) / labels.size


def takes(problem: View) -> bool:
    """Whether a problem is small and has such a loss."""
    known = problem.loss.as_penalty(problem.rows.labels[:0], np.ones(0)) is not None
    return known and problem.sums.n_rows + problem.F.n_outputs + problem.n_coordinates <= MOST_SPLIT


def minimize(problem: View, x: np.ndarray) -> SplitSolution:
    """The solution, from x."""
    n, m, d = problem.sums.n_rows, problem.F.n_outputs, problem.n_coordinates
    blocks = [sp.csr_array(data_matrix(problem.rows.block.rows)).toarray(), problem.F.matrix().toarray(), np.eye(d)]
    # One weight of the augmented Lagrangian serves all blocks, so they are brought to the same size.
    sizes = [float(np.linalg.norm(block)) for block in blocks]
    units = [sizes[0] / size if size > 0.0 < sizes[0] else 1.0 for size in sizes]
    K = np.vstack([unit * block for unit, block in zip(units, blocks, strict=True)])
    terms = [_mean_loss(problem), problem.r2, problem.regularizer]
    penalty = _InUnits(*zip(terms, (n, m, d), units, strict=True))
    found = augmented.minimize(np.zeros((d, d)), np.zeros(d), Split(K, penalty), x)
    # z = x has the exact zeros of the prox, x itself only up to rounding.
    structured = found.z[n + m :] / units[2]
    best = structured if problem.objective(structured) <= problem.objective(found.x) else found.x
    return SplitSolution(best, units[1] * found.y[n : n + m], found.y[:n])


class _InUnits:
    """Penalties side by side, each of so many rows that are given in a unit: sum of p_i(v_i / unit_i)."""

    def __init__(self, *parts: tuple[Penalty, int, float]) -> None:
        self._parts = parts

    def _pieces(self, v: np.ndarray) -> Iterator[tuple[Penalty, np.ndarray, float]]:
        start = 0
        for penalty, rows, unit in self._parts:
            yield penalty, v[start : start + rows], unit
            start += rows

    def value(self, v: np.ndarray) -> float:
        return sum(penalty.value(piece / unit) for penalty, piece, unit in self._pieces(v))

    def prox(self, point: np.ndarray, step: float) -> np.ndarray:
        return np.concatenate([unit * p.prox(v / unit, step / unit**2) for p, v, unit in self._pieces(point)])

    def dual_prox(self, point: np.ndarray, step: float) -> np.ndarray:
        return np.concatenate([p.dual_prox(unit * v, step * unit**2) / unit for p, v, unit in self._pieces(point)])

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        blocks = [p.prox_jacobian(v / unit, step / unit**2) for p, v, unit in self._pieces(point)]
        return np.asarray(block_diag(*blocks))


def _mean_loss(problem: View) -> Penalty:
    """The mean loss as a penalty of the margins."""
    known = problem.loss.as_penalty(problem.rows.block.labels, mean_weights(problem))
    assert known is not None
    return known
