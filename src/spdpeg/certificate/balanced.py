"""A multiplier moved to where no excess is left over the domain of r1*, if F reaches it.

Least squares come first: they spread what is missing over all rows. What rounding leaves of them is of the size of the
largest multipliers, while the bound allows each coordinate rounding of its own terms only: at the leaves of a tree,
whose multipliers may be next to 0, that is far less. Where rows of F tie two coordinates each, as in a graph, sums from
the leaves of a spanning forest to its roots leave each coordinate no more than rounding of its own terms.
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..kernels.jit import kernel
from ..view import View

_MOST_INPUTS = 50_000
"""Inputs of F up to which a multiplier is corrected by solving a linear system with F^T F."""

_SHIFT = 1e-10
_REFINEMENTS = 5
"""Fraction of the mean diagonal that is added to F^T F, which is singular, and the corrections that undo it."""


def balanced(problem: View, gradient: np.ndarray, y: np.ndarray, sizes: np.ndarray) -> np.ndarray | None:
    """The y nearest to the given one that leaves -(gradient + F^T y) in the domain of r1*; None if there is none.

    `sizes` are those of the terms of the gradient, by coordinate.
    """
    v = -(gradient + problem.F.adjoint(y))
    inside = problem.regularizer.nearest_dual(v)
    excess = v - inside
    free = np.flatnonzero(problem.regularizer.free(v.size))
    if problem.n_coordinates > _MOST_INPUTS or np.any(np.delete(excess, free)):
        return None
    F = sp.csc_array(problem.F.matrix())[:, free]
    used = np.flatnonzero(np.diff(F.indptr) > 0)  # an intercept is not reached: it is profiled out
    if used.size == 0:
        return None
    F, reached = F[:, used], free[used]
    moved = y + _least_squares(F, excess[reached])
    rows = sp.csr_array(F)
    rows.eliminate_zeros()
    if np.diff(rows.indptr).max(initial=0) <= 2:
        _settle(rows, -(gradient + inside)[reached], sizes[reached], moved)
    return moved


def _least_squares(F: sp.csc_array, right: np.ndarray) -> np.ndarray:
    """The smallest y with F^T y = right."""
    gram = sp.csc_array(F.T @ F)
    shifted = gram + _SHIFT * float(gram.diagonal().mean()) * sp.eye_array(right.size)
    solve = scipy.sparse.linalg.splu(sp.csc_array(shifted), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve
    w = solve(right)
    # The shift made the system solvable and its solution wrong; refinement against F^T F itself takes that back.
    for _ in range(_REFINEMENTS):
        w = w + solve(right - gram @ w)
    return np.asarray(F @ w)


def _settle(F: sp.csr_array, target: np.ndarray, sizes: np.ndarray, y: np.ndarray) -> None:
    """Change y along a spanning forest, so that F^T y misses the target by rounding of the terms of each column.

    `sizes` are those of the terms of the target.
    """
    n, counts = target.size, np.diff(F.indptr)
    # One more node, the last, stands for whatever takes any sum: the other end of a row with a single entry, and all
    # that is left at the root of a part without such a row.
    pairs, singles = np.flatnonzero(counts == 2), np.flatnonzero(counts == 1)
    first = np.concatenate([F.indices[F.indptr[pairs]], F.indices[F.indptr[singles]]]).astype(np.int64)
    second = np.concatenate([F.indices[F.indptr[pairs] + 1], np.full(singles.size, n)]).astype(np.int64)
    edges = np.concatenate([pairs, singles])
    _, part = connected_components(
        sp.csr_array((np.ones(first.size), (first, second)), shape=(n + 1, n + 1)), directed=False
    )
    roots = _largest(part[:n], sizes + abs(F).T @ np.abs(y))
    roots = roots[part[roots] != part[n]]
    ends = np.concatenate([first, roots]), np.concatenate([second, np.full(roots.size, n)])
    numbers = np.concatenate([edges, np.full(roots.size, -1)])
    # Of parallel rows one is enough. Entries of the table are numbers of links, counted from 1.
    own, other = np.concatenate(ends), np.concatenate(ends[::-1])
    _, kept = np.unique(own * (n + 1) + other, return_index=True)
    table = sp.csr_array(
        (np.tile(np.arange(numbers.size), 2)[kept] + 1, (own[kept], other[kept])), shape=(n + 1, n + 1)
    )
    order, before = breadth_first_order(table, n, directed=False)
    nodes = order[1:].astype(np.int64)
    links = numbers[np.asarray(table[nodes, before[nodes]]).ravel() - 1]
    left = _summed(F, target, y, nodes, links, np.zeros(n))
    # The parts of a graph without a single entry keep a sum that rounding has made; all coordinates take a share.
    terms = sizes + abs(F).T @ np.abs(y)
    total = np.bincount(part[:n], terms, minlength=n + 1)
    share = np.bincount(part[roots], left[roots], minlength=n + 1) / np.where(total > 0.0, total, 1.0)
    _summed(F, target, y, nodes, links, share[part[:n]] * terms)


def _largest(part: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The node of the largest size of each part."""
    order = np.lexsort((-sizes, part))
    return order[np.flatnonzero(np.diff(part[order], prepend=-1))]


def _summed(
    F: sp.csr_array, target: np.ndarray, y: np.ndarray, nodes: np.ndarray, links: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    """Choose y on the links of a forest, leaves first, so that the target is missed by what is `kept` at each node and
    by the rest at the roots; returns what is missed beside that."""
    y[links[links >= 0]] = 0.0
    left = target - F.T @ y - kept
    _sum_up(F.indptr, F.indices, F.data, nodes, links, left, y)
    return left


@kernel
def _sum_up(
    pointers: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    nodes: np.ndarray,
    links: np.ndarray,
    left: np.ndarray,
    y: np.ndarray,
) -> None:
    for k in range(nodes.size - 1, -1, -1):
        j, e = nodes[k], links[k]
        if e < 0:
            continue
        own = 0.0
        for p in range(pointers[e], pointers[e + 1]):
            if columns[p] == j:
                own = values[p]
        y[e] = left[j] / own
        for p in range(pointers[e], pointers[e + 1]):
            left[columns[p]] -= values[p] * y[e]
        left[j] = 0.0
