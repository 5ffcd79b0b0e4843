"""The structure of a fit: which differences vanish, the pieces, the degrees of freedom."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..operators.pieces import freedom, image_size, length_curvature, lengths_of, pieces, shrunk_freedom, vanishing
from .fit import Fit
from .signal import Signal

_FEW_PIECES = 1000
"""Up to which the inverse of a matrix of them is taken."""

_PROBES = 100
"""Random vectors that estimate a trace."""

_LEAST_MASS = 1e-12


def flat(signal: Signal, found: Fit, lam2: Any) -> np.ndarray:
    """Which entries of F x vanish."""
    image = signal.F.forward(found.x)
    if signal.groups is not None:
        return np.asarray((image == 0.0) | (lengths_of(signal.F, signal.groups, found.x) == 0.0)[signal.groups])
    if signal.F.chain:
        return np.asarray(image == 0.0)
    weights = np.broadcast_to(np.asarray(lam2, dtype=float), image.shape)
    return vanishing(image, found.dual, weights, image_size(signal.F, found.x))


def support(signal: Signal, found: Fit) -> np.ndarray:
    """Which values are not 0; all of them without l1."""
    if signal.l1 == 0.0:
        return np.ones(found.x.size, dtype=bool)
    if signal.F.chain:
        return np.asarray(found.x != 0.0)
    multiplier = signal.weights * (signal.y - found.x) - signal.F.adjoint(found.dual)
    return ~vanishing(found.x, multiplier, np.full(found.x.size, signal.l1))


def labels(signal: Signal, found: Fit, lam2: Any) -> np.ndarray | None:
    """The number of the piece of each value; None where F knows no pieces."""
    return pieces(signal.F, flat(signal, found, lam2))


def degrees(signal: Signal, found: Fit, lam2: Any) -> int | float:
    """Degrees of freedom, at most as many as there are values."""
    inside, zero = support(signal, found), flat(signal, found, lam2)
    if signal.groups is not None:
        return _shrunk(signal, found.x, float(lam2), inside, zero)
    return min(freedom(signal.F, zero, inside), int(np.count_nonzero(signal.observed)))


def _shrunk(signal: Signal, x: np.ndarray, lam2: float, inside: np.ndarray, zero: np.ndarray) -> float:
    """Where lengths of gradients are penalised a piece has less than one: the trace of (W + Q)^-1 W over the pieces.

    Q is the curvature of the penalty (Vaiter and others, 2017). Of many pieces the trace is estimated by Hutchinson's
    random signs, to about sqrt(2 df / 100).
    """
    labels = pieces(signal.F, zero)
    assert labels is not None
    assert signal.groups is not None
    moves = np.flatnonzero((np.bincount(labels, ~inside) == 0.0)[labels])
    names, numbers = np.unique(labels[moves], return_inverse=True)
    B = sp.csr_array((np.ones(moves.size), (moves, numbers)), shape=(x.size, names.size))
    Q = sp.csr_array(lam2 * (B.T @ length_curvature(signal.F, signal.groups, x) @ B))
    mass = B.T @ signal.weights
    if names.size <= _FEW_PIECES:
        return shrunk_freedom(np.diag(mass), Q.toarray())
    root = np.sqrt(mass)[:, None]
    # A piece without a value that counts hangs on its neighbours; a trace of mass keeps the matrix regular.
    total = sp.csc_array(Q + sp.diags_array(np.maximum(mass, _LEAST_MASS * mass.max())))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (names.size, _PROBES))
    found = splu(total, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(root * signs)
    return float(np.mean(np.sum(root * signs * found, axis=0)))
