"""One component of the precision: min -log det T + <S, T> + weight sum_{i != j} |T_ij|, with a duality gap.

The dual is max log det W + m over W with W_ii = S_ii and |W_ij - S_ij| <= weight. Alternating directions, as in
Scheinberg, Ma and Goldfarb (2010) and Boyd et al. (2011, section 6.5), but on correlations, so that columns of unequal
size do no harm: S_ij and the weight are both divided by the deviations of i and j.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

_CHECK_EVERY = 5

_POLISH_FROM = 1e-5
"""Gap per column from which on Newton's steps are tried, and again whenever it has fallen by the next factor."""

_POLISH_NEXT = 0.1

_ATTEMPTS = 5

_LARGEST_POLISH = 200
"""Columns up to which they are."""

_NEWTON_STEPS, _CONJUGATE_STEPS = 30, 60

_STATIONARY = 1e-13
"""Entries of a gradient, on correlations, that are as good as 0."""

_FORCING = 1e-12
"""Squared relative residual of a Newton step."""

_SHORTEST, _SUFFICIENT = 1e-6, 1e-4
"""Lengths of steps, and the part of the predicted decrease that one must bring."""

_ROUNDING = 16.0 * np.finfo(float).eps
"""Relative error of objectives, beyond which no gap can be resolved."""


class Solution(NamedTuple):
    """A precision with exact zeros, its objective and a bound on how far that is from the smallest possible."""

    precision: np.ndarray
    objective: float
    gap: float


def solve(S: np.ndarray, weight: float, tol: float, max_iterations: int, fallback: float = 0.0) -> Solution:
    """Iterate until the gap is at most `tol` for each column, or `max_iterations` times. S has a positive diagonal.

    A gap of `fallback` will do if Newton's steps did not come to `tol` from there.
    """
    deviations = np.sqrt(np.diag(S))
    scale = np.multiply.outer(deviations, deviations)
    C, bound = S / scale, weight / scale
    np.fill_diagonal(bound, 0.0)
    m = deviations.size
    inner = _inner_point(C, bound)
    dual = _log_determinant(inner) + m
    sparse, multiplier, rho = np.eye(m), np.clip(-C, -bound, bound), 1.0
    np.fill_diagonal(multiplier, 0.0)
    polish_at, attempts = _POLISH_FROM, 0
    for iteration in range(1, max_iterations + 1):
        # rho T - T^-1 = rho Z - Y - C has the eigenvectors of its right side.
        values, vectors = scipy.linalg.eigh(rho * sparse - multiplier - C, driver="evd", check_finite=False)
        values = (values + np.sqrt(values**2 + 4.0 * rho)) / (2.0 * rho)
        dense = (vectors * values) @ vectors.T
        dense = (dense + dense.T) / 2.0  # an entry and its mirror image must vanish together
        previous, target = sparse, dense + multiplier / rho
        sparse = np.sign(target) * np.maximum(np.abs(target) - bound / rho, 0.0)
        # Clipped to the bound by construction, so C + multiplier is feasible for the dual where it is definite.
        multiplier = rho * (target - sparse)
        if iteration % _CHECK_EVERY and iteration < max_iterations:
            continue
        primal = _objective(sparse, C, bound)
        dual = max(dual, _dual_value(C + multiplier, inner))
        if primal - dual <= enough(tol, m, primal):
            break
        if primal - dual <= polish_at * m and m <= _LARGEST_POLISH:
            polish_at = _POLISH_NEXT * (primal - dual) / m
            attempts += 1
            polished = polish(sparse, C, bound, inner)
            if polished is not None and polished[1] - polished[2] <= enough(tol, m, polished[1]):
                sparse, primal, dual = polished
                break
        if primal - dual <= fallback * m and (attempts >= _ATTEMPTS or m > _LARGEST_POLISH):
            break
        rho *= _balance(dense - sparse, rho * (sparse - previous), sparse, C + multiplier) ** (100 / (100 + iteration))
    return Solution(sparse / scale, primal + 2.0 * float(np.log(deviations).sum()), max(primal - dual, 0.0))


def enough(tol: float, m: int, objective: float) -> float:
    """The gap at which a component of m columns is solved."""
    return max(tol * m, _ROUNDING * (abs(objective) + m)) if abs(objective) < np.inf else tol * m


def polish(
    T: np.ndarray, C: np.ndarray, bound: np.ndarray, inner: np.ndarray
) -> tuple[np.ndarray, float, float] | None:
    """Newton's method within the orthant of T: T, its objective and a bound from below; None if it gets stuck.

    Entries that are not 0, and those that want to leave 0, move; what would change its sign becomes 0. The systems are
    solved by conjugate gradients, a step of which multiplies with the inverse of T twice.
    """
    primal = _objective(T, C, bound)
    for _ in range(_NEWTON_STEPS):
        W = scipy.linalg.inv(T, check_finite=False)
        W = (W + W.T) / 2.0
        slopes = C - W
        free = (T != 0.0) | (np.abs(slopes) > bound)
        signs = np.where(T != 0.0, np.sign(T), -np.sign(slopes))
        gradient = np.where(free, slopes + bound * signs, 0.0)
        if np.abs(gradient).max() <= _STATIONARY:
            break
        step = _newton_step(W, gradient, free)
        step = (step + step.T) / 2.0
        length = 1.0
        while True:
            ahead = T + length * step
            ahead[np.sign(ahead) != signs] = 0.0
            value = _objective(ahead, C, bound)
            if value <= primal + _SUFFICIENT * float(np.sum(gradient * (ahead - T))) + _ROUNDING * abs(primal):
                break
            length /= 2.0
            if length < _SHORTEST:
                return None
        T, primal = ahead, value
    return T, primal, _dual_value(C + np.clip(W - C, -bound, bound), inner)


def _objective(T: np.ndarray, C: np.ndarray, bound: np.ndarray) -> float:
    return -_log_determinant(T) + float(np.sum(C * T) + np.sum(bound * np.abs(T)))


def _newton_step(W: np.ndarray, gradient: np.ndarray, support: np.ndarray) -> np.ndarray:
    """D on the support with (W D W) = -gradient there."""
    diagonal = np.diag(W)
    scale = np.where(support, np.multiply.outer(diagonal, diagonal) + W * W, 1.0)
    step, residual = np.zeros_like(W), -gradient
    ahead = residual / scale
    direction, energy = ahead, float(np.sum(residual * ahead))
    least = _FORCING * energy
    for _ in range(_CONJUGATE_STEPS):
        image = np.where(support, W @ direction @ W, 0.0)
        length = energy / float(np.sum(direction * image))
        step = step + length * direction
        residual = residual - length * image
        ahead = residual / scale
        before, energy = energy, float(np.sum(residual * ahead))
        if energy <= least:
            break
        direction = ahead + energy / before * direction
    return step


def _inner_point(C: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """A definite matrix that meets the constraints of the dual: C with all pairs shrunk until the bound allows it."""
    sizes = np.abs(C)
    factors = np.divide(bound, sizes, out=np.ones_like(C), where=sizes > bound)
    np.fill_diagonal(factors, 1.0)
    point: np.ndarray = (1.0 - factors.min()) * C
    np.fill_diagonal(point, 1.0)
    return point


def _dual_value(W: np.ndarray, inner: np.ndarray) -> float:
    """log det + m of the first definite matrix on the way from W to the inner point."""
    for fraction in (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
        value = _log_determinant((1.0 - fraction) * W + fraction * inner)
        if value > -np.inf:
            break
    return value + len(W)


def _log_determinant(matrix: np.ndarray) -> float:
    """The log determinant; minus infinity if the matrix is not positive definite."""
    try:
        factor = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -np.inf
    return 2.0 * float(np.log(np.diag(factor)).sum())


def _balance(primal: np.ndarray, dual: np.ndarray, sparse: np.ndarray, W: np.ndarray) -> float:
    """Factor on rho, between 1/2 and 2, that balances the two relative residuals."""
    product = np.linalg.norm(primal) * np.linalg.norm(W)
    other = np.linalg.norm(dual) * np.linalg.norm(sparse)
    ratio = np.sqrt(product / other) if other > 0.0 else 2.0
    return float(np.clip(ratio, 0.5, 2.0)) if not 0.8 < ratio < 1.25 else 1.0
