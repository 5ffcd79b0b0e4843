"""What all estimators share: parameters, checks of the input, the fit, and what is kept of it."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import plots
from ..data import as_source
from ..engine import solve
from ..losses import Loss
from ..operators import Identity, Operator, as_operator
from ..penalties import Penalty
from ..problem import Problem
from ..result import uninterrupted
from ..sparse import sound
from .documentation import complete
from .runs import Learner, Start

_FLOATS = (np.float64, np.float32)
_SEEDS = 2**31


def takes_chunks(estimator: Any) -> bool:
    """Whether there is a `partial_fit`."""
    return bool(estimator._streams)


class Prepared(NamedTuple):
    """What is learned from: the design, the labels of each problem, weights of the rows."""

    X: Any
    targets: list[np.ndarray]
    weights: np.ndarray | None


Runs = list[tuple[Any, Any]]
"""Problems, which can `split` an x into coefficients and intercept, and results."""


class Fitted(NamedTuple):
    """Coefficients and intercepts, a row for each target."""

    coef: np.ndarray
    intercept: np.ndarray


@dataclass(eq=False, repr=False, kw_only=True)
class Estimator(BaseEstimator):
    """Base of the estimators, which differ in their loss and penalties.

    Parameters
    ----------
    solver : str, default="auto"
        One of `spdpeg.solvers()`. "auto" is what `spdpeg.solve` takes for such a problem.
    tol : float, default=1e-4
        `fit` ends when the duality gap is at most this part of the objective. Where no gap is finite, the relative
        residual of the optimality conditions takes its place.
    max_passes : float, default=1000
        `fit` ends with a ConvergenceWarning after this many passes over the data.
    fit_intercept : bool, default=True
        Add a constant to the predictions, free of any penalty.
    warm_start : bool, default=False
        Begin each `fit` at the coefficients and multipliers of the one before, if there are as many.
    random_state : int, RandomState instance or None, default=None
        For the order in which rows are read. An int gives the same bits each time.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    objective_ : float
        The objective above at the solution. Where classes are fitted one by one, this and what follows is a list with
        an entry for each.
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
    fit_intercept: bool = True
    warm_start: bool = False
    random_state: Any = None
    verbose: bool = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        complete(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def plot_coefficients(self) -> Any:
        """Draw the coefficients: steps, an image or the graph, as F has it. Needs matplotlib; returns the figure."""
        check_is_fitted(self)
        return plots.coefficients(self)

    @property
    def _intercept(self) -> bool:
        return bool(self.fit_intercept)

    @property
    def _streams(self) -> bool:
        """Whether SPDPEG applies."""
        return math.isfinite(self._loss().curvature)

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        """r1 and r2."""
        raise NotImplementedError

    def _operator(self, X: Any, weights: np.ndarray | None) -> Any:
        """F for the columns of X; the weights are those of its rows."""
        return Identity()

    def _design(self, X: Any, reset: bool) -> Any:
        """What the coefficients multiply: the columns of X, unless a model makes others of them."""
        return X

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool, **checks: Any) -> tuple[Any, Any, Any]:
        """Design, labels and weights, rows of weight 0 dropped."""
        X, y = validate_data(self, sound(X), y, reset=reset, accept_sparse="csr", dtype=_FLOATS, order="C", **checks)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            used = weights > 0.0
            if not used.all():
                X, y, weights = X[used], y[used], weights[used]
        return self._design(X, reset), y, weights

    def _scores(self, X: Any) -> np.ndarray:
        """Design times coefficients plus intercept."""
        check_is_fitted(self)
        X = validate_data(self, sound(X), reset=False, accept_sparse="csr", dtype=_FLOATS)
        return np.asarray(self._design(X, False) @ self.coef_.T + self.intercept_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to all rows, up to `tol`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Numbers, or class labels of any kind.
        sample_weight : array of shape (n_samples,), optional
            Weight k equals k copies of a row; weight 0 drops it.
        """
        self._set(self._solve(self._prepared(X, y, sample_weight)))
        return self

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """What `fit` is given, checked."""
        raise NotImplementedError

    def _set(self, fitted: Fitted) -> None:
        """Keep the coefficients."""
        raise NotImplementedError

    def _problems(self, data: Prepared) -> list[Problem]:
        """The problem of each target."""
        source, terms = as_source(data.X), self._terms(data.X, data.weights, None)
        return [
            Problem(source, target, **terms, sample_weight=data.weights, intercept=self._intercept)
            for target in data.targets
        ]

    def _solve(self, data: Prepared) -> Fitted:
        """The solutions of the problems."""
        return self._finished(self._runs(data))

    def _finished(self, runs: Runs) -> Fitted:
        """Keep the account of the runs, with warnings where one is not as exact as wanted."""
        for _, result in runs:
            self._warn(result)
        self._learners: list[Learner] = []
        self.n_iter_ = max(math.ceil(result.passes) for _, result in runs)
        return self._keep(runs)

    def _separate(self, data: Prepared) -> bool:
        """Whether each target is a problem of its own."""
        return True

    def _runs(self, data: Prepared) -> Runs:
        """Solve the problem of each target."""
        settings = self._settings()
        together = zip(self._problems(data), self._starts(data, self.warm_start), strict=True)
        return [
            (problem, uninterrupted(solve(problem, **settings, **start.arguments(problem))))
            for problem, start in together
        ]

    def _settings(self) -> dict[str, Any]:
        """Of `solve`, as the parameters say."""
        return {
            "solver": self.solver,
            "tol": self.tol,
            "max_passes": self.max_passes,
            "seed": int(check_random_state(self.random_state).randint(_SEEDS)),
            "progress": bool(self.verbose),
        }

    def _learn(self, data: Prepared) -> Fitted:
        """Take a step of SPDPEG for each pair of rows, for each target."""
        terms = self._terms(data.X, data.weights, getattr(self, "F_", None))
        if not getattr(self, "_learners", []):
            self._learners = [Learner(start, self._intercept) for start in self._starts(data, True)]
        self.n_iter_ = 1
        together = zip(self._learners, data.targets, strict=True)
        return self._keep([learner.learn(data.X, target, data.weights, terms) for learner, target in together])

    def _terms(self, X: Any, weights: np.ndarray | None, F: Operator | None) -> dict[str, Any]:
        """The problem without its data; F is made from X unless it is known."""
        r1, r2 = self._penalties(X.shape[1])
        if r2 is None:
            F = None
        elif F is None:
            F = as_operator(self._operator(X, weights)).bind(X.shape[1])
        self.F_ = F
        return {"loss": self._loss(), "r1": r1, "r2": r2, "F": F}

    def _starts(self, data: Prepared, warm: bool) -> list[Start]:
        """Where each problem begins: at the last fit if that is wanted and was of this size, at zero otherwise."""
        shape = (len(data.targets), data.X.shape[1])
        coef = np.atleast_2d(getattr(self, "coef_", np.empty(0)))
        if not warm or coef.shape != shape:
            return [Start(np.zeros(shape[1]))] * shape[0]
        duals = self.dual_ if shape[0] > 1 else [self.dual_]
        return [Start(*values) for values in zip(coef, np.atleast_1d(self.intercept_), duals, strict=True)]

    def _keep(self, runs: Runs) -> Fitted:
        """Keep the accounts of the runs and return their solutions."""
        results = [result for _, result in runs]
        one = len(runs) == 1
        for name in ("objective", "certificate", "history", "dual"):
            values = [getattr(result, name) for result in results]
            setattr(self, f"{name}_", values[0] if one else values)
        solutions = [problem.split(result.x) for problem, result in runs]
        return Fitted(np.vstack([coef for coef, _ in solutions]), np.hstack([intercept for _, intercept in solutions]))

    def _warn(self, result: Any) -> None:
        """Say so if the tolerance is not met."""
        certificate = result.certificate
        if certificate.met is not None:
            return
        if math.isfinite(certificate.rel_gap):
            reached = f"a relative duality gap of {certificate.rel_gap:.2g}"
        else:
            reached = f"a residual of the optimality conditions of {certificate.residual:.2g}"
        warnings.warn(
            f"{type(self).__name__} ended after {result.passes:.4g} passes with {reached} where tol is {self.tol:g}: "
            f"{result.status}. Raise max_passes or tol, or scale the columns of X to similar size.",
            ConvergenceWarning,
            stacklevel=5,
        )
