"""Newton's method on the face of the penalty that x lies on, along a chain.

The solution is constant on pieces, many of them 0. As long as no piece splits, no value changes its sign and no jump
its direction, the penalty is linear, and what is left are a few numbers in a smooth problem. The pieces themselves are
found by other steps. Semismooth Newton methods rest on the same fact (Li, Sun, Toh, SIAM J. Optimization, 2018).
"""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..view import View

_MOST_PIECES = 1000
"""Pieces up to which a linear system among them is solved."""
_SHORT_OF_THE_EDGE = 0.99
"""Fraction of the way to the first change of sign that a step may go, as the face ends there."""


def face_step(
    problem: View, A: np.ndarray | sp.csr_array, curvature: np.ndarray, x: np.ndarray, gradient: np.ndarray
) -> np.ndarray | None:
    """Newton's step from x within its face, as far as the face goes; None if there are too many pieces or none.

    `curvature` are the second derivatives of the mean loss at the margins.
    """
    fused = problem.penalty.fused
    assert fused is not None
    chain = x[: problem.rows.n_features]
    cuts = np.flatnonzero(np.diff(chain))
    starts = np.concatenate([[0], cuts + 1])
    lengths = np.diff(np.append(starts, chain.size))
    values = chain[starts]
    moving = values != 0.0
    count = int(moving.sum()) + x.size - chain.size
    if not 0 < count <= _MOST_PIECES:
        return None
    pieces = np.where(moving, np.cumsum(moving) - 1, -1)
    place = np.concatenate([np.repeat(pieces, lengths), np.arange(count - (x.size - chain.size), count)])
    used = np.flatnonzero(place >= 0)
    B = sp.csr_array((np.ones(used.size), (used, place[used])), shape=(x.size, count))

    jumps = np.sign(np.diff(values))
    subgradient = np.zeros(x.size)
    subgradient[: chain.size] = fused.l1 * np.sign(chain)
    weights = np.broadcast_to(fused.l2, (max(chain.size - 1, 0),))[cuts] * jumps
    np.add.at(subgradient, cuts + 1, weights)
    np.add.at(subgradient, cuts, -weights)

    AB = A @ B
    AB = AB.toarray() if sp.issparse(AB) else AB
    H = (AB.T * curvature) @ AB
    H.flat[:: count + 1] += 1e-12 * np.trace(H) + 1e-300
    move = scipy.linalg.solve(H, -(B.T @ (gradient + subgradient)), assume_a="pos")

    by_piece = np.where(moving, move[np.maximum(pieces, 0)], 0.0)
    room = np.concatenate([_room(values[moving], by_piece[moving]), _room(np.diff(values), np.diff(by_piece))])
    return x + min(1.0, _SHORT_OF_THE_EDGE * float(np.min(room, initial=np.inf))) * (B @ move)


def _room(value: np.ndarray, move: np.ndarray) -> np.ndarray:
    """How far along the move each number keeps its sign."""
    against = value * move < 0.0
    return np.where(against, -value / np.where(against, move, -1.0), np.inf)
