"""Variance-reduced primal-dual steps, compiled: three schemes, a step size for every coordinate and every row of F.

tau holds the primal steps, sigma the dual ones. The prox of r1 carries tau in its weights and is called with step 1.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel
from ..kernels.rows import add_row, add_scaled_row, row_dot, weight_of
from ..kernels.terms import Terms
from .primal_dual import Estimator, expect


class Steps(NamedTuple):
    """Primal and dual steps, the numbers to call the proxes with, and what makes up for rows drawn more often.

    The dual takes a step after every `dual_every` primal ones; `waiting` counts them, and `anchor` is x at the last.
    """

    tau: np.ndarray
    sigma: np.ndarray
    dual_prox: float
    shares: np.ndarray
    dual_every: int
    waiting: int
    anchor: np.ndarray


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
    steps: Steps,
    at: np.ndarray,
    out: np.ndarray,
) -> None:
    """out -= tau * (average over the batch of (slope_i - table_i) a_i), slopes at the point `at`; updates the table.

    A row with a share of s times the mean is drawn s times as often and counts 1/s as much.
    """
    size = stop - start
    for k in range(start, stop):
        expect(block, order, k + _AHEAD, k + _AHEAD + 1)
        i = order[k]
        slope = weight_of(block.weights, i) * call_scalar(derivative, row_dot(block.rows, i, at), block.labels[i])
        change = slope - estimator.table[i]
        lift = 1.0 / steps.shares[i] if steps.shares.size else 1.0
        add_scaled_row(block.rows, i, -lift * change / size, steps.tau, out)
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
) -> int:
    """x+ = prox(x - tau (g + F^T y)),  y <- prox*(y + sigma F (2 x+ - x)); `back` holds F^T y from step to step.

    With a dual step after every m primal ones, x in it is that of the last dual step, and sigma must be m times as
    small. Returns how many primal steps were taken since the last dual one.
    """
    waiting = steps.waiting
    for k in range(order.size // batch):
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * (estimator.mean[j] + back[j])
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps, x, ahead)
        call_prox(terms.prox1, ahead, 1.0, x_next)
        if steps.dual_every == 1:
            for j in range(x.size):
                ahead[j] = 2.0 * x_next[j] - x[j]
            for j in range(x.size):
                x[j] = x_next[j]
            dual_step(terms, steps, ahead, y, z, back, y_ahead)
            continue
        for j in range(x.size):
            x[j] = x_next[j]
        waiting += 1
        if waiting == steps.dual_every:
            for j in range(x.size):
                ahead[j] = 2.0 * x[j] - steps.anchor[j]
            for j in range(x.size):
                steps.anchor[j] = x[j]
            dual_step(terms, steps, ahead, y, z, back, y_ahead)
            waiting = 0
    return waiting


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
        call_prox(terms.prox1, q, 1.0, x)
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * estimator.mean[j]
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps, x, ahead)
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
        call_prox(terms.prox1, ahead, 1.0, x_bar)
        call_linear(terms.adjoint, y_bar, back)
        for j in range(x.size):
            ahead[j] = x[j] - steps.tau[j] * (estimator.mean[j] + back[j])
        correct(block, order, k * batch, (k + 1) * batch, terms.derivative, estimator, steps, x_bar, ahead)
        call_prox(terms.prox1, ahead, 1.0, x)
        call_linear(terms.forward, x_bar, z)
        for e in range(y.size):
            y_ahead[e] = y_bar[e] + steps.sigma[e] * (z[e] - Fx[e])
        for e in range(y.size):
            z[e] = Fx[e] + (y[e] - y_bar[e]) / steps.sigma[e]
        for e in range(y.size):
            y[e] = y_ahead[e]
