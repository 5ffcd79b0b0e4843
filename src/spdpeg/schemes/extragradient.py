"""The extragradient step of SPDPEG, compiled: with samples, full gradients, or gradients of reduced variance."""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, kernel
from ..kernels.terms import Terms
from .primal_dual import Estimator, ascend, constraint, correct, move
from .records import Pace, Steps


class Work(NamedTuple):
    """Vectors of a step: iterates, averages, the half-way point, and room to work in.

    Averages of x and y may be empty; they are then not made.
    """

    x: np.ndarray
    y: np.ndarray
    x_average: np.ndarray
    z_average: np.ndarray
    y_average: np.ndarray
    x_bar: np.ndarray
    y_bar: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    Fx: np.ndarray
    Fx_bar: np.ndarray


@kernel
def extragradient(
    block: Block,
    order: np.ndarray,
    batch: int,
    first_reads: bool,
    at_half_way: bool,
    pace: Pace,
    terms: Terms,
    estimator: Estimator,
    steps: Steps,
    work: Work,
) -> None:
    """`pace.steps.size` iterations on the rows in `order`.

    y_bar = prox*(y + sigma F x)
    x_bar = prox(x - c tau (g(x; batch 1) + F^T y))
    x    <- prox(x - c tau (g(x_bar; batch 2) + F^T y_bar))
    y    <- y_bar + sigma (F x_bar - F x)
    averages of x_bar, of z = F x + (y - y_bar) / sigma and of y_bar

    Each half-step has a batch of its own. Unless `first_reads`, the first takes what the estimator knows without
    reading, the mean of its table. Unless `at_half_way`, one batch gives both gradients, and both are taken at x.
    """
    x, y, x_average, z_average, y_average, x_bar, y_bar, ahead, back, Fx, Fx_bar = work
    per_step = 2 * batch if first_reads and at_half_way else batch
    # No vector is both read and written by one call or loop unless it has to be: only then does it vectorise.
    for k in range(pace.steps.size):
        c, theta = pace.steps[k], pace.thetas[k]
        start, stop = k * per_step, (k + 1) * per_step

        call_linear(terms.forward, x, Fx)
        ascend(y, steps, Fx, Fx_bar)
        call_prox(terms.dual_prox2, Fx_bar, steps.dual_prox, y_bar)

        call_linear(terms.adjoint, y, back)
        move(x, c, steps, estimator.mean, back, ahead)
        if first_reads:
            correct(block, order, start, start + batch, c, terms.derivative, estimator, steps, x, ahead)
        call_prox(terms.prox1, ahead, c * steps.prox, x_bar)

        call_linear(terms.adjoint, y_bar, back)
        move(x, c, steps, estimator.mean, back, ahead)
        if at_half_way:
            correct(block, order, stop - batch, stop, c, terms.derivative, estimator, steps, x_bar, ahead)
        else:
            correct(block, order, stop - batch, stop, c, terms.derivative, estimator, steps, x, ahead)
        call_prox(terms.prox1, ahead, c * steps.prox, x)

        constraint(Fx_bar, steps, y_bar, theta, z_average)
        call_linear(terms.forward, x_bar, Fx_bar)
        for e in range(y.size):
            Fx_bar[e] -= Fx[e]
        ascend(y_bar, steps, Fx_bar, y)
        for e in range(y_average.size):
            y_average[e] += theta * (y_bar[e] - y_average[e])
        for j in range(x_average.size):
            x_average[j] += theta * (x_bar[j] - x_average[j])
