"""How far a point is from optimal, with proof where there is one.

For any u and y with finite conjugates, D(u, y) = -(1/N) sum w_i phi*(u_i / w_i) - r2*(y) - r1*(-(A^T u / N + F^T y)) is
a lower bound on the optimal value (Fenchel). Here u_i = w_i phi'(<a_i, x>), and y is the solver's. If r1 is a norm its
conjugate is infinite outside a ball; both are then scaled into it, after y has been moved to where less scaling is
needed. Along a chain the best y need not be sought: l1 and total variation are one norm, and the scale into its dual
ball is known. Coordinates without a penalty, such as an intercept, are first moved to where the loss is least in them,
because their part of the gradient must vanish. For the intercept alone it is enough to come near: the slopes of one
sign are then scaled down, so that all add up to 0, which costs the bound no more than the square of that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from .errors import UnsupportedError
from .kernels.jit import STRETCH, Term, call_linear, call_prox, call_scalar, kernel
from .kernels.rows import adjoint, columns, evaluate, slopes_at, weight_of

if TYPE_CHECKING:
    from .problem import Problem, Terms

_POLISHING = 100
"""Dual steps that look for a better y; they read no data."""

_INSIDE = 1.0 - 1e-12
"""A scaled point stays this far short of the border, where rounding could cross it."""

_NO_GAP = 1e-12
"""Times the loss at x = 0: what counts as no gap at all."""

_NO_STEP = 1e-12
"""The prox of a conjugate with hardly any step is the projection onto its domain."""

_MOST_FREE = 64
"""Coordinates without a penalty that are settled before certifying."""

_LEAST_STEP = 1e-6
_SETTLING = 50
_SETTLED = 1e-13
"""Newton steps for that, and the part of the sum of absolute slopes at which they end."""

_LEVEL = 0.1
"""Times the root of the tolerance: the same part from which on slopes are scaled to add up to 0."""
_EXACT = 1e-8
"""The part where there is no tolerance: its square is rounding."""
_MOST_DOUBLINGS = 60


@dataclass(frozen=True)
class Certificate:
    """A bound on the distance from the optimal value.

    Attributes
    ----------
    primal : float
        Objective at x.
    dual : float
        A lower bound on the optimal value; minus infinity where none could be had.
    residual : float
        Relative residual of the optimality conditions, for problems without a finite dual value; NaN elsewhere.
    met : str or None
        What met the tolerance: "relative gap", "residual", "gap" where the optimum is 0 (a gap of 1e-12 times the
        loss at x = 0), or None.
    """

    primal: float
    dual: float
    residual: float
    met: str | None = None

    @property
    def gap(self) -> float:
        """primal - dual: at least the suboptimality of x."""
        return self.primal - self.dual

    @property
    def rel_gap(self) -> float:
        """The gap over the primal value."""
        if self.gap == 0.0:
            return 0.0
        return self.gap / abs(self.primal) if 0.0 < abs(self.primal) < math.inf else math.inf

    def judged(self, tol: float, loss_at_zero: float = 0.0) -> "Certificate":
        """The same, with what meets `tol`: the relative gap if it is finite, the residual otherwise.

        `loss_at_zero` is the mean loss at x = 0, beside which an optimum may be as good as 0.
        """
        met = None
        if self.rel_gap <= tol:
            met = "relative gap"
        elif math.isfinite(self.rel_gap):
            met = "gap" if tol > 0.0 and self.gap <= _NO_GAP * loss_at_zero else None
        elif self.residual <= tol:
            met = "residual"
        return Certificate(self.primal, self.dual, self.residual, met)


class Evaluation(NamedTuple):
    """What one read of the data tells about the loss at a point."""

    loss: float
    margins: np.ndarray
    gradient: np.ndarray
    rising: np.ndarray
    """The gradient's part from rows with positive slopes."""


def look(problem: "Problem", x: np.ndarray, margins: np.ndarray | None = None) -> Evaluation:
    """Mean loss, margins and gradient at x, whose margins may be known. One read of the data."""
    known = margins is not None
    t = np.empty(problem.block.labels.size) if margins is None else margins
    gradient, rising = np.empty(x.size), np.empty(x.size)
    loss = evaluate(*problem.block, problem.loss.read_term, x, known, t, np.empty(STRETCH), gradient, rising)
    return Evaluation(float(loss), t, gradient, rising)


def certify(
    problem: "Problem",
    x: np.ndarray,
    dual: np.ndarray,
    best: float = -math.inf,
    seen: Evaluation | None = None,
    slopes: np.ndarray | None = None,
    tol: float | None = None,
) -> Certificate:
    """Certificate at (x, dual); `best` is a lower bound known before. Costs one read of the data unless `seen` at x.

    `slopes` of a loss with corners, from the solver, are better than those at x. The bound may lose a hundredth of
    `tol` if that saves time.
    """
    y = problem.r2.dual_prox(-dual, _NO_STEP) if dual.size else -dual
    seen = look(problem, x) if seen is None else seen
    primal = seen.loss + problem.penalty_value(x)
    polished = y.copy()
    try:
        if slopes is not None and not math.isfinite(problem.loss.curvature):
            pair = _by_corners(problem, slopes)
        else:
            pair = _settled(problem, seen, y, _EXACT if tol is None else _LEVEL * math.sqrt(tol))
        lower = max(best, dual_value(problem, *pair, polished))
    except (UnsupportedError, NotImplementedError):  # no closed conjugate: a penalty on a set, or a user's own
        lower = best
    without_gap = Certificate(primal, lower, math.nan).rel_gap == math.inf
    return Certificate(primal, lower, _residual(problem, x, y, seen.gradient) if without_gap else math.nan)


def kkt_residual(problem: "Problem", x: np.ndarray, dual: np.ndarray) -> float:
    """Relative residual of the optimality conditions at (x, dual); 0 exactly at a solution. Costs one read.

    With y = -dual: the larger of |x - prox_{s r1}(x - s (grad l(x) + F^T y))| / (1 + |x|), s = 1 / lipschitz, and
    |y - prox_{r2*}(y + F x)| / (1 + |y|).
    """
    return _residual(problem, x, -dual, problem.gradient(x))


def _residual(problem: "Problem", x: np.ndarray, y: np.ndarray, gradient: np.ndarray) -> float:
    if not math.isfinite(problem.loss.curvature):
        return math.inf  # at a corner of the loss no single slope tells
    step = 1.0 / problem.lipschitz if problem.lipschitz > 0.0 else 1.0
    slope = gradient + problem.F.adjoint(y)
    primal = x - problem.regularizer.prox(x - step * slope, step)
    ahead = y - problem.r2.dual_prox(y + problem.F.forward(x))
    return float(
        max(
            np.linalg.norm(primal) / (1.0 + np.linalg.norm(x)),
            np.linalg.norm(ahead) / (1.0 + np.linalg.norm(y)),
        )
    )


def dual_value(problem: "Problem", slopes: np.ndarray, gradient: np.ndarray, y: np.ndarray) -> float:
    """The best lower bound found from slopes of the loss, their gradient and y in the domain of r2*; may improve y."""
    _, labels, weights = problem.block

    def loss_part(scale: float) -> float:
        return -problem.loss.conjugate_sum(scale * slopes, labels, weights) / labels.size

    return bound(problem, gradient, y, loss_part)


def bound(problem: "Problem", gradient: np.ndarray, y: np.ndarray, loss_part: Callable[[float], float]) -> float:
    """The best lower bound from the gradient of a loss and y; may improve y.

    `loss_part(s)` is minus the mean conjugate of the loss at s times its slopes.
    """
    merged = problem.merged
    if merged is not None and merged.homogeneous and not merged.indicator:
        scale = _INSIDE * merged.dual_scale(-gradient)
        return loss_part(scale) if scale > 0.0 else -math.inf
    r1 = problem.regularizer
    if not r1.homogeneous or r1.indicator:
        return loss_part(1.0) - problem.r2.conjugate(y) - r1.conjugate(-(gradient + problem.F.adjoint(y)))
    best = -math.inf
    for polishing in (False, True):
        if polishing:
            _polish(problem, y, gradient)
        scale = _INSIDE * r1.dual_scale(-(gradient + problem.F.adjoint(y)))
        if scale > 0.0:
            best = max(best, loss_part(scale) - problem.r2.conjugate(scale * y))
    return best


def _settled(problem: "Problem", seen: Evaluation, y: np.ndarray, accuracy: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and gradient after the coordinates without a penalty have moved to the least loss."""
    free = problem.regularizer.free(problem.n_coordinates)
    count = int(free.sum())
    if not 0 < count <= _MOST_FREE or problem.loss.curvature == 0.0 or not math.isfinite(problem.loss.curvature):
        return slopes_of(problem, seen.margins)[1], seen.gradient
    if count == 1 and problem.bias:
        return _level(problem, seen, accuracy)
    return _by_newton(problem, seen, free, problem.F.adjoint(y)[free])


def slopes_of(problem: "Problem", margins: np.ndarray, shift: float = 0.0) -> tuple[float, np.ndarray]:
    """phi' at the margins, all moved by `shift`: the weighted mean and those of all rows."""
    _, labels, weights = problem.block
    slopes = np.empty(labels.size)
    total = slopes_at(problem.loss.read_term, margins, shift, labels, weights, np.empty(STRETCH), slopes)
    return float(total) / labels.size, slopes


def best_shift(problem: "Problem", margins: np.ndarray) -> float:
    """The number that, added to all margins, makes the mean slope 0; as far as that is found, if there is none."""

    def slope(shift: float) -> float:
        return slopes_of(problem, margins, shift)[0]

    here = slope(0.0)
    if here == 0.0:
        return 0.0
    near, far = 0.0, -here / problem.loss.curvature  # no more than that, so that the root lies beyond
    for _ in range(_MOST_DOUBLINGS):
        if slope(far) * here <= 0.0:
            return float(brentq(slope, near, far, xtol=_SETTLED, rtol=_EXACT))
        near, far = far, 2.0 * far
    return far


def _level(problem: "Problem", seen: Evaluation, accuracy: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes that add up to 0, so that the intercept's part of the gradient vanishes, and their gradient."""
    rising, falling = seen.rising, seen.gradient - seen.rising
    shift = 0.0
    if abs(rising[-1] + falling[-1]) > accuracy * (rising[-1] - falling[-1]):
        shift = best_shift(problem, seen.margins)
        there = look(problem, seen.gradient, seen.margins + shift)
        rising, falling = there.rising, there.gradient - there.rising
    return _balanced(slopes_of(problem, seen.margins, shift)[1], rising, falling)


def _balanced(slopes: np.ndarray, rising: np.ndarray, falling: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of one sign scaled down, so that all add up to 0, and their gradient, which comes in two parts.

    They stay in their intervals, which hold 0 if the loss has a minimum. The last coordinate is the intercept.
    """
    least = min(rising[-1], -falling[-1])
    up, down = least / (rising[-1] or 1.0), least / (-falling[-1] or 1.0)
    gradient = up * rising + down * falling
    gradient[-1] = 0.0  # up to rounding
    return np.where(slopes > 0.0, up * slopes, down * slopes), gradient


def _by_corners(problem: "Problem", slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of a loss with corners and their gradient, balanced if there is an intercept."""
    rows, _, weights = problem.block
    parts = np.empty((2, problem.n_coordinates))
    adjoint(rows, weights, np.maximum(slopes, 0.0), parts[0])
    adjoint(rows, weights, np.minimum(slopes, 0.0), parts[1])
    return _balanced(slopes, *parts) if problem.bias else (slopes, parts[0] + parts[1])


def _by_newton(
    problem: "Problem", seen: Evaluation, free: np.ndarray, pull: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and gradient where the force on the free coordinates, with the pull of F, is 0."""
    rows, labels, weights = problem.block
    count = pull.size
    A = np.empty((labels.size, count))
    columns(rows, np.where(free, np.cumsum(free) - 1, -1), A)
    t = seen.margins
    force, size, H = np.empty(count), np.empty(count), np.empty((count, count))
    pulls(A, labels, weights, problem.loss.derivative_term, t, force, size, H)
    for _ in range(_SETTLING):
        remains = float(np.linalg.norm(force + pull))
        # Rounding is a part of what the sums would be if nothing cancelled.
        if remains <= _SETTLED * float(np.linalg.norm(size)):
            break
        move = A @ np.linalg.lstsq(H, -(force + pull), rcond=None)[0]
        step = 1.0
        while step > _LEAST_STEP:
            pulls(A, labels, weights, problem.loss.derivative_term, t + step * move, force, size, H)
            if np.linalg.norm(force + pull) < remains:
                break
            step *= 0.5
        else:
            break
        t = t + step * move
    return slopes_of(problem, t)[1], look(problem, seen.gradient, t).gradient


@kernel
def pulls(
    A: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    derivative: Term,
    margins: np.ndarray,
    force: np.ndarray,
    size: np.ndarray,
    H: np.ndarray,
) -> None:
    """Means of w phi' a, of its absolute value, and of w phi'' a a^T, phi'' by central differences."""
    n, count = A.shape
    force[:] = 0.0
    size[:] = 0.0
    H[:] = 0.0
    for i in range(n):
        t = margins[i]
        h = 1e-5 * max(1.0, abs(t))
        w = weight_of(weights, i) / n
        slope = w * call_scalar(derivative, t, labels[i])
        rise = call_scalar(derivative, t + h, labels[i]) - call_scalar(derivative, t - h, labels[i])
        bend = w * rise / (2.0 * h)
        for k in range(count):
            force[k] += slope * A[i, k]
            size[k] += abs(slope * A[i, k])
            for j in range(count):
                H[k, j] += bend * A[i, k] * A[i, j]


def _polish(problem: "Problem", y: np.ndarray, gradient: np.ndarray) -> None:
    """Move y so that -(gradient + F^T y) comes closer to the ball where r1* is finite."""
    square = problem.F.squared_norm
    if square > 0.0:
        d, m = gradient.size, y.size
        polish(problem.terms(), gradient, 1.0 / square, y, y.copy(), np.empty(m), np.empty(m), np.empty(d), np.empty(d))


@kernel
def polish(
    terms: "Terms",
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
