"""From one solution to the next under other weights of the same l1 norms, mostly with one read for each.

Margins and gradients of the loss are extrapolated from those of neighbours, and the curvature of all rows is that of an
earlier point, so that the first model of a problem needs no read. It is solved exactly, and then its own multipliers
prove a lower bound: with slopes s and curvatures h of the rows in the model at x, the slopes s + h <a, z - x> have a
gradient that fulfils the optimality conditions of the model, which are those of the problem, whatever s and h are. How
far that bound is from the objective at z is of second order in what s and h are wrong by. The read at z tells both, and
slopes and gradient for the problems to come.
"""

import math
import time

import numpy as np

from ..certificate import Certificate, norm_bound, objective_size
from ..quadratic.along_chain import ChainPenalty, minimized
from ..result import Run
from ..sums import LocalSums, Sweep
from ..view import View
from .models import TallModel, splitting
from .neighbours import Neighbour, Record, account, extrapolate

_MOST_STEPS = 12
_SLACK = 1e-3
"""Fraction of the objective by which a step may raise it: a start may lie low and yet be less certain."""
_MOST_SECOND_STEPS = 8
"""Problems that took a second step, after which the curvature is computed again."""
_FINE, _FINER = 1e-6, 1e-4
"""A tolerance below the first is asked for by those who want digits of x, which has half of those of the objective:
steps go on to this fraction of it, as long as each gains a digit."""
_DIGIT = 0.1
_MOST_FAILURES = 2
"""Problems that were left to `solve` after all steps: so many in a row, and the others are not tried."""
_ROUNDING = 1e-12
"""Relative error of sums over all rows, generously."""
_ACCURACY = 1e-4
"""Relative accuracy at which ADMM is asked for a face where a proximal step does not find it."""
_CLOSE, _LAST_ACCURACY = 1e-3, 1e-11
"""Accuracy where that does not help, as a fraction of the tolerance, and the least."""


class KeptCurvature:
    """Solves problems that differ from `problem` in the weights of l1 norms only, one after the other."""

    def __init__(self, problem: View) -> None:
        self._loss_size = objective_size(problem)
        self._alternating = TallModel(problem, splitting(problem))
        self._at: Sweep | None = None
        """Sums at the point that the curvature is from."""
        self._second_steps = self._failures = 0

    def solve(
        self, problem: View, near: list[Neighbour], tol: float, max_passes: float
    ) -> tuple[Run, Neighbour] | None:
        """The solution, from those of neighbours; None if that takes more than some steps, or all passes."""
        penalty = chain_penalty(problem)
        if penalty is None or self._failures >= _MOST_FAILURES:
            return None
        x, margins, slopes, _, gradient = map(extrapolate, zip(*near, strict=True))
        sums, begun, reads, value = problem.sums, time.perf_counter(), 0, math.inf
        assert isinstance(sums, LocalSums)
        enough = tol if tol >= _FINE else _FINER * tol
        records: list[Record] = []
        met: tuple[Run, Neighbour] | None = None
        for step in range(1, _MOST_STEPS + 1):
            reads += 1 if self._at is not None else 2
            if reads > max_passes:
                return met
            at = self._curvature(problem, margins)
            z, y = self._minimum(problem, penalty, at, x, gradient, tol)
            here = sums.slopes_at(z)
            before, value = value, here.loss + problem.penalty.value(z)
            if not value <= before + _SLACK * abs(before):
                self._at = None
                return met
            records.append(Record(float(reads), step, time.perf_counter() - begun, value))
            predicted = here.margins - margins
            predicted *= at.at_rows.curvatures
            predicted += slopes
            errors = _errors(problem, predicted, at, z - x)
            lower = norm_bound(problem, predicted, gradient + at.curvature @ (z - x), z, errors)
            certificate = Certificate(value, lower, math.nan).judged(tol, self._loss_size)
            if certificate.met is not None:
                ends = certificate.gap <= enough * abs(value) or (
                    met is not None and certificate.gap > _DIGIT * met[0].certificate.gap
                )
                met = account(z, -y, certificate, records), Neighbour(z, here.margins, here.slopes, -y, here.gradient)
                self._failures = 0
                if ends:
                    return met
            x, margins, slopes, gradient = z, here.margins, here.slopes, here.gradient
            # The first model is as good as what was extrapolated, whatever the curvature.
            self._second_steps += 1
            if step > 1 or self._second_steps >= _MOST_SECOND_STEPS:
                self._at = None
        self._failures += met is None
        return met

    def _curvature(self, problem: View, margins: np.ndarray) -> Sweep:
        """Sums with the curvature that is kept, or with that at the margins."""
        if self._at is None:
            self._at = problem.sums.at_margins(margins, curvature=True)
            self._second_steps = 0
        return self._at

    def _minimum(
        self, problem: View, penalty: ChainPenalty, at: Sweep, x: np.ndarray, gradient: np.ndarray, tol: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The minimum of the model around x, to less than the tolerance, and the multipliers of F x there."""
        H = at.curvature
        assert H is not None
        b = H @ x - gradient
        found = minimized(H, b, penalty, x)
        if found is not None:
            return found.w, found.along
        # Where columns nearly depend on each other, proximal steps are too short to name the face.
        form = splitting(problem)
        self._alternating.adopt(H)
        self._alternating.penalise(problem, form)
        split = form.split(problem, x, np.zeros(penalty.cost.size), gradient)
        for accuracy in (_ACCURACY, max(_CLOSE * tol, _LAST_ACCURACY)):
            point = form.exact(problem, self._alternating.minimize(x, gradient, split, accuracy), split)
            found = minimized(H, b, penalty, point)
            if found is not None:
                return found.w, found.along
        return point, form.multiplier(problem, split)


def _errors(problem: View, slopes: np.ndarray, at: Sweep, move: np.ndarray) -> np.ndarray:
    """Rounding of the gradient of predicted slopes: of its sums over rows, and of the product of curvature and move."""
    H, largest, d = at.curvature, at.curvature_range[1], move.size
    assert H is not None
    # |H_ij| is at most the root of H_ii H_jj, and the root of H_ii that of the largest curvature times a column's size.
    product = d * np.finfo(float).eps * math.sqrt(largest) * float(np.sqrt(H.diagonal()) @ np.abs(move))
    whole = _ROUNDING * math.sqrt(problem.sums.mean_square(slopes)) + product
    return np.asarray(whole * problem.bounds.column_sizes)


def chain_penalty(problem: View) -> ChainPenalty | None:
    """The penalties of a problem if they are l1 norms of x, and of its steps along a chain; None otherwise."""
    fused, features = problem.penalty.fused, problem.rows.n_features
    if problem.r2.vanishes:
        own = problem.regularizer.l1_weights(problem.n_coordinates)
        return ChainPenalty(own, np.zeros(0)) if own is not None and np.all(own[:features] > 0.0) else None
    if fused is None or not problem.F.n_outputs or not fused.l1 > 0.0 or not np.all(fused.l2 > 0.0):
        return None
    weight = np.zeros(problem.n_coordinates)
    weight[:features] = fused.l1
    return ChainPenalty(weight, np.full(problem.F.n_outputs, fused.l2))
