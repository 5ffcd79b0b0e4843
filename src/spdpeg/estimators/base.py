"""The base of all estimators: parameters, checks of the input, fit, scores."""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import pages, plots
from ..data import Source
from ..data.selection import pieces
from ..errors import ChoiceWarning, InputError, UnsupportedError
from ..losses import Loss
from ..parameters import is_dask, numbers, refuse_dask, shown, truth
from ..penalties import L1, Box, L2Squared, Penalty, Zero, constrain
from ..sums import threads
from . import fitting, inputs
from .documentation import complete
from .inputs import intact, translated_errors, usable

_FLOATS = (np.float64, np.float32)


_MOST_PROGRAMMED = 500
"""Coefficients up to which the weights that make all of them 0 are found for any F."""

_AUTO_FRACTION = 0.01
"""The weight that "auto" takes, as a fraction of the largest one worth trying; from benchmarks/defaults.py."""

_AUTO_ON_STREAM = 0.01
"""What "auto" takes on a stream, whose largest weight is unknown: about the same for columns of unit variance."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows that a model predicts: checked, and with the columns that its coefficients multiply."""

    design: Any


def takes_chunks(estimator: Any) -> bool:
    """Whether there is a `partial_fit`."""
    return bool(estimator._streams)


def rows_to_judge(model: Any, X: Any) -> Judged:
    """Rows as a model predicts them, checked once for fits at many weights."""
    found: Judged = model._rows_to_judge(X)
    return found


def weight(owner: object, name: str) -> Any:
    """The parameter `name` of `owner`, refused unless it holds finite numbers of at least 0."""
    value = getattr(owner, name)
    if isinstance(value, str) and value == "auto":
        value = getattr(owner, f"{name}_", _AUTO_ON_STREAM)
    if type(value) is float and 0.0 <= value < math.inf:  # the usual case, which paths meet hundreds of times
        return value
    try:
        found = numbers(name, value)
    except InputError:
        raise InputError(_no_weight(owner, name, value)) from None
    if found.ndim > 1 or not np.all(np.isfinite(found)) or np.any(found < 0.0):
        raise InputError(_no_weight(owner, name, value))
    return value


def _no_weight(owner: object, name: str, value: Any) -> str:
    return (
        f"{name} of {type(owner).__name__} is {shown(value)}. "
        "Give a finite number of at least 0, one for each entry, or 'auto'."
    )


def weighted(owner: object, name: str, penalty: type[L1] | type[L2Squared] = L1) -> Penalty | None:
    """The penalty with the weight that the parameter `name` holds; None if that is 0."""
    value = weight(owner, name)
    return penalty(value) if np.any(value) else None


def bounds_of(owner: Any) -> tuple[Any, Any] | None:
    """The least and the largest values that the coefficients may have; None if they may have any."""
    name = type(owner).__name__
    positive, bounds = truth(f"positive of {name}", getattr(owner, "positive", False)), getattr(owner, "bounds", None)
    if bounds is None:
        return (0.0, np.inf) if positive else None
    try:
        lower, upper = (numbers(f"bounds of {name}", side) for side in bounds)
    except (TypeError, ValueError):
        raise InputError(
            f"bounds of {name} is {shown(bounds)}. Give a pair: the least and the largest values."
        ) from None
    return (np.maximum(lower, 0.0) if positive else lower), upper


def bounded(owner: Any, r1: Penalty | None) -> Penalty | None:
    """r1 where the coefficients keep their bounds."""
    limits = bounds_of(owner)
    return r1 if limits is None else constrain(Zero() if r1 is None else r1, Box(*limits))


@dataclass(eq=False, repr=False, kw_only=True)
class Estimator(fitting.Model, BaseEstimator):
    """Base of the estimators, which differ in their loss and penalties.

    Parameters
    ----------
    solver : str, default="auto"
        One of `spdpeg.list_solvers()`. "auto" is what `spdpeg.solve` takes for such a problem.
    tol : float, default=1e-4
        `fit` ends when the duality gap is at most this fraction of the objective. Where no gap is finite, the relative
        residual of the optimality conditions takes its place.
    max_passes : float, default=1000
        `fit` ends with a ConvergenceWarning after this many passes over the data.
    warm_start : bool, default=False
        Begin each `fit` at the coefficients and multipliers of the one before, if there are as many.
    random_state : int, RandomState instance or None, default=None
        For the order in which rows are read. An int gives the same bits each time.
    verbose : bool, default=False
        Show a progress bar.
    n_jobs : int or None, default=None
        Threads that share the work: the classes of a fit, or blocks of rows where there is one problem and much data.
        None is 1, -1 all processors. The outcome is the same, bit for bit.

    Attributes
    ----------
    objective_ : float
        The objective above at the solution. Where classes are fitted one by one, this and what follows is a list with
        an entry for each. From float32 rows, `coef_` and predictions are rounded to float32 in the end, and this and
        `certificate_` are those of the rounded coefficients: a `tol` that was met before may then be missed, without a
        warning. After a refit they are those of the penalised fit.
    certificate_ : Certificate
        How far the objective is from its optimum, with proof, and what met `tol`; None after `partial_fit`.
    history_ : History
        Objective and constraint violation against passes and seconds.
    dual_ : array
        Multipliers of F x, which `warm_start` goes on from.
    n_iter_ : int
        Passes over the data, rounded up; the most that any class took.
    F_ : Operator or None
        The operator inside r2.
    n_features_in_ : int
    feature_names_in_ : array
        Only if all columns of X have names.
    """

    solver: str = "auto"
    tol: float = 1e-4
    max_passes: float = 1000
    warm_start: bool = False
    random_state: Any = None
    verbose: bool = False
    n_jobs: int | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        complete(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def plot_coefficients(self) -> Any:
        """Draw the coefficients: steps, an image or the graph, as F has it. Needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_is_fitted(self)
        return plots.coefficients(self)

    def report(self, path: Any) -> None:
        """Write a page about the fit: coefficients, segments, certificate in words, the run, settings.

        It is one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        pages.model.publish(self, path)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to all rows, up to `tol`.

        Parameters
        ----------
        X : array, sparse matrix, data frame, source or dask collection of shape (n_samples, n_features)
            A source of `spdpeg.data`, such as those of `open_parquet` and `open_csr`, need not fit into memory; nor
            need a polars LazyFrame. Arrays and data frames of dask stay on the workers of the active client; y and
            sample_weight are then cut like X.
        y : array of shape (n_samples,)
            Numbers, or class labels of any kind. May be left out for a source that brings its labels.
        sample_weight : array of shape (n_samples,), optional
            Weight k equals k copies of a row; weight 0 drops it.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Self:
        with intact(self), threads.using(threads.checked_jobs(self.n_jobs)):
            fitting.check_settings(self)  # before cross-validation copies the model
            if is_dask(X):  # read once, whatever is asked of it below
                X, y, sample_weight = fitting.rows(self, X, y, sample_weight, offset).X, None, None
            self._choose(X, y, sample_weight, offset)
            # The plan comes before "auto" weights: these follow from the gradient at x = 0 of its problems, which keep
            # what was measured of the rows when the weights change.
            plan = self._weighed(fitting.plan(self, X, y, sample_weight, offset))
            fitting.keep(self, plan, fitting.fit(plan))
            self._warn_of_zeros(plan)
        return self

    def _warn_of_zeros(self, plan: fitting.Plan) -> None:
        """Warn if the penalties of a fit have left nothing, with the weights at which that begins."""
        if np.any(self.coef_) or not isinstance(getattr(self, "lam1", None), float | int) or not self.lam1 > 0.0:
            return
        if self.F_ is not None and not self.F_.chain and self.coef_.size > _MOST_PROGRAMMED:
            return  # the weight in question would take a large linear program
        with suppress(UnsupportedError):
            lam1 = float(self.lam1)
            least = lam1 * fitting.least_scale(plan)
            if least > 0.0:
                warnings.warn(
                    f"All coefficients of {type(self).__name__} are 0: lam1 is {lam1:.3g}, and at this ratio of lam2 "
                    f"to lam1 they are so from {least:.3g} on. Lower both weights.",
                    ChoiceWarning,
                    stacklevel=4,  # who called fit, which called _fit
                )

    def _choose(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        """Choose weights before the fit. Those that are "auto" are 1 until `_weighed` has read the data."""
        for name in ("lam1_", "lam2_"):
            if hasattr(self, name):
                delattr(self, name)  # of another fit
        for name in self._auto():
            if getattr(self, name) != "auto":
                raise InputError(_no_weight(self, name, getattr(self, name)))
            setattr(self, f"{name}_", 1.0)

    def _weighed(self, plan: fitting.Plan) -> fitting.Plan:
        """The plan with weights that are "auto" set to a fraction of the largest worth trying for typical columns."""
        names = self._auto()
        if not names:
            return plan
        for name, top in fitting.typical(plan, names).items():
            setattr(self, f"{name}_", _AUTO_FRACTION * top)
        return plan.under(*fitting.penalties(self, plan.data.X.shape[1]))

    def _auto(self) -> list[str]:
        """The weights that are to be taken from the data."""
        return [name for name in ("lam1", "lam2") if isinstance(getattr(self, name, None), str)]

    # Shared by all kinds of models.

    def _design(self, X: Any, reset: bool) -> Any:
        """The design matrix: the columns of X, unless a model transforms them."""
        return X

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool, **checks: Any) -> tuple[Any, Any, Any]:
        """Design, labels and weights, rows of weight 0 dropped."""
        refuse_dask("y", y)
        refuse_dask("sample_weight", sample_weight)
        source = inputs.found(X)
        if source is not None:
            source, y, weights = inputs.checked(self, source, y, sample_weight, reset)
            return self._design(source, reset), y, weights
        form = {"accept_sparse": "csr", "dtype": _FLOATS}
        with translated_errors(X):
            X, y = validate_data(self, usable("X", X), usable("y", y), reset=reset, order="C", **form, **checks)
        weights = None
        if sample_weight is not None:
            weights = inputs.checked_weights(sample_weight, X)
            used = weights > 0.0
            if not used.all():
                X, y, weights = X[used], y[used], weights[used]
        return self._design(X, reset), y, weights

    def _rows_to_judge(self, X: Any) -> Judged:
        """Rows as `_scores` takes them."""
        check_is_fitted(self)
        source = inputs.found(X)
        if source is not None:
            inputs.check_width(self, source, reset=False)
            return Judged(self._design(source, False))
        with translated_errors(X):
            X = validate_data(self, usable("X", X), reset=False, accept_sparse="csr", dtype=_FLOATS)
        return Judged(self._design(X, False))

    def _scores(self, X: Any) -> np.ndarray:
        """Design times coefficients plus intercept."""
        design = (X if isinstance(X, Judged) else self._rows_to_judge(X)).design
        if isinstance(design, Source):
            rows = pieces(design)
            return np.concatenate([np.asarray(piece @ self.coef_.T + self.intercept_) for piece in rows])
        return np.asarray(design @ self.coef_.T + self.intercept_)


@dataclass(eq=False, repr=False, kw_only=True)
class SumOverRows(Estimator):
    """Base of the estimators whose loss is a sum over the rows.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Add a constant to the predictions, free of any penalty.
    buffer_size : int, default=256
        Rows that `partial_fit` keeps and mixes with those to come, so that rows which alternate between classes or come
        in runs shorter than this do no harm. Longer runs cause an `OrderWarning`.
    """

    fit_intercept: bool = True
    buffer_size: int = 256

    def _loss(self) -> Loss:
        raise NotImplementedError

    @property
    def _intercept(self) -> bool:
        return bool(self.fit_intercept)

    @property
    def _streams(self) -> bool:
        """Whether SPDPEG applies."""
        return math.isfinite(self._loss().curvature)
