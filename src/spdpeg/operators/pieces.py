"""The structure of a solution: entries of F x that vanish, the pieces they join, and the degrees of freedom."""

from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, structural_rank

from .base import Operator
from .difference import Difference
from .null_space import nullity

_HARDLY = 1e-9
"""Relative to the largest entry: a difference below it counts as 0."""

_ALIKE = 1e-8
"""Relative to the two entries: a difference below it counts as 0 where no multiplier is known."""

_NO_LENGTH = 1e-10
"""Beside the longest group: a shorter one is 0."""

_DEPENDENT = 1e-13
"""Eigenvalue of a matrix with unit diagonal, for each of its columns, below which it counts as 0."""

_ROUNDING = 64.0 * np.finfo(float).eps
"""Rounding error of a difference, relative to the entries that it is taken of."""


class Segment(NamedTuple):
    """A segment of a line: the entries from `start` to `stop`, which is not part of it, and their mean."""

    start: int
    stop: int
    value: float


class Region(NamedTuple):
    """A connected part of an image or a graph: the numbers of its entries, in C order, and their mean."""

    members: np.ndarray
    value: float


def vanishing(values: np.ndarray, multipliers: np.ndarray, weights: np.ndarray, size: float = 0.0) -> np.ndarray:
    """Which entries of F x are 0 at the solution, judged from a point and multipliers near it.

    An entry of F x that is not 0 has a multiplier as large as its weight, and one whose multiplier is smaller is 0. Of
    the two, relative to the largest entry and to the weight, the smaller decides.

    Parameters
    ----------
    values : array
        F x.
    multipliers : array
        A subgradient of sum_j weights_j |v_j| at F x.
    weights : array
    size : float
        Of the numbers that were added up to F x: what is only rounding beside them is 0.

    Returns
    -------
    array of bool
    """
    sizes = np.abs(values)
    room = np.ones_like(sizes)
    np.divide(np.abs(multipliers), weights, out=room, where=weights > 0.0)
    limits = np.clip(1.0 - room, _HARDLY, 1.0) * float(np.max(sizes, initial=0.0))
    return np.asarray(sizes <= np.maximum(limits, _ROUNDING * size))


def image_size(F: Operator, x: np.ndarray) -> float:
    """Approximate size of the terms that an entry of F x is the sum of."""
    return 2.0 * F.norm * float(np.max(np.abs(x), initial=0.0))


def pieces(F: Operator, zero: np.ndarray, order: int | None = None) -> np.ndarray | None:
    """The number of the piece that each entry of x belongs to, where the entries `zero` of F x vanish.

    Where F takes differences of two entries, a piece is a connected set of equal entries; where it takes higher
    differences along a line, a segment from knot to knot. For any other F there are no pieces: None. `order` says
    that a matrix takes differences along a line.
    """
    order = order or line_order(F)
    if order is not None:
        starts = np.zeros(F.n_inputs, dtype=np.int64)
        starts[np.flatnonzero(~zero) + (order + 1) // 2] = 1
        return np.cumsum(starts)
    edges = pairs_of(F.matrix())
    if edges is None:
        return None
    return components(edges[zero], F.n_inputs)


def n_pieces(F: Operator, x: np.ndarray) -> int:
    """Number of pieces of x, from its entries alone, where F takes differences of two of them."""
    matrix = F.matrix()
    labels = pieces(F, np.abs(matrix @ x) <= _ALIKE * (abs(matrix) @ np.abs(x)))
    assert labels is not None
    return int(labels.max(initial=-1)) + 1


def pairs_of(matrix: sp.csr_array) -> np.ndarray | None:
    """The two columns of each row, if every row is a multiple of the difference of two entries; None otherwise."""
    if not np.all(matrix.data):  # zeros that are stored
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    if not np.all(np.diff(matrix.indptr) == 2):
        return None
    values = matrix.data.reshape(-1, 2)
    return matrix.indices.reshape(-1, 2) if np.all(values[:, 0] == -values[:, 1]) else None


def components(edges: np.ndarray, size: int) -> np.ndarray:
    """Labels of the connected parts, in the order of their first entries."""
    graph = sp.csr_array((np.ones(len(edges), dtype=np.int8), (edges[:, 0], edges[:, 1])), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1])


def freedom(F: Operator, zero: np.ndarray, support: np.ndarray) -> int:
    """Dimension of {v : (F v)_j = 0 where `zero`, v_i = 0 outside `support`}.

    These are the degrees of freedom of the generalized lasso where the columns of X are independent: the fitted values
    move in a space of that dimension when the data change a little (Tibshirani, Taylor: Degrees of freedom in lasso
    problems, Annals of Statistics 40, 2012). Along a line no matrix is formed, and for differences of any order the
    rank follows from where the entries are: all minors of such a matrix that can differ from 0 do.
    """
    if F.chain:
        first = np.concatenate([[True], ~zero])
        return int(np.count_nonzero(first & support))
    if line_order(F) is not None and support.all():
        return int(support.size - np.count_nonzero(zero))
    inside = np.flatnonzero(support)
    rows = sp.csr_array(F.matrix()[np.flatnonzero(zero)][:, inside])
    if line_order(F) is None:
        return nullity(rows)
    return int(inside.size - (structural_rank(rows) if rows.nnz else 0))


def lengths_of(F: Operator, group: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Lengths of the groups of entries of F x; 0 where they are no more than rounding."""
    lengths = np.sqrt(np.bincount(group, F.forward(x) ** 2))
    return np.where(lengths > _ROUNDING * image_size(F, x), lengths, 0.0)


def length_curvature(F: Operator, group: np.ndarray, x: np.ndarray) -> sp.csr_array:
    """Second derivative at x of the sum of the lengths of groups of entries of F x, where those that are 0 stay 0.

    |g| has the second derivative (I - u u') / |g|, u being the direction of g.
    """
    matrix, image, lengths = F.matrix(), F.forward(x), lengths_of(F, group, x)
    inverse = np.zeros(lengths.size)
    np.divide(1.0, lengths, out=inverse, where=lengths > _NO_LENGTH * np.max(lengths, initial=0.0))
    places = group, np.arange(group.size)
    along = sp.csr_array((image * inverse[group], places), shape=(lengths.size, group.size)) @ matrix
    across = sp.diags_array(inverse[group]) @ matrix
    return sp.csr_array(matrix.T @ across - along.T @ (sp.diags_array(inverse) @ along))


def shrunk_freedom(H: np.ndarray, Q: np.ndarray) -> float:
    """Trace of (H + Q)^-1 H, which is that of I - (H + Q)^-1 Q: degrees of freedom beside penalties of curvature Q.

    It is found in units in which the diagonal of H + Q is 1. Directions that neither of the two sees do not count.
    """
    size = np.sqrt(np.diag(H) + np.diag(Q))
    size[size == 0.0] = 1.0
    units = np.outer(size, size)
    Q = Q / units
    total = H / units + Q
    factor, failed = scipy.linalg.lapack.dpotrf(total)
    if not failed:
        inverse, _ = scipy.linalg.lapack.dpotri(factor)  # its upper triangle
        return float(len(H) - 2.0 * np.sum(np.triu(inverse, 1) * Q) - np.diag(inverse) @ np.diag(Q))
    values, vectors = np.linalg.eigh(total)
    alive = values > _DEPENDENT * len(H)
    vectors = vectors[:, alive]
    return float(np.count_nonzero(alive) - np.sum(np.einsum("ij,ij->j", vectors, Q @ vectors) / values[alive]))


def line_order(F: Operator) -> int | None:
    """The order of differences along a line; None for any other F."""
    if F.chain:
        return 1
    return int(F.order) if isinstance(F, Difference) else None


def segments(labels: np.ndarray, x: np.ndarray, line: bool) -> list[Segment] | list[Region]:
    """The pieces with these labels as segments of a line, or as regions."""
    sizes = np.bincount(labels)
    values = np.bincount(labels, x) / sizes
    members = np.argsort(labels, kind="stable")
    stops = np.cumsum(sizes)
    # A mean of equal numbers may differ from them by rounding.
    smallest, largest = np.minimum.reduceat(x[members], stops - sizes), np.maximum.reduceat(x[members], stops - sizes)
    values = np.where(smallest == largest, smallest, values)
    if line:
        rows = zip((stops - sizes).tolist(), stops.tolist(), values.tolist(), strict=True)
        return [Segment(*row) for row in rows]
    return [Region(group, value) for group, value in zip(np.split(members, stops[:-1]), values.tolist(), strict=True)]
