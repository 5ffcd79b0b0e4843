"""The lower bound D(u, y), and how a pair (u, y) becomes feasible for it in floating point.

The conjugate of r1 is finite on a set that -(A^T W u / N + F^T y) must lie in. Three kinds of directions are treated
differently. Where the set has an inside, as for a norm, u and y are scaled until the point lies in it. Where it is a
single point or a half line, because r1 does not grow there, the excess, which is how far the point lies outside, must
be no more than the rounding errors of the sums themselves, and is paid for: the bound loses its product with x. More
than rounding is first removed, by moving the slopes (slopes.py) or the multiplier y.
"""

import math
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import UnsupportedError
from ..kernels.jit import call_linear, call_prox, kernel
from ..kernels.terms import Terms
from ..penalties import Penalty
from ..sums import Evaluation, Token
from ..view import View
from .balanced import balanced
from .record import Certificate
from .residual import kkt_residual, residual
from .restore import restored, sharper_value
from .slopes import Slopes, at_point, balance, given, is_balanced, objective_size, over_diagonal, root_mean_square

__all__ = ["bound", "certify", "kkt_residual", "least_gap", "norm_bound", "norm_scale"]

_POLISHING = 100
"""Dual steps that look for a better y; they read no data."""

_INSIDE = 1.0 - 1e-12
"""A scaled point stays this far short of the border, where rounding could cross it."""

_NO_STEP = 1e-12
"""The prox of a conjugate with hardly any step is the projection onto its domain."""

_BALANCED = 0.3
"""Slopes may miss adding up to 0 by this times the root of the tolerance, as a fraction of their sizes."""

_EXACT = 1e-8
"""Slopes may miss adding up to 0 by this fraction of their sizes if no tolerance is given: its square is rounding."""

_ROUNDING = 64.0 * np.finfo(float).eps
"""Largest excess over the domain of a conjugate, as a fraction of the sums of absolute values that were added up."""

_LAST_DIGIT = 4.0 * np.finfo(float).eps
"""Change of conjugates, as a fraction of the products in them, between numbers of 32 digits and their first 16."""

_FARTHEST = 10.0
"""Solutions are taken to be at most so many times as large as x where there is an excess."""

_NOISE = 1e-14
"""Fraction of the strongest effect below which a multiplier may be taken for 0."""

_MOST_COST = 1e-3
"""Fraction of a bound that may be given up for the excess that rounding leaves."""

_NEXT_TO_0 = 1e-9
"""Objective, relative to that at x = 0, below which margins of 16 digits may not tell it from 0."""

NO_CONJUGATE = "a term has no conjugate in closed form"
NOT_FEASIBLE = "no feasible dual point was found"


@np.errstate(over="ignore", invalid="ignore")  # where a loss that grows exponentially overflows there is no bound
def certify(
    problem: View,
    x: np.ndarray,
    dual: np.ndarray,
    best: float = -math.inf,
    evaluation: Evaluation | None = None,
    slopes: Token = None,
    tol: float | None = None,
    slopes_gradient: np.ndarray | None = None,
    last: bool = True,
) -> Certificate:
    """Certificate at (x, dual); `best` is a lower bound known before.

    Costs one read of the data, unless the `evaluation` at x is given.

    `slopes` of the rows, from the solver, are tried before those at x; for a loss with kinks they take their place.
    `slopes_gradient` is A^T W of them over N, if known. The bound may lose a tenth of `tol` if that saves time. Where
    `evaluation` has no margins, `best` has to do; where rows are far away and the solver has another step to take, the
    bound from its slopes: those at x would take a read, and a step brings more.
    """
    y = project_dual(problem, -dual)
    obstacle = NOT_FEASIBLE
    evaluation = problem.sums.evaluate(x) if evaluation is None else evaluation
    primal = evaluation.loss + problem.penalty.value(x) if evaluation.objective is None else evaluation.objective
    lower = best
    wanted = -math.inf if tol is None else primal - tol * abs(primal)
    # Half of tol: a bound that is only just good enough might be lost again to rounding when it is judged.
    known = math.inf if tol is None else primal - 0.5 * tol * abs(primal)
    try:
        smooth = problem.loss.smooth
        # The slopes that a Newton model predicts are feasible as they are, and their gap is of fourth order in the
        # step; those at x have to be scaled into the dual domain, which costs first order.
        if slopes is not None:
            least = wanted if last or problem.sums.resident else -math.inf  # it may take a read, and a step brings more
            at = _in_domain(problem, slopes, _given(problem, slopes, slopes_gradient))
            lower = max(lower, bound(problem, at, y.copy(), x, least, known))
        enough = lower >= known
        enough |= slopes is not None and math.isfinite(lower) and not (last or problem.sums.resident)
        # At a kink phi' is one of many subgradients, as a rule not the optimal one; then only the slopes of a solver
        # will do.
        if not enough and evaluation.margins is not None and (smooth or slopes is None):
            accuracy = _EXACT if tol is None else _BALANCED * math.sqrt(tol)
            least = wanted if last else -math.inf
            at = at_point(problem, evaluation, accuracy)
            there = x + at.move if np.any(at.move) else x
            far = x if there is x else np.where(np.abs(there) > np.abs(x), there, x)  # the solution may be there
            lower = max(lower, bound(problem, at, y.copy(), far, least, known))
    except (UnsupportedError, NotImplementedError):  # no closed conjugate: a penalty on a set, or a user's own
        obstacle = NO_CONJUGATE
    near = _next_to_zero(problem, primal, lower, tol)
    if (near or primal < lower < math.inf) and evaluation.margins is not None:
        sharper = sharper_value(problem, x)
        if sharper is not None:
            primal = sharper
        elif near:
            primal = _with_rounding(problem, primal, x)
    if primal < lower < math.inf:
        lower -= _cancelled(problem, x, y, slopes, slopes_gradient, evaluation)
    certificate = Certificate(primal, lower, math.nan)
    if math.isfinite(certificate.rel_gap) or certificate.gap == 0.0 or evaluation.margins is None:
        return certificate
    obstacle = "" if math.isfinite(lower) else obstacle
    return Certificate(primal, lower, residual(problem, x, y, evaluation), obstacle=obstacle)


def norm_scale(problem: View, gradient: np.ndarray) -> tuple[float, np.ndarray]:
    """The factor that brings slopes with this gradient into the dual domain, where one norm holds all penalties; NaN
    elsewhere. And how far entries of the gradient are moved before, which must be no more than their errors."""
    norm = _one_norm(problem)
    if norm is None or _may_be_huge(problem):
        return math.nan, np.zeros(gradient.size)
    inside = norm.nearest_dual(-gradient)
    scale = norm.dual_scale(inside)
    return scale * (_INSIDE if scale < 1.0 else 1.0), np.abs(gradient + inside)


def norm_bound(
    problem: View, conjugate: float, scale: float, moved: np.ndarray, x: np.ndarray, errors: np.ndarray
) -> float:
    """The lower bound from slopes near x whose gradient is known up to these errors, which are paid for.

    `conjugate` is the mean of w phi* of the slopes times `scale`: see `norm_scale`. Minus infinity if there is none.
    """
    if np.any(moved > errors):
        return -math.inf
    cost = 2.0 * scale * float(errors @ _radius(problem, x))
    total = -conjugate - cost
    return total if math.isfinite(total) and cost <= _MOST_COST * abs(total) else -math.inf


def _next_to_zero(problem: View, primal: float, lower: float, tol: float | None) -> bool:
    """Whether the objective is so near to 0 that it may be no more than rounding, and that decides about the proof."""
    if tol is None or problem.loss.log_link or not math.isfinite(lower) or primal - lower <= tol * abs(primal):
        return False
    return primal <= _NEXT_TO_0 * objective_size(problem)


def _with_rounding(problem: View, primal: float, x: np.ndarray) -> float:
    """The most that an objective next to 0 may be, by the rounding of products with rows.

    Of a loss that is not negative and has a curvature of at most L, slopes are at most the root of 2 L times its value.
    """
    error = _LAST_DIGIT * float(problem.bounds.column_sizes @ np.abs(x))
    curvature = problem.loss.curvature
    if not math.isfinite(curvature):
        return primal + error
    return (math.sqrt(max(primal, 0.0)) + math.sqrt(0.5 * curvature) * error) ** 2


def _cancelled(
    problem: View,
    x: np.ndarray,
    y: np.ndarray,
    slopes: Token,
    slopes_gradient: np.ndarray | None,
    evaluation: Evaluation,
) -> float:
    """How far below 0 a gap may fall at a solution: rounding of sums that cancel, constraints met up to rounding.

    Objective and bound are equal because <A^T W u / N, x> and <y, F x> cancel. A point outside a set by the last digits
    has an objective below that of all points inside, by as much as the inequality of Fenchel and Young is violated.
    """
    if slopes is None and evaluation.margins is None:
        return 0.0
    at = at_point(problem, evaluation, _EXACT) if slopes is None else _given(problem, slopes, slopes_gradient)
    sizes = root_mean_square(problem, at) * float(problem.bounds.column_sizes @ np.abs(x))
    v, outside = -at.gradient, 0.0
    if y.size:
        Fx = problem.F.forward(x)
        sizes += float(np.abs(y) @ (abs(problem.F.matrix()) @ np.abs(x)))
        v = v - problem.F.adjoint(y)
        outside += _gained(problem.r2, Fx, y)
    outside += _gained(problem.regularizer, x, problem.regularizer.nearest_dual(v))
    return _ROUNDING * sizes + outside


def _gained(penalty: Penalty, v: np.ndarray, u: np.ndarray) -> float:
    """By how much <u, v> exceeds r(v) + r*(u): only where one of the two is outside its domain by the last digits."""
    above = float(u @ v) - penalty.value(v) - penalty.conjugate(u)
    return above if 0.0 < above < math.inf else 0.0


def project_dual(problem: View, y: np.ndarray) -> np.ndarray:
    """The nearest y with a finite conjugate of r2; y itself if it has one, as even the shortest step moves it."""
    if not y.size:
        return y
    try:
        inside = math.isfinite(problem.r2.conjugate(y))
    except (UnsupportedError, NotImplementedError):
        inside = False
    return y if inside else problem.r2.dual_prox(y, _NO_STEP)


def least_gap(problem: View, x: np.ndarray, evaluation: Evaluation, value: float, tol: float) -> float:
    """A number below the gap that `certify` would find where one norm holds all penalties; minus infinity elsewhere.

    `value` is the objective at x. Nothing is read. The bound D is a concave function of the slopes and has the margins
    for its gradient, so that it is at most loss - <g, x> at slopes with gradient g.
    """
    norm = _one_norm(problem)
    if norm is None or (problem.rows.bias and not is_balanced(evaluation, _BALANCED * math.sqrt(tol))):
        return -math.inf
    gradient = evaluation.gradient
    if problem.rows.bias:
        assert evaluation.positive_part is not None
        gradient = balance(evaluation.positive_part, evaluation.gradient - evaluation.positive_part)[0]
    return value - evaluation.loss + norm.dual_scale(norm.nearest_dual(-gradient)) * float(gradient @ x)


def bound(
    problem: View,
    slopes: Slopes,
    y: np.ndarray,
    x: np.ndarray,
    wanted: float = -math.inf,
    enough: float = math.inf,
) -> float:
    """The best lower bound from slopes of the rows and a multiplier y, which may be improved; minus infinity if none.

    `x` is a point near the solution, for the excess that rounding leaves. A bound below `wanted` is worth more work,
    one from `enough` on is not.
    """
    # A norm of everything needs no y: its dual ball says at once how far -A^T W u / N has to be scaled.
    norm = _one_norm(problem)
    if norm is not None and not np.any(norm.free(x.size)[: x.size - (problem.rows.bias != 0.0)]):
        value = _value(problem, slopes, -slopes.gradient, norm, None, x)
        # Where rounding falls on empty columns it has no size beside the rows; beside y it has one.
        rounding = value == -math.inf and y.size and problem.sums.resident and math.isfinite(slopes.loss_part(1.0))
        if not rounding:
            return value if value >= enough else max(value, slopes.loss_part(0.0))
    r1, adjoint = problem.regularizer, problem.F.adjoint
    best = _value(problem, slopes, -(slopes.gradient + adjoint(y)), r1, y, x)
    if best >= enough:
        return best
    least = _least_terms(problem)
    best = max(best, least)
    # A y that is nearly optimal may miss the ball of r1* by a little, and scaling pays for the worst coordinate alone.
    # A few dual steps bring all of them in.
    if r1.homogeneous and not r1.indicator and y.size:
        polished = y.copy()
        _polish(problem, polished, slopes.gradient)
        best = max(best, _value(problem, slopes, -(slopes.gradient + adjoint(polished)), r1, polished, x))
    # No better than the trivial bound: there is an excess where r1 is 0, where no scaling helps.
    if best <= least and y.size:
        corrected = balanced(problem, slopes.gradient, y, _sizes(problem, slopes))
        if corrected is not None:
            best = max(best, _value(problem, slopes, -(slopes.gradient + adjoint(corrected)), r1, corrected, x))
        # Where the loss is at its least, slopes are what rounding left of 0.
        best = max(best, _value(problem, slopes, -adjoint(y), r1, y, x, fraction=0.0))
        over = over_diagonal(problem, y)
        if over is not None:
            best = max(best, _value(problem, over, -(over.gradient + adjoint(y)), r1, y, x))
    if best <= least or best < wanted:
        best = max(best, _restored_bound(problem, slopes, y, x))
    return best


def _restored_bound(problem: View, slopes: Slopes, y: np.ndarray, x: np.ndarray) -> float:
    """The bound after slopes and multiplier were moved into their domain, if they could be."""
    best = -math.inf
    # A multiplier that is 0 but for rounding would be free to move and take part in the correction; the later rounds
    # forbid it. So does the last with slopes, which are noise where the loss is at its least.
    for noise, held, own in ((0.0, False, False), (0.0, False, True), (_NOISE, False, True), (_NOISE, True, True)):
        at = _none(problem) if held else slopes if slopes.movable else None
        moved = restored(problem, at, y, x, noise, held, own) if best == -math.inf and at is not None else None
        if moved is not None:
            value = _value(problem, moved.slopes, moved.v, problem.regularizer, moved.y, x, excess=moved.excess)
            best = max(best, value - _LAST_DIGIT * moved.products)
    return best


def _none(problem: View) -> Slopes | None:
    """Slopes of 0, where rows are here to have them."""
    return (
        None
        if problem.sums.block is None
        else given(problem, np.zeros(problem.sums.n_rows), np.zeros(problem.n_coordinates))
    )


def _least_terms(problem: View) -> float:
    """The least values of all terms added up, which no objective is below: D(0, 0); found once for a problem."""
    if problem not in _least:
        sums, none = problem.sums, np.zeros(problem.F.n_outputs)
        loss = -sums.conjugate(sums.margins_at_zero(), 0.0)
        total = loss - problem.regularizer.conjugate(np.zeros(problem.n_coordinates)) - problem.r2.conjugate(none)
        _least[problem] = -math.inf if math.isnan(total) else total
    return _least[problem]


_least: WeakKeyDictionary[View, float] = WeakKeyDictionary()


def _one_norm(problem: View) -> Penalty | None:
    """All penalties as one norm, if they are one."""
    joint = problem.penalty.joint
    return joint if joint is not None and joint.homogeneous and not joint.indicator else None


def _value(
    problem: View,
    slopes: Slopes,
    v: np.ndarray,
    r1: Penalty,
    y: np.ndarray | None,
    x: np.ndarray,
    fraction: float = 1.0,
    excess: np.ndarray | None = None,
) -> float:
    """D(s u, s y) at the largest s <= 1 for which s v lies in the domain of r1*; y is None if r1 stands for r2 too.

    u is that `fraction` of the slopes, and `excess` what was taken off v before, if v was known to 32 digits.
    """
    inside = r1.nearest_dual(v)
    # Where columns almost depend on each other a solution may be so large that rounding counts that is not seen in v.
    unseen = r1.free(v.size) if excess is None and _may_be_huge(problem) else np.zeros(1, dtype=bool)
    before = 0.0 if excess is None else excess
    moved = np.zeros(1) if inside is v else np.abs(v - inside)
    excess = moved if excess is None else moved + before
    cost = 0.0
    # The excess that rounding leaves need not be removed: it is worth at most its product with the solution, whose size
    # is bounded generously. Left unpaid, it could make a gap negative.
    if np.any(excess) or np.any(unseen):
        # Sums of this size were added up to v.
        size = fraction * _sizes(problem, slopes)
        if y is not None and y.size:
            size = size + abs(problem.F.matrix()).T @ np.abs(y)
        inside = r1.nearest_dual_by(v, size)
        excess = np.abs(v - inside) + before
        # Where multipliers are 0 but for their low digits, so is the size; the strongest ones tell what that is.
        columns = np.hypot(problem.bounds.column_sizes, problem.F.column_sizes)
        strongest = float(np.max(np.divide(size, columns, out=np.zeros(v.size), where=columns > 0.0), initial=0.0))
        if np.any(excess > _ROUNDING * np.maximum(size, np.finfo(float).eps * strongest * columns)):
            return -math.inf
        excess = np.where(unseen, np.maximum(excess, np.finfo(float).eps * size), excess)
        cost = float(excess @ _radius(problem, x))
    scale = r1.dual_scale(inside)
    if y is not None and y.size:
        scale = min(scale, problem.r2.dual_scale(y))
    # On the border itself rounding may make the conjugate infinite.
    if scale < 1.0:
        scale *= _INSIDE
    if not scale > 0.0:
        return -math.inf
    if scale != 1.0:
        inside, y = scale * inside, None if y is None else scale * y
    total = slopes.loss_part(fraction * scale) - r1.conjugate(inside) - scale * cost
    if y is not None and y.size:
        total -= problem.r2.conjugate(y)
    # Far from the solution the gradient may be so large that its rounding fills the domain of r1*, and x says nothing
    # about the solution's size: a bound that lives on the excess is none.
    if scale * cost > _MOST_COST * abs(total):
        return -math.inf
    return total if total < math.inf and not math.isnan(total) else -math.inf


def _sizes(problem: View, slopes: Slopes) -> np.ndarray:
    """Sizes of the sums over rows that make the gradient."""
    return problem.bounds.column_sizes * root_mean_square(problem, slopes)


def _may_be_huge(problem: View) -> bool:
    """Whether the data, in memory, have several directions that no penalty sees."""
    directions = problem.penalty.free_directions if problem.sums.resident else None
    return directions is not None and directions.shape[1] > 1


def _radius(problem: View, x: np.ndarray) -> np.ndarray:
    """How large the entries of a solution may be: beside that of x itself, as large as the largest in units of the
    columns; where a column is 0, in units of the columns of F, and after that as the largest entry."""
    others = np.full(x.size, float(np.max(np.abs(x), initial=0.0)))
    # The units of the rows come last, as they are the first choice.
    for columns in (problem.F.column_sizes, problem.bounds.column_sizes):
        np.divide(float(np.max(np.abs(x) * columns, initial=0.0)), columns, out=others, where=columns > 0.0)
    return _FARTHEST * (np.abs(x) + others)


def _given(problem: View, u: Token, gradient: np.ndarray | None) -> Slopes:
    """Slopes of a solver; for an intercept they are made to add up to 0 if more than rounding is missing."""
    slopes = given(problem, u, gradient)
    if not problem.rows.bias:
        return slopes
    directions = problem.penalty.free_directions
    if directions is None or directions.shape[1] != 1:
        return slopes
    size = problem.bounds.column_sizes[-1] * root_mean_square(problem, slopes)
    if abs(slopes.gradient[-1]) <= _ROUNDING * size:
        return slopes
    sums = problem.sums
    positive, negative = sums.adjoint(sums.scaled(u, 1.0, 0.0)), sums.adjoint(sums.scaled(u, 0.0, 1.0))
    gradient, up, down = balance(positive, negative)
    return given(problem, sums.scaled(u, up, down), gradient)


def _in_domain(problem: View, u: Token, slopes: Slopes) -> Slopes:
    """The nearest slopes that have a conjugate, for rows in memory; the same where they do.

    After a long step a model predicts slopes beyond those of the loss, at few rows as a rule. What those leave of the
    penalties' side is far less than what slopes at x would.
    """
    block = problem.sums.block
    if block is None or not problem.sums.resident or math.isfinite(slopes.loss_part(1.0)):
        return slopes
    return _given(problem, np.clip(u, *problem.loss.slope_range(block.labels)), None)


def _polish(problem: View, y: np.ndarray, gradient: np.ndarray) -> None:
    """Move y so that -(gradient + F^T y) comes closer to the ball where r1* is finite."""
    square = problem.F.squared_norm
    if square > 0.0:
        d, m = gradient.size, y.size
        polish(problem.terms(), gradient, 1.0 / square, y, y.copy(), np.empty(m), np.empty(m), np.empty(d), np.empty(d))


@kernel
def polish(
    terms: Terms,
    gradient: np.ndarray,
    step: float,
    y: np.ndarray,
    ahead: np.ndarray,
    after: np.ndarray,
    image: np.ndarray,
    back: np.ndarray,
    outside: np.ndarray,
) -> None:
    """Accelerated projected gradient on half the squared distance to the ball, |prox_{r1}|^2 / 2 by Moreau."""
    momentum = 1.0
    for _ in range(_POLISHING):
        call_linear(terms.adjoint, ahead, back)
        for j in range(back.size):
            back[j] = -gradient[j] - back[j]
        call_prox(terms.prox1, back, 1.0, outside)
        distance = 0.0
        for j in range(back.size):
            distance += abs(outside[j])
        if distance == 0.0:
            for e in range(y.size):
                y[e] = ahead[e]
            return
        call_linear(terms.forward, outside, image)
        for e in range(y.size):
            image[e] = ahead[e] + step * image[e]
        call_prox(terms.dual_prox2, image, _NO_STEP, after)
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        for e in range(y.size):
            image[e] = after[e] + (momentum - 1.0) / following * (after[e] - y[e])
        call_prox(terms.dual_prox2, image, _NO_STEP, ahead)
        for e in range(y.size):
            y[e] = after[e]
        momentum = following
