"""Total variation of an image, axis by axis: dual steps that settle whole rows and columns at once."""

import math
from typing import Any

import numpy as np

from ..kernels.chain import MEMORY, chain_prox
from ..kernels.jit import inner, kernel
from .signal import Signal

_STEPS = 4
"""Between two looks at the gap."""


class AxisChains:
    """Accelerated projected gradients in the part of the dual that belongs to columns; rows follow exactly.

    For an image y, let p and q be what rows and columns take away from it, x = y - p - q. Among the p of a given q the
    best is known: the exact prox of all rows. What is left is a function of q whose gradient, x itself, is Lipschitz
    with constant 1 whatever the size of the image, and the projection onto the set of all q is the exact prox of all
    columns. Steps that look at single edges need as many times more as an image has pixels along an edge.

    Chambolle, Pock: A remark on accelerated block coordinate descent for computing the proximity operators of a sum of
    convex functions. SMAI Journal of Computational Mathematics 1 (2015).
    """

    def __init__(self, signal: Signal, lam2: Any, centred: np.ndarray, start: np.ndarray) -> None:
        assert signal.F.grid is not None
        self._shape, self._lam2 = signal.F.grid, lam2
        rows, columns = self._shape
        # All values count the same: with weights of 1 only the limits differ.
        scale = float(signal.weights[0])
        first = (rows - 1) * columns
        self._factors = factors = _factors(signal) / scale
        limits = np.broadcast_to(lam2, factors.shape) * factors
        self._down = np.ascontiguousarray(limits[:first].reshape(rows - 1, columns).T)
        self._across = limits[first:].reshape(rows, columns - 1)
        self._image = centred.reshape(self._shape)
        self._q = self._adjoint_down(start[:first])
        self._ahead, self._momentum = self._q.copy(), np.ones(1)
        longest = max(self._shape)
        self._spare = np.empty((3, *self._shape)), np.empty(2 * longest), np.empty(MEMORY * longest)

    @staticmethod
    def takes(signal: Signal) -> bool:
        """Whether a signal is an image whose values count the same, and whose differences are penalised one by one."""
        grid = signal.F.grid
        image = grid is not None and len(grid) == 2 and min(grid) > 1
        return image and signal.groups is None and signal.even and bool(np.all(_factors(signal) > 0.0))

    def ascend(self) -> np.ndarray:
        """Take some steps; returns the multipliers of F x."""
        _climb(self._image, (self._across, self._down), self._q, self._ahead, self._spare, self._momentum)
        x, z, _ = self._spare[0]
        # Rows follow once more, at q itself.
        z[:] = self._image - self._q
        _along_rows(z, self._across, self._spare, x)
        down, across = -np.cumsum(self._q, axis=0)[:-1], -np.cumsum(z - x, axis=1)[:, :-1]
        # Rounding may cross the limits, which no bound would survive.
        return np.clip(np.concatenate([down.ravel(), across.ravel()]) / self._factors, -self._lam2, self._lam2)

    def _adjoint_down(self, u: np.ndarray) -> np.ndarray:
        """The adjoint of the differences along columns."""
        flow = (u * self._factors[: u.size]).reshape(self._shape[0] - 1, self._shape[1])
        return np.asarray(-np.diff(flow, axis=0, prepend=0.0, append=0.0))


def _factors(signal: Signal) -> np.ndarray:
    """Along an axis F is a multiple of differences: which, for each of its rows."""
    assert signal.F.grid is not None
    return signal.F.forward(np.indices(signal.F.grid, dtype=float).sum(axis=0).ravel())


_Spare = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Three images, two lines, and memory for the prox of a line."""


@inner
def _rows_prox(image: np.ndarray, limits: np.ndarray, spare: _Spare, out: np.ndarray) -> None:
    """out = the prox of all rows of an image."""
    for i in range(image.shape[0]):
        chain_prox(image[i], 1.0, limits[i], spare[2][: MEMORY * image.shape[1]], out[i])


@inner
def _columns_prox(image: np.ndarray, limits: np.ndarray, spare: _Spare, out: np.ndarray) -> None:
    """out = the prox of all columns; the limits of a column are a row."""
    size = image.shape[0]
    line, found = spare[1][:size], spare[1][size : 2 * size]
    for j in range(image.shape[1]):
        for i in range(size):
            line[i] = image[i, j]
        chain_prox(line, 1.0, limits[j], spare[2][: MEMORY * size], found)
        for i in range(size):
            out[i, j] = found[i]


@kernel
def _along_rows(image: np.ndarray, limits: np.ndarray, spare: _Spare, out: np.ndarray) -> None:
    _rows_prox(image, limits, spare, out)


@kernel
def _climb(
    image: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    q: np.ndarray,
    ahead: np.ndarray,
    spare: _Spare,
    state: np.ndarray,
) -> None:
    """Some steps from q, looking ahead along the last one; `state` holds the momentum."""
    x, z, after = spare[0][0], spare[0][1], spare[0][2]
    rows, columns = image.shape
    for _ in range(_STEPS):
        for i in range(rows):
            for j in range(columns):
                z[i, j] = image[i, j] - ahead[i, j]
        _rows_prox(z, limits[0], spare, x)
        for i in range(rows):
            for j in range(columns):
                z[i, j] = ahead[i, j] + x[i, j]
        _columns_prox(z, limits[1], spare, after)
        # Momentum that points away from the step just taken is dropped (O'Donoghue, Candes 2015).
        turned = 0.0
        for i in range(rows):
            for j in range(columns):
                after[i, j] = z[i, j] - after[i, j]
                turned += (ahead[i, j] - after[i, j]) * (after[i, j] - q[i, j])
        momentum = 1.0 if turned > 0.0 else state[0]
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        weight = (momentum - 1.0) / following
        for i in range(rows):
            for j in range(columns):
                ahead[i, j] = after[i, j] + weight * (after[i, j] - q[i, j])
                q[i, j] = after[i, j]
        state[0] = following
