"""The step of linearized ADMM, compiled."""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, kernel
from ..kernels.terms import Terms
from .primal_dual import Estimator, blend, descend, expect
from .records import Pace


class Work(NamedTuple):
    """Vectors of a linearized step: iterates, averages, and room to work in."""

    x: np.ndarray
    y: np.ndarray
    Fx_before: np.ndarray
    x_average: np.ndarray
    z_average: np.ndarray
    y_average: np.ndarray
    x_mean: np.ndarray
    y_next: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    Fx: np.ndarray
    Fx_ahead: np.ndarray


@kernel
def linearized(
    block: Block,
    order: np.ndarray,
    batch: int,
    pace: Pace,
    lead_x: float,
    lead_y: float,
    averaged: int,
    terms: Terms,
    estimator: Estimator,
    work: Work,
) -> None:
    """`steps.size` iterations of linearized ADMM: one product with F, one with F^T, one batch each.

    y <- y+ = prox_{rho r2*}(y + rho F (x + lead_x (x - x_before)))
    x <- prox_{c r1}(x - c (gradient estimate at x + F^T (y+ + lead_y (y+ - y))))

    lead_x = 1, lead_y = 0 is ADMM with the z-step first, lead_x = 0, lead_y = 1 with the x-step first (both are
    Condat-Vu), lead_x = lead_y = 0 is Arrow-Hurwicz. Averages of x, of z and of y; `x_mean`, unless empty, is the plain
    mean of x over these steps and the `averaged` ones before them.
    """
    steps, thetas, rho = pace
    x, y, Fx_before, x_average, z_average, y_average, x_mean, y_next, ahead, back, Fx, Fx_ahead = work
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
