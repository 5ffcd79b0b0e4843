"""From one solution to the next under other weights of the same l1 norms, mostly with one read for each.

Slopes and gradients of the loss are extrapolated from those of neighbours, and the curvature of all rows is that of an
earlier point, so that the first model of a problem needs no read. It is solved exactly, and then its own multipliers
prove a lower bound: with slopes s and curvatures h of the rows in the model at x, the slopes s + h <a, z - x> have a
gradient that fulfils the optimality conditions of the model, which are those of the problem, whatever s and h are. How
far that bound is from the objective at z is of second order in what s and h are wrong by. The read at z tells both, and
slopes and gradient for the problems to come.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..certificate import Certificate, norm_bound, norm_scale, objective_size
from ..kernels.lanes import LANES
from ..quadratic.along_chain import ChainPenalty, minimized
from ..result import Run
from ..sums import AtMinimum, LocalSums, ModelMinimum, Sweep
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


@dataclass(eq=False)
class _Course:
    """The steps towards one solution: where they are, what they have cost, and the best that they have proved."""

    problem: View
    penalty: ChainPenalty
    x: np.ndarray
    gradient: np.ndarray
    slopes: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Slopes of the rows at three places, from which those at x are extrapolated as x was."""
    reads: int = 0
    value: float = math.inf
    records: list[Record] = field(default_factory=list)
    met: tuple[Run, Neighbour] | None = None
    ended: bool = False


class _Trial(NamedTuple):
    """The minimum of a model, the multipliers of F x there, and the gradient that the model predicts."""

    course: _Course
    model: ModelMinimum
    y: np.ndarray
    excess: np.ndarray
    """How far the predicted gradient is from balancing an intercept."""


class KeptCurvature:
    """Solves problems that differ from `problem` in the weights of l1 norms only, some at once."""

    together = LANES
    """Problems that are best solved at once: rows are read once for all of them."""

    def __init__(self, problem: View) -> None:
        self._loss_size = objective_size(problem)
        self._alternating = TallModel(problem, splitting(problem))
        self._at: Sweep | None = None
        """Sums at the point that the curvature is from."""
        self._second_steps = self._failures = 0

    def solve(
        self, problems: Sequence[View], near: Sequence[list[Neighbour]], tol: float, max_passes: float
    ) -> list[tuple[Run, Neighbour] | None]:
        """The solutions, from those of neighbours; None where it takes more than some steps, or all passes.

        Rows that are read for several problems at once count as a pass of each.
        """
        courses = [self._course(*known) for known in zip(problems, near, strict=True)]
        begun = time.perf_counter()
        for _ in range(_MOST_STEPS):
            trials: list[_Trial] = []
            for course in courses:
                if course is None or course.ended:
                    continue
                course.reads += 1 if self._at is not None else 2
                if course.reads > max_passes:
                    course.ended = True
                else:
                    trials.append(self._trial(course, tol))
            if not trials:
                break
            at, sums = self._curvature(trials[0].course), problems[0].sums
            assert isinstance(sums, LocalSums)
            found = sums.at_minima([trial.model for trial in trials], at.at_rows.curvatures)
            for trial, here in zip(trials, found, strict=True):
                self._judge(trial, at, here, tol, begun)
        self._failures += sum(course is not None and not course.ended and course.met is None for course in courses)
        return [None if course is None else course.met for course in courses]

    def _course(self, problem: View, near: list[Neighbour]) -> _Course | None:
        """The start of the steps; None if there will be none."""
        penalty = chain_penalty(problem)
        if penalty is None or self._failures >= _MOST_FAILURES:
            return None
        x, gradient = extrapolate([place.x for place in near]), extrapolate([place.gradient for place in near])
        slopes = [place.slopes for place in near]
        beside, above, corner = slopes if len(slopes) == 3 else slopes[:1] * 3
        return _Course(problem, penalty, x, gradient, (beside, above, corner))

    def _trial(self, course: _Course, tol: float) -> _Trial:
        """The model where the course is, minimised."""
        at = self._curvature(course)
        z, y = self._minimum(course, at, tol)
        move = z - course.x
        scale, excess = norm_scale(course.problem, course.gradient + at.curvature @ move)
        return _Trial(course, ModelMinimum(z, move, course.slopes, scale), y, excess)

    def _judge(self, trial: _Trial, at: Sweep, here: AtMinimum, tol: float, begun: float) -> None:
        """Take a step to z, unless it leads up; prove what the model there proves, and see whether that is the end."""
        course, (z, move, _, scale), y = trial.course, trial.model, trial.y
        problem, records, met = course.problem, course.records, course.met
        before, course.value = course.value, here.loss + problem.penalty.value(z)
        if not course.value <= before + _SLACK * abs(before):
            self._at = None
            course.ended = True
            return
        records.append(Record(float(course.reads), len(records) + 1, time.perf_counter() - begun, course.value))
        lower = norm_bound(problem, here.conjugate, scale, trial.excess, z, _errors(problem, here.square, at, move))
        certificate = Certificate(course.value, lower, math.nan).judged(tol, self._loss_size)
        if certificate.met is not None:
            enough = tol if tol >= _FINE else _FINER * tol
            course.ended = certificate.gap <= enough * abs(course.value) or (
                met is not None and certificate.gap > _DIGIT * met[0].certificate.gap
            )
            place = Neighbour(z, np.empty(0), here.slopes, -y, here.gradient)
            course.met = account(z, -y, certificate, records), place
            self._failures = 0
            if course.ended:
                return
        course.x, course.gradient, course.slopes = z, here.gradient, (here.slopes,) * 3
        # The first model is as good as what was extrapolated, whatever the curvature.
        self._second_steps += 1
        if len(records) > 1 or self._second_steps >= _MOST_SECOND_STEPS:
            self._at = None

    def _curvature(self, course: _Course) -> Sweep:
        """Sums with the curvature that is kept, or with that where the course is."""
        if self._at is None:
            self._at = course.problem.sums.at(course.x, curvature=True)
            self._second_steps = 0
        return self._at

    def _minimum(self, course: _Course, at: Sweep, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """The minimum of the model there, to less than the tolerance, and the multipliers of F x at it."""
        problem, penalty, x, gradient, H = course.problem, course.penalty, course.x, course.gradient, at.curvature
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


def _errors(problem: View, square: float, at: Sweep, move: np.ndarray) -> np.ndarray:
    """Rounding of the gradient of predicted slopes with this mean square: of its sums over rows, and of the products of
    move with curvature and with the rows."""
    H, largest, d = at.curvature, at.curvature_range[1], move.size
    assert H is not None
    # |H_ij| is at most the root of H_ii H_jj, and the root of H_ii that of the largest curvature times a column's size.
    product = d * np.finfo(float).eps * math.sqrt(largest) * float(np.sqrt(H.diagonal()) @ np.abs(move))
    whole = _ROUNDING * math.sqrt(square) + 2.0 * product
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
