"""Choosing lam2: cross-validation with interleaved folds, Stein's unbiased risk, or the Bayesian criterion."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import lsqr

from ..errors import UnsupportedError
from .fit import Fit, balance, fit
from .signal import Signal
from .solution import degrees

CRITERIA = ("cv", "sure", "bic")

_MANY, _FEW = 60, 25
"""Weights that are tried: along a line, where a fit takes no time, and elsewhere."""

_SMALLEST = {1: 1e-5, 2: 1e-8}
"""The smallest one, as a fraction of the largest; along a line, by order."""

_SMALLEST_ELSEWHERE = 1e-3
"""The same on images and graphs."""

_NORMAL = 0.6744897501960817
"""Median of the absolute value of a standard normal variable."""


@dataclass(frozen=True, eq=False)
class Choice:
    """How lam2 was chosen.

    Attributes
    ----------
    criterion : str
        "cv", "sure" or "bic".
    weights : array
        The values of lam2 that were tried, from the largest down.
    scores : array
        Mean squared error on values that were held out ("cv"), an unbiased estimate of the mean squared error of the
        fit ("sure"), or minus twice the log-likelihood plus log(n) times the degrees of freedom ("bic").
    sigma : float or None
        Standard deviation of the noise that "sure" and "bic" used.
    """

    criterion: str
    weights: np.ndarray
    scores: np.ndarray
    sigma: float | None

    @property
    def best(self) -> float:
        """The weight with the smallest score."""
        return float(self.weights[int(np.argmin(self.scores))])

    @property
    def at_edge(self) -> bool:
        """Whether the best weight is the smallest that was tried, so that a smaller one may be better."""
        return int(np.argmin(self.scores)) == self.weights.size - 1


def choose(signal: Signal, criterion: str, sigma: float | None, folds: int, tol: float) -> tuple[Choice, Fit | None]:
    """The best of a grid of weights, each of them fitted to the tolerance, and the fit there if it was made."""
    weights = grid(signal)
    if criterion == "cv":
        return Choice(criterion, weights, _held_out(signal, weights, folds, tol), None), None
    sigma = noise(signal) if sigma is None else sigma
    n = int(np.count_nonzero(signal.observed))
    scores: list[float] = []
    fits: list[Fit] = []
    for weight in weights:
        fits.append(fit(signal, weight, tol, fits[-1] if fits else None))
        residual = signal.y - fits[-1].x
        rss = float(signal.weights @ (residual * residual))
        df = degrees(signal, fits[-1], weight)
        if criterion == "sure":
            scores.append((rss + (2.0 * df - n) * sigma**2) / n)
        else:
            scores.append(rss / sigma**2 + math.log(n) * df)
    choice = Choice(criterion, weights, np.array(scores), sigma)
    return choice, fits[int(np.argmin(scores))]


def grid(signal: Signal) -> np.ndarray:
    """Weights from one that makes F x vanish down to one that leaves most of y as it is."""
    top = _largest(signal)
    if signal.order is None:
        return (top or 1.0) * np.geomspace(1.0, _SMALLEST_ELSEWHERE, _FEW)
    return (top or 1.0) * np.geomspace(1.0, _SMALLEST[min(signal.order, 2)], _MANY if signal.order == 1 else _FEW)


def _largest(signal: Signal) -> float:
    """A lam2 at which F x = 0, for lam1 = 0: the multipliers that balance what F can take of w y."""
    if signal.order is not None:
        return float(np.max(np.abs(balance(signal)[1]), initial=0.0))
    u = lsqr(signal.F.matrix().T, signal.weights * signal.y, atol=1e-4, btol=1e-4, iter_lim=200)[0]
    sizes = np.abs(u) if signal.groups is None else np.sqrt(np.bincount(signal.groups, np.square(u)))
    return float(np.max(sizes, initial=0.0))


def _held_out(signal: Signal, weights: np.ndarray, folds: int, tol: float) -> np.ndarray:
    """Mean squared error on every folds-th value, for each weight."""
    fold = _folds(signal, folds)
    errors = np.zeros(weights.size)
    for k in range(folds):
        out = (fold == k) & signal.observed
        kept = signal.without(out)
        if not out.any() or not kept.weights.any():
            continue
        last: Fit | None = None
        for i, weight in enumerate(weights):
            last = fit(kept, weight, tol, last)
            errors[i] += float(signal.weights[out] @ np.square(signal.y[out] - _predicted(kept, last.x)[out]))
    return errors / float(signal.weights.sum())


def _folds(signal: Signal, folds: int) -> np.ndarray:
    """Neighbours are in different folds: places count along a line, and askew on a grid."""
    if len(signal.shape) == 1:
        fold = np.zeros(signal.y.size, dtype=np.int64)
        observed = np.flatnonzero(signal.observed)
        fold[observed] = np.arange(observed.size) % folds
        return fold
    places = np.indices(signal.shape).reshape(len(signal.shape), -1)
    return np.asarray(np.arange(1, len(signal.shape) + 1) @ places % folds)


def _predicted(signal: Signal, x: np.ndarray) -> np.ndarray:
    """x; along a line of order 1 any value between its neighbours is as good, and the middle is taken."""
    if not signal.F.chain:
        return x
    observed = np.flatnonzero(signal.observed)
    after = np.searchsorted(observed, np.arange(x.size))
    left, right = observed[np.maximum(after - 1, 0)], observed[np.minimum(after, observed.size - 1)]
    return np.asarray(0.5 * (x[left] + x[right]))


def noise(signal: Signal) -> float:
    """Standard deviation of values of weight 1, from the median of |F y|, which few jumps do not change."""
    matrix = signal.F.matrix()
    variances = np.divide(1.0, signal.weights, out=np.full(signal.y.size, np.inf), where=signal.observed)
    spread = np.sqrt((matrix * matrix) @ np.where(signal.observed, variances, 0.0))
    whole = (abs(matrix) @ (~signal.observed).astype(float) == 0.0) & (spread > 0.0)
    if not whole.any():
        raise UnsupportedError(
            "The noise cannot be told from these values: no two neighbours are both there. Give sigma, or lam2='cv'."
        )
    found = float(np.median(np.abs(matrix @ signal.y)[whole] / spread[whole])) / _NORMAL
    return found or np.finfo(float).tiny ** 0.25
