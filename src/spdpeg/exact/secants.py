"""The curvature that steps have shown: a diagonal matrix changed by pairs of steps and changes of the gradient (BFGS).

Byrd, Nocedal, Schnabel: Representations of quasi-Newton matrices and their use in limited memory methods, Mathematical
Programming 63, 1994.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..quadratic import LowRank

_FEW_ODD = 100
"""Coordinates with another ridge than all others, up to which products are corrected for them instead of made again."""


class Secants(NamedTuple):
    """The matrix that BFGS makes of a diagonal one, by pairs of steps and changes of the gradient.

    With S and Y the steps and changes as rows and U the units, B = scale U - W^T M^-1 W, W = (scale S U; Y),
    M = ((scale S U S^T, L), (L^T, -D)), where L is the lower triangle of S Y^T without its diagonal D.
    """

    moves: np.ndarray
    changes: np.ndarray
    products: np.ndarray
    """S U S^T, S Y^T and Y Y^T."""
    scale: float
    units: np.ndarray | float

    @property
    def diagonal(self) -> np.ndarray | float:
        """scale U."""
        return self.scale * self.units

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Some columns of W, one after the other."""
        n = len(self.moves)
        out = np.empty((places.size, 2 * n))
        for i, row in enumerate([*self.moves, *self.changes]):
            out[:, i] = row[places]
        out[:, :n] *= self.diagonal[places, None] if isinstance(self.diagonal, np.ndarray) else self.diagonal
        return out

    def times(self, x: np.ndarray) -> np.ndarray:
        """W x."""
        if isinstance(self.units, np.ndarray):
            return np.concatenate([self.moves @ (self.diagonal * x), self.changes @ x])
        return np.concatenate([self.diagonal * (self.moves @ x), self.changes @ x])

    def adjoint(self, t: np.ndarray) -> np.ndarray:
        """W^T t."""
        n = len(self.moves)
        if isinstance(self.units, np.ndarray):
            return np.asarray(self.diagonal * (t[:n] @ self.moves) + t[n:] @ self.changes)
        out = (self.scale * t[:n]) @ self.moves
        out += t[n:] @ self.changes
        return np.asarray(out)

    def squares(self, D: np.ndarray | float) -> np.ndarray:
        """W D^-1 W^T."""
        if not len(self.moves):
            return np.zeros((0, 0))
        # Where D is one number the products are known, and nearly so where an intercept has another one.
        if isinstance(D, float):
            return self._own_squares / D
        if not isinstance(self.units, np.ndarray):
            common = float(D.max())
            odd = np.flatnonzero(common != D)
            if odd.size <= _FEW_ODD:
                of_odd = self.columns(odd)
                return self._own_squares / common + (of_odd.T * (1.0 / D[odd] - 1.0 / common)) @ of_odd
        W = np.concatenate([self.moves * self.diagonal, self.changes])
        return (W / D) @ W.T

    @property
    def _own_squares(self) -> np.ndarray:
        """W W^T, where units are one number."""
        (SS, SY, YY), scale = self.products, self.diagonal
        return np.block([[scale * scale * SS, scale * SY], [scale * SY.T, YY]])

    @property
    def middle(self) -> np.ndarray:
        """M."""
        lower = np.tril(self.products[1], -1)
        return np.block([[self.scale * self.products[0], lower], [lower.T, -np.diag(self.products[1].diagonal())]])

    def orthogonal(self) -> LowRank:
        """The same with orthonormal rows."""
        d = self.moves.shape[1]
        if not len(self.moves):
            return LowRank(np.full(d, self.diagonal), np.zeros((0, d)), np.zeros(0))
        W = np.vstack([self.moves * self.diagonal, self.changes])
        Q, R = scipy.linalg.qr(W.T, mode="economic")
        core = -R @ np.linalg.solve(self.middle, R.T)
        values, vectors = np.linalg.eigh(0.5 * (core + core.T))
        return LowRank(np.full(d, self.diagonal), np.ascontiguousarray((Q @ vectors).T), values)
