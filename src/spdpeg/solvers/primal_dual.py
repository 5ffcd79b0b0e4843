"""The primal-dual step, compiled.

Notation: y = -lambda, so that y lies in the subdifferential of r2 at the optimum; z is never stored, because by Moreau's
identity y_bar = prox_{rho r2*}(y + rho F x) carries the same information and is always dual feasible.
"""

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, call_scalar, inner, kernel, prefetch
from ..kernels.rows import add_row, expect_row, row_dot, weight_of
from ..problem import Terms


@inner
def descend(block: Block, order: np.ndarray, step: float, derivative, at: np.ndarray, out: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    """out -= step * (mean gradient of the rows in `order` at the point `at`); `out` may not be `at`."""
    for k in range(order.size):
        i = order[k]
        slope = weight_of(block.weights, i) * call_scalar(derivative, row_dot(block.rows, i, at), block.labels[i])
        add_row(block.rows, i, -step * slope / order.size, out)


@kernel
def extragradient(
    block: Block,
    order: np.ndarray,
    batch: int,
    steps: np.ndarray,
    thetas: np.ndarray,
    rho: float,
    terms: Terms,
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

    y_bar = prox_{rho r2*}(y + rho F x)
    x_bar = prox_{c r1}(x - c (grad l(x; batch 1) + F^T y))
    x    <- prox_{c r1}(x - c (grad l(x_bar; batch 2) + F^T y_bar))
    y    <- y_bar + rho (F x_bar - F x)
    averages of x_bar, of z = F x + (y - y_bar) / rho and of y_bar
    """
    inverse_rho = 1.0 / rho
    # No vector is both read and written by one call or loop unless it has to be: only then does it vectorise.
    for k in range(steps.size):
        c, theta = steps[k], thetas[k]
        first = order[2 * k * batch : (2 * k + 1) * batch]
        second = order[(2 * k + 1) * batch : (2 * k + 2) * batch]
        for i in range((2 * k + 2) * batch, min((2 * k + 4) * batch, order.size)):
            expect_row(block.rows, order[i])
            prefetch(block.labels, order[i])

        call_linear(terms.forward, x, Fx)
        for i in range(y.size):
            Fx_bar[i] = y[i] + rho * Fx[i]
        call_prox(terms.dual_prox2, Fx_bar, rho, y_bar)

        call_linear(terms.adjoint, y, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        descend(block, first, c, terms.derivative, x, ahead)
        call_prox(terms.prox1, ahead, c, x_bar)

        call_linear(terms.adjoint, y_bar, back)
        for j in range(x.size):
            ahead[j] = x[j] - c * back[j]
        descend(block, second, c, terms.derivative, x_bar, ahead)
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
