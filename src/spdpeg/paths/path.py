"""All solutions on a grid of two weights."""

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from .. import pages, plots
from ..errors import InputError
from ..estimators.fitting import EPS, chosen, derive, walk
from ..estimators.inputs import translated_errors
from ..operators.pieces import n_pieces
from ..parameters import numbers, whole_number
from ..plots.form import mark_of, names_of, places_of, shape_of, titles_of
from ..sparse import sound


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
    model : estimator
        The model that was fitted, without the coefficients of any fit; `at` fills them in.

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
    model: Any

    @property
    def nonzero(self) -> np.ndarray:
        """Number of coefficients other than 0, for all pairs."""
        return np.count_nonzero(self.coef.reshape(*self.passes.shape, -1), axis=2)

    @property
    def pieces(self) -> np.ndarray | None:
        """Number of connected sets of features with equal coefficients; None if F joins no pairs of features."""
        F = self.model.F_
        if F is None or not (F.chain or F.edges is not None or F.grid is not None):
            return None
        rows = self.coef.reshape(self.passes.size, -1, self.coef.shape[-1])
        counts = [sum(n_pieces(F, row) for row in fit) for fit in rows]
        return np.array(counts).reshape(self.passes.shape)

    def at(self, i: int, j: int) -> Any:
        """The model with the i-th lam1 and the j-th lam2, ready to predict.

        Parameters
        ----------
        i, j : int
            Indices in `lam1` and `lam2`.

        Returns
        -------
        estimator
            It knows its objective, but not how its run went.

        Examples
        --------
        >>> import spdpeg
        >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
        >>> found = spdpeg.path(spdpeg.FusedLogisticRegression(), X, y, lam1=[0.1, 0.01], lam2=[0.1, 0.01])
        >>> found.at(0, 1).lam2
        0.01
        """
        for name, place in (("lam1", i), ("lam2", j)):
            count = getattr(self, name).size
            if not -count <= whole_number(f"The index of {name}", place) < count:
                raise InputError(f"The index of {name} is {place}, and there are {count} weights. Give one of these.")
        model = copy.copy(self.model)
        for name in {"lam1", "lam2"} & model.get_params(deep=False).keys():
            setattr(model, name, float(getattr(self, name)[i if name == "lam1" else j]))
        coef, intercept = self.coef[i, j], self.intercept[i, j]
        model.coef_ = coef.copy()
        model.intercept_ = intercept.copy() if intercept.ndim else float(intercept)
        model.objective_, model.n_iter_ = float(self.objective[i, j]), int(self.passes[i, j])
        for name in {"flat_", "mean_loss_", "n_rows_", "log_hazards_"} & vars(model).keys():
            setattr(model, name, None)  # of another fit
        derive(model)
        return model

    def scores(self, X: Any, y: Any, scoring: Any = None) -> np.ndarray:
        """How well each fit predicts.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that were not used for the fits, as a rule.
        y : array of shape (n_samples,)
        scoring : str, callable or None, default=None
            As scikit-learn's; None is the model's own score, R^2 or accuracy.

        Returns
        -------
        array of shape (k1, k2)

        Examples
        --------
        >>> import spdpeg
        >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
        >>> found = spdpeg.path(spdpeg.FusedLogisticRegression(), X, y, lam1=[0.1, 0.01], lam2=[0.1, 0.01])
        >>> found.scores(X, y).shape
        (2, 2)
        """
        X, y = sound(X), sound(y, "y")
        with translated_errors():
            score = check_scoring(self.model, scoring)
            found = [[score(self.at(i, j), X, y) for j in range(self.lam2.size)] for i in range(self.lam1.size)]
            return np.array(found, dtype=float)

    def explore(self, path: Any, scores: Any = None) -> None:
        """Write a page with a slider for each weight, which shows the fit at any pair of them.

        It is one HTML file that needs no network: coefficients, pieces, objective and, if there are scores, these and
        the pair with the best of them.

        Parameters
        ----------
        path : str or path
        scores : array of shape (k1, k2) or fitted model that chose its weights, optional
            What `scores` returns, or a model such as `FusedLassoCV` fitted on the same grids of weights.
        """
        values, best = self._judged(scores)
        pieces = self.pieces
        surfaces = {
            **({} if values is None else {"score": values}),
            "coefficients other than 0": self.nonzero,
            **({} if pieces is None else {"pieces": pieces}),
            "objective": self.objective,
            "relative gap": self.gap,
        }
        coef = self.coef.reshape(*self.passes.shape, -1, self.coef.shape[-1])
        found = shape_of(self.model)
        shape = None if found is None else (math.prod(found[:-1]), found[-1])  # slices of a volume below each other
        look = pages.explorer.Look(mark_of(self.model), shape, places_of(self.at(0, 0)), names_of(self.model))
        several = coef.shape[2] > 1
        rows = titles_of(self.model, coef[0, 0]) if several else ["coefficients"]
        title = f"{type(self.model).__name__} at many weights"
        summary = (
            f"{self.passes.size} fits. The larger lam1, the more coefficients are 0 or small; the larger lam2, the "
            "more entries of F x are, such as differences of neighbours."
        )
        pages.explorer.publish(path, title, summary, (self.lam1, self.lam2), coef, rows, look, surfaces, best)

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
        np.savez_compressed(file, **{name: value for name, value in vars(self).items() if name != "model"})

    def __repr__(self) -> str:
        k1, k2 = self.passes.shape
        return (
            f"Path({k1} x {k2} fits, {self.nonzero.min()} to {self.nonzero.max()} non-zero coefficients, "
            f"{self.passes.sum():.4g} passes, largest relative gap {self.gap.max():.2g})"
        )

    def _repr_html_(self) -> str:
        k1, k2 = self.passes.shape
        facts = {
            "lam1": f"{self.lam1[0]:.3g} to {self.lam1[-1]:.3g}",
            "lam2": f"{self.lam2[0]:.3g} to {self.lam2[-1]:.3g}",
            "coefficients other than 0": f"{self.nonzero.min()} to {self.nonzero.max()}",
            "passes over the data": float(self.passes.sum()),
            "largest relative gap": float(self.gap.max()),
        }
        return pages.notebook.card(f"{type(self.model).__name__}: {k1} x {k2} fits", facts)

    def _judged(self, scores: Any) -> tuple[np.ndarray | None, tuple[int, int] | None]:
        """Scores of all pairs, and the indices of the chosen one."""
        if scores is None:
            return None, None
        if hasattr(scores, "mean_scores_"):
            values = np.asarray(scores.mean_scores_)
            grids = (scores.lam1_grid_, scores.lam2_grid_)
            fits = all(map(np.array_equal, grids, (self.lam1, self.lam2)))
            place = (int(np.argmax(grids[0] == scores.lam1_)), int(np.argmax(grids[1] == scores.lam2_)))
        else:
            values = numbers("scores", scores)
            fits = values.shape == self.passes.shape
            place = divmod(int(np.argmax(values)), self.lam2.size) if fits else (0, 0)
        if not fits:
            raise InputError(
                f"The scores are not those of this grid of {self.lam1.size} x {self.lam2.size} weights. "
                "Fit the path at lam1_grid_ and lam2_grid_ of the model that chose."
            )
        return values, place


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
    offset: Any = None,
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
    offset : array of shape (n_samples,), optional
        As in `fit` of a regressor; logarithms of exposures belong into it.

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
    weights = chosen(estimator, (X, y, sample_weight, offset), lam1, lam2, n_lam1, n_lam2, eps)
    shape = (weights["lam1"].size, weights["lam2"].size)
    kept: dict[str, np.ndarray] = {}
    fits = walk(estimator, weights["lam1"], weights["lam2"], X, y, sample_weight, offset, details=False)
    if estimator.verbose:
        from ..engine.progress import counted

        fits = counted(fits, "fits", shape[0] * shape[1])
    for place, model in fits:
        for name, value in _account(model).items():
            kept.setdefault(name, np.empty((*shape, *np.shape(value))))[place] = value
    return Path(**weights, **kept, model=_template(model))


def _template(model: Any) -> Any:
    """The fitted model without what belongs to its last fit alone."""
    template = copy.copy(model)
    for name in ("coef_", "intercept_", "certificate_", "history_", "dual_"):
        vars(template).pop(name, None)
    return template


def _account(model: Any) -> dict[str, Any]:
    """The record that a path keeps of a fit."""
    certificates = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    return {
        "coef": model.coef_,
        "intercept": model.intercept_,
        "objective": np.sum(model.objective_),
        "gap": max(certificate.rel_gap for certificate in certificates),
        "passes": model.n_iter_,
    }
