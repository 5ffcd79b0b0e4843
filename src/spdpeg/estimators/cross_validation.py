"""Models that choose their two weights by cross-validation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring, log_loss
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted

from .. import plots
from ..data import Source
from ..data.selection import take
from ..errors import InputError, UnsupportedError
from ..lazy import is_dask
from ..parameters import one_of
from ..penalties import Penalty
from ..sums import threads
from ..sums.threads import checked_jobs
from . import families, fitting, sources
from .fused import FusedLasso, FusedLogisticRegression
from .graph_guided import GraphGuidedLogisticRegression

RULES = ("best", "one-standard-error")


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidated:
    """The choice of weights.

    Parameters
    ----------
    lam1 : array, default=None
        Weights to choose from. None lets the data suggest n_lam1 of them, as `spdpeg.path` does.
    lam2 : array, default=None
        The same with n_lam2.
    n_lam1 : int, default=10
        Length of the grid of lam1 if it is not given.
    n_lam2 : int, default=10
        The same for lam2.
    eps : float, default=1e-3
        The smallest weight of such a grid over the largest.
    cv : int, splitter, iterable of (train, test) indices or None, default=None
        None is five folds, stratified for a classifier.
    scoring : str, callable or None, default=None
        As scikit-learn's; larger is better. None is minus the mean squared error, the mean loss of another family, or
        the logarithmic loss of a classifier.
    rule : {"best", "one-standard-error"}, default="best"
        The weights of the best mean score; or, among all whose mean score is within one standard error of that, the
        largest: those the fewest steps down both grids.
    n_jobs : int or None, default=None
        Threads: folds that are fitted at a time, and what the last fit to all rows may use. None is 1, -1 one for each
        processor.

    Attributes
    ----------
    lam1_, lam2_ : float
        The weights chosen; the model is fitted with them to all rows.
    lam1_grid_, lam2_grid_ : arrays of shape (k1,) and (k2,)
        Those tried, largest first.
    scores_ : array of shape (k1, k2, n_folds)
        Of the rows held out.
    mean_scores_, std_scores_ : arrays of shape (k1, k2)
        Mean and standard deviation of `scores_` over the folds.
    """

    lam1: Any = None
    lam2: Any = None
    n_lam1: int = 10
    n_lam2: int = 10
    eps: float = fitting.EPS
    cv: Any = None
    scoring: Any = None
    rule: str = "best"
    n_jobs: int | None = None

    _model: ClassVar[Any]

    def _choose(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        one_of(f"rule of {type(self).__name__}", self.rule, RULES)
        if is_dask(X):
            raise UnsupportedError(
                f"{type(self).__name__} takes folds of rows in memory, and X is a collection of dask. Choose lam1 and "
                "lam2 on a sample that is computed, or by spdpeg.path, and fit the model without CV."
            )
        source = sources.found(X)
        if source is not None:
            X, y = source, source.labels if y is None else np.asarray(y)
        model, data = self._at(1.0, 1.0), (X, y, sample_weight, offset)
        fitting.rows(model, *data)  # so that the splitter meets no bad labels
        grids = fitting.chosen(model, data, self.lam1, self.lam2, self.n_lam1, self.n_lam2, self.eps)
        self.lam1_grid_, self.lam2_grid_ = grids["lam1"], grids["lam2"]
        self.scores_ = self._scored(model, *data)
        self.mean_scores_, self.std_scores_ = self.scores_.mean(axis=2), self.scores_.std(axis=2)
        i, j = self._choice()
        self.lam1_, self.lam2_ = float(self.lam1_grid_[i]), float(self.lam2_grid_[j])

    def plot_scores(self) -> Any:
        """Draw the mean scores over both weights, best and chosen marked. Needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_is_fitted(self)
        return plots.scores(self)

    @property
    def partial_fit(self) -> Any:
        """Not there: weights are chosen from all rows at once."""
        raise AttributeError(f"{type(self).__name__} chooses its weights from all rows and has no partial_fit.")

    def _at(self, lam1: float, lam2: float) -> Any:
        """The same model with given weights."""
        names = self._model().get_params(deep=False)
        shared = {name: value for name, value in self.get_params(deep=False).items() if name in names}  # type: ignore[attr-defined]
        return self._model(**{**shared, "lam1": lam1, "lam2": lam2})

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return fitting.penalties(self._at(self.lam1_, self.lam2_), n_features)

    def _scored(self, model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> np.ndarray:
        given = {"sample_weight": sample_weight, "offset": offset}
        extras = {name: part for name, part in given.items() if part is not None}
        data = [X, *indexable(y, *extras.values())]
        if not isinstance(X, Source):
            data = indexable(*data)
        try:
            splitter = check_cv(self.cv, y, classifier=is_classifier(model))
            scorer = _score if self.scoring is None else check_scoring(model, self.scoring)
            if offset is not None and self.scoring is not None:
                raise ValueError("scorers take no offset; leave scoring out")
            folds = [(_indices(train), _indices(test)) for train, test in splitter.split(np.zeros(_num_samples(X)), y)]
            if not folds:
                raise ValueError("no folds")
        # scikit-learn complains of wrong values and of wrong types in its own ways.
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise InputError(f"cv or scoring of {type(self).__name__} cannot be used ({error}).") from None

        jobs = checked_jobs(self.n_jobs)
        at_a_time = min(jobs, len(folds))
        model.set_params(n_jobs=jobs // at_a_time)

        moments = fitting.FoldMoments.of(model, (X, y, sample_weight, offset), folds)

        def fold(number: int) -> np.ndarray:
            train, test = folds[number]
            (X_in, y_in, *given_in), (X_out, y_out, *held) = _rows(train, data), _rows(test, data)
            seen = dict(zip(extras, given_in, strict=True))
            unseen = dict(zip(extras, held, strict=True))
            scores = np.empty((self.lam1_grid_.size, self.lam2_grid_.size))
            others = None if moments is None else moments.others(number)
            for place, fitted in fitting.walk(
                model, self.lam1_grid_, self.lam2_grid_, X_in, y_in, **seen, moments=others
            ):
                known = moments.score(number, fitted) if moments is not None and self.scoring is None else None
                scores[place] = scorer(fitted, X_out, y_out, **unseen) if known is None else known
            return scores

        # Several folds share the processors already, and rounding must not depend on how many processors there are.
        with threads.using(at_a_time), threads.one_blas_thread:
            return np.stack(list(threads.in_order(fold, range(len(folds)))), axis=2)

    def _choice(self) -> tuple[int, int]:
        """Indices of the weights to take."""
        best = np.unravel_index(np.argmax(self.mean_scores_), self.mean_scores_.shape)
        if self.rule == "best":
            return int(best[0]), int(best[1])
        folds = self.scores_.shape[2]
        error = float(self.scores_[best].std(ddof=1)) / np.sqrt(folds) if folds > 1 else 0.0
        good = np.argwhere(self.mean_scores_ >= self.mean_scores_[best] - error)
        i, j = min(good.tolist(), key=lambda place: (sum(place), -self.mean_scores_[tuple(place)]))
        return i, j


def _indices(rows: Any) -> np.ndarray:
    """Numbers of rows, or a mark for each."""
    found = np.asarray(rows)
    if found.ndim != 1 or found.dtype.kind not in "biu":
        raise ValueError("a fold is no list of rows")
    return found


def _rows(rows: np.ndarray, data: list[Any]) -> list[Any]:
    return [take(part, rows) if isinstance(part, Source) else _safe_indexing(part, rows) for part in data]


def _score(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
    """Minus what the model's loss says about rows held out."""
    if is_classifier(model):
        return -float(log_loss(y, model.predict_proba(X), sample_weight=sample_weight, labels=model.classes_))
    return -families.missed(model, X, y, sample_weight, offset)


@dataclass(eq=False, repr=False)
class FusedLassoCV(CrossValidated, FusedLasso):
    """Fused lasso whose weights lam1 and lam2 are chosen by cross-validation.

    See `FusedLasso` for the model.

    See Also
    --------
    FusedLasso : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLassoCV
    >>> X, y, truth = datasets.piecewise_constant(200, 30, task="regression")
    >>> model = FusedLassoCV(n_lam1=5, n_lam2=5, cv=3, random_state=0).fit(X, y)
    >>> model.mean_scores_.shape, model.lam1_ in model.lam1_grid_
    ((5, 5), True)
    """

    _model = FusedLasso


@dataclass(eq=False, repr=False)
class FusedLogisticRegressionCV(CrossValidated, FusedLogisticRegression):
    """Fused logistic regression whose weights lam1 and lam2 are chosen by cross-validation.

    See `FusedLogisticRegression` for the model.

    See Also
    --------
    FusedLogisticRegression : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLogisticRegressionCV
    >>> X, y, truth = datasets.piecewise_constant(300, 20)
    >>> model = FusedLogisticRegressionCV(n_lam1=3, n_lam2=3, cv=3, random_state=0).fit(X, y)
    >>> model.scores_.shape
    (3, 3, 3)
    """

    _model = FusedLogisticRegression


@dataclass(eq=False, repr=False)
class GraphGuidedLogisticRegressionCV(CrossValidated, GraphGuidedLogisticRegression):
    """Graph-guided logistic regression whose weights lam1 and lam2 are chosen by cross-validation.

    See `GraphGuidedLogisticRegression` for the model. A graph that is learned from the data is learned anew in each
    fold, from the rows that are not held out.

    See Also
    --------
    GraphGuidedLogisticRegression : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GraphGuidedLogisticRegressionCV
    >>> X, y, truth = datasets.piecewise_constant(300, 10)
    >>> model = GraphGuidedLogisticRegressionCV("chain", n_lam1=3, n_lam2=3, cv=3, random_state=0).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GraphGuidedLogisticRegression
