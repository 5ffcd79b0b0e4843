"""Quadratic models with penalties that interior points do not take, minimised through their prox.

    min over x of  1/2 x^T H x - b^T x + p(K x)

by the augmented Lagrangian method: with z = K x, multipliers y and a weight sigma, each round minimises

    1/2 x^T H x - b^T x + min over z of  p(z) + y^T (K x - z) + sigma/2 |K x - z|^2,

a smooth function of x whose gradient is semismooth, by Newton's steps with an element J of the Jacobian of the prox:
their matrix is H + sigma K^T (I - J) K. Both loops converge fast, so that the answer has all digits that rounding
leaves. The multipliers are subgradients of p at z by construction.

Li, Sun, Toh: A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso problems, SIAM Journal
on Optimization, 2018.
"""

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from ..kernels import deadline

_ROUNDS = 60
_STEPS = 60
"""Most rounds, and Newton's steps in one."""

MOST_STEPS = 300
"""Newton's steps after which no round is begun."""

_ACCURACY = 1e-13
"""Relative size of K x - z and of the gradient at which rounding takes over."""

_ENOUGH = 1e-8
"""Relative size of K x - z and of the gradient at which an answer counts as one."""

_SLOWEST = 0.2
_STIFFER = 5.0
"""Fraction of |K x - z| that a round may leave; if it leaves more, sigma grows by this factor."""

_FIRST = 1e-4
"""First sigma where nothing is known yet, times the mean square of the columns of K."""

_FAR = 1e100
"""A proximal step so long that it ends where p is least."""

_STIFFEST = 1e9
"""Beyond this many times its first value sigma does not grow, since Newton's matrix would lose all digits."""

_SHIFT = 1e-14
"""Added to the diagonal of Newton's matrix, relative to its largest entry."""

_MORE_SHIFT, _MOST_SHIFT = 1e3, 1e-3
"""Factor by which that grows in a round where no length of a step is good, and the last from which it does."""

_ARMIJO = 1e-4
_SHORTEST = 1e-9


class Proximal(Protocol):
    """The methods that p must have, as a `Penalty` does."""

    def value(self, v: np.ndarray) -> float:
        """p(v)."""

    def prox(self, point: np.ndarray, step: float) -> np.ndarray:
        """argmin over v of step * p(v) + |v - point|^2 / 2."""

    def dual_prox(self, point: np.ndarray, step: float) -> np.ndarray:
        """The same of the conjugate."""

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        """An element of the generalised Jacobian of the prox."""


class Split(NamedTuple):
    """p(K x)."""

    K: np.ndarray
    penalty: Proximal


class Minimum(NamedTuple):
    """A minimiser x, z = K x with the structure that the prox gives, and y in the subdifferential of p at z."""

    x: np.ndarray
    z: np.ndarray
    y: np.ndarray
    accuracy: float
    """What is left of K x = z and of H x - b + K^T y = 0, relative to their parts."""

    @property
    def found(self) -> bool:
        """Whether the answer is one."""
        return self.accuracy <= _ENOUGH


def minimize(H: np.ndarray, b: np.ndarray, split: Split, x: np.ndarray, most_steps: int = MOST_STEPS) -> Minimum:
    """The minimum of a model, from x."""
    K = split.K
    d, m = b.size, K.shape[0]
    square = max(float(np.square(K).sum()) / d, 1e-300)
    first = sigma = float(np.trace(H)) / d / square or _without_curvature(split) or _FIRST / square
    # A length of K x that is none: what the steepest direction alone would have.
    steepest = float(np.diagonal(H).max(initial=0.0)) or 1.0
    least = max(float(np.linalg.norm(K @ b)) / steepest, 1e-300)
    y = np.zeros(m)
    best = Minimum(x, K @ x, y, np.inf)
    before, steps = np.inf, 0
    for _ in range(_ROUNDS):
        deadline.check()
        x, z, y, slope, more = _round(H, b, split, sigma, x, y)
        steps += more
        Kx = K @ x
        missed = float(np.linalg.norm(Kx - z)) / max(float(np.linalg.norm(z)), float(np.linalg.norm(Kx)), least)
        now = Minimum(x, z, y, max(missed, slope / max(_gradient_size(b, K, y), float(np.linalg.norm(H @ x)), 1e-300)))
        if now.accuracy < best.accuracy:
            best = now
        if best.accuracy <= _ACCURACY or not np.isfinite(now.accuracy) or steps >= most_steps:
            break
        if missed > _SLOWEST * before:
            if sigma >= _STIFFEST * first:
                break
            sigma *= _STIFFER
        before = missed
    return best


def _without_curvature(split: Split) -> float:
    """The sigma at which a model without curvature has multipliers as large, in its units, as K x; 0 if unknown.

    Multipliers are as large as the subgradients at 0, and K x as the point where p is least.
    """
    nothing = np.zeros(split.K.shape[0])
    least = float(np.linalg.norm(split.penalty.prox(nothing, _FAR)))
    slopes = float(np.linalg.norm(split.penalty.dual_prox(nothing, _FAR)))
    ratio = slopes / least if least > 0.0 else 0.0
    return ratio if np.isfinite(ratio) else 0.0


def _gradient_size(b: np.ndarray, K: np.ndarray, y: np.ndarray) -> float:
    """The size of b and of the terms of K^T y, which may cancel."""
    return max(float(np.linalg.norm(b)), float(np.linalg.norm(np.abs(K).T @ np.abs(y))))


def _round(
    H: np.ndarray, b: np.ndarray, split: Split, sigma: float, x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, int]:
    """Minimise the augmented Lagrangian in x; x, z, the new multipliers, the length of the gradient, the steps."""
    K, p = split

    def at(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        u = K @ x + y / sigma
        # Within the domain of p* exactly, which u - prox(u) would leave by its rounding.
        multiplier = p.dual_prox(sigma * u, sigma)
        z = p.prox(u, 1.0 / sigma)
        value = 0.5 * float(x @ (H @ x)) - float(b @ x) + p.value(z) + 0.5 * float(multiplier @ multiplier) / sigma
        return value, z, multiplier, H @ x - b + K.T @ multiplier

    value, z, multiplier, gradient = at(x)
    steps, shift = 0, _SHIFT
    while steps < _STEPS:
        steps += 1
        size = float(np.linalg.norm(gradient))
        if size <= 0.1 * _ACCURACY * _gradient_size(b, K, multiplier):
            break
        outside = np.eye(len(multiplier)) - p.prox_jacobian(K @ x + y / sigma, 1.0 / sigma)
        matrix = H + sigma * (K.T @ outside @ K)
        move = _solved(matrix, -gradient, shift)
        slope, length = float(gradient @ move), 1.0
        while length > _SHORTEST:
            ahead = at(x + length * move)
            # Where values no longer tell, gradients do.
            lower = ahead[0] <= value + _ARMIJO * length * slope
            flatter = abs(slope) <= 1e-10 * abs(value) and np.linalg.norm(ahead[3]) < size
            if lower or flatter:
                break
            length *= 0.5
        else:
            if shift >= _MOST_SHIFT:
                break
            shift *= _MORE_SHIFT  # along directions in which next to nothing bends here, the step was far too long
            continue
        x = x + length * move
        value, z, multiplier, gradient = ahead
    return x, z, multiplier, float(np.linalg.norm(gradient)), steps


def _solved(matrix: np.ndarray, right: np.ndarray, shift: float) -> np.ndarray:
    largest = float(np.abs(np.diagonal(matrix)).max(initial=0.0)) or 1.0
    for _ in range(8):
        factor, failed = scipy.linalg.lapack.dpotrf(matrix + shift * largest * np.eye(len(matrix)), lower=1)
        if not failed:
            break
        shift *= 30.0
    else:
        return right / largest
    move = scipy.linalg.lapack.dpotrs(factor, right, lower=1)[0]
    return move + scipy.linalg.lapack.dpotrs(factor, right - matrix @ move, lower=1)[0]
