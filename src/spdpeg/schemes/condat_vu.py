"""The step of Condat and Vu, compiled: with full or estimated gradients, relaxed, with fewer dual steps than primal.

Without F it is the proximal gradient method.
"""

from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import call_linear, call_prox, inner, kernel
from ..kernels.terms import Terms
from .primal_dual import Estimator, ascend, constraint, correct, move
from .records import Steps


class Work(NamedTuple):
    """Vectors of a step: iterates, F^T y from step to step, room to work in, and x at the last dual step."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    back: np.ndarray
    ahead: np.ndarray
    x_next: np.ndarray
    y_next: np.ndarray
    y_ahead: np.ndarray
    anchor: np.ndarray
    """Empty if every primal step has its dual step."""


@kernel
def condat_vu(
    block: Block,
    order: np.ndarray,
    batch: int,
    terms: Terms,
    estimator: Estimator,
    steps: Steps,
    relaxation: float,
    dual_every: int,
    waiting: int,
    work: Work,
) -> int:
    """An iteration for each batch in `order`; `back` holds F^T y from step to step.

    x+ = prox(x - tau (g + F^T y)),  y+ = prox*(y + sigma F (2 x+ - x)),
    (x, y) <- (x, y) + relaxation ((x+, y+) - (x, y))

    With a dual step after every m primal ones, x in it is that of the last dual step, and sigma must be m times as
    small. `waiting` counts the primal steps since the last dual one, before and, returned, after these.
    """
    x, y, z, back, ahead, x_next, y_next, y_ahead, anchor = work
    for k in range(order.size // batch):
        move(x, 1.0, steps, estimator.mean, back, ahead)
        correct(block, order, k * batch, (k + 1) * batch, 1.0, terms.derivative, estimator, steps, x, ahead)
        call_prox(terms.prox1, ahead, steps.prox, x_next)
        waiting += 1
        if waiting == dual_every:
            before = x if dual_every == 1 else anchor
            for j in range(x.size):
                ahead[j] = 2.0 * x_next[j] - before[j]
            for j in range(anchor.size):
                anchor[j] = x_next[j]
        toward(relaxation, x_next, x)
        if waiting == dual_every:
            waiting = 0
            call_linear(terms.forward, ahead, z)
            ascend(y, steps, z, y_ahead)
            after = y if relaxation == 1.0 else y_next
            call_prox(terms.dual_prox2, y_ahead, steps.dual_prox, after)
            constraint(y_ahead, steps, after, 1.0, z)
            if relaxation != 1.0:
                toward(relaxation, y_next, y)
            call_linear(terms.adjoint, y, back)
    return waiting


@inner
def toward(relaxation: float, point: np.ndarray, out: np.ndarray) -> None:
    """out += relaxation (point - out); exactly `point` at 1."""
    if relaxation == 1.0:
        for j in range(out.size):
            out[j] = point[j]
    else:
        for j in range(out.size):
            out[j] += relaxation * (point[j] - out[j])
