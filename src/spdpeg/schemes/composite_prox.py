"""The prox of r1 + r2(F .) where it has no closed form, compiled: fast projected steps on its dual."""

import math
from typing import NamedTuple

import numpy as np

from ..kernels.jit import call_linear, call_prox, kernel
from ..kernels.terms import Terms


class Work(NamedTuple):
    """Room to work in: the dual variable, where it is going, what that is made of, F^T of it, and the point."""

    y: np.ndarray
    ahead: np.ndarray
    following: np.ndarray
    back: np.ndarray
    x: np.ndarray

    @classmethod
    def of(cls, n_inputs: int, n_outputs: int) -> "Work":
        """Work space for an F of this size."""
        return cls(*(np.zeros(n_outputs) for _ in range(3)), *(np.zeros(n_inputs) for _ in range(2)))


@kernel
def composite_prox(
    terms: Terms, point: np.ndarray, step: float, length: float, steps: int, work: Work, out: np.ndarray
) -> None:
    """out = argmin over w of step (r1(w) + r2(F w)) + |w - point|^2 / 2, after some dual steps of this length."""
    y, ahead, following, back, x = work
    y[:] = 0.0
    ahead[:] = 0.0
    momentum = 1.0
    for _ in range(steps):
        call_linear(terms.adjoint, ahead, back)
        for j in range(x.size):
            x[j] = point[j] - step * back[j]
        call_prox(terms.prox1, x, step, x)
        call_linear(terms.forward, x, following)
        for i in range(y.size):
            following[i] = ahead[i] + length * following[i]
        call_prox(terms.dual_prox2, following, length, following)
        faster = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        for i in range(y.size):
            ahead[i] = following[i] + (momentum - 1.0) / faster * (following[i] - y[i])
            y[i] = following[i]
        momentum = faster
    call_linear(terms.adjoint, y, back)
    for j in range(x.size):
        x[j] = point[j] - step * back[j]
    call_prox(terms.prox1, x, step, out)
