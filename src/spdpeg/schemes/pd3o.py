"""The step of PD3O, compiled: with full or estimated gradients."""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, inner, kernel
from ..kernels.terms import Terms
from .primal_dual import Estimator, ascend, constraint, correct, move
from .records import Steps


class Work(NamedTuple):
    """Vectors of a step: iterates, F^T y from step to step, and room to work in."""

    x: np.ndarray
    q: np.ndarray
    y: np.ndarray
    z: np.ndarray
    back: np.ndarray
    ahead: np.ndarray
    y_ahead: np.ndarray


@kernel
def pd3o(
    block: Block, order: np.ndarray, batch: int, terms: Terms, estimator: Estimator, steps: Steps, work: Work
) -> None:
    """An iteration for each batch in `order`; `back` holds F^T y from step to step.

    x = prox(q),  h = x - tau g(x),  y <- prox*(y + sigma F (x + h - q - tau F^T y)),  q = h - tau F^T y
    """
    x, q, y, z, back, ahead, y_ahead = work
    nothing = back[:0]
    for k in range(order.size // batch):
        call_prox(terms.prox1, q, steps.prox, x)
        move(x, 1.0, steps, estimator.mean, nothing, ahead)
        correct(block, order, k * batch, (k + 1) * batch, 1.0, terms.derivative, estimator, steps, x, ahead)
        reflect(x, ahead, steps, back, q)
        call_linear(terms.forward, q, z)
        ascend(y, steps, z, y_ahead)
        call_prox(terms.dual_prox2, y_ahead, steps.dual_prox, y)
        constraint(y_ahead, steps, y, 1.0, z)
        call_linear(terms.adjoint, y, back)
        move(ahead, 1.0, steps, nothing, back, q)


@inner
def reflect(x: np.ndarray, h: np.ndarray, steps: Steps, back: np.ndarray, q: np.ndarray) -> None:
    """q <- x + h - q - tau back."""
    if steps.tau.size > 1:
        for j in range(x.size):
            q[j] = x[j] + h[j] - q[j] - steps.tau[j] * back[j]
    else:
        tau = steps.tau[0]
        for j in range(x.size):
            q[j] = x[j] + h[j] - q[j] - tau * back[j]
