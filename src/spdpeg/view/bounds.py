"""Sizes of the loss and of the matrix that its rows make, which steps are chosen by."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..data import Block
from ..kernels.rows import gram_product
from ..operators.spectrum import eigenvalue_bound, eigenvalue_estimate
from .rows import LabelledRows

_SAMPLED_ROWS = 10_000
"""Rows that stand for all of them where those are read from far away."""

_NORM_ENTRIES = 1e7
"""Above this many stored entries the norm of the data is that of evenly spaced rows."""
_SAMPLED_MARGIN = 1.05
"""Factor on the norm of evenly spaced rows, for what they may miss."""
_ROUGH_ENTRIES = 1e6
"""Above this many stored entries a rough norm of the data is that of evenly spaced rows."""


class Bounds:
    """Sizes of the mean loss of some rows; each is computed when it is first asked for, and kept.

    Those of a stream are those of its first chunk.
    """

    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows

    @cached_property
    def lipschitz(self) -> float:
        """Upper bound on the Lipschitz constant of the gradient of the mean loss."""
        rows, curvature = self._rows, self._rows.loss.curvature
        if curvature == 0.0 or rows.statistics.mean_square == 0.0:
            return 0.0
        if not math.isfinite(curvature):
            return math.inf
        block = rows.block if rows.in_memory else None
        if block is None:
            sample = rows.sums.sample(_SAMPLED_ROWS)
            block = None if sample is None else sample.block
        norm = math.inf if block is None else _gram_norm(block, rows.n_coordinates)
        return curvature * min(norm, rows.statistics.mean_square)

    @property
    def lipschitz_max(self) -> float:
        """Largest Lipschitz constant of a single row's gradient: curvature * max w_i |a_i|^2."""
        largest = self._rows.statistics.max_square
        return self._rows.loss.curvature * largest if largest > 0.0 else 0.0

    @cached_property
    def rough_gram_norm(self) -> float:
        """Largest eigenvalue of A^T W A / N, roughly: eight products and no guarantee."""
        return self.rough_norm(np.ones(self._rows.n_coordinates))

    def rough_norm(self, scale: np.ndarray) -> float:
        """Largest eigenvalue of S A^T W A S / N, S = diag(scale)^(1/2), as roughly."""
        product, used, margin = _gram(self._rows.block, _ROUGH_ENTRIES)
        root = np.sqrt(scale)
        return margin * eigenvalue_estimate(lambda v: root * product(root * v), scale.size) / used

    @cached_property
    def column_sizes(self) -> np.ndarray:
        """Root of the mean of w a_ij^2, for each column."""
        return np.sqrt(self._rows.sums.column_squares())


def _gram_norm(block: Block, n_coordinates: int) -> float:
    """Upper bound on the largest eigenvalue of A^T W A / N."""
    product, used, margin = _gram(block, _NORM_ENTRIES)
    return margin * eigenvalue_bound(product, n_coordinates) / used


def _gram(block: Block, entries: float) -> tuple[Callable[[np.ndarray], np.ndarray], int, float]:
    """Product with A^T W A of evenly spaced rows with so many entries, their number, a margin for the rest."""
    rows, labels, weights = block
    stride = max(1, int(rows.values.size / entries))

    def product(v: np.ndarray) -> np.ndarray:
        out = np.empty_like(v)
        gram_product(rows, weights, stride, v, out)
        return out

    return product, -(-labels.size // stride), _SAMPLED_MARGIN if stride > 1 else 1.0
