"""The weights worth trying: the largest, where coefficients or F x vanish, and the grids that begin there."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import lsqr
from sklearn.base import clone

from ...certificate import null_model
from ...data.blocks import data_matrix
from ...errors import InputError, UnsupportedError
from ...exact.cox import Cox
from ...losses import Squared
from ...losses.base import TwoLines
from ...operators import Operator, Repeated
from ...parameters import as_number, numbers, shown, whole_number
from ...penalties import FusedL1, Penalty
from ...problem import Problem
from ...view import View
from ..inputs import translated_errors
from .outputs import Coupled, across
from .plan import Plan, check_estimator, plan, separate

NAMES = ("lam1", "lam2")

_MOST = 100_000
"""Weights on a grid."""

EPS = 1e-3
"""The smallest weight of a grid over the largest, unless another is wanted."""

_ROUND = 1e-3
"""Width of a rounded kink of a loss, as a fraction of where the kinks are."""

_SAMPLED_ROWS = 10_000
"""Rows from which the units of the columns are estimated."""

_HALVINGS = 60
"""Halvings of the interval that holds the best constant."""

_ROUGHLY = 1e-6
"""Relative accuracy of a flow whose largest entry is where a grid begins."""


def lam_max(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, ratio: float = 1.0, offset: Any = None
) -> tuple[float, float]:
    """The smallest weights (lam1, lam2) with lam2 = ratio * lam1 for which all coefficients are 0.

    With the gradient g of the mean loss at x = 0 and at the best intercept, x = 0 is optimal if there is a y with
    |g + F^T y| <= lam1 and |y| <= lam2, entry by entry. Along a chain the smallest such lam1 is found in time
    proportional to the number of features; for another F it takes a linear program. Exact up to rounding.

    Parameters
    ----------
    estimator : estimator with the parameters lam1 and lam2
        One of `spdpeg`, r1 being the l1 norm: under a ridge penalty coefficients never become 0.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    sample_weight : array of shape (n_samples,), optional
        As in `fit`.
    ratio : float, default=1
        0 is the l1 norm alone.
    offset : array of shape (n_samples,), optional
        As in `fit` of a regressor; logarithms of exposures belong into it.

    Returns
    -------
    (float, float)
        lam1 and lam2.

    See Also
    --------
    path : All fits on a grid that begins at such weights.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import FusedLasso
    >>> from spdpeg.paths import lam_max
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> y = X @ [0.0, 1.0, 1.0, 1.0, 0.0]
    >>> lam1, lam2 = lam_max(FusedLasso(), X, y)
    >>> [bool(FusedLasso(s * lam1, s * lam2).fit(X, y).coef_.any()) for s in (1.001, 0.999)]
    [False, True]
    """
    if not 0.0 <= as_number(ratio) < math.inf:
        raise InputError(f"ratio is {shown(ratio)}. Give a finite number of at least 0.")
    lam1 = least_scale(_plan_with(estimator, (X, y, sample_weight, offset), lam1=1.0, lam2=ratio))
    return lam1, ratio * lam1


def least_scale(plan: Plan) -> float:
    """The smallest factor on the weights of a plan with which all coefficients are 0."""
    start = _at_zero_of(plan)
    if not start.smooth:
        raise UnsupportedError(
            f"{plan.terms.loss!r} is non-smooth, and no least weights are known at which all coefficients are 0. "
            "Give lam1 and lam2."
        )
    return max(_joint(start, descent) for descent in start.descents)


def chosen(
    estimator: Any, data: tuple[Any, ...], lam1: Any, lam2: Any, n_lam1: int, n_lam2: int, eps: float
) -> dict[str, np.ndarray]:
    """Both grids, largest weights first: those given, checked, and those that the data suggest.

    Parameters
    ----------
    estimator : estimator
    data : tuple
        X, y and, if there are any, sample_weight and offset, as in `fit`.
    lam1, lam2 : arrays or None
    n_lam1, n_lam2, eps
        Lengths of the grids that are None, and their smallest weight over the largest.

    Returns
    -------
    dict of arrays
        By name; a weight that the estimator does not have gets a single 0.
    """
    check_estimator(estimator)
    known = estimator.get_params(deep=False)
    if "lam2" not in known:
        raise InputError(f"{type(estimator).__name__} has no parameter lam2. A path needs a model with lam1 or lam2.")
    if not 0.0 < as_number(eps) < 1.0:
        raise InputError(f"eps is {shown(eps)}. Give a number between 0 and 1.")
    given = {"lam1": lam1, "lam2": lam2}
    sizes = {"lam1": n_lam1, "lam2": n_lam2}
    found = {}
    for name in NAMES:
        if name not in known:
            if given[name] is not None:
                raise InputError(f"{type(estimator).__name__} has no parameter {name}. Leave {name} out.")
            found[name] = np.zeros(1)
        elif given[name] is not None:
            found[name] = _checked(name, given[name])
        elif whole_number(f"n_{name}", sizes[name], least=1) > _MOST:
            raise InputError(f"n_{name} is {sizes[name]}. Give at most {_MOST}.")
    missing = {name: int(size) for name, size in sizes.items() if name not in found}
    return {**(suggested(estimator, data, missing, eps) if missing else {}), **found}


def _checked(name: str, values: Any) -> np.ndarray:
    grid = np.unique(numbers(name, values))[::-1]
    if grid.size == 0 or not np.all(np.isfinite(grid)) or np.any(grid < 0.0):
        raise InputError(f"{name} is {values!r}. Give an array of finite weights of at least 0.")
    return grid


def suggested(estimator: Any, data: tuple[Any, ...], sizes: dict[str, int], eps: float) -> dict[str, np.ndarray]:
    """A grid for each weight named in `sizes`, from the largest worth trying down to `eps` times that.

    lam1 begins where x = 0 whatever lam2 is; for a ridge penalty, at the Lipschitz constant of the gradient, where
    every direction shrinks by half or more. lam2 begins where the step from x = 0 down the gradient keeps F x = 0.
    """
    start = _at_zero_of(_plan_with(estimator, data, **dict.fromkeys(sizes, 1.0)))
    found = _tops(start, list(sizes))
    return {name: found[name] * np.geomspace(1.0, eps, n) for name, n in sizes.items()}


def typical(plan: Plan, names: Sequence[str]) -> dict[str, float]:
    """The largest weights worth trying of those named if all columns had the unit of a typical one.

    In the plan the weights are 1. Where columns have different units, the largest weights are those of the column with
    the largest numbers, and far too large for all others.
    """
    start, problem = _at_zero_of(plan), _with_rows_of(plan)
    units = _units(problem)
    ratio = max(_in_typical_units(descent, units) for descent in start.inwards)
    ratios = dict.fromkeys(names, ratio)
    if "lam1" in ratios and start.r1 is not None and not start.r1.unbounded.homogeneous:
        ratios["lam1"] = _curvature_in_typical_units(problem, units)
    return {name: ratios[name] * top for name, top in _tops(start, names).items()}


def _with_rows_of(plan: Plan) -> View:
    """A problem with the rows of a plan; its loss does not matter where that of the plan is no sum over rows."""
    if plan.terms.loss is not None:
        return separate(plan)[0].view
    labels = np.zeros(plan.data.X.shape[0])
    return Problem(plan.data.X, labels, loss=Squared(), sample_weight=plan.data.weights).view


def _units(problem: View) -> np.ndarray:
    """Root mean square of the entries of each column that are not 0, in some rows; 0 for a column without any.

    Zeros do not count: a column of counts or marks is not small because few rows have one.
    """
    sample = problem.sums.sample(_SAMPLED_ROWS)
    if sample is None:
        return np.zeros(problem.rows.n_features)
    rows, weights = data_matrix(sample.block.rows._replace(bias=0.0)), sample.block.weights
    weights = weights if weights.size else np.ones(rows.shape[0])
    if sp.issparse(rows):
        rows = rows.copy()  # SciPy sorts columns where they are, and these belong to the user
    size = float(abs(rows).max()) or 1.0  # whose square may be no number
    squares = weights @ abs(rows / size) ** 2
    counts = weights @ (rows != 0.0)
    return size * np.sqrt(np.divide(squares, counts, out=np.zeros(problem.rows.n_features), where=counts > 0.0))


def _in_typical_units(descent: np.ndarray, units: np.ndarray) -> float:
    """The largest entry of the gradient with columns in the median unit, as a fraction of the largest; at most 1."""
    size = float(np.max(np.abs(descent), initial=0.0))
    known = units > 0.0
    if descent.size != units.size or size == 0.0 or not known.any():
        return 1.0
    return min(1.0, float(np.median(units[known]) * np.max(np.abs(descent[known]) / units[known])) / size)


def _curvature_in_typical_units(problem: View, units: np.ndarray) -> float:
    """The same for the largest curvature, at which a ridge begins."""
    known = units > 0.0
    if not problem.rows.in_memory or not known.any():
        return 1.0
    plain = np.zeros(problem.n_coordinates)  # without the intercept, which no penalty sees
    plain[: units.size] = known
    scaled = plain.copy()
    scaled[: units.size][known] = np.square(np.median(units[known]) / units[known])
    whole = problem.bounds.rough_norm(plain)
    return min(1.0, problem.bounds.rough_norm(scaled) / whole) if whole > 0.0 else 1.0


def _tops(start: "AtZero", names: Sequence[str]) -> dict[str, float]:
    tops = {"lam1": _alone, "lam2": _fusing}
    return {name: max(tops[name](start, descent) for descent in start.inwards) or 1.0 for name in names}


class AtZero(NamedTuple):
    """The negative gradients at x = 0, one for each problem of the fit, and the terms."""

    descents: list[np.ndarray]
    lipschitz: float
    r1: Penalty | None
    r2: Penalty | None
    F: Operator | None
    smooth: bool = True
    """Whether the descents are minus gradients; one of many subgradients otherwise."""

    @property
    def inwards(self) -> list[np.ndarray]:
        """The descents without the parts that bounds on the coefficients rule out."""
        if self.r1 is None:
            return self.descents
        for descent in self.descents:
            self.r1.pack(descent.size)  # refuses parameters that do not fit
        return [self.r1.inwards(descent) for descent in self.descents]


def _plan_with(estimator: Any, data: tuple[Any, ...], **weights: float) -> Plan:
    """The plan of a fit with these weights."""
    check_estimator(estimator)
    with translated_errors():  # parameters that cannot be copied, such as a generator
        copied = clone(estimator).set_params(**weights)
    return plan(copied, *data)


def _at_zero_of(found: Plan) -> AtZero:
    """Minus the gradients of the mean loss at x = 0 and at the best intercept, and the terms of a plan."""
    r1, r2, F = found.terms.r1, found.terms.r2, found.terms.F
    if isinstance(found.joint, Cox):
        return AtZero([-found.joint.gradient(np.zeros(found.data.X.shape[1]))], math.nan, r1, r2, F)
    problems = separate(found)
    descents = [_descent(problem.view) for problem in problems]
    steepness = _steepness(problems[0].view) if r1 is not None and not r1.unbounded.homogeneous else math.nan
    if isinstance(found.joint, Coupled):
        k, d = len(descents), descents[0].size
        r1 = None if r1 is None else across(r1, d, k)
        if r2 is not None and F is not None:
            r2, F = across(r2, F.n_outputs, k), Repeated(F, k)
        descents = [np.concatenate(descents)]
    # With the best intercepts, softmax and logistic loss have the same gradients at x = 0.
    elif found.joint is not None and not problems[0].bias:
        raise UnsupportedError(
            "No largest weight is known for multi_class='multinomial' without an intercept. Give lam1 and lam2."
        )
    return AtZero(descents, steepness, r1, r2, F, problems[0].loss.smooth)


def _descent(problem: View) -> np.ndarray:
    """Minus the gradient of the mean loss at x = 0 and at the best intercept; some subgradient where it has kinks."""
    if problem.loss.smooth:
        descent = -problem.gradient(null_model(problem))[: problem.rows.n_features]
        if not np.all(np.isfinite(descent)):
            problem.sums.statistics()  # which says where the data are no numbers
        return descent
    lines = problem.loss.lines(problem.rows.block.labels) if problem.rows.in_memory else None
    if lines is None:
        raise UnsupportedError(
            f"No largest weight is known for {problem.loss!r}, or not for rows on a disk. Give lam1 and lam2."
        )
    slopes = _balanced(lines, problem.rows.block.weights, bool(problem.rows.bias))
    return -problem.sums.adjoint(slopes)[: problem.rows.n_features]


def _balanced(lines: TwoLines, weights: np.ndarray, intercept: bool) -> np.ndarray:
    """Slopes of non-smooth losses at the same margin, which add up to 0 beside an intercept.

    Kinks are rounded a little, so that the rows that have theirs at this margin divide what is left to balance.
    """
    fraction = weights / weights.size if weights.size else np.full(lines.offset.size, 1.0 / lines.offset.size)
    kinks = lines.sign * lines.offset
    width = _ROUND * max(float(np.ptp(kinks)), float(np.abs(kinks).max()), np.finfo(float).tiny)

    def slopes(margin: float) -> np.ndarray:
        return np.asarray(lines.sign * np.clip((lines.sign * margin - lines.offset) / width, -lines.short, lines.over))

    if not intercept:
        return slopes(0.0)
    low, high = float(kinks.min()) - width, float(kinks.max()) + width
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fraction @ slopes(middle) < 0.0 else (low, middle)
    return slopes(0.5 * (low + high))


def _steepness(problem: View) -> float:
    """The Lipschitz constant of the gradient; where there is none, a bound on the curvature at x = 0."""
    if math.isfinite(problem.loss.curvature):
        return problem.bounds.lipschitz
    return problem.sums.at(null_model(problem)).curvature_range[1] * problem.rows.statistics.mean_square


def _joint(start: AtZero, descent: np.ndarray) -> float:
    """The smallest t for which x = 0 is optimal with t r1 + t r2(F .)."""
    r1, r2, F = start.r1, start.r2, start.F
    l1 = None if r1 is None else r1.l1_weights(descent.size)
    l2 = np.zeros(0) if r2 is None or F is None else r2.l1_weights(F.n_outputs)
    if r1 is None or l1 is None or l2 is None:
        raise UnsupportedError(
            f"No weights are known that make all coefficients 0 under r1 = {r1!r} and r2 = {r2!r}. "
            "Two l1 norms have such weights; give grids of lam1 and lam2 for other penalties."
        )
    if r2 is None or F is None:
        return _gauge(r1, descent)
    if F.chain and np.all(l1 == l1[0]):
        return _gauge(FusedL1(float(l1[0]), l2), descent)
    largest = float(np.max(np.abs(descent)))
    return largest * _least_bound(F.matrix(), descent / largest, l1, l2) if largest > 0.0 else 0.0


def _least_bound(F: sp.csr_array, descent: np.ndarray, l1: np.ndarray, l2: np.ndarray) -> float:
    """The smallest t for which some y has |descent - F^T y| <= t l1 and |y| <= t l2, by a linear program in (y, t)."""
    m = F.shape[0]
    edges, features = -l2[:, None], -l1[:, None]
    sides = [[F.T, features], [-F.T, features], [sp.eye_array(m), edges], [-sp.eye_array(m), edges]]
    limits = np.concatenate([descent, -descent, np.zeros(2 * m)])
    cost = np.append(np.zeros(m), 1.0)
    return float(linprog(cost, sp.block_array(sides, format="csr"), limits, bounds=(None, None)).fun)


def _alone(start: AtZero, descent: np.ndarray) -> float:
    """The smallest weight of r1 that makes x = 0 optimal without r2; where there is none, one that shrinks a lot."""
    assert start.r1 is not None
    r1 = start.r1.unbounded
    return _gauge(r1, descent) if r1.homogeneous else start.lipschitz


def _fusing(start: AtZero, descent: np.ndarray) -> float:
    """A weight of r2 that balances the part of the gradient that would change F x, by the least-squares flow F^T y."""
    assert start.r2 is not None
    assert start.F is not None
    if start.F.chain:
        return _gauge(start.r2, -np.cumsum(descent - descent.mean())[:-1])
    return _gauge(start.r2, lsqr(start.F.matrix().T, descent, atol=_ROUGHLY, btol=_ROUGHLY)[0])


def _gauge(norm: Penalty, u: np.ndarray) -> float:
    """The smallest t for which u lies in t times the dual unit ball of a norm."""
    size = float(np.max(np.abs(u), initial=0.0))
    if size == 0.0:
        return 0.0
    u = u / size  # squares of tiny numbers vanish, those of huge ones overflow
    square = float(u @ u)
    # <u, u> <= t norm(u) bounds t from below, so that this much of u is on the border of the ball or beyond it.
    grown = norm.value(u) / square
    return size / (grown * norm.dual_scale(grown * u))
