"""The parameters that VR-SPDPEG chooses from the data: the metric, the steps, and the cost of a step."""

import numpy as np

from ..kernels.row_sums import column_squares, scaled_squares
from ..view import View

_PROX_FLOPS = 60.0
"""Flops of the exact prox along a chain, for each coordinate."""

_CURVATURE = 2.0
"""The primal step is 1 over this many times the batch's Lipschitz constant; theory requires 8."""

_DUAL_FRACTION = 0.25
"""Fraction of that curvature that the coupling with F adds to it on average."""

_MILD = 4.0
"""Ratio of mean squares up to which columns count as equally scaled."""


def row_flops(problem: View) -> float:
    """Flops for a row: its margin and its part of a gradient."""
    return 4.0 * max(1.0, problem.rows.block.rows.values.size / problem.rows.block.labels.size)


def dense_flops(problem: View) -> float:
    """Flops for the rest of a step, on all coordinates and rows of F."""
    return 10.0 * problem.n_coordinates + 8.0 * problem.F.n_outputs


def joint_flops(problem: View) -> float:
    """The same where the penalties have a joint prox."""
    return (10.0 + (_PROX_FLOPS if problem.F.n_outputs else 0.0)) * problem.n_coordinates


def step_sizes(problem: View, curvature: np.ndarray, scheme: str, balance: float) -> tuple[np.ndarray, np.ndarray]:
    """Primal steps tau and dual steps sigma, from the curvature c_j of the loss along each coordinate.

    tau_j = 1 / (c_j + s_j sum_e |F_ej|), sigma_e = 1 / sum_j |F_ej| / s_j, where s_j is in proportion to c_j and to
    `balance`. Then |sigma^(1/2) F (1/tau - c)^(-1/2)| <= 1 (Pock, Chambolle: Diagonal preconditioning for first order
    primal-dual algorithms, ICCV 2011). Uniform where a prox does not allow steps that differ.
    """
    joint = scheme == "joint-prox"
    penalty = problem.penalty.joint if joint else problem.regularizer
    assert penalty is not None
    absolute = abs(problem.F.matrix())
    columns = np.asarray(absolute.sum(axis=0), dtype=float).reshape(-1)
    columns *= not joint
    used = columns > 0.0
    weight = balance * _DUAL_FRACTION * curvature / columns[used].mean() if used.any() else np.ones(columns.size)
    tau = 1.0 / (curvature + weight * columns)
    reach = np.asarray(absolute @ (1.0 / weight), dtype=float).reshape(-1)
    sigma = 1.0 / np.where(reach > 0.0, reach, 1.0)
    if scheme == "extragradient":
        sigma *= 0.5
    if penalty.scaled(tau) is None:
        tau[:] = tau.min()
    if problem.r2.l1_weights(problem.F.n_outputs) is None:
        sigma[:] = sigma.min(initial=1.0)
    return tau, sigma


def batch_curvature(problem: View, metric: np.ndarray, batch_size: int, importance: bool) -> float:
    """Twice the expected smoothness of a batch in the metric."""
    rows, labels, weights = problem.rows.block
    n = labels.size
    squares = np.empty(n)
    scaled_squares(rows, weights, metric, squares)
    largest = float(squares.mean() if importance else squares.max())
    fraction = n * (batch_size - 1) / (batch_size * (n - 1)) if n > 1 else 0.0
    if fraction > 0.0:
        even = np.ptp(metric) == 0.0
        norm = problem.bounds.rough_gram_norm * float(metric[0]) if even else problem.bounds.rough_norm(metric)
        mean = min(norm, float(squares.mean()))
        largest = fraction * mean + (1.0 - fraction) * largest
    return _CURVATURE * problem.loss.curvature * largest or problem.penalty.strong_convexity or 1.0


def data_metric(problem: View, scheme: str) -> np.ndarray:
    """1 / (mean square of each column), or its root, unless that makes single rows stand out; ones otherwise."""
    even = np.ones(problem.n_coordinates)
    penalty = problem.penalty.joint if scheme == "joint-prox" else problem.regularizer
    assert penalty is not None
    rows, labels, weights = problem.rows.block
    means = np.empty(problem.n_coordinates)
    column_squares(rows, weights, means)
    if means.max() <= _MILD * np.min(means[means > 0.0], initial=np.inf) or penalty.scaled(means) is None:
        return even
    squares = np.empty(labels.size)
    for power in (1.0, 0.5):
        metric = np.where(means > 0.0, means, 1.0) ** -power
        scaled_squares(rows, weights, metric, squares)
        if (
            squares.max() / squares.mean()
            <= 2.0 * problem.rows.statistics.max_square / problem.rows.statistics.mean_square
        ):
            return metric
    return even
