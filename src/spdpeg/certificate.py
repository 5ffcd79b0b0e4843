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
from .kernels.rows import adjoint, columns, conjugates_at, evaluate, slope_sum, weight_of

if TYPE_CHECKING:
    from .penalties import Penalty
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

_LEVEL = 0.3
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

    `slopes` of a loss with corners, from the solver, are better than those at x. The bound may lose a tenth of
    `tol` if that saves time.
    """
    y = problem.r2.dual_prox(-dual, _NO_STEP) if dual.size else -dual
    seen = look(problem, x) if seen is None else seen
    primal = seen.loss + problem.penalty_value(x)
    polished = y.copy()
    try:
        if slopes is not None and not math.isfinite(problem.loss.curvature):
            gradient, loss_part = _by_corners(problem, slopes)
        else:
            gradient, loss_part = _settled(problem, seen, y, _EXACT if tol is None else _LEVEL * math.sqrt(tol))
        lower = max(best, bound(problem, gradient, polished, loss_part))
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


def least_gap(problem: "Problem", x: np.ndarray, seen: Evaluation, value: float, tol: float) -> float:
    """A number below the gap that `certify` would find where one norm holds all penalties; minus infinity elsewhere.

    `value` is the objective at x. Nothing is read. The bound D is a concave function of the slopes and has the margins
    for its gradient, so that it is at most loss - <g, x> at slopes with gradient g.
    """
    norm = _one_norm(problem)
    if norm is None or (problem.bias and not _is_level(seen, _LEVEL * math.sqrt(tol))):
        return -math.inf
    gradient = _balanced(seen.rising, seen.gradient - seen.rising)[0] if problem.bias else seen.gradient
    return value - seen.loss + norm.dual_scale(-gradient) * float(gradient @ x)


LossPart = Callable[[float], float]
"""s -> minus the mean conjugate of the loss at s times certain slopes."""


def bound(problem: "Problem", gradient: np.ndarray, y: np.ndarray, loss_part: LossPart) -> float:
    """The best lower bound from the gradient of a loss, its slopes and y; may improve y."""
    norm = _one_norm(problem)
    if norm is not None:
        scale = _INSIDE * norm.dual_scale(-gradient)
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


def _one_norm(problem: "Problem") -> "Penalty | None":
    """All penalties as one norm, if they are one."""
    merged = problem.merged
    return merged if merged is not None and merged.homogeneous and not merged.indicator else None


def _part_at(
    problem: "Problem", margins: np.ndarray, shift: float = 0.0, up: float = 1.0, down: float = 1.0
) -> LossPart:
    """From the slopes at the margins, all moved by `shift`; positive slopes times `up`, the others times `down`."""
    _, labels, weights = problem.block

    def part(scale: float) -> float:
        terms = problem.loss.read_term, problem.loss.conjugates_term  # not before they are needed: a loss may lack one
        spare = np.empty(STRETCH), np.empty(STRETCH)
        total = conjugates_at(*terms, margins, shift, scale * up, scale * down, labels, weights, *spare)
        return -float(total) / labels.size

    return part


def _settled(problem: "Problem", seen: Evaluation, y: np.ndarray, accuracy: float) -> tuple[np.ndarray, LossPart]:
    """Gradient and slopes after the coordinates without a penalty have moved to the least loss."""
    free = problem.regularizer.free(problem.n_coordinates)
    count = int(free.sum())
    if not 0 < count <= _MOST_FREE or problem.loss.curvature == 0.0 or not math.isfinite(problem.loss.curvature):
        return seen.gradient, _part_at(problem, seen.margins)
    if count == 1 and problem.bias:
        return _level(problem, seen, accuracy)
    margins = _by_newton(problem, seen.margins, free, problem.F.adjoint(y)[free])
    return look(problem, seen.gradient, margins).gradient, _part_at(problem, margins)


def best_shift(problem: "Problem", margins: np.ndarray) -> float:
    """The number that, added to all margins, makes the mean slope 0; as far as that is found, if there is none."""
    _, labels, weights = problem.block
    spare, slopes = np.empty(STRETCH), np.empty(STRETCH)
    read = problem.loss.read_term

    def slope(shift: float) -> float:
        return float(slope_sum(read, margins, shift, labels, weights, spare, slopes)) / labels.size

    here = slope(0.0)
    if here == 0.0:
        return 0.0
    near, far = 0.0, -here / problem.loss.curvature  # no more than that, so that the root lies beyond
    for _ in range(_MOST_DOUBLINGS):
        if slope(far) * here <= 0.0:
            return float(brentq(slope, near, far, xtol=_SETTLED, rtol=_EXACT))
        near, far = far, 2.0 * far
    return far


def _level(problem: "Problem", seen: Evaluation, accuracy: float) -> tuple[np.ndarray, LossPart]:
    """Gradient and slopes that add up to 0, so that the intercept's part of the gradient vanishes."""
    rising, falling, shift = seen.rising, seen.gradient - seen.rising, 0.0
    if not _is_level(seen, accuracy):
        shift = best_shift(problem, seen.margins)
        there = look(problem, seen.gradient, seen.margins + shift)
        rising, falling = there.rising, there.gradient - there.rising
    gradient, up, down = _balanced(rising, falling)
    return gradient, _part_at(problem, seen.margins, shift, up, down)


def _is_level(seen: Evaluation, accuracy: float) -> bool:
    """Whether the slopes add up to 0, up to this part of what their absolute values add up to."""
    up, down = seen.rising[-1], seen.rising[-1] - seen.gradient[-1]
    return bool(abs(up - down) <= accuracy * (up + down))


def _balanced(rising: np.ndarray, falling: np.ndarray) -> tuple[np.ndarray, float, float]:
    """A gradient in two parts, scaled so that the last entry, the intercept's, vanishes; and both factors.

    Slopes that are scaled so stay in their intervals, which hold 0 if the loss has a minimum.
    """
    least = min(rising[-1], -falling[-1])
    up, down = least / (rising[-1] or 1.0), least / (-falling[-1] or 1.0)
    gradient = up * rising + down * falling
    gradient[-1] = 0.0  # up to rounding
    return gradient, float(up), float(down)


def _by_corners(problem: "Problem", slopes: np.ndarray) -> tuple[np.ndarray, LossPart]:
    """Gradient from slopes of a loss with corners, balanced if there is an intercept."""
    rows, labels, weights = problem.block
    rising, falling = np.empty(problem.n_coordinates), np.empty(problem.n_coordinates)
    adjoint(rows, weights, np.maximum(slopes, 0.0), rising)
    adjoint(rows, weights, np.minimum(slopes, 0.0), falling)
    gradient = rising + falling
    if problem.bias:
        gradient, up, down = _balanced(rising, falling)
        slopes = np.where(slopes > 0.0, up * slopes, down * slopes)
    return gradient, lambda scale: -problem.loss.conjugate_sum(scale * slopes, labels, weights) / labels.size


def _by_newton(problem: "Problem", margins: np.ndarray, free: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Margins after a move of the free coordinates to where the force on them, with the pull of F, is 0."""
    rows, labels, weights = problem.block
    count = pull.size
    A = np.empty((labels.size, count))
    columns(rows, np.where(free, np.cumsum(free) - 1, -1), A)
    t = margins
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
    return t


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
