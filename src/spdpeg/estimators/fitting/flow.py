"""One fit from top to bottom.

    plan(model, X, y, weights)     what to solve: rows checked, labels encoded, problems made; nothing is solved
    fit(plan)                      the solution of each problem; no attribute is set
    keep(model, plan, solutions)   all attributes that a fit leaves behind, and warnings

`fit` of every estimator is these three lines; paths and cross-validation call them too. `Model` lists what a model
contributes.
"""

import math
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...certificate import objective_size
from ...data import Source, as_source
from ...engine import quietly
from ...errors import InputError, UnsupportedError
from ...exact.multinomial import Multinomial
from ...losses import Loss
from ...operators import Operator, as_operator
from ...penalties import Penalty
from ...problem import Problem
from ...result import Result, Run, Status, uninterrupted
from ...sums import threads
from ...view import Partitions
from .account import account
from .outputs import Coupled
from .refit import refit
from .settings import Settings, settings_of


class Data(NamedTuple):
    """What is learned from: the design, the labels of each target, weights of the rows."""

    X: Any
    targets: list[Any]
    weights: np.ndarray | None
    offset: np.ndarray | None = None
    """Added to the margins of the rows: one for all targets, or a column for each."""

    def offset_of(self, target: int) -> np.ndarray | None:
        """Of one target."""
        return self.offset if self.offset is None or self.offset.ndim == 1 else self.offset[:, target]


class Terms(NamedTuple):
    """The problem without its data."""

    loss: Loss
    r1: Penalty | None
    r2: Penalty | None
    F: Operator | None


class Start(NamedTuple):
    """Coefficients, intercept and multipliers of a target to begin with."""

    coef: np.ndarray
    intercept: Any = 0.0
    dual: np.ndarray | None = None

    def arguments(self, problem: Problem) -> dict[str, Any]:
        """For `solve`; multipliers of another F are left out."""
        fits = self.dual is not None and self.dual.shape == (problem.F.n_outputs,)
        return {"x0": problem.join(self.coef, self.intercept), "dual0": self.dual if fits else None}


Joint = Multinomial | Coupled
"""Problems of all targets at once."""


class Solution(NamedTuple):
    """A problem, which can split x into coefficients and intercept, and its result."""

    problem: Problem | Joint
    result: Result | Run


class Model(Protocol):
    """What a fit asks of a model: its parameters, and these methods in the order in which they are called."""

    solver: str
    tol: float
    max_passes: float
    warm_start: bool
    random_state: Any
    verbose: bool
    buffer_size: int

    def _rows(self, X: Any, y: Any, sample_weight: Any, **offset: Any) -> Data:
        """Check the input, encode the labels, drop rows of weight 0. Only regressors are given an offset."""

    def _loss(self) -> Loss:
        """The loss of a row."""

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        """r1 and r2 at the model's weights."""

    def _operator(self, X: Any, weights: np.ndarray | None) -> Any:
        """F for the columns of X; the weights are those of its rows."""

    @property
    def _intercept(self) -> bool:
        """Whether there is an intercept."""

    def _joint(self, n_targets: int) -> bool:
        """Whether all targets are one problem."""

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[Any, Any]:
        """`coef_` and `intercept_` from a row for each target."""

    def _derive(self) -> None:
        """Set further attributes that follow from `coef_`."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a fit solves, decided before any of it is solved.

    Attributes
    ----------
    data : Data
    terms : Terms
    problems : list of Problem
        One for each target; none if all are fitted at once.
    joint : Multinomial, Coupled or None
        The problem of all targets at once.
    starts : list of Start
        Where the targets begin.
    settings : Settings
    intercept : bool
    """

    data: Data
    terms: Terms
    problems: list[Problem]
    joint: Joint | None
    starts: Sequence[Start]
    settings: Settings
    intercept: bool

    def under(self, r1: Penalty | None, r2: Penalty | None) -> "Plan":
        """The same data under other penalties; what was learned and measured of them stays.

        Parameters
        ----------
        r1, r2 : Penalty or None

        Returns
        -------
        Plan
        """
        F = None if r2 is None else self.terms.F
        return replace(
            self,
            terms=Terms(self.terms.loss, r1, r2, F),
            problems=[problem.with_penalties(r1, r2, F) for problem in self.problems],
            joint=None if self.joint is None else self.joint.with_penalties(r1, r2, F),
        )


def rows(model: Model, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Data:
    """The input as it is learned from; refused if the model cannot learn from it."""
    return model._rows(X, y, sample_weight, **({} if offset is None else {"offset": offset}))


def penalties(model: Model, n_features: int) -> tuple[Penalty | None, Penalty | None]:
    """r1 and r2 at the weights that the model has now."""
    return model._penalties(n_features)


def derive(model: Model) -> None:
    """Set what follows from the coefficients that the model has now."""
    model._derive()


def plan(model: Model, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Plan:
    """What `model.fit(X, y, sample_weight)` solves.

    Parameters
    ----------
    model : estimator
        It keeps what checking the input tells: names of columns, classes.
    X, y, sample_weight, offset
        As in `fit`.

    Returns
    -------
    Plan
    """
    settings = settings_of(model)
    data = rows(model, X, y, sample_weight, offset)
    terms = terms_of(model, data)
    joint = _joint(model, data, terms) if model._joint(len(data.targets)) else None
    problems = _separate(data, terms, model._intercept) if joint is None else []
    return Plan(data, terms, problems, joint, starts_of(model, data, model.warm_start), settings, model._intercept)


def terms_of(model: Model, data: Data, F: Operator | None = None) -> Terms:
    """The terms at the model's weights; F is made from the rows unless it is known."""
    n_features = data.X.shape[1]
    r1, r2 = penalties(model, n_features)
    if r2 is None:
        F = None
    elif F is None:
        F = as_operator(model._operator(data.X, data.weights)).bind(n_features)
    return Terms(model._loss(), r1, r2, F)


def starts_of(model: Model, data: Data, warm: bool) -> list[Start]:
    """Where each target begins: at the last fit if that is wanted and was of this size, at zero otherwise."""
    shape = (len(data.targets), data.X.shape[1])
    coef = np.atleast_2d(getattr(model, "coef_", np.empty(0)))
    if not warm or coef.shape != shape:
        return [Start(np.zeros(shape[1]))] * shape[0]
    fitted: Any = model
    duals = fitted.dual_ if shape[0] > 1 else [fitted.dual_]
    return [Start(*values) for values in zip(coef, np.atleast_1d(fitted.intercept_), duals, strict=True)]


def separate(plan: Plan) -> list[Problem]:
    """A problem for each target, also where all are fitted at once."""
    return plan.problems or _separate(plan.data, plan.terms, plan.intercept)


def _separate(data: Data, terms: Terms, intercept: bool) -> list[Problem]:
    source = as_source(data.X)  # once, so that the problems share it
    return [
        Problem(
            source,
            target,
            **terms._asdict(),
            sample_weight=data.weights,
            intercept=intercept,
            offset=data.offset_of(number),
        )
        for number, target in enumerate(data.targets)
    ]


def _joint(model: Model, data: Data, terms: Terms) -> Joint:
    """All targets as one problem: the classes of a classifier, or the outputs of a regressor."""
    if isinstance(data.X, Source | Partitions):
        raise UnsupportedError(
            f"{type(model).__name__} is to fit all targets at once, which needs all rows in memory. "
            "Choose multi_class='ovr', or leave coupled out."
        )
    if not terms.loss.binary:
        joint = Coupled(data.X, data.targets, terms.loss, data.weights, data.offset, model._intercept)
        return joint.with_penalties(terms.r1, terms.r2, terms.F)
    if not terms.loss.log_odds:
        raise InputError(
            f"multi_class of {type(model).__name__} is 'multinomial' and its loss {terms.loss!r}. "
            "Only the logistic loss has such a form; choose 'ovr'."
        )
    codes = np.argmax(data.targets, axis=0)
    return Multinomial(data.X, codes, data.weights, terms.r1, terms.r2, terms.F, model._intercept)


def fit(plan: Plan) -> list[Solution]:
    """Solve the problems of a plan, one after the other or side by side.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    list of Solution
        One for each target, or one for all of them.
    """
    settings = plan.settings._asdict()
    if plan.joint is None:
        together = zip(plan.problems, plan.starts, strict=True)
        jobs = plan.settings.n_jobs
        side_by_side = 1 if plan.settings.progress else min(jobs, len(plan.problems))
        settings["n_jobs"] = jobs // side_by_side

        def one(of_target: tuple[Problem, Start]) -> Solution:
            problem, start = of_target
            return Solution(problem, uninterrupted(quietly(problem, **settings, **start.arguments(problem))))

        with threads.using(side_by_side), threads.one_blas_thread if side_by_side > 1 else nullcontext():
            return list(threads.in_order(one, together))
    tol, max_passes = settings.pop("tol"), settings.pop("max_passes")
    return [Solution(plan.joint, plan.joint.solve(plan.starts, tol, max_passes, partial(quietly, **settings)))]


def keep(model: Model, plan: Plan, solutions: Sequence[Solution], details: bool = True) -> None:
    """Set all that a fit leaves behind, with a warning for each solution that is not as exact as wanted.

    Parameters
    ----------
    model : estimator
    plan : Plan
    solutions : list of Solution
    details : bool, default=True
        False leaves out which entries of F x vanish and the mean loss, unless the model is fitted again on its pieces.
    """
    details = details or getattr(model, "refit", False) is not False
    for solution in solutions:
        _warn(model, solution.result)
    n_iter = max(math.ceil(solution.result.passes) for solution in solutions)
    terms = plan.terms
    told = account(solutions, terms.r2, terms.F, _total_weight(plan.data)) if details else {}
    store(model, terms, solutions, n_iter, [], told)
    refit(model, plan)
    if getattr(plan.data.X, "dtype", None) == np.float32:
        _round(model, plan, solutions)


def _round(model: Any, plan: Plan, solutions: Sequence[Solution]) -> None:
    """Coefficients in single precision, as the rows are; objective and certificate are those of the rounded numbers.

    The bound stays what it was. A tolerance that rounding alone has lost is not what the fit failed to meet, so that
    nobody is warned of it; `certificate_.met` tells. Where rounding leaves a set, the numbers before it are told.
    """
    model.coef_ = model.coef_.astype(np.float32)
    several = bool(np.ndim(model.intercept_))
    if several:
        model.intercept_ = model.intercept_.astype(np.float32)
    if getattr(model, "refit", False) is not False:
        return  # what is told is the penalised fit that found the pieces
    objectives, certificates = [], []
    for solution in solutions:
        problem: Any = solution.problem
        result = solution.result
        coef, intercept = problem.split(result.x)
        level = np.asarray(intercept).astype(np.float32).astype(float)[()] if several else intercept
        value, found = problem.objective(problem.join(coef.astype(np.float32), level)), result.certificate
        if found is not None and math.isfinite(value):
            size = objective_size(problem.view) if isinstance(problem, Problem) else problem.objective_size
            found = replace(found, primal=value).judged(plan.settings.tol or 0.0, size)
        objectives.append(value if math.isfinite(value) else result.objective)
        certificates.append(found)
    one = len(solutions) == 1
    model.objective_, model.certificate_ = (objectives[0], certificates[0]) if one else (objectives, certificates)


def _total_weight(data: Data) -> float:
    if isinstance(data.X, Partitions):
        return data.X.total_weight
    with np.errstate(over="ignore"):  # weights may be in any unit
        return float(len(data.targets[0]) if data.weights is None else data.weights.sum())


def store(
    model: Model,
    terms: Terms,
    solutions: Sequence[Solution],
    n_iter: int,
    learners: list[Any],
    told: dict[str, Any],
) -> None:
    """The one place where fitted attributes are set, those that were `told` by `account` among them.

    `_derive` adds those that a model makes of its coefficients.
    """
    parts = [solution.problem.split(solution.result.x) for solution in solutions]
    coef, intercept = model._shaped(np.vstack([coef for coef, _ in parts]), np.hstack([level for _, level in parts]))
    found = {"coef_": coef, "intercept_": intercept, "F_": terms.F, "n_iter_": n_iter, "_learners": learners}
    for name in ("objective", "certificate", "history", "dual"):
        values = [getattr(solution.result, name) for solution in solutions]
        found[f"{name}_"] = values[0] if len(values) == 1 else values
    for name, value in (found | told).items():
        setattr(model, name, value)
    model._derive()


def _warn(model: Model, result: Result | Run) -> None:
    """Say so if the tolerance is not met, or there is nothing to be had."""
    if result.status is Status.INFEASIBLE:
        raise InputError(
            f"The penalties of {type(model).__name__} contradict each other: {result.status}. Widen one of the sets."
        )
    certificate = result.certificate
    if certificate is None or certificate.met is not None:
        return
    if math.isfinite(certificate.rel_gap):
        reached = f"a relative duality gap of {certificate.rel_gap:.2g}"
    else:
        reached = f"a residual of the optimality conditions of {certificate.residual:.2g}"
    advice = "Raise max_passes or tol, or scale the columns of X to similar size."
    if result.status is Status.NO_MINIMUM:
        advice = "No budget is large enough."
    elif abs(certificate.rel_gap) <= model.tol:
        advice = "Raise tol: what rounding may hide of an objective is as large, so that nothing can prove it."
    warnings.warn(
        f"{type(model).__name__} ended after {result.passes:.4g} passes with {reached} where tol is {model.tol:g}: "
        f"{result.status}. {advice}",
        ConvergenceWarning,
        stacklevel=5,  # who called fit, which called _fit and that keep
    )
