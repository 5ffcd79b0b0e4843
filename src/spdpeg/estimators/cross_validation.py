"""The choice of weights, by cross-validation or by an information criterion. choosing.py has the models."""

import warnings
from collections.abc import Callable
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
from ..errors import ChoiceWarning, InputError, UnsupportedError
from ..parameters import one_of, shown
from ..penalties import Penalty
from ..sums import threads
from ..sums.threads import checked_jobs
from . import cluster, families, fitting, inputs, survival
from .base import Judged, rows_to_judge
from .inputs import translated_errors

RULES = ("best", "one-standard-error")
CRITERIA = ("cv", "aic", "bic")

_FEW = 4
"""Weights of a grid from which on its ends are worth a warning."""
_NOTICEABLE = 0.1
"""Fraction of a standard error by which the end of a grid must beat its neighbour to be worth a warning."""


@dataclass(eq=False, repr=False, kw_only=True)
class ChosenWeight:
    """The choice of weights.

    Parameters
    ----------
    lam2 : array, default=None
        Weights to choose from. None lets the data suggest n_lam2 of them, as `spdpeg.path` does.
    n_lam2 : int, default=10
        Length of the grid of lam2 if it is not given.
    eps : float, default=1e-3
        The smallest weight of such a grid over the largest.
    criterion : {"cv", "aic", "bic"}, default="cv"
        "cv" holds rows out. The others fit to all rows and add a price for degrees of freedom to the deviance, which
        costs one path; for models that have `aic_` and `bic_`.
    cv : int, splitter, iterable of (train, test) indices or None, default=None
        None is five folds, stratified for a classifier, and by event for times.
    scoring : str, callable or None, default=None
        As scikit-learn's; larger is better. None is minus the mean squared error, the mean loss of another family, the
        loss of times, or the logarithmic loss of a classifier; the accuracy of one without probabilities.
    rule : {"best", "one-standard-error"}, default="best"
        The weights of the best mean score; or, among all whose mean score is within one standard error of that, the
        largest: those the fewest steps down both grids.
    n_jobs : int or None, default=None
        Threads: folds that are fitted at a time, and what the last fit to all rows may use. None is 1, -1 one for each
        processor.

    Attributes
    ----------
    lam1_, lam2_ : float
        The weights chosen; the model is fitted with them to all rows. `lam1_` is 0 for a model without lam1.
    lam1_grid_, lam2_grid_ : arrays of shape (k1,) and (k2,)
        Those tried, largest first.
    scores_ : array of shape (k1, k2, n_folds)
        Of the rows held out; minus the criterion, with n_folds = 1, if one is named.
    mean_scores_, std_scores_ : arrays of shape (k1, k2)
        Mean and standard deviation of `scores_` over the folds.
    """

    lam2: Any = None
    n_lam2: int = 10
    eps: float = fitting.EPS
    criterion: str = "cv"
    cv: Any = None
    scoring: Any = None
    rule: str = "best"
    n_jobs: int | None = None

    _model: ClassVar[Any]

    def _choose(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        one_of(f"rule of {type(self).__name__}", self.rule, RULES)
        one_of(f"criterion of {type(self).__name__}", self.criterion, CRITERIA)
        source = None if inputs.is_there(X) else inputs.found(X)
        if source is not None:
            X, y = source, source.labels if y is None else np.asarray(y)
        model, data = self._at(1.0, 1.0), (X, y, sample_weight, offset)
        fitting.rows(model, *data)  # so that the splitter meets no bad labels
        given, length = getattr(self, "lam1", None), getattr(self, "n_lam1", 1)
        grids = fitting.chosen(model, data, given, self.lam2, length, self.n_lam2, self.eps)
        self.lam1_grid_, self.lam2_grid_ = grids["lam1"], grids["lam2"]
        if self.criterion != "cv":
            if inputs.is_there(X):
                raise UnsupportedError(
                    f"criterion is {self.criterion!r}, and a cluster counts no degrees of freedom. Choose 'cv'."
                )
            self.scores_ = self._judged(model, data)
        else:
            self.scores_ = self._scored_there(model, X) if inputs.is_there(X) else self._scored(model, *data)
        self.mean_scores_, self.std_scores_ = self.scores_.mean(axis=2), self.scores_.std(axis=2)
        i, j = self._choice()
        self.lam1_, self.lam2_ = float(self.lam1_grid_[i]), float(self.lam2_grid_[j])
        self._tell_ends()

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
        """Not available: weights are chosen from all rows at once."""
        raise AttributeError(f"{type(self).__name__} chooses its weights from all rows and has no partial_fit.")

    def _at(self, lam1: float, lam2: float) -> Any:
        """A copy of the model with given weights."""
        names = self._model().get_params(deep=False)
        shared = {name: value for name, value in self.get_params(deep=False).items() if name in names}  # type: ignore[attr-defined]
        weights = {"lam1": lam1, "lam2": lam2}
        return self._model(**{**shared, **{name: value for name, value in weights.items() if name in names}})

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return fitting.penalties(self._at(self.lam1_, self.lam2_), n_features)

    def _scored(self, model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> np.ndarray:
        given = {"sample_weight": sample_weight, "offset": offset}
        extras = {name: part for name, part in given.items() if part is not None}
        with translated_errors():
            data = [X, *indexable(y, *extras.values())]
            if not isinstance(X, Source):
                data = indexable(*data)
        try:
            own = _score_of(model) if self.scoring is None else None
            scorer = check_scoring(model, self.scoring) if own is None else own
            if offset is not None and self.scoring is not None:
                raise ValueError("scorers take no offset; leave scoring out")
            folds = [(_indices(train), _indices(test)) for train, test in self._folds(model, X, y)]
            if not folds:
                raise ValueError("no folds")
        # scikit-learn complains of wrong values and of wrong types in its own ways.
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise InputError(f"cv or scoring of {type(self).__name__} cannot be used ({error}).") from None

        jobs = checked_jobs(self.n_jobs)
        at_a_time = min(jobs, len(folds))
        model.set_params(n_jobs=jobs // at_a_time)

        moments = None
        if not hasattr(model, "knots_"):  # columns of their own in each fold
            moments = fitting.FoldMoments.of(model, (X, y, sample_weight, offset), folds)

        def fold(number: int) -> np.ndarray:
            train, test = folds[number]
            (X_in, y_in, *given_in), (X_out, y_out, *held) = _rows(train, data), _rows(test, data)
            extra = dict(zip(extras, given_in, strict=True))
            unseen = dict(zip(extras, held, strict=True))
            scores = np.empty((self.lam1_grid_.size, self.lam2_grid_.size))
            others = None if moments is None else moments.others(number)
            for place, fitted in fitting.walk(
                model, self.lam1_grid_, self.lam2_grid_, X_in, y_in, **extra, moments=others, details=own is None
            ):
                known = moments.score(number, fitted) if moments is not None and own is not None else None
                if own is not None and known is None and not isinstance(X_out, Judged):
                    X_out = rows_to_judge(fitted, X_out)
                with translated_errors():
                    scores[place] = scorer(fitted, X_out, y_out, **unseen) if known is None else known
            return scores

        # Several folds share the processors already, and rounding must not depend on how many processors there are.
        with threads.using(at_a_time):
            return np.stack(list(threads.in_order(fold, range(len(folds)))), axis=2)

    def _scored_there(self, model: Any, X: Any) -> np.ndarray:
        """Scores on a cluster: rows outside a fold have weight 0, so that nothing is copied."""
        count = 5 if self.cv is None else self.cv
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2 or self.scoring is not None:
            raise UnsupportedError(
                f"cv is {shown(self.cv)} and scoring {shown(self.scoring)}, and X lives on a cluster, where rows are "
                "dealt to a number of folds and judged by the loss. Give cv a number from 2 on, and leave scoring out."
            )
        model.set_params(n_jobs=1)
        pairs = X.folds(int(count))

        def fold(pair: tuple[Any, Any]) -> np.ndarray:
            inside, outside = pair
            walk = fitting.walk(model, self.lam1_grid_, self.lam2_grid_, inside, None)
            places, fitted = zip(*((place, cluster.plain(found)) for place, found in walk), strict=True)
            scores = np.empty((self.lam1_grid_.size, self.lam2_grid_.size))
            for place, value in zip(places, cluster.fold_scores(outside, list(fitted), _score_of(model)), strict=True):
                scores[place] = value
            return scores

        # A fold waits for the workers most of the time: they have the tasks of all folds to choose from.
        with threads.using(len(pairs)):
            return np.stack(list(threads.in_order(fold, pairs)), axis=2)

    def _folds(self, model: Any, X: Any, y: Any) -> Any:
        """Rows to learn from and rows to hold out; along a line of positions every fifth, so that none has a gap."""
        if hasattr(model, "predict_survival"):
            events = survival.outcome(y)[:, 1].astype(int)
            return check_cv(self.cv, events, classifier=True).split(np.zeros(events.size), events)
        if getattr(model, "knots_", None) is None or not isinstance(self.cv, int | None):
            return check_cv(self.cv, y, classifier=is_classifier(model)).split(np.zeros(_num_samples(X)), y)
        count = check_cv(self.cv).get_n_splits()
        column = X.toarray() if hasattr(X, "toarray") else X
        place = np.argsort(np.argsort(np.asarray(column, dtype=float).ravel(), kind="stable"))
        return [(place % count != fold, place % count == fold) for fold in range(count)]

    def _judged(self, model: Any, data: tuple[Any, ...]) -> np.ndarray:
        """Minus the criterion at all weights, fitted to all rows."""
        name = f"{self.criterion}_"
        if not hasattr(self._model, name):
            raise UnsupportedError(
                f"{self._model.__name__} has no degrees of freedom to count, and criterion is {self.criterion!r}. "
                "Choose 'cv'."
            )
        scores = np.empty((self.lam1_grid_.size, self.lam2_grid_.size, 1))
        for place, fitted in fitting.walk(model, self.lam1_grid_, self.lam2_grid_, *data):
            scores[place] = -np.sum(getattr(fitted, name))
        return scores

    def _tell_ends(self) -> None:
        """Warn if the best weights lie where a grid ends, and the scores are still rising there."""
        best = np.unravel_index(np.argmax(self.mean_scores_), self.mean_scores_.shape)
        folds = self.scores_.shape[2]
        error = float(self.scores_[best].std()) / np.sqrt(folds)
        for axis, (name, grid) in enumerate((("lam1", self.lam1_grid_), ("lam2", self.lam2_grid_))):
            if grid.size < _FEW or best[axis] not in (0, grid.size - 1):
                continue
            beside = list(best)
            beside[axis] += 1 if best[axis] == 0 else -1
            if self.mean_scores_[best] - self.mean_scores_[tuple(beside)] > _NOTICEABLE * error:
                end, side = ("largest", "larger") if best[axis] == 0 else ("smallest", "smaller")
                warnings.warn(
                    f"The best {name} of {type(self).__name__}, {grid[best[axis]]:.3g}, is the {end} that was tried. "
                    f"Try {side} ones: give {name} as an array{'' if best[axis] == 0 else ', or lower eps'}.",
                    ChoiceWarning,
                    stacklevel=5,  # who called fit, which called _fit and that _choose
                )

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


def _score_of(model: Any) -> Callable[..., float]:
    """The scorer of a model: minus its loss on rows held out."""
    if hasattr(model, "predict_survival"):
        return _of_times
    if not is_classifier(model):
        return _of_numbers
    return _of_odds if hasattr(model, "predict_proba") else _of_classes


def _of_numbers(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
    return -families.missed(model, X, y, sample_weight, offset)


def _of_times(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return -survival.missed(model, X, y, sample_weight)


def _of_odds(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return -float(log_loss(y, model.predict_proba(X), sample_weight=sample_weight, labels=model.classes_))


def _of_classes(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return float(model.score(X, y, sample_weight))


@dataclass(eq=False, repr=False, kw_only=True)
class ChosenWeights(ChosenWeight):
    """The choice of two weights.

    Parameters
    ----------
    lam1 : array, default=None
        The same for lam1, with n_lam1.
    n_lam1 : int, default=10
        Length of the grid of lam1 if it is not given.
    """

    lam1: Any = None
    n_lam1: int = 10
