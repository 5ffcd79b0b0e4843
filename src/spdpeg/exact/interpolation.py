"""A point at which every row has its least loss, for at least as many unpenalised directions as rows.

No penalty and no row has to give way then: the coefficients of those directions solve one system of linear equations
among the rows, and the solution with the smallest squares is taken. The bound for it is that of no slopes at all.
"""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..data.blocks import data_matrix
from ..view import View
from .penalty_form import PenaltyForm
from .pieces import Pieces

_MOST_ROWS = 4000
"""Rows up to which a matrix of their products is factored."""

_STEP = 1e14
"""Step, beside the curvature of the loss, of a prox that ends at the nearest minimum of the loss."""

_DAMPING, _ROUNDS = 1e-12, 3
"""Fraction of the mean square of the rows that is added to all of them, as some may depend on others; and the number of
corrections that take it out again."""


def free_pieces(problem: View) -> Pieces | None:
    """Unpenalised coordinates, and sets of coordinates tied only to each other, where rows are few and in memory.

    None if there are fewer of them than rows.
    """
    n = problem.sums.n_rows
    form = PenaltyForm.of(problem)
    if n > _MOST_ROWS or n > problem.n_coordinates or not problem.rows.in_memory or problem.rows.on_disk:
        return None
    if form is None or not problem.loss.attained:
        return None
    if n > 1 and form.groups is not None and form.groups.holds(problem.rows.n_features):
        return None  # before the lines are written down
    lines = form.lines
    if lines is None:
        return None
    held = (lines.weight > 0.0) | (lines.ridge > 0.0)
    lengths = np.diff(lines.K.indptr)
    held[lines.K.indices[np.repeat(~lines.pairs, lengths)]] = True
    pieces = lines.pieces(held, np.ones(lengths.size, dtype=bool))
    return pieces if pieces.number >= n else None


def interpolated(problem: View, pieces: Pieces) -> np.ndarray:
    """A point on these pieces at which the rows have their least loss, if they do not depend on each other; one read.

    It is 0 where rounding, or an overflow, leaves no system to solve.
    """
    rows, labels, _ = problem.rows.block
    inside = np.flatnonzero(pieces.labels >= 0)
    sums = sp.csr_array(
        (np.ones(inside.size), (inside, pieces.labels[inside])), shape=(pieces.labels.size, pieces.number)
    )
    Z, curvature = data_matrix(rows) @ sums, problem.loss.curvature
    margins = problem.loss.prox(np.zeros(labels.size), labels, _STEP / curvature if np.isfinite(curvature) else _STEP)
    with np.errstate(over="ignore", invalid="ignore"):
        products = Z @ Z.T
    G = products.toarray() if sp.issparse(products) else products
    w = np.zeros(pieces.number)
    damping = max(_DAMPING * float(np.trace(G)) / labels.size, np.finfo(float).tiny)
    try:
        factor = scipy.linalg.cho_factor(G + damping * np.eye(labels.size), lower=True, overwrite_a=True)
    except (ValueError, np.linalg.LinAlgError):
        return pieces.expand(w)
    for _ in range(_ROUNDS):
        w += Z.T @ scipy.linalg.cho_solve(factor, margins - Z @ w)
    return pieces.expand(w)
