"""One fit from top to bottom.

    plan(model, X, y, weights)     what to solve: rows checked, labels encoded, problems made; nothing is solved
    fit(plan)                      the solution of each problem; no attribute is set
    keep(model, plan, solutions)   all attributes that a fit leaves behind, and warnings

`fit` of every estimator is these three lines; paths and cross-validation call them too. The first is in `plan`, the
others are here.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...certificate import objective_size
from ...engine import quietly
from ...errors import InputError
from ...operators import Operator
from ...operators.pieces import image_size, vanishing
from ...penalties import Penalty
from ...problem import Problem
from ...result import Result, Run, Status, uninterrupted
from ...sums import threads
from ...view import Partitions
from .outputs import Coupled
from .plan import Data, Joint, Model, Plan, Start, Terms
from .refit import refit


class Solution(NamedTuple):
    """A problem, which can split x into coefficients and intercept, and its result."""

    problem: Problem | Joint
    result: Result | Run


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

        if side_by_side == 1:
            return [one(of_target) for of_target in together]
        with threads.using(side_by_side):
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
        False leaves out which entries of F x vanish, the mean loss and what degrees of freedom need, unless the model
        is fitted again on its pieces.
    """
    details = details or _refits(model)
    for solution in solutions:
        _warn(model, solution.result)
    n_iter = max(math.ceil(solution.result.passes) for solution in solutions)
    terms = plan.terms
    accounted = account(solutions, terms.r2, terms.F, _total_weight(plan.data)) if details else {}
    store(model, terms, solutions, n_iter, [], accounted)
    if _refits(model):
        refit(model, plan)
    if getattr(plan.data.X, "dtype", None) == np.float32:
        _round(model, plan, solutions)
    model._conclude(plan, details)


def _refits(model: Any) -> bool:
    """Whether the model is fitted again on its pieces."""
    return getattr(model, "refit", False) is not False


def _round(model: Any, plan: Plan, solutions: Sequence[Solution]) -> None:
    """Coefficients in single precision, as the rows are; objective and certificate are those of the rounded numbers.

    The bound does not change. If rounding alone misses the tolerance, the fit did its work: no warning is given, and
    `certificate_.met` says so. Where rounding leaves a set, the numbers before it are kept.
    """
    model.coef_ = model.coef_.astype(np.float32)
    several = bool(np.ndim(model.intercept_))
    if several:
        model.intercept_ = model.intercept_.astype(np.float32)
    if _refits(model):
        return  # objective and certificate stay those of the penalised fit that found the pieces
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
    accounted: dict[str, Any],
) -> None:
    """The one place where fitted attributes are set, those of `account` among them.

    `_derive` adds those that a model makes of its coefficients.
    """
    parts = [solution.problem.split(solution.result.x) for solution in solutions]
    coef, intercept = model._shaped(np.vstack([coef for coef, _ in parts]), np.hstack([level for _, level in parts]))
    found = {"coef_": coef, "intercept_": intercept, "F_": terms.F, "n_iter_": n_iter, "_learners": learners}
    for name in ("objective", "certificate", "history", "dual"):
        values = [getattr(solution.result, name) for solution in solutions]
        found[f"{name}_"] = values[0] if len(values) == 1 else values
    for name, value in (found | accounted).items():
        setattr(model, name, value)
    model._derive()


def _warn(model: Model, result: Result | Run) -> None:
    """Warn if the tolerance is not met, or the problem has no solution."""
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


def account(solutions: Sequence[Any], r2: Penalty | None, F: Operator | None, n_rows: float | None) -> dict[str, Any]:
    """`flat_`, `mean_loss_` and `n_rows_`; lists of the first two where targets are fitted one by one.

    Parameters
    ----------
    solutions : list of Solution
    r2, F
        Of the features, without an intercept.
    n_rows : float or None
        Sum of the weights of the rows; None for a stream, whose loss is not known.

    Returns
    -------
    dict
    """
    flat, losses = [], []
    for solution in solutions:
        rows = np.atleast_2d(solution.problem.split(solution.result.x)[0])
        duals = np.asarray(solution.result.dual).reshape(len(rows), -1)
        flat.append(_flat(rows, duals, r2, F, isinstance(solution.problem, Coupled)))
        penalty = 0.0 if n_rows is None else solution.problem.penalty_value(solution.result.x)
        losses.append(None if n_rows is None else float(solution.result.objective - penalty))
    one = len(solutions) == 1
    return {"flat_": flat[0] if one else flat, "mean_loss_": losses[0] if one else losses, "n_rows_": n_rows}


def _flat(
    rows: np.ndarray, duals: np.ndarray, r2: Penalty | None, F: Operator | None, together: bool
) -> np.ndarray | None:
    """Which entries of F x vanish, a row for each class or output that the problem holds; None unless r2 is an l1 norm.

    If they vanish `together`, the lengths over all outputs decide.
    """
    weights = None if r2 is None or F is None else r2.l1_weights(F.n_outputs)
    if weights is None or F is None or not np.any(weights):  # weights of 0 are no penalty, and have no multipliers
        return None
    images = np.array([F.forward(row) for row in rows])
    sizes = [image_size(F, row) for row in rows]
    if together:
        lengths, sizes_of_duals = np.linalg.norm(images, axis=0), np.linalg.norm(duals, axis=0)
        return np.tile(vanishing(lengths, sizes_of_duals, weights, max(sizes)), (len(rows), 1))
    found = [vanishing(image, dual, weights, size) for image, dual, size in zip(images, duals, sizes, strict=True)]
    return np.array(found) if len(found) > 1 else found[0]
