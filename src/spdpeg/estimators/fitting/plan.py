"""Plan a fit: check the rows, make the terms, pose a problem for each target. Nothing is solved here.

`Model` lists what a model contributes, in the order in which it is asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ...data import Source, as_source
from ...errors import InputError, UnsupportedError
from ...exact.cox import Cox
from ...exact.multinomial import Multinomial
from ...losses import Loss
from ...operators import Identity, Operator, as_operator
from ...parameters import as_number, shown, truth
from ...penalties import Penalty
from ...problem import Problem
from ...solvers.base import Solver
from ...sparse import sound
from ...sums.threads import checked_jobs
from ...view import Partitions
from .outputs import Coupled

_SEEDS = 2**31


class Settings(NamedTuple):
    """The arguments with which `solve` is called."""

    solver: str | Solver
    tol: float
    max_passes: float
    seed: int
    progress: bool
    n_jobs: int


def check_settings(model: Any) -> None:
    """Refuse parameters that `solve` could not use; draws nothing at random."""
    owner = type(model).__name__
    for name, value in vars(model).items():
        if sp.issparse(value):
            sound(value, f"{name} of {owner}")
    for name in ("fit_intercept", "warm_start", "verbose"):
        truth(f"{name} of {owner}", getattr(model, name, False))
    if not isinstance(model.solver, str | Solver):
        raise InputError(f"solver of {owner} is {shown(model.solver)}. Give the name of a solver.")
    if not 0.0 < as_number(model.tol) < math.inf:
        raise InputError(f"tol of {owner} is {shown(model.tol)}. It must be a positive number.")
    if not 0.0 <= as_number(model.max_passes) < math.inf:
        raise InputError(f"max_passes of {owner} is {shown(model.max_passes)}. It must be a number of at least 0.")
    if not isinstance(model.random_state, int | np.integer | np.random.RandomState | None):
        raise _odd_seed(model)


def _odd_seed(model: Any) -> InputError:
    return InputError(
        f"random_state of {type(model).__name__} is {shown(model.random_state)}. "
        "Give a whole number, a RandomState or None."
    )


def settings_of(model: Any) -> Settings:
    """The parameters of the model that `solve` is given."""
    check_settings(model)
    try:
        seed = int(check_random_state(model.random_state).randint(_SEEDS))
    except (TypeError, ValueError):
        raise _odd_seed(model) from None
    return Settings(model.solver, model.tol, model.max_passes, seed, bool(model.verbose), checked_jobs(model.n_jobs))


def check_estimator(estimator: Any) -> None:
    """Refuse what is no model of this package, or the class of one."""
    if not isinstance(estimator, BaseEstimator) or not hasattr(estimator, "_rows"):
        raise InputError(f"The estimator is {shown(estimator)}. Give one of spdpeg.estimators, such as FusedLasso().")


class Data(NamedTuple):
    """The training data: the design, the labels of each target, weights of the rows."""

    X: Any
    targets: list[Any]
    weights: np.ndarray | None
    offset: np.ndarray | None = None
    """Added to the margins of the rows: one for all targets, or a column for each."""

    def offset_of(self, target: int) -> np.ndarray | None:
        """The offset of one target."""
        return self.offset if self.offset is None or self.offset.ndim == 1 else self.offset[:, target]


class Terms(NamedTuple):
    """The problem without its data."""

    loss: Loss | None
    """Loss of a row; None if the loss is not a sum over rows."""
    r1: Penalty | None
    r2: Penalty | None
    F: Operator | None


class Start(NamedTuple):
    """Coefficients, intercept and multipliers of a target to begin with."""

    coef: np.ndarray
    intercept: Any = 0.0
    dual: np.ndarray | None = None

    def arguments(self, problem: Problem) -> dict[str, Any]:
        """Arguments for `solve`; multipliers of another F are left out."""
        fits = self.dual is not None and self.dual.shape == (problem.F.n_outputs,)
        return {"x0": problem.join(self.coef, self.intercept), "dual0": self.dual if fits else None}


Joint = Multinomial | Coupled | Cox
"""Problems of all targets at once, or of all rows."""


class Model:
    """The interface of models: parameters, and these methods, listed in the order in which a fit calls them."""

    solver: str
    tol: float
    max_passes: float
    warm_start: bool
    random_state: Any
    verbose: bool

    def _rows(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Data:
        """Check the input, encode the labels, drop rows of weight 0; classifiers refuse an offset."""
        raise NotImplementedError

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        """r1 and r2 at the model's weights."""
        raise NotImplementedError

    def _operator(self, X: Any, weights: np.ndarray | None) -> Any:
        """F for the columns of X; the weights are those of its rows."""
        return Identity()

    def _loss(self) -> Loss | None:
        """The loss of a row; None if the loss is no sum over rows."""
        return None

    def _joint(self, data: Data) -> Joint | None:
        """The problem of all targets at once, without penalties; None if each target has its own."""
        return None

    @property
    def _intercept(self) -> bool:
        """Whether there is an intercept."""
        return False

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[Any, Any]:
        """`coef_` and `intercept_` from a row for each target."""
        raise NotImplementedError

    def _derive(self) -> None:
        """Set further attributes that follow from `coef_`: none, unless a model has some."""

    def _conclude(self, plan: "Plan", details: bool) -> None:
        """Set further attributes that follow from `coef_` and the data: none, unless a model has some.

        Without `details` only those that predictions need.
        """


@dataclass(frozen=True, eq=False)
class Plan:
    """All that a fit solves, decided before any of it is solved.

    Attributes
    ----------
    data : Data
    terms : Terms
    problems : list of Problem
        One for each target; none if all are fitted at once.
    joint : Multinomial, Coupled, Cox or None
        The problem of all targets at once, or of all rows.
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
        """The same data under other penalties; nothing is read again.

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
    """The training data, checked and encoded; refused if the model cannot use them."""
    return model._rows(X, y, sample_weight, offset)


def penalties(model: Model, n_features: int) -> tuple[Penalty | None, Penalty | None]:
    """r1 and r2 at the weights that the model has now."""
    return model._penalties(n_features)


def derive(model: Model) -> None:
    """Set what follows from the coefficients that the model has now."""
    model._derive()


def plan(model: Model, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Plan:
    """Plan `model.fit(X, y, sample_weight)`.

    Parameters
    ----------
    model : estimator
        Names of columns and classes are set on it.
    X, y, sample_weight, offset
        As in `fit`.

    Returns
    -------
    Plan
    """
    settings = settings_of(model)
    data = rows(model, X, y, sample_weight, offset)
    terms = terms_of(model, data)
    joint = model._joint(data)
    joint = None if joint is None else joint.with_penalties(terms.r1, terms.r2, terms.F)
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


def in_memory(model: Model, X: Any, advice: str) -> None:
    """Refuse rows that are on a disk or a cluster."""
    if isinstance(X, Source | Partitions):
        raise UnsupportedError(f"{type(model).__name__} needs all rows in memory for this fit. {advice}")
