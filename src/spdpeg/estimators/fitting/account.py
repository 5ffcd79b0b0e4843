"""What a fit tells beside its coefficients: which entries of F x vanish, the loss, how many rows spoke."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...operators import Operator
from ...operators.pieces import image_size, vanishing
from ...penalties import Penalty
from .outputs import Coupled


def account(solutions: Sequence[Any], r2: Penalty | None, F: Operator | None, n_rows: float | None) -> dict[str, Any]:
    """`flat_`, `mean_loss_` and `n_rows_`; lists of the first two where targets are fitted one by one.

    Parameters
    ----------
    solutions : list of Solution
    r2, F
        Of the features, without an intercept.
    n_rows : float or None
        Sum of the weights of the rows; None for a stream, whose loss is not known.

    Returns
    -------
    dict
    """
    flat, losses = [], []
    for solution in solutions:
        rows = np.atleast_2d(solution.problem.split(solution.result.x)[0])
        duals = np.asarray(solution.result.dual).reshape(len(rows), -1)
        flat.append(_flat(rows, duals, r2, F, isinstance(solution.problem, Coupled)))
        penalty = 0.0 if n_rows is None else solution.problem.penalty_value(solution.result.x)
        losses.append(None if n_rows is None else float(solution.result.objective - penalty))
    one = len(solutions) == 1
    return {"flat_": flat[0] if one else flat, "mean_loss_": losses[0] if one else losses, "n_rows_": n_rows}


def _flat(
    rows: np.ndarray, duals: np.ndarray, r2: Penalty | None, F: Operator | None, together: bool
) -> np.ndarray | None:
    """Which entries of F x vanish, a row for each class or output that the problem holds; None unless r2 is an l1 norm.

    If they vanish `together`, the lengths over all outputs tell.
    """
    weights = None if r2 is None or F is None else r2.l1_weights(F.n_outputs)
    if weights is None or F is None or not np.any(weights):  # weights of 0 are no penalty, and have no multipliers
        return None
    images = np.array([F.forward(row) for row in rows])
    sizes = [image_size(F, row) for row in rows]
    if together:
        lengths, sizes_of_duals = np.linalg.norm(images, axis=0), np.linalg.norm(duals, axis=0)
        return np.tile(vanishing(lengths, sizes_of_duals, weights, max(sizes)), (len(rows), 1))
    found = [vanishing(image, dual, weights, size) for image, dual, size in zip(images, duals, sizes, strict=True)]
    return np.array(found) if len(found) > 1 else found[0]
