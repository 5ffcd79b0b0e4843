"""The dual variables of the rows, u, and how they are moved until no unpenalised direction is left in A^T W u.

At the slopes u_i = phi'(<a_i, x>) of a point that is not quite optimal, A^T W u has a part along the directions that no
penalty sees (an intercept, constants under a chain without l1, polynomials under a trend filter). There the dual
problem has equations, and a bound exists only where they hold.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import brentq

from ..data import Block
from ..data.blocks import data_matrix
from ..losses import Loss
from ..sums import Evaluation, Token
from ..view import View
from ..view.regularization import MOST_FREE

_MOST_WORK = 2e9
"""Flops that a step among the free directions may take."""

_NEWTON_STEPS = 50
_LEAST_STEP = 1e-6
_ROUNDING = 1e-15
"""Fraction of the sum of absolute values at which a sum counts as 0."""

_DEPENDENT = 1e-14
"""Fraction of the largest singular value from which on columns count as dependent."""

_MOST_DOUBLINGS = 60
"""Most doublings of a step that looks for a change of sign; beyond them the root is at infinity."""

LossPart = Callable[[float], float]
"""s -> minus the mean conjugate of the loss at s times certain slopes."""


class Slopes(NamedTuple):
    """Slopes u of the rows, as the bound needs them."""

    gradient: np.ndarray
    """A^T W u / N."""
    loss_part: LossPart
    values: Callable[[], Token]
    """u itself, which stays with the rows."""
    movable: bool = True
    """Whether u are slopes of the problem's own rows, so that others near them have a conjugate too."""
    move: np.ndarray | float = 0.0
    """From x to where the loss has these slopes, in unpenalised directions."""


def at_margins(
    problem: View, evaluation: Evaluation, shift: float = 0.0, up: float = 1.0, down: float = 1.0
) -> LossPart:
    """From the slopes at the margins, all moved by `shift`; positive slopes times `up`, the others times `down`."""
    sums, margins = problem.sums, evaluation.margins
    return lambda scale: -sums.conjugate_at(margins, shift, scale * up, scale * down)


def given(problem: View, u: Token, gradient: np.ndarray | None = None) -> Slopes:
    """Slopes that a solver names. Costs half a read unless A^T W u / N is known."""
    sums = problem.sums
    gradient = sums.adjoint(u) if gradient is None else gradient
    # Kept: one scale is needed to see whether the slopes have a conjugate at all, and again for the bound.
    return Slopes(gradient, cache(lambda scale: -sums.conjugate(u, scale)), lambda: u)


def over_diagonal(problem: View, y: np.ndarray) -> Slopes | None:
    """For X diagonal and no r1, the slopes that A^T W u / N = -F^T y asks for: any y of the domain is then feasible."""
    if problem.sums.block is None:
        return None
    rows, labels, weights = problem.sums.block
    if rows.indptr.size == 0 or rows.bias or rows.indices.size != problem.n_coordinates:
        return None
    if rows.indices.size != labels.size or np.any(np.diff(rows.indptr) != 1):
        return None
    factors = rows.values.astype(float) * (weights if weights.size else 1.0) / labels.size
    if np.any(factors == 0.0) or np.unique(rows.indices).size != labels.size:
        return None
    back = problem.F.adjoint(y)
    return given(problem, -back[rows.indices] / factors, -back)


def root_mean_square(problem: View, slopes: Slopes) -> float:
    """Weighted root mean square of the slopes; times the column sizes, it bounds rounding errors."""
    return math.sqrt(problem.sums.mean_square(slopes.values()))


def at_point(problem: View, evaluation: Evaluation, accuracy: float) -> Slopes:
    """Slopes at a point, after it has moved in the unpenalised directions to where the loss is least.

    For an intercept alone it is enough to come near: slopes of one sign are then scaled down, so that all add up to 0,
    which costs the bound no more than the square of `accuracy`, relative to the slopes.
    """
    directions = problem.penalty.free_directions
    smooth = problem.loss.smooth and problem.loss.curvature > 0.0
    if directions is None or directions.shape[1] == 0 or not smooth:
        return _from(problem, evaluation, at_margins(problem, evaluation))
    n, count, block = problem.sums.n_rows, directions.shape[1], problem.sums.block
    # An intercept alone needs no linear algebra: slopes of one sign are scaled down until all add up to 0.
    if count == 1 and problem.rows.bias and directions.indices[0] == problem.n_coordinates - 1:
        if evaluation.positive_part is None:
            evaluation = problem.sums.evaluate(evaluation.gradient, evaluation.margins)
        return _balanced_at(problem, evaluation, accuracy)
    if count > MOST_FREE or n * count**2 > _MOST_WORK or block is None or not problem.sums.resident:
        return _from(problem, evaluation, at_margins(problem, evaluation))
    margins, along = _profiled(block, problem.loss, evaluation.margins, directions)
    moved = problem.sums.evaluate(evaluation.gradient, margins)
    return _from(problem, moved, at_margins(problem, moved))._replace(move=directions @ along)


def balance(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, float, float]:
    """A gradient in two parts, scaled so that the last entry, the intercept's, vanishes; and both factors.

    Slopes that are scaled so stay in their intervals, which hold 0 if the loss has a minimum.
    """
    # The larger of the two sums is scaled down, never one up: factors of at most 1 keep every slope in its interval.
    least = min(positive[-1], -negative[-1])
    up, down = least / (positive[-1] or 1.0), least / (-negative[-1] or 1.0)
    gradient = up * positive + down * negative
    gradient[-1] = 0.0  # up to rounding
    return gradient, float(up), float(down)


def is_balanced(evaluation: Evaluation, accuracy: float) -> bool:
    """Whether the slopes add up to 0, up to this part of what their absolute values add up to."""
    assert evaluation.positive_part is not None
    up, down = evaluation.positive_part[-1], evaluation.positive_part[-1] - evaluation.gradient[-1]
    return bool(abs(up - down) <= accuracy * (up + down))


def best_shift(problem: View, margins: Token) -> float:
    """The number that, added to all margins, makes the mean slope 0; as far as that is found, if there is none."""

    def slope(shift: float) -> float:
        return float(problem.sums.mean_slopes(margins, np.array([shift]))[0])

    here = slope(0.0)
    if here == 0.0 or not math.isfinite(here):
        return 0.0
    # No more than that, so that the root lies beyond, if phi'' has a bound.
    near, far = 0.0, -here / problem.loss.curvature or -math.copysign(1.0, here)
    for _ in range(_MOST_DOUBLINGS):
        there = slope(far)
        if there == 0.0:
            return far
        if not math.isfinite(there):  # a loss that grows exponentially
            far = 0.5 * (near + far)
            continue
        if (there > 0.0) != (here > 0.0):  # a product might underflow
            return float(brentq(slope, near, far, xtol=1e-13, rtol=1e-12))
        near, far = far, 2.0 * far
    return far


def null_model(problem: View) -> np.ndarray:
    """x = 0, with the best intercept."""
    x = np.zeros(problem.n_coordinates)
    if problem.rows.bias:
        x[-1] = best_constant(problem) / problem.rows.bias
    return x


def best_constant(problem: View) -> float:
    """The best constant for all margins."""
    return best_shift(problem, problem.sums.margins_at_zero())


def objective_size(problem: View) -> float:
    """The scale of the objective: its value at x = 0, where a hinge as a penalty counts like one as the loss.

    Under a log link it is the loss of the best constant times e.
    """
    if not problem.loss.log_link:
        penalty = problem.penalty.at_zero
        return problem.rows.loss_at_zero + (penalty if math.isfinite(penalty) else 0.0)
    return problem.rows.loss_of_constant(best_constant(problem) + 1.0)


def _from(problem: View, evaluation: Evaluation, part: LossPart) -> Slopes:
    return Slopes(evaluation.gradient, part, lambda: problem.sums.slopes(evaluation.margins, 0.0, 1.0, 1.0))


def _balanced_at(problem: View, evaluation: Evaluation, accuracy: float) -> Slopes:
    positive, shift = evaluation.positive_part, 0.0
    assert positive is not None
    margins = evaluation.margins
    if not is_balanced(evaluation, accuracy):
        shift = best_shift(problem, margins)
        evaluation = problem.sums.evaluate(evaluation.gradient, margins, shift)
        positive = evaluation.positive_part
        assert positive is not None
    gradient, up, down = balance(positive, evaluation.gradient - positive)
    part = at_margins(problem, evaluation._replace(margins=margins), shift, up, down)
    return Slopes(gradient, part, lambda: problem.sums.slopes(margins, shift, up, down))


def profiled(problem: View, x: np.ndarray) -> np.ndarray:
    """x after a move in the unpenalised directions to where the loss is least; itself where they are too many."""
    directions, block = problem.penalty.free_directions, problem.sums.block
    if directions is None or directions.shape[1] == 0 or not problem.loss.smooth or block is None:
        return x
    margins = np.asarray(data_matrix(block.rows) @ x)
    return x + directions @ _profiled(block, problem.loss, margins, directions)[1]


@np.errstate(over="ignore", invalid="ignore")  # where exponentials overflow it ends
def _profiled(block: Block, loss: Loss, margins: np.ndarray, directions: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Margins after a move along the directions to where the loss is least, and by how much of each direction.

    Newton's method, halving its steps. It goes along an orthonormal basis of what the directions do to the margins, so
    that nearly dependent columns cost no digits.
    """
    rows, labels, weights = block
    n = labels.size
    w = weights / n if weights.size else np.full(n, 1.0 / n)
    A = data_matrix(rows) @ directions
    A = A.toarray() if sp.issparse(A) else np.asarray(A)
    root = np.sqrt(w)[:, None]
    # Unit columns: directions of different units would make the smallest look like rounding.
    lengths = np.linalg.norm(root * A, axis=0)
    if not np.all(np.isfinite(lengths)):  # squares that overflow
        return margins, np.zeros(directions.shape[1])
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    U, values, V = scipy.linalg.svd(root * A / lengths, full_matrices=False)
    kept = values > _DEPENDENT * values.max(initial=0.0)
    U = np.divide(U[:, kept], root, out=np.zeros((n, np.count_nonzero(kept))), where=root > 0.0)
    V = V[kept] / values[kept, None]
    t, z = margins, np.zeros(U.shape[1])
    slopes = loss.derivative(margins, labels)
    gradient = U.T @ (w * slopes)
    for _ in range(_NEWTON_STEPS):
        remains = float(np.linalg.norm(gradient))
        if remains <= _ROUNDING * float(np.linalg.norm(np.abs(U).T @ (w * np.abs(slopes)))):
            break
        H = (U * (w * loss.second_derivative(t, labels))[:, None]).T @ U
        if not (math.isfinite(remains) and np.all(np.isfinite(H))):
            break
        size = float(np.max(np.abs(H), initial=0.0)) or 1.0  # of 1e300 where exponentials are steep
        try:
            move = np.linalg.lstsq(H / size, -gradient / size, rcond=None)[0]
        except np.linalg.LinAlgError:  # no singular values were found
            break
        step, along = 1.0, U @ move
        # Far out, where phi'' is next to 0, a full Newton step overshoots; halve it until the gradient falls.
        while step > _LEAST_STEP:
            slopes = loss.derivative(t + step * along, labels)
            if np.all(np.isfinite(slopes)):
                gradient = U.T @ (w * slopes)
                if np.linalg.norm(gradient) < remains:
                    break
            step *= 0.5
        else:
            break
        t, z = t + step * along, z + step * move
    return t, (V.T @ z) / lengths
