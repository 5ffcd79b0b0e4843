"""Sizes of the rows and of the matrix they make, which steps are chosen by."""

from collections.abc import Callable

import numpy as np

from ..data import Block
from ..kernels.rows import gram_product
from ..operators.spectrum import eigenvalue_bound, eigenvalue_estimate

_NORM_ENTRIES = 1e7
"""Above this many stored entries the norm of the data is that of evenly spaced rows."""
_SAMPLED_MARGIN = 1.05
"""Factor on the norm of evenly spaced rows, for what they may miss."""
_ROUGH_ENTRIES = 1e6
"""Above this many stored entries a rough norm of the data is that of evenly spaced rows."""


def gram_norm(block: Block, n_coordinates: int) -> float:
    """Upper bound on the largest eigenvalue of A^T W A / N."""
    product, used, margin = _gram(block, _NORM_ENTRIES)
    return margin * eigenvalue_bound(product, n_coordinates) / used


def rough_gram_norm(block: Block, scale: np.ndarray) -> float:
    """Largest eigenvalue of S A^T W A S / N, S = diag(scale)^(1/2), roughly: eight products and no guarantee."""
    product, used, margin = _gram(block, _ROUGH_ENTRIES)
    root = np.sqrt(scale)
    return margin * eigenvalue_estimate(lambda v: root * product(root * v), scale.size) / used


def _gram(block: Block, entries: float) -> tuple[Callable[[np.ndarray], np.ndarray], int, float]:
    """Product with A^T W A of evenly spaced rows with so many entries, their number, a margin for the rest."""
    rows, labels, weights = block
    stride = max(1, int(rows.values.size / entries))

    def product(v: np.ndarray) -> np.ndarray:
        out = np.empty_like(v)
        gram_product(rows, weights, stride, v, out)
        return out

    return product, -(-labels.size // stride), _SAMPLED_MARGIN if stride > 1 else 1.0
