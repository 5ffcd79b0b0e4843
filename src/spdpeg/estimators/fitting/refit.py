"""Coefficients without shrinkage: the model again, unpenalised, on the pieces that the penalties found."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from sklearn.exceptions import ConvergenceWarning

from ...data import Source
from ...engine import quietly, solve
from ...errors import InputError, UnsupportedError
from ...exact.cox import Cox
from ...exact.multinomial import Multinomial
from ...operators.pieces import image_size, pairs_of
from ...parameters import shown
from ...problem import Problem
from ...result import uninterrupted
from .outputs import Coupled
from .plan import Plan

_PRICES = {"aic": lambda n: 2.0, "bic": math.log}
"""What a degree of freedom costs."""

_TINY = 1e-12

_EXACT = 1e-8
"""Tolerance of fits without penalties, or less."""


class Basis(NamedTuple):
    """Columns that span the coefficients with the same pieces, and which sums of them would mean fewer pieces."""

    columns: sp.csc_array
    joins: list[dict[int, float]]


def refit(model: Any, plan: Plan) -> None:
    """Replace the coefficients by those of an unpenalised fit on their pieces.

    Parameters
    ----------
    model : estimator
        Fitted. Models without pieces have no parameter `refit`.
    plan : Plan
        What it was fitted to.
    """
    how = bool(model.refit) if isinstance(model.refit, np.bool_) else model.refit
    if isinstance(how, str) and how in _PRICES:
        if plan.terms.loss is None or not plan.terms.loss.quadratic:
            raise UnsupportedError(
                f"refit of {type(model).__name__} is {how!r}, which is for least squares. Give True for other losses."
            )
    elif not isinstance(how, bool):
        raise InputError(f"refit of {type(model).__name__} is {shown(how)}. Give False, True, 'aic' or 'bic'.")
    if how is False:
        return
    if isinstance(plan.joint, Multinomial | Coupled) or isinstance(plan.data.X, Source):
        raise UnsupportedError(
            "refit needs rows in memory and targets of their own. Leave it out, or multi_class and coupled."
        )
    if getattr(model, "positive", False) or getattr(model, "bounds", None) is not None:
        raise UnsupportedError("refit without penalties keeps no bounds. Leave refit or the bounds out.")
    bases = [model._basis(k) for k in range(len(plan.data.targets))]
    refitted = [_one(model, plan, k, basis, how) for k, basis in enumerate(bases)]
    found = [one for one in refitted if one is not None]
    if len(found) < len(refitted):
        return
    coef = np.vstack([one.coef for one in found])
    model.coef_, model.intercept_ = model._shaped(coef, np.hstack([one.intercept for one in found]))
    flat = [_flat(row, plan.terms.F) for row in coef]
    losses = [one.mean_loss for one in found]
    model.flat_, model.mean_loss_ = (flat[0], losses[0]) if len(found) == 1 else (flat, losses)


class Refitted(NamedTuple):
    """Coefficients, intercept and mean loss of one target."""

    coef: np.ndarray
    intercept: float
    mean_loss: float


def _flat(coef: np.ndarray, F: Any) -> np.ndarray | None:
    """Which entries of F x vanish, up to rounding."""
    if F is None:
        return None
    return np.asarray(np.abs(F.forward(coef)) <= _TINY * image_size(F, coef))


def _one(model: Any, plan: Plan, k: int, basis: Basis, how: Any) -> Refitted | None:
    """The fit for one target; None if there is no best one."""
    columns = basis.columns if how is True else _pruned(plan, k, basis, _PRICES[how], model._intercept)
    if columns.shape[1] == 0:
        columns = sp.csc_array((columns.shape[0], 1))
    problem: Any
    result: Any
    tol = min(model.tol, _EXACT)
    if isinstance(plan.joint, Cox):
        problem = plan.joint.on(columns)
        result = problem.solve([(np.zeros(columns.shape[1]), 0.0, None)], tol, model.max_passes, quietly)
    else:
        problem = _unpenalised(plan, k, columns, model._intercept)
        result = uninterrupted(solve(problem, tol=tol, max_passes=model.max_passes))
    certificate = result.certificate
    assert certificate is not None
    if certificate.met is None and not certificate.rel_gap <= model.tol and not certificate.residual <= model.tol:
        warnings.warn(
            f"{type(model).__name__} keeps its penalised coefficients: without penalties {columns.shape[1]} pieces "
            f"have no best fit ({result.status}). Raise lam2 for fewer pieces, or set refit=False.",
            ConvergenceWarning,
            stacklevel=6,
        )
        return None
    coef, intercept = problem.split(result.x)
    return Refitted(np.asarray(columns @ np.ravel(coef)), float(np.ravel(intercept)[0]), problem.objective(result.x))


def _unpenalised(plan: Plan, k: int, columns: sp.csc_array, intercept: bool) -> Problem:
    """The problem of one target on these columns."""
    data = plan.data
    design = data.X @ columns
    design = design.toarray() if sp.issparse(design) and design.shape[1] <= 100 else design
    return Problem(
        design,
        data.targets[k],
        loss=plan.terms.loss,
        sample_weight=data.weights,
        intercept=intercept,
        offset=data.offset_of(k),
    )


def _pruned(plan: Plan, k: int, basis: Basis, price: Any, intercept: bool) -> sp.csc_array:
    """Fewer columns: pieces are joined one by one as long as n log(RSS / n) + price * df falls.

    Where beta is the fit of least squares on the columns and G their Gram matrix, joining along a direction e costs
    (e^T beta)^2 / (e^T G^-1 e) in the sum of squares.
    """
    X, w, target, offset = plan.data.X, plan.data.weights, plan.data.targets[k], plan.data.offset_of(k)
    w = np.ones(len(target)) if w is None else w
    target = target if offset is None else target - offset
    n = float(w.sum())
    A = np.asarray((X @ basis.columns).todense()) if sp.issparse(X) else X @ basis.columns
    A, y = np.asarray(A, dtype=float), target
    if intercept:
        A, y = A - w @ A / n, y - w @ y / n
    columns = basis.columns
    joins = np.zeros((columns.shape[1], len(basis.joins)))
    for number, join in enumerate(basis.joins):
        for j, factor in join.items():
            joins[j, number] = factor
    while joins.shape[1]:
        gram = A.T @ (w[:, None] * A)
        inverse = np.linalg.pinv(gram, hermitian=True)
        beta = inverse @ (A.T @ (w * y))
        rss = max(float(w @ np.square(y - A @ beta)), _TINY * float(w @ np.square(y)))
        spread = np.einsum("ij,ij->j", joins, inverse @ joins)
        costs = np.full(joins.shape[1], np.inf)
        np.divide(np.square(joins.T @ beta), spread, out=costs, where=spread > _TINY * float(np.trace(inverse)))
        best = int(np.argmin(costs))
        if not n * math.log1p(costs[best] / rss) < price(n):
            break
        keep = _without(joins[:, best])
        A, columns = A @ keep, sp.csc_array(columns @ sp.csc_array(keep))
        joins = keep.T @ np.delete(joins, best, axis=1)
        joins = joins[:, np.any(joins != 0.0, axis=0)]
    return columns


def _without(direction: np.ndarray) -> np.ndarray:
    """Columns that span what is orthogonal to a direction of one or two entries: one dropped, or two added up."""
    used = np.flatnonzero(direction)
    keep = np.eye(direction.size)
    if used.size == 2:
        keep[used[1], used[0]] = 1.0
    return np.delete(keep, used[-1], axis=1)


def piece_basis(labels: np.ndarray, coef: np.ndarray, F: Any, sparse: bool) -> Basis:
    """An indicator for each piece; neighbours may join. If they are `sparse`, pieces may be 0 and become 0."""
    alive = np.flatnonzero((np.bincount(labels, np.abs(coef)) > 0.0) | (not sparse))
    number = np.full(int(labels.max()) + 1, -1)
    number[alive] = np.arange(alive.size)
    rows = np.flatnonzero(number[labels] >= 0)
    columns = sp.csc_array((np.ones(rows.size), (rows, number[labels][rows])), shape=(labels.size, alive.size))
    edges = None if F is None else pairs_of(F.matrix())
    pairs = set() if edges is None else {tuple(sorted(pair)) for pair in number[labels][edges].tolist()}
    joins: list[dict[int, float]] = [{i: 1.0, j: -1.0} for i, j in sorted(pairs) if 0 <= i < j]
    if sparse:
        joins += [{i: 1.0} for i in range(alive.size)]
    return Basis(columns, joins)


def curve_basis(places: np.ndarray, F: sp.csr_array, order: int, knots: np.ndarray) -> Basis:
    """Polynomials and, for each row of the differences F that does not vanish, a curve with a kink there alone."""
    n = places.size
    smooth = np.polynomial.legendre.legvander(2.0 * (places - places[0]) / np.ptp(places) - 1.0, order - 1)
    # With unit rows above it F is a triangular matrix, whose inverse holds these curves.
    square = sp.csr_array(sp.vstack([sp.eye_array(order, n), F]))
    units = np.zeros((n, knots.size))
    units[knots + order, np.arange(knots.size)] = 1.0
    kinked = scipy.sparse.linalg.spsolve_triangular(square, units) if knots.size else units
    kinked /= np.abs(kinked).max(axis=0, initial=_TINY)
    return Basis(sp.csc_array(np.hstack([smooth, kinked])), [{order + k: 1.0} for k in range(knots.size)])
