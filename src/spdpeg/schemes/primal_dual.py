"""The primal-dual step, compiled.

Notation: y = -lambda, so that y lies in the subdifferential of r2 at the optimum; z is never stored, because by
Moreau's identity y_bar = prox_{rho r2*}(y + rho F x) carries the same information and is always dual feasible.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel, prefetch
from ..kernels.rows import add_row, expect_row, row_dot, weight_of
from ..kernels.terms import Terms


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


@kernel
def extragradient(
    block: Block,
    order: np.ndarray,
    batch: int,
    two_samples: bool,
    steps: np.ndarray,
    thetas: np.ndarray,
    rho: float,
    terms: Terms,
    estimator: Estimator,
    x: np.ndarray,
    y: np.ndarray,
    x_average: np.ndarray,
    z_average: np.ndarray,
    y_average: np.ndarray,
    x_bar: np.ndarray,
    y_bar: np.ndarray,
    ahead: np.ndarray,
    back: np.ndarray,
    Fx: np.ndarray,
    Fx_bar: np.ndarray,
) -> None:
    """`steps.size` iterations of SPDPEG, each with two fresh batches of rows from `order`.

    Without `two_samples` one batch gives both gradients, and both are taken at x.

    y_bar = prox_{rho r2*}(y + rho F x)
    x_bar = prox_{c r1}(x - c (grad l(x; batch 1) + F^T y))
    x    <- prox_{c r1}(x - c (grad l(x_bar; batch 2) + F^T y_bar))
    y    <- y_bar + rho (F x_bar - F x)
    averages of x_bar, of z = F x + (y - y_bar) / rho and of y_bar
    """
    inverse_rho = 1.0 / rho
    per_step = 2 * batch if two_samples else batch
    # No vector is both read and written by one call or loop unless it has to be: only then does it vectorise.
    for k in range(steps.size):
        c, theta = steps[k], thetas[k]
        first = order[k * per_step : k * per_step + batch]
        second = order[(k + 1) * per_step - batch : (k + 1) * per_step]
        expect(block, order, (k + 1) * per_step, (k + 2) * per_step)

        call_linear(terms.forward, x, Fx)
        for i in range(y.size):
            Fx_bar[i] = y[i] + rho * Fx[i]
        call_prox(terms.dual_prox2, Fx_bar, rho, y_bar)

        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        descend(block, first, c, terms.derivative, estimator, x, ahead)
        call_prox(terms.prox1, ahead, c, x_bar)

        call_linear(terms.adjoint, y_bar, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        if two_samples:
            descend(block, second, c, terms.derivative, estimator, x_bar, ahead)
        else:
            descend(block, first, c, terms.derivative, estimator, x, ahead)
        call_prox(terms.prox1, ahead, c, x)

        for i in range(y.size):
            z_average[i] += theta * (Fx[i] + (y[i] - y_bar[i]) * inverse_rho - z_average[i])
        call_linear(terms.forward, x_bar, Fx_bar)
        for i in range(y.size):
            y[i] = y_bar[i] + rho * (Fx_bar[i] - Fx[i])
        for i in range(y.size):
            y_average[i] += theta * (y_bar[i] - y_average[i])
        for j in range(x.size):
            x_average[j] += theta * (x_bar[j] - x_average[j])


@kernel
def linearized(
    block: Block,
    order: np.ndarray,
    batch: int,
    steps: np.ndarray,
    thetas: np.ndarray,
    rho: float,
    lead_x: float,
    lead_y: float,
    averaged: int,
    terms: Terms,
    estimator: Estimator,
    x: np.ndarray,
    y: np.ndarray,
    Fx_before: np.ndarray,
    x_average: np.ndarray,
    z_average: np.ndarray,
    y_average: np.ndarray,
    x_mean: np.ndarray,
    y_next: np.ndarray,
    ahead: np.ndarray,
    back: np.ndarray,
    Fx: np.ndarray,
    Fx_ahead: np.ndarray,
) -> None:
    """`steps.size` iterations of linearized ADMM: one product with F, one with F^T, one batch each.

    y <- y+ = prox_{rho r2*}(y + rho F (x + lead_x (x - x_before)))
    x <- prox_{c r1}(x - c (gradient estimate at x + F^T (y+ + lead_y (y+ - y))))

    lead_x = 1, lead_y = 0 is ADMM with the z-step first, lead_x = 0, lead_y = 1 with the x-step first (both are
    Condat-Vu), lead_x = lead_y = 0 is Arrow-Hurwicz. Averages of x, of z and of y; `x_mean`, unless empty, is the plain
    mean of x over these steps and the `averaged` ones before them.
    """
    inverse_rho = 1.0 / rho
    for k in range(steps.size):
        c, theta = steps[k], thetas[k]
        # An average that the next step replaces (theta = 1) need not be made.
        averages = k + 1 == steps.size or thetas[k + 1] < 1.0
        expect(block, order, (k + 1) * batch, (k + 2) * batch)

        call_linear(terms.forward, x, Fx)
        for i in range(y.size):
            Fx_ahead[i] = Fx[i] + lead_x * (Fx[i] - Fx_before[i])
        for i in range(y.size):
            Fx_before[i] = y[i] + rho * Fx_ahead[i]
        call_prox(terms.dual_prox2, Fx_before, rho, y_next)
        if averages:
            for i in range(y.size):
                here = Fx_ahead[i] + (y[i] - y_next[i]) * inverse_rho
                z_average[i] = here if theta == 1.0 else z_average[i] + theta * (here - z_average[i])
        for i in range(y.size):
            Fx_ahead[i] = y_next[i] + lead_y * (y_next[i] - y[i])
        for i in range(y.size):
            y[i] = y_next[i]
            Fx_before[i] = Fx[i]
        if averages:
            blend(theta, y_next, y_average)

        call_linear(terms.adjoint, Fx_ahead, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        descend(block, order[k * batch : (k + 1) * batch], c, terms.derivative, estimator, x, ahead)
        call_prox(terms.prox1, ahead, c, x)
        if averages:
            blend(theta, x, x_average)
        if x_mean.size:
            blend(1.0 / (averaged + k + 1), x, x_mean)


@kernel
def condat_vu(
    block: Block,
    order: np.ndarray,
    batch: int,
    steps: np.ndarray,
    rho: float,
    relaxation: float,
    terms: Terms,
    estimator: Estimator,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    ahead: np.ndarray,
    back: np.ndarray,
    x_next: np.ndarray,
    y_next: np.ndarray,
    y_ahead: np.ndarray,
) -> None:
    """`steps.size` iterations of Condat-Vu, relaxed; a batch of all rows makes the gradient exact.

    x+ = prox_{c r1}(x - c (grad l(x) + F^T y)),  y+ = prox_{rho r2*}(y + rho F (2 x+ - x)),
    (x, y) <- (x, y) + relaxation ((x+, y+) - (x, y))
    """
    for k in range(steps.size):
        c = steps[k]
        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        descend(block, order[k * batch : (k + 1) * batch], c, terms.derivative, estimator, x, ahead)
        call_prox(terms.prox1, ahead, c, x_next)
        for j in range(x.size):
            ahead[j] = 2.0 * x_next[j] - x[j]
        call_linear(terms.forward, ahead, z)
        for i in range(y.size):
            y_ahead[i] = y[i] + rho * z[i]
        call_prox(terms.dual_prox2, y_ahead, rho, y_next)
        for i in range(y.size):
            z[i] += (y[i] - y_next[i]) / rho
        for i in range(y.size):
            y[i] += relaxation * (y_next[i] - y[i])
        for j in range(x.size):
            x[j] += relaxation * (x_next[j] - x[j])


@kernel
def pd3o(
    block: Block,
    order: np.ndarray,
    batch: int,
    steps: np.ndarray,
    rho: float,
    terms: Terms,
    estimator: Estimator,
    x: np.ndarray,
    q: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    back: np.ndarray,
    ahead: np.ndarray,
    h: np.ndarray,
    y_next: np.ndarray,
    y_ahead: np.ndarray,
) -> None:
    """`steps.size` iterations of PD3O; `back` holds F^T y from step to step.

    x = prox_{c r1}(q),  h = x - c grad l(x),  y <- prox_{rho r2*}(y + rho F (x + h - q - c F^T y)),  q = h - c F^T y
    """
    for k in range(steps.size):
        c = steps[k]
        call_prox(terms.prox1, q, c, x)
        for j in range(x.size):
            h[j] = x[j]
        descend(block, order[k * batch : (k + 1) * batch], c, terms.derivative, estimator, x, h)
        for j in range(x.size):
            ahead[j] = x[j] + h[j] - q[j] - c * back[j]
        call_linear(terms.forward, ahead, z)
        for i in range(y.size):
            y_ahead[i] = y[i] + rho * z[i]
        call_prox(terms.dual_prox2, y_ahead, rho, y_next)
        for i in range(y.size):
            z[i] += (y[i] - y_next[i]) / rho
        for i in range(y.size):
            y[i] = y_next[i]
        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            q[j] = h[j] - c * back[j]
