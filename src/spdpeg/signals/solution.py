"""What a fit consists of: which differences vanish, the pieces, the degrees of freedom."""

from typing import Any

import numpy as np

from ..operators.pieces import freedom, image_size, pieces, vanishing
from .fit import Fit
from .signal import Signal


def flat(signal: Signal, found: Fit, lam2: Any) -> np.ndarray:
    """Which entries of F x vanish."""
    image = signal.F.forward(found.x)
    if signal.F.chain or signal.groups is not None:
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


def degrees(signal: Signal, found: Fit, lam2: Any) -> int:
    """Degrees of freedom, at most as many as there are values."""
    inside = support(signal, found)
    return min(freedom(signal.F, flat(signal, found, lam2), inside), int(np.count_nonzero(signal.observed)))
