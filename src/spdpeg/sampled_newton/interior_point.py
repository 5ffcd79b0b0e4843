"""Interior points for quadratic models with l1 norms, where ADMM crawls: trend filters above all.

min 1/2 x^T H x - right^T x + sum_e w_e |K_e x| has the dual variables y with |y| <= w and H x + K^T y = right. Newton's
method follows the path on which both slacks w - y and w + y, times multipliers whose difference is K x, equal a number
that falls to 0. Kim, Koh, Boyd, Gorinevsky: l1 trend filtering, SIAM Review 51 (2009); predictor and corrector after
Mehrotra, SIAM Journal on Optimization 2 (1992).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

_MOST_STEPS = 60
_MOST_RISES = 5
"""Steps without a smaller gap after which rounding is taken to be all that is left."""
_ALMOST = 0.99
"""Part of the way to the border that a step may go."""

Solve = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def minimize(
    H: np.ndarray | sp.csr_array, right: np.ndarray, K: sp.csr_array, weights: np.ndarray, accuracy: float
) -> tuple[np.ndarray, np.ndarray]:
    """x and y, up to a gap of `accuracy` times the size of the terms of the objective, or as far as rounding allows."""
    used = weights > 0.0
    K, w = sp.csr_array(K[used]), weights[used]
    d, m = right.size, w.size
    system = _reduced(H, K)
    x, y = np.zeros(d), np.zeros(m)
    size = float(np.linalg.norm(right)) / (float(H.diagonal().sum()) or 1.0) * np.sqrt(d) or 1.0
    above, below = np.full(m, size), np.full(m, size)  # multipliers of w - y >= 0 and w + y >= 0
    best, rises = (np.inf, x, y), 0
    for _ in range(_MOST_STEPS):
        up, down = w - y, w + y
        image, slope = K @ x, H @ x - right + K.T @ y
        gap = float(above @ up + below @ down)
        short = gap + float(np.abs(image - above + below) @ w) + abs(float(slope @ x))
        if not short < best[0]:
            rises += 1
        else:
            rises, best = 0, (short, x, y)
        if rises == _MOST_RISES or short <= accuracy * (abs(float(right @ x)) + float(np.abs(image) @ w)):
            break
        try:
            solve = system(above / up + below / down)
        except (np.linalg.LinAlgError, ValueError):  # rounding has made a matrix indefinite, or not a number
            break

        def direction(to_up: Any, to_down: Any) -> tuple[np.ndarray, ...]:
            """The step to products of slacks and multipliers that equal the targets, up to second order."""
            dx, dy = solve(-slope, image - to_up / up + to_down / down)  # noqa: B023
            return dx, dy, (to_up + above * dy) / up - above, (to_down - below * dy) / down - below  # noqa: B023

        def room(dy: np.ndarray, d_above: np.ndarray, d_below: np.ndarray) -> float:
            pairs = ((up, -dy), (down, dy), (above, d_above), (below, d_below))  # noqa: B023
            return min(_room(value, move) for value, move in pairs)

        _, dy, d_above, d_below = direction(0.0, 0.0)
        step = room(dy, d_above, d_below)
        left = (above + step * d_above) @ (up - step * dy) + (below + step * d_below) @ (down + step * dy)
        aim = gap / (2 * m) * min(1.0, float(left) / gap) ** 3
        dx, dy, d_above, d_below = direction(aim + dy * d_above, aim - dy * d_below)
        step = min(1.0, _ALMOST * room(dy, d_above, d_below))
        x, y = x + step * dx, y + step * dy
        above, below = above + step * d_above, below + step * d_below
    multipliers = np.zeros(weights.size)
    multipliers[used] = best[2]
    return best[1], multipliers


def _reduced(H: np.ndarray | sp.csr_array, K: sp.csr_array) -> Callable[[np.ndarray], Solve]:
    """A solver of H dx + K^T dy = a, K dx - D dy = -b for any diagonal D.

    As it stands where H is sparse, otherwise through the smaller and steadier of two matrices.
    """
    if sp.issparse(H):
        return lambda D: _as_it_stands(H, K, D)
    dense = K.toarray()
    if K.shape[0] <= K.shape[1]:
        try:
            whole = scipy.linalg.cho_factor(H, lower=True)
        except np.linalg.LinAlgError:
            pass
        else:
            return lambda D: _by_rows_of_K(whole, dense, D)
    return lambda D: _by_coordinates(H, dense, D)


def _as_it_stands(H: sp.csr_array, K: sp.csr_array, D: np.ndarray) -> Solve:
    try:
        factor = scipy.sparse.linalg.splu(sp.block_array([[H, K.T], [K, -sp.diags_array(D)]], format="csc"))
    except RuntimeError as error:  # singular
        raise np.linalg.LinAlgError from error

    def solve(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = factor.solve(np.concatenate([a, -b]))
        return both[: a.size], both[a.size :]

    return solve


def _by_rows_of_K(whole: Any, K: np.ndarray, D: np.ndarray) -> Solve:
    matrix = K @ scipy.linalg.cho_solve(whole, K.T)
    matrix.flat[:: D.size + 1] += D
    factor = scipy.linalg.cho_factor(matrix, lower=True)

    def solve(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dy = scipy.linalg.cho_solve(factor, K @ scipy.linalg.cho_solve(whole, a) + b)
        return scipy.linalg.cho_solve(whole, a - K.T @ dy), dy

    return solve


def _by_coordinates(H: np.ndarray, K: np.ndarray, D: np.ndarray) -> Solve:
    factor = scipy.linalg.cho_factor(H + K.T @ (K / D[:, None]), lower=True)

    def solve(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dx = scipy.linalg.cho_solve(factor, a - K.T @ (b / D))
        return dx, (K @ dx + b) / D

    return solve


def _room(value: np.ndarray, move: np.ndarray) -> float:
    """How far along the move all values stay positive."""
    against = move < 0.0
    return float(np.min(value[against] / -move[against], initial=1.0 / _ALMOST))
