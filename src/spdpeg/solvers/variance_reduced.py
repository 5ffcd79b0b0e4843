"""Variance-reduced primal-dual steps, compiled: three schemes, a step size for every coordinate and every row of F.

tau holds the primal steps, sigma the dual ones. Where they differ between coordinates the terms' proxes carry them in
their weights and are called with step 1; `Steps` says which step to call them with.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel
from ..kernels.rows import add_row, add_scaled_row, row_dot, weight_of
from ..problem import Terms
from .primal_dual import Estimator, expect


class Steps(NamedTuple):
    """Primal and dual steps, and the numbers to call the proxes with."""

    tau: np.ndarray
    sigma: np.ndarray
    prox: float
    dual_prox: float


_AHEAD = 4
"""Rows that are fetched before they are needed."""


@inner
def correct(
    block: Block,
    order: np.ndarray,
    start: int,
    stop: int,
    derivative: Term,
    estimator: Estimator,
    tau: np.ndarray,
    at: np.ndarray,
    out: np.ndarray,
) -> None:
    """out -= tau * (average over the batch of (slope_i - table_i) a_i), slopes at the point `at`; updates the table."""
    size = stop - start
    for k in range(start, stop):
        expect(block, order, k + _AHEAD, k + _AHEAD + 1)
        i = order[k]
        slope = weight_of(block.weights, i) * call_scalar(derivative, row_dot(block.rows, i, at), block.labels[i])
        change = slope - estimator.table[i]
        add_scaled_row(block.rows, i, -estimator.weight * change / size, tau, out)
        if estimator.memory > 0.0:
            add_row(block.rows, i, estimator.memory * change, estimator.mean)
            estimator.table[i] = slope


@kernel
def condat_vu_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    terms: Terms,
    estimator: Estimator,
    steps: Steps,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    back: np.ndarray,
    ahead: np.ndarray,
    x_next: np.ndarray,
    y_ahead: np.ndarray,
) -> None:
    """x+ = prox(x - tau (g + F^T y)),  y <- prox*(y + sigma F (2 x+ - x)); `back` holds F^T y from step to step."""
    for k in range(order.size // batch):
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * (estimator.mean[j] + back[j])
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps.tau, x, ahead)
        call_prox(terms.prox1, ahead, steps.prox, x_next)
        for j in range(x.size):
            ahead[j] = 2.0 * x_next[j] - x[j]
        for j in range(x.size):
            x[j] = x_next[j]
        dual_step(terms, steps, ahead, y, z, back, y_ahead)


@inner
def dual_step(
    terms: Terms,
    steps: Steps,
    point: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    back: np.ndarray,
    y_ahead: np.ndarray,
) -> None:
    """y <- prox*(y + sigma F point), z = F point + (y before - y) / sigma, back = F^T y."""
    call_linear(terms.forward, point, z)
    for e in range(y.size):
        y_ahead[e] = y[e] + steps.sigma[e] * z[e]
    for e in range(y.size):
        z[e] += y[e] / steps.sigma[e]
    call_prox(terms.dual_prox2, y_ahead, steps.dual_prox, y)
    for e in range(y.size):
        z[e] -= y[e] / steps.sigma[e]
    call_linear(terms.adjoint, y, back)


@kernel
def pd3o_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    terms: Terms,
    estimator: Estimator,
    steps: Steps,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    back: np.ndarray,
    ahead: np.ndarray,
    q: np.ndarray,
    y_ahead: np.ndarray,
) -> None:
    """x = prox(q),  h = x - tau g(x),  y <- prox*(y + sigma F (x + h - q - tau F^T y)),  q = h - tau F^T y."""
    for k in range(order.size // batch):
        call_prox(terms.prox1, q, steps.prox, x)
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * estimator.mean[j]
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps.tau, x, ahead)
        for j in range(x.size):
            q[j] = x[j] + ahead[j] - q[j] - steps.tau[j] * back[j]
        dual_step(terms, steps, q, y, z, back, y_ahead)
        for j in range(x.size):
            q[j] = ahead[j] - steps.tau[j] * back[j]


@kernel
def extragradient_steps(
    block: Block,
    order: np.ndarray,
    batch: int,
    terms: Terms,
    estimator: Estimator,
    steps: Steps,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    back: np.ndarray,
    ahead: np.ndarray,
    x_bar: np.ndarray,
    y_ahead: np.ndarray,
    y_bar: np.ndarray,
    Fx: np.ndarray,
) -> None:
    """Variance-reduced SPDPEG: the first half-step takes the mean of the table, which is free, the second a batch.

    y_bar = prox*(y + sigma F x),  x_bar = prox(x - tau (g + F^T y)),
    x <- prox(x - tau (g + correction at x_bar + F^T y_bar)),  y <- y_bar + sigma (F x_bar - F x)
    """
    for k in range(order.size // batch):
        call_linear(terms.forward, x, Fx)
        for e in range(y.size):
            y_ahead[e] = y[e] + steps.sigma[e] * Fx[e]
        call_prox(terms.dual_prox2, y_ahead, steps.dual_prox, y_bar)
        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * (estimator.mean[j] + back[j])
        call_prox(terms.prox1, ahead, steps.prox, x_bar)
        call_linear(terms.adjoint, y_bar, back)
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * (estimator.mean[j] + back[j])
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps.tau, x_bar, ahead)
        call_prox(terms.prox1, ahead, steps.prox, x)
        call_linear(terms.forward, x_bar, z)
        for e in range(y.size):
            y_ahead[e] = y_bar[e] + steps.sigma[e] * (z[e] - Fx[e])
        for e in range(y.size):
            z[e] = Fx[e] + (y[e] - y_bar[e]) / steps.sigma[e]
        for e in range(y.size):
            y[e] = y_ahead[e]
