"""One component of the precision: min -log det T + <S, T> + weight sum_{i != j} |T_ij|, with a duality gap.

The dual is max log det W + m over W with W_ii = S_ii and |W_ij - S_ij| <= weight. Alternating directions, as in
Scheinberg, Ma and Goldfarb (2010) and Boyd et al. (2011, section 6.5), but on correlations, so that columns of unequal
size do no harm: S_ij and the weight are both divided by the deviations of i and j.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

_CHECK_EVERY = 5


class Solution(NamedTuple):
    """A precision with exact zeros, its objective and a bound on how far that is from the smallest possible."""

    precision: np.ndarray
    objective: float
    gap: float


def solve(S: np.ndarray, weight: float, tol: float, max_iterations: int) -> Solution:
    """Iterate until the gap is at most `tol` for each column, or `max_iterations` times. S has a positive diagonal."""
    deviations = np.sqrt(np.diag(S))
    scale = np.multiply.outer(deviations, deviations)
    C, bound = S / scale, weight / scale
    np.fill_diagonal(bound, 0.0)
    m = deviations.size
    inner = _inner_point(C, bound)
    dual = _log_determinant(inner) + m
    sparse, multiplier, rho = np.eye(m), np.clip(-C, -bound, bound), 1.0
    np.fill_diagonal(multiplier, 0.0)
    for iteration in range(1, max_iterations + 1):
        # rho T - T^-1 = rho Z - Y - C has the eigenvectors of its right side.
        values, vectors = scipy.linalg.eigh(rho * sparse - multiplier - C, driver="evd", check_finite=False)
        values = (values + np.sqrt(values**2 + 4.0 * rho)) / (2.0 * rho)
        dense = (vectors * values) @ vectors.T
        previous, target = sparse, dense + multiplier / rho
        sparse = np.sign(target) * np.maximum(np.abs(target) - bound / rho, 0.0)
        # Clipped to the bound by construction, so C + multiplier is feasible for the dual where it is definite.
        multiplier = rho * (target - sparse)
        if iteration % _CHECK_EVERY and iteration < max_iterations:
            continue
        primal = -_log_determinant(sparse) + float(np.sum(C * sparse) + np.sum(bound * np.abs(sparse)))
        dual = max(dual, _dual_value(C + multiplier, inner))
        if primal - dual <= tol * m:
            break
        rho *= _balance(dense - sparse, rho * (sparse - previous), sparse, C + multiplier) ** (100 / (100 + iteration))
    return Solution(sparse / scale, primal + 2.0 * float(np.log(deviations).sum()), max(primal - dual, 0.0))


def _inner_point(C: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """A definite matrix that meets the constraints of the dual: C with all pairs shrunk until the bound allows it."""
    sizes = np.abs(C)
    shares = np.divide(bound, sizes, out=np.ones_like(C), where=sizes > bound)
    np.fill_diagonal(shares, 1.0)
    point: np.ndarray = (1.0 - shares.min()) * C
    np.fill_diagonal(point, 1.0)
    return point


def _dual_value(W: np.ndarray, inner: np.ndarray) -> float:
    """log det + m of the first definite matrix on the way from W to the inner point."""
    for share in (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
        value = _log_determinant((1.0 - share) * W + share * inner)
        if value > -np.inf:
            break
    return value + len(W)


def _log_determinant(matrix: np.ndarray) -> float:
    """Minus infinity if the matrix is not positive definite."""
    try:
        factor = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -np.inf
    return 2.0 * float(np.log(np.diag(factor)).sum())


def _balance(primal: np.ndarray, dual: np.ndarray, sparse: np.ndarray, W: np.ndarray) -> float:
    """By what to multiply rho so that both residuals, relative to what they measure, shrink alike; 1/2 to 2."""
    share = np.linalg.norm(primal) * np.linalg.norm(W)
    other = np.linalg.norm(dual) * np.linalg.norm(sparse)
    ratio = np.sqrt(share / other) if other > 0.0 else 2.0
    return float(np.clip(ratio, 0.5, 2.0)) if not 0.8 < ratio < 1.25 else 1.0
