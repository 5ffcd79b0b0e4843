"""Compiled loops of Newton's method with sampled curvature: second derivatives, their sums, and ADMM on the model."""

import math
from typing import NamedTuple

import numpy as np

from ..data import Block
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel
from ..kernels.rows import count, weight_of
from ..kernels.sweeps import add_outer
from ..kernels.terms import Terms

RELAXATION = 1.7
"""Over-relaxation of ADMM."""
REBALANCE = 20
"""Steps of ADMM after which rho may change."""
UNBALANCED = 10.0
"""Ratio of the two residuals of ADMM from which rho changes."""


@kernel
def curvatures(
    curvature: Term, margins: np.ndarray, labels: np.ndarray, weights: np.ndarray, floor: float, out: np.ndarray
) -> None:
    """out_i = w_i max(phi''(margin_i), floor)."""
    for i in range(out.size):
        out[i] = weight_of(weights, i) * max(call_scalar(curvature, margins[i], labels[i]), floor)


@kernel
def add_curvature(
    block: Block, curvature: Term, margins: np.ndarray, floor: float, stride: int, first: int, out: np.ndarray
) -> int:
    """out + out^T += sum of w phi''(margin) a a^T over every `stride`-th row; the number of those rows."""
    used = 0
    for i in range(first, count(block.rows), stride):
        used += 1
        second = max(call_scalar(curvature, margins[i], block.labels[i]), floor)
        add_outer(block.rows, i, weight_of(block.weights, i) * second, out)
    return used


class Work(NamedTuple):
    """Vectors of ADMM on a model: iterates, room to work in, and the two residuals."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    y_next: np.ndarray
    ahead: np.ndarray
    image: np.ndarray
    back: np.ndarray
    total_right: np.ndarray
    residuals: np.ndarray


@kernel
def model_steps(
    inverse: np.ndarray,
    right: np.ndarray,
    rho: float,
    accuracy: float,
    most: int,
    stack: Terms,
    work: Work,
) -> int:
    """Relaxed ADMM on the model until K x, z and z before agree to `accuracy`, or until rho should change.

    Takes at most `most` steps; returns how many it took. residuals = (|K x - z|, |z - z before|) of the last one.

    x = inverse (right + K^T (rho z - y)),  y <- prox_{rho psi*}(y + rho v),  z <- v + (y before - y) / rho,
    v = 1.7 K x - 0.7 z
    """
    x, y, z, y_next, ahead, image, back, total_right, residuals = work
    for step in range(1, most + 1):
        for e in range(y.size):
            ahead[e] = rho * z[e] - y[e]
        call_linear(stack.adjoint, ahead, back)
        for j in range(x.size):
            total_right[j] = right[j] + back[j]
        for j in range(x.size):
            total = 0.0
            for k in range(x.size):
                total += inverse[j, k] * total_right[k]
            x[j] = total
        call_linear(stack.forward, x, image)
        for e in range(y.size):
            ahead[e] = y[e] + rho * (RELAXATION * image[e] + (1.0 - RELAXATION) * z[e])
        call_prox(stack.dual_prox2, ahead, rho, y_next)
        primal = 0.0
        dual = 0.0
        size = 0.0
        for e in range(y.size):
            after = (ahead[e] - y_next[e]) / rho
            primal += (image[e] - after) ** 2
            dual += (after - z[e]) ** 2
            size += after**2
            z[e] = after
        for e in range(y.size):
            y[e] = y_next[e]
        residuals[0], residuals[1] = math.sqrt(primal), math.sqrt(dual)
        if residuals[0] + residuals[1] <= accuracy * math.sqrt(size):
            return step
        if step % REBALANCE == 0 and not dual < UNBALANCED**2 * primal < UNBALANCED**4 * dual:
            return step
    return most


@kernel
def correct(
    H: np.ndarray,
    inverse: np.ndarray,
    move: np.ndarray,
    change: np.ndarray,
    least: float,
    image: np.ndarray,
    back: np.ndarray,
) -> None:
    """H += c c^T / <c, m> - H m m^T H / <m, H m> for a move m that changed the gradient by c (BFGS).

    The inverse of H + rho K^T K follows. Nothing happens unless <c, m> is at least a part of <m, H m>.
    """
    predicted, found = multiply(H, move, image), 0.0
    for j in range(move.size):
        found += change[j] * move[j]
    if found > least * predicted > 0.0:
        for v, size in ((image, -predicted), (change, found)):
            add_square(H, v, 1.0 / size)
            # Sherman and Morrison's formula.
            whole = multiply(inverse, v, back)
            add_square(inverse, back, -1.0 / (size + whole))


@inner
def multiply(M: np.ndarray, v: np.ndarray, out: np.ndarray) -> float:
    """out = M v; returns <v, M v>."""
    whole = 0.0
    for i in range(v.size):
        total = 0.0
        for j in range(v.size):
            total += M[i, j] * v[j]
        out[i] = total
        whole += total * v[i]
    return whole


@inner
def add_square(M: np.ndarray, v: np.ndarray, factor: float) -> None:
    """M += factor v v^T."""
    for i in range(v.size):
        scaled = factor * v[i]
        for j in range(v.size):
            M[i, j] += scaled * v[j]
