"""Parts of primal-dual steps: gradient estimates, moves along them, averages, dual updates.

Notation: y = -lambda, so that y lies in the subdifferential of r2 at the optimum; z is never stored, because by
Moreau's identity y_bar = prox_{rho r2*}(y + rho F x) carries the same information and is always dual feasible.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, prefetch
from ..kernels.rows import add_row, add_scaled_row, expect_row, row_dot, weight_of
from ..kernels.terms import Terms
from .records import Steps


class Estimator(NamedTuple):
    """How a batch becomes a gradient: mean + weight * (average over the batch of (slope_i - table_i) a_i).

    `table` holds a slope per row and `mean` the gradient they add up to; both are empty for the plain stochastic
    gradient. With `memory` = 1/N the table follows the rows as they are read (SAG: weight = batch/N, SAGA: weight = 1);
    with `memory` = 0 it stays what a snapshot made it (SVRG).
    """

    weight: float
    memory: float
    table: np.ndarray
    mean: np.ndarray


def plain() -> Estimator:
    """The stochastic gradient as it is; the full gradient if a batch is the whole data set."""
    return Estimator(1.0, 0.0, np.empty(0), np.empty(0))


@inner
def descend(
    block: Block,
    order: np.ndarray,
    step: float,
    derivative: Term,
    estimator: Estimator,
    at: np.ndarray,
    out: np.ndarray,
) -> None:
    """out -= step * (estimate of the gradient at the point `at` from the rows in `order`)."""
    for j in range(estimator.mean.size):
        out[j] -= step * estimator.mean[j]
    for k in range(order.size):
        i = order[k]
        slope = weight_of(block.weights, i) * call_scalar(derivative, row_dot(block.rows, i, at), block.labels[i])
        change = slope - estimator.table[i] if estimator.table.size else slope
        add_row(block.rows, i, -step * estimator.weight * change / order.size, out)
        if estimator.memory > 0.0:
            add_row(block.rows, i, estimator.memory * change, estimator.mean)
            estimator.table[i] = slope


@inner
def blend(theta: float, new: np.ndarray, average: np.ndarray) -> None:
    """average += theta * (new - average); exactly `new` at theta = 1, whatever the average was."""
    if theta == 1.0:
        for j in range(new.size):
            average[j] = new[j]
    else:
        for j in range(new.size):
            average[j] += theta * (new[j] - average[j])


@inner
def dual_update(
    terms: Terms, rho: float, x: np.ndarray, y: np.ndarray, z: np.ndarray, y_next: np.ndarray, ahead: np.ndarray
) -> None:
    """y <- y+ = prox_{rho r2*}(y + rho F x), z <- F x + (y - y+) / rho: the last two lines of every ADMM."""
    call_linear(terms.forward, x, z)
    for i in range(y.size):
        ahead[i] = y[i] + rho * z[i]
    call_prox(terms.dual_prox2, ahead, rho, y_next)
    for i in range(y.size):
        z[i] += (y[i] - y_next[i]) / rho
    for i in range(y.size):
        y[i] = y_next[i]


@inner
def expect(block: Block, order: np.ndarray, start: int, stop: int) -> None:
    """The rows at these places of `order` come next."""
    for k in range(start, min(stop, order.size)):
        expect_row(block.rows, order[k])
        prefetch(block.labels, order[k])


_AHEAD = 4
"""Rows that are fetched before they are needed."""


@inner
def move(x: np.ndarray, c: float, steps: Steps, mean: np.ndarray, back: np.ndarray, out: np.ndarray) -> None:
    """out = x - c tau (mean + back); an empty vector stands for 0."""
    if mean.size and back.size:
        _along_both(x, c, steps.tau, mean, back, out)
    elif back.size:
        _along(x, c, steps.tau, back, out)
    elif mean.size:
        _along(x, c, steps.tau, mean, out)
    else:
        for j in range(x.size):
            out[j] = x[j]


@inner
def _along(x: np.ndarray, c: float, tau: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    if tau.size > 1:
        for j in range(x.size):
            out[j] = x[j] - c * tau[j] * v[j]
    else:
        step = c * tau[0]
        for j in range(x.size):
            out[j] = x[j] - step * v[j]


@inner
def _along_both(x: np.ndarray, c: float, tau: np.ndarray, v: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    if tau.size > 1:
        for j in range(x.size):
            out[j] = x[j] - c * tau[j] * (v[j] + w[j])
    else:
        step = c * tau[0]
        for j in range(x.size):
            out[j] = x[j] - step * (v[j] + w[j])


@inner
def correct(
    block: Block,
    order: np.ndarray,
    start: int,
    stop: int,
    c: float,
    derivative: Term,
    estimator: Estimator,
    steps: Steps,
    at: np.ndarray,
    out: np.ndarray,
) -> None:
    """out -= c tau * (average over the batch of (slope_i - table_i) a_i), slopes at the point `at`; updates the table.

    A row with s times the mean probability is drawn s times as often and counts 1/s as much.
    """
    size = stop - start
    for k in range(start, stop):
        expect(block, order, k + _AHEAD, k + _AHEAD + 1)
        i = order[k]
        slope = weight_of(block.weights, i) * call_scalar(derivative, row_dot(block.rows, i, at), block.labels[i])
        change = slope - estimator.table[i] if estimator.table.size else slope
        lift = c / steps.probabilities[i] if steps.probabilities.size else c
        if steps.tau.size > 1:
            add_scaled_row(block.rows, i, -lift * change / size, steps.tau, out)
        else:
            add_row(block.rows, i, -lift * steps.tau[0] * change / size, out)
        if estimator.memory > 0.0:
            add_row(block.rows, i, estimator.memory * change, estimator.mean)
            estimator.table[i] = slope


@inner
def ascend(y: np.ndarray, steps: Steps, image: np.ndarray, out: np.ndarray) -> None:
    """out = y + sigma image."""
    if steps.sigma.size > 1:
        for e in range(y.size):
            out[e] = y[e] + steps.sigma[e] * image[e]
    elif steps.sigma.size:
        sigma = steps.sigma[0]
        for e in range(y.size):
            out[e] = y[e] + sigma * image[e]


@inner
def constraint(ahead: np.ndarray, steps: Steps, after: np.ndarray, theta: float, z: np.ndarray) -> None:
    """z += theta ((ahead - after) / sigma - z): the z of a dual step from `ahead` = y + sigma F x to `after`.

    Exactly that z at theta = 1, whatever it was.
    """
    if steps.sigma.size > 1:
        for e in range(z.size):
            here = (ahead[e] - after[e]) / steps.sigma[e]
            z[e] = here if theta == 1.0 else z[e] + theta * (here - z[e])
    elif steps.sigma.size:
        inverse = 1.0 / steps.sigma[0]
        if theta == 1.0:
            for e in range(z.size):
                z[e] = (ahead[e] - after[e]) * inverse
        else:
            for e in range(z.size):
                z[e] += theta * ((ahead[e] - after[e]) * inverse - z[e])
