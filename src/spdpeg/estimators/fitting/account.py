"""What a fit tells beside its coefficients: which entries of F x vanish, the loss, how many rows spoke."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...operators import Operator
from ...operators.pieces import image_size, vanishing
from ...penalties import Penalty


def account(
    solutions: Sequence[Any], r1: Penalty | None, r2: Penalty | None, F: Operator | None, n_rows: float | None
) -> dict[str, Any]:
    """`flat_`, `mean_loss_` and `n_rows_`; lists of the first two where targets are fitted one by one.

    Parameters
    ----------
    solutions : list of Solution
    r1, r2, F
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
        images = None if r2 is None or F is None else [F.forward(row) for row in rows]
        flat.append(_flat(rows, images, -np.asarray(solution.result.dual), r2, F))
        penalty = sum(r1.value(row) for row in rows) if r1 is not None else 0.0
        if r2 is not None and images is not None:
            penalty += sum(r2.value(image) for image in images)
        losses.append(None if n_rows is None else float(solution.result.objective - penalty))
    one = len(solutions) == 1
    return {"flat_": flat[0] if one else flat, "mean_loss_": losses[0] if one else losses, "n_rows_": n_rows}


def _flat(
    rows: np.ndarray, images: list[np.ndarray] | None, duals: np.ndarray, r2: Penalty | None, F: Operator | None
) -> np.ndarray | None:
    """Which entries of F x vanish, a row for each class that the problem holds; None unless r2 is an l1 norm."""
    weights = None if r2 is None or F is None else r2.l1_weights(F.n_outputs)
    if weights is None or images is None or F is None:
        return None
    found = [
        vanishing(image, dual, weights, image_size(F, row))
        for row, image, dual in zip(rows, images, duals.reshape(len(rows), -1), strict=True)
    ]
    return np.array(found) if len(found) > 1 else found[0]
