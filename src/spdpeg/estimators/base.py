"""What all estimators share: parameters, checks of the input, the fit, and what is kept of it."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import plots
from ..data import as_source
from ..losses import Loss
from ..operators import Identity, Operator, as_operator
from ..penalties import Penalty
from ..problem import Problem
from ..result import Result
from ..solvers import solve
from .documentation import complete
from .runs import Learner, Start

_FLOATS = (np.float64, np.float32)
_SEEDS = 2**31


def takes_chunks(estimator: Any) -> bool:
    """Whether SPDPEG applies, so that there is a `partial_fit`."""
    return math.isfinite(estimator._loss().curvature)


Fitted = tuple[np.ndarray, np.ndarray]
"""Coefficients and intercepts, a row for each problem solved."""


@dataclass(eq=False, repr=False, kw_only=True)
class Estimator(BaseEstimator):
    """Base of the estimators, which differ in their loss and penalties.

    Parameters
    ----------
    solver : str, default="auto"
        One of `spdpeg.solvers()`. "auto" is "vr-spdpeg", or "spdhg-cers" for a loss with corners.
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
        X, y = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=_FLOATS, order="C", **checks)
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
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_FLOATS)
        return np.asarray(self._design(X, False) @ self.coef_.T + self.intercept_)

    def _solve(self, X: Any, targets: list[np.ndarray], weights: np.ndarray | None) -> Fitted:
        """Solve the problem of each target."""
        terms, source = self._terms(X, weights, None), as_source(X)
        seed = int(check_random_state(self.random_state).randint(_SEEDS))
        runs = []
        for target, start in zip(targets, self._starts(len(targets), X.shape[1], self.warm_start), strict=True):
            problem = Problem(source, target, **terms, sample_weight=weights, intercept=self._intercept)
            result = solve(
                problem,
                self.solver,
                tol=self.tol,
                max_passes=self.max_passes,
                seed=seed,
                progress=bool(self.verbose),
                **start.arguments(problem),
            )
            self._warn(result)
            runs.append((problem, result))
        self._learners: list[Learner] = []
        self.n_iter_ = max(math.ceil(result.passes) for _, result in runs)
        return self._keep(runs)

    def _learn(self, X: Any, targets: list[np.ndarray], weights: np.ndarray | None) -> Fitted:
        """Take a step of SPDPEG for each pair of rows, for each target."""
        terms = self._terms(X, weights, getattr(self, "F_", None))
        if not getattr(self, "_learners", []):
            starts = self._starts(len(targets), X.shape[1], True)
            self._learners = [Learner(start, self._intercept) for start in starts]
        self.n_iter_ = 1
        together = zip(self._learners, targets, strict=True)
        runs = [run for learner, target in together if (run := learner.learn(X, target, weights, terms)) is not None]
        if not runs:
            starts = [learner.start for learner in self._learners]
            return np.array([start.coef for start in starts]), np.array([start.intercept for start in starts])
        return self._keep(runs)

    def _terms(self, X: Any, weights: np.ndarray | None, F: Operator | None) -> dict[str, Any]:
        """The problem without its data; F is made from X unless it is known."""
        r1, r2 = self._penalties(X.shape[1])
        if r2 is None:
            F = None
        elif F is None:
            F = as_operator(self._operator(X, weights)).bind(X.shape[1])
        self.F_ = F
        return {"loss": self._loss(), "r1": r1, "r2": r2, "F": F}

    def _starts(self, problems: int, n_features: int, warm: bool) -> list[Start]:
        """Where each problem begins: at the last fit if that is wanted and was of this size, at zero otherwise."""
        coef = np.atleast_2d(getattr(self, "coef_", np.empty(0)))
        if not warm or coef.shape != (problems, n_features):
            return [Start(np.zeros(n_features))] * problems
        held = getattr(self, "dual_", None)
        duals = held if isinstance(held, list) else [held] * problems
        return [Start(*values) for values in zip(coef, np.atleast_1d(self.intercept_), duals, strict=True)]

    def _keep(self, runs: list[tuple[Problem, Result]]) -> Fitted:
        """Keep the accounts of the runs and return their solutions."""
        results = [result for _, result in runs]
        one = len(runs) == 1
        for name in ("objective", "certificate", "history", "dual"):
            values = [getattr(result, name) for result in results]
            setattr(self, f"{name}_", values[0] if one else values)
        solutions = [problem.split(result.x) for problem, result in runs]
        return np.array([coef for coef, _ in solutions]), np.array([intercept for _, intercept in solutions])

    def _warn(self, result: Result) -> None:
        """Say so if the tolerance is not met."""
        certificate = result.certificate
        assert certificate is not None
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
            stacklevel=4,
        )
