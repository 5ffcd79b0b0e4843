"""All classes at once: the softmax loss with the penalties of every class.

    min over x_1 .. x_k, c   mean of -log softmax(<a_i, x_1> + c_1, ..)_{y_i}  +  sum over classes r1(x_j) + r2(F x_j)

The same number added to all intercepts changes nothing; those with mean 0 are given.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, logsumexp, softmax

from ..certificate.slopes import LossPart
from ..errors import UnsupportedError
from .joint_newton import FLOOR, MOST, JointNewton, factored, mean_weights

_PROFILING = 20
_SETTLED = 1e-14
"""Newton steps for the intercepts alone, before a bound, and the slope at which they end."""


class Multinomial(JointNewton):
    """The joint problem of k classes, without penalties until `with_penalties` adds some.

    Parameters
    ----------
    X : array or CSR matrix
    codes : array
        Classes of the rows, numbered from 0.
    weights : array or None
    intercept : bool
    """

    def __init__(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, intercept: bool) -> None:
        n, d = X.shape
        k = int(codes.max()) + 1
        if k * (d + intercept) > MOST:
            raise UnsupportedError(
                f"multi_class='multinomial' with {k} classes and {d} features has {k * (d + intercept)} unknowns, more "
                f"than {MOST}. Use multi_class='ovr'."
            )
        super().__init__(k, d, intercept)
        ones = np.ones((n, int(intercept)), dtype=X.dtype)
        self._rows = sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
        self._mean_weights = mean_weights(weights, n)
        self._hits = np.eye(k)[codes]

    def _margins(self, x: np.ndarray) -> np.ndarray:
        """Scores of the rows, a column for each class."""
        return np.asarray(self._rows @ x.reshape(self._count, -1).T)

    def _loss(self, margins: np.ndarray) -> float:
        return float(self._mean_weights @ (logsumexp(margins, axis=1) - np.sum(margins * self._hits, axis=1)))

    def _gradient(self, p: np.ndarray) -> np.ndarray:
        return np.asarray(self._rows.T @ (self._mean_weights[:, None] * (p - self._hits))).T.ravel()

    def _curvature(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = softmax(margins, axis=1)
        H = self._hessian(p)
        largest = H.diagonal().max() or 1.0
        if self._intercept:
            # Holds the mean of the intercepts where it is, since the loss does not see it.
            last = np.arange(1, self._count + 1) * (len(H) // self._count) - 1
            H[np.ix_(last, last)] += largest
        return factored(H, self._gradient(p), FLOOR * largest)  # the loss is flat where all classes move alike

    def _hessian(self, p: np.ndarray) -> np.ndarray:
        k, width = p.shape[1], self._rows.shape[1]
        H = np.empty((k, width, k, width))
        for a in range(k):
            for b in range(a + 1):
                curvature = self._mean_weights * p[:, a] * ((a == b) - p[:, b])
                H[a, :, b] = _gram(self._rows, curvature)
                H[b, :, a] = H[a, :, b].T
        return H.reshape(k * width, k * width)

    def _slopes(self, margins: np.ndarray) -> tuple[np.ndarray, LossPart]:
        """The conjugate of a row's loss at s (p - e_y) is sum q log q with q = s p + (1 - s) e_y."""
        p = self._profiled(softmax(margins, axis=1))

        def loss_part(scale: float) -> float:
            return float(self._mean_weights @ np.sum(entr(scale * p + (1.0 - scale) * self._hits), axis=1))

        return self._gradient(p), loss_part

    def _profiled(self, p: np.ndarray) -> np.ndarray:
        """Probabilities with the best intercepts, whose part of the gradient is 0; by Newton's method."""
        if not self._intercept:
            return p
        for _ in range(_PROFILING):
            slope = self._mean_weights @ (p - self._hits)
            if np.abs(slope).max() <= _SETTLED:
                break
            means = self._mean_weights @ p
            H = np.diag(means) - (p.T * self._mean_weights) @ p + np.ones((slope.size, slope.size))
            move = -np.linalg.solve(H + FLOOR * np.eye(slope.size), slope)
            p = softmax(np.log(np.maximum(p, np.finfo(float).tiny)) + move, axis=1)
        return p


def _gram(rows: Any, weights: np.ndarray) -> np.ndarray:
    """A^T diag(weights) A."""
    if sp.issparse(rows):
        return (rows.T @ rows.multiply(weights[:, None])).toarray()
    return rows.T @ (weights[:, None] * rows)
