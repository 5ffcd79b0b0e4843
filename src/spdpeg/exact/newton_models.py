"""How the quadratic models of Newton's steps are minimised, penalties included and without data."""

from typing import Protocol

import numpy as np

from ..penalties.conic import ConicForm
from ..quadratic import Minimum, Model, augmented, minimum
from ..quadratic.augmented import Split

_NOISE = 1e-14
"""Part of the objective that rounding may cost."""


class Models(Protocol):
    """Minimises models with some penalties."""

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""

    @property
    def rough(self) -> "Models":
        """The same, or what is quicker, where a point near the minimum will do and no multipliers are needed."""


class ConicModels:
    """By interior points, for penalties in conic form."""

    def __init__(self, form: ConicForm) -> None:
        self._form = form

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        found = minimum(Model(H, b, self._form))
        return found._replace(point=found.point[: x.size].copy())

    @property
    def rough(self) -> "ConicModels":
        """Itself."""
        return self


class SplitModels:
    """By augmented Lagrangians, for any penalties with a prox.

    Parameters
    ----------
    split : Split
    own : slice or None
        Where K x holds x itself, with the structure that the prox gives it; None if it does not.
    """

    def __init__(self, split: Split, own: slice | None) -> None:
        self._split, self._own = split, own

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        found = augmented.minimize(H, b, self._split, x)
        point = found.x
        if self._own is not None:
            K, penalty = self._split
            trial = found.z[self._own]
            values = [0.5 * float(v @ (H @ v)) - float(b @ v) + penalty.value(K @ v) for v in (point, trial)]
            # Structure is worth the rounding that it may cost.
            point = trial.copy() if not values[1] > values[0] + _NOISE * abs(values[0]) else point
        return Minimum(point, found.x, found.y, *(("optimal", 0.0) if found.found else ("inaccurate", np.inf)))

    @property
    def rough(self) -> "SplitModels":
        """Itself."""
        return self
