"""All solutions on a grid of two weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from .. import plots
from ..errors import InputError
from .largest import grids
from .walk import walk

NAMES = ("lam1", "lam2")
EPS = 1e-3


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

        The lines pass through the pair with the indices `at`, the middle of the grid by default. Needs matplotlib;
        returns the figure.
        """
        return plots.path(self, at)

    def save(self, file: Any) -> None:
        """Write all arrays by their names, as numpy.savez does."""
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
    X, y, sample_weight
        As in `fit`.
    lam1, lam2 : arrays, optional
        Weights to fit at. By default, n_lam1 and n_lam2 of them in geometric progression. lam1 begins where all
        coefficients are 0, whatever lam2 is; under a ridge penalty, where every direction shrinks by half or more. lam2
        begins at about where F x is 0, so that a fused model has a single piece.
    n_lam1, n_lam2 : int, default=20
        Lengths of grids that are not given.
    eps : float, default=1e-3
        The smallest weight of such a grid over the largest.

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
    steps = walk(estimator, **weights, X=X, y=y, sample_weight=sample_weight)
    console = Console(stderr=True)
    hidden = not (estimator.verbose and console.is_terminal)
    for place, model in track(steps, "fits", shape[0] * shape[1], console=console, transient=True, disable=hidden):
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


def chosen(
    estimator: Any, X: Any, y: Any, sample_weight: Any, lam1: Any, lam2: Any, n_lam1: int, n_lam2: int, eps: float
) -> dict[str, np.ndarray]:
    """Both grids, largest weights first: those given, checked, and those that the data suggest."""
    known = estimator.get_params(deep=False)
    if "lam2" not in known:
        raise InputError(f"{type(estimator).__name__} has no parameter lam2. A path needs a model with lam1 or lam2.")
    if not 0.0 < eps < 1.0:
        raise InputError(f"eps is {eps}. Give a number between 0 and 1.")
    given = {"lam1": lam1, "lam2": lam2}
    sizes = {"lam1": n_lam1, "lam2": n_lam2}
    found = {}
    for name in NAMES:
        if name not in known:
            if given[name] is not None:
                raise InputError(f"{type(estimator).__name__} has no parameter {name}. Leave {name} out.")
            found[name] = np.zeros(1)
        elif given[name] is not None:
            found[name] = _checked(name, given[name])
        elif int(sizes[name]) != sizes[name] or sizes[name] < 1:
            raise InputError(f"n_{name} is {sizes[name]}. Give a whole number of at least 1.")
    missing = {name: int(size) for name, size in sizes.items() if name not in found}
    return {**(grids(estimator, X, y, sample_weight, missing, eps) if missing else {}), **found}


def _checked(name: str, values: Any) -> np.ndarray:
    try:
        grid = np.unique(np.asarray(values, dtype=float))[::-1]
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.size == 0 or not np.all(np.isfinite(grid)) or np.any(grid < 0.0):
        raise InputError(f"{name} is {values!r}. Give an array of finite weights of at least 0.")
    return grid
