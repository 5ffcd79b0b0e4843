"""The largest absolute value."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import jit
from .balls import L1Ball
from .base import Packed, Penalty
from .conic import ConicForm, broken_lines
from .shared import in_dual_domain, weight_of


class LInf(Penalty):
    """weight * max_j |v_j|: many entries of the same largest size.

    Parameters
    ----------
    weight : float

    See Also
    --------
    L1 : Its dual norm.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.LInf(2.0).prox([3.0, -2.0, 0.5]).tolist()
    [1.5, -1.5, 0.5]
    """

    homogeneous = True

    # The conjugate is the indicator of the l1 ball of radius `weight`, so the two hooks change places.
    kernel_prox = L1Ball.kernel_dual_prox
    kernel_dual_prox = L1Ball.kernel_prox

    def __init__(self, weight: Any = 1.0) -> None:
        self.weight = weight

    def value(self, v: np.ndarray) -> float:
        return float(self.weight * np.max(np.abs(v), initial=0.0))

    def conjugate(self, u: np.ndarray) -> float:
        return 0.0 if in_dual_domain(np.abs(u).sum(), -self.weight, self.weight) else np.inf

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return u if np.any(self.weight) else np.zeros_like(u)

    def free(self, size: int) -> np.ndarray:
        return np.broadcast_to(not np.any(self.weight), (size,))

    def dual_scale(self, u: np.ndarray) -> float:
        size = float(np.abs(u).sum())
        return min(1.0, float(np.squeeze(self.weight)) / size) if size > 0.0 else 1.0

    def conic_form(self, size: int) -> ConicForm:
        # One more variable, at least |v_j| for every j.
        weight = weight_of(self, "weight", self.weight)
        if size == 0 or not np.any(weight):
            return broken_lines(sp.csr_array((0, size)), 0.0, 0.0, 0.0)
        above = sp.hstack([sp.eye_array(size), -np.ones((size, 1))])
        below = sp.hstack([-sp.eye_array(size), -np.ones((size, 1))])
        linear = np.append(np.zeros(size), weight)
        return broken_lines(sp.vstack([above, below]), 0.0, np.inf, 0.0, size, linear)

    def pack(self, size: int) -> Packed:
        return Packed(weight_of(self, "weight", self.weight), jit.NONE)
