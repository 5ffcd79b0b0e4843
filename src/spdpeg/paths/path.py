"""All solutions on a grid of two weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import plots
from ..estimators.fitting import EPS, chosen, walk


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions for all pairs of lam1 and lam2; k1 and k2 are the lengths of the grids.

    Attributes
    ----------
    lam1, lam2 : arrays of shape (k1,) and (k2,)
        Largest first; of length 1 and 0 for a model without the weight.
    coef : array of shape (k1, k2, n_features), or (k1, k2, n_rows, n_features) for a classifier
    intercept : array of shape (k1, k2), or (k1, k2, n_rows)
    objective, gap, passes : arrays of shape (k1, k2)
        Objective, relative duality gap and passes over the data of each fit; where classes are fitted one by one, the
        sum of the objectives, the largest gap and the most passes.

    See Also
    --------
    path : Makes it.
    """

    lam1: np.ndarray
    lam2: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    passes: np.ndarray

    @property
    def nonzero(self) -> np.ndarray:
        """Number of coefficients other than 0, for all pairs."""
        return np.count_nonzero(self.coef.reshape(*self.passes.shape, -1), axis=2)

    def plot(self, at: tuple[int, int] | None = None) -> Any:
        """Draw the number of non-zero coefficients over both weights, and the coefficients along each.

        Needs matplotlib.

        Parameters
        ----------
        at : pair of int, optional
            Indices of the pair of weights that the lines pass through; the middle of the grid by default.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return plots.path(self, at)

    def save(self, file: Any) -> None:
        """Write all arrays by their names, as numpy.savez does.

        Parameters
        ----------
        file : str, path or binary file
        """
        np.savez_compressed(file, **vars(self))

    def __repr__(self) -> str:
        k1, k2 = self.passes.shape
        return (
            f"Path({k1} x {k2} fits, {self.nonzero.min()} to {self.nonzero.max()} non-zero coefficients, "
            f"{self.passes.sum():.4g} passes, largest relative gap {self.gap.max():.2g})"
        )


def path(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    lam1: Any = None,
    lam2: Any = None,
    n_lam1: int = 20,
    n_lam2: int = 20,
    eps: float = EPS,
) -> Path:
    """Fit at all pairs of weights on a grid, each fit beginning near its solution.

    Parameters
    ----------
    estimator : estimator with the parameter lam2, and mostly lam1
        Its own weights do not matter, all its other parameters do. `verbose` shows one bar for all fits.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    sample_weight : array of shape (n_samples,), optional
        As in `fit`.
    lam1, lam2 : arrays, optional
        Weights to fit at. By default, n_lam1 and n_lam2 of them in geometric progression. lam1 begins where all
        coefficients are 0, whatever lam2 is; under a ridge penalty, where every direction shrinks by half or more. lam2
        begins at about where F x is 0, so that a fused model has a single piece.
    n_lam1, n_lam2 : int, default=20
        Lengths of grids that are not given.
    eps : float, default=1e-3
        The smallest weight of such a grid over the largest.

    Returns
    -------
    Path

    See Also
    --------
    lam_max : The weights at which all coefficients become 0.
    FusedLassoCV : Choose the weights by cross-validation.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLasso
    >>> from spdpeg.paths import path
    >>> X, y, truth = datasets.piecewise_constant(300, 20, task="regression")
    >>> found = path(FusedLasso(), X, y, n_lam1=4, n_lam2=3)
    >>> found.coef.shape
    (4, 3, 20)
    >>> found.nonzero[:, -1].tolist()
    [0, 11, 15, 16]
    """
    weights = chosen(estimator, X, y, sample_weight, lam1, lam2, n_lam1, n_lam2, eps)
    shape = (weights["lam1"].size, weights["lam2"].size)
    kept: dict[str, np.ndarray] = {}
    fits = walk(estimator, **weights, X=X, y=y, sample_weight=sample_weight)
    if estimator.verbose:
        from ..engine.progress import counted

        fits = counted(fits, "fits", shape[0] * shape[1])
    for place, model in fits:
        for name, value in _account(model).items():
            kept.setdefault(name, np.empty((*shape, *np.shape(value))))[place] = value
    return Path(**weights, **kept)


def _account(model: Any) -> dict[str, Any]:
    """What a path keeps of a fit."""
    certificates = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    return {
        "coef": model.coef_,
        "intercept": model.intercept_,
        "objective": np.sum(model.objective_),
        "gap": max(certificate.rel_gap for certificate in certificates),
        "passes": model.n_iter_,
    }
