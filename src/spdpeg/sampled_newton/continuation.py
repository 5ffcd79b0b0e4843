"""From the solution of one problem to that of the next, on the same data under other penalties.

Proximal Newton steps, with two differences to those of `solve`. Margins are linear in x: at a combination of solutions
they need no product with the data. Gradients are nearly so, and the first model is made of theirs without a read. And
the curvature of the loss changes little from one solution to the next: it is averaged over many rows and kept as long
as it serves, corrected after each step so that the model changes the gradient along the step as the loss did. Whatever
such steps do not settle soon is left to `solve`.
"""

import math
import time
from collections.abc import Sequence

import numpy as np

from ..certificate import Certificate, certify, least_gap, objective_size
from ..result import Run
from ..sums import Evaluation, evaluated_rows
from ..view import View
from .models import Form, Split, TallModel, splitting
from .neighbours import Neighbour, Record, account, extrapolate

_MOST_STEPS = 12
_ACCURACY = 3e-4
"""Relative accuracy of the first model; each that follows is solved to a tenth of it."""
_LAST_ACCURACY = 1e-11
_SLACK = 1e-3
"""Fraction of the objective by which a step may raise it: a start may lie low and yet be less certain."""
_READS = 2.0
"""What the curvature may cost, in reads of the data."""
_ROWS_PER_FEATURE = 20
"""Rows per coordinate that the curvature is averaged over, whatever they cost."""
_POOR = 0.1
"""Fraction of a gap that a step may leave before the curvature is recomputed."""
_MISSES = 5
"""Steps that did not end a run, after which the curvature is recomputed."""


class Continuation:
    """Solves problems that differ from `problem` in their penalties only, one after the other."""

    together = 1
    """Problems that are best solved at once."""

    def __init__(self, problem: View) -> None:
        self._model = TallModel(problem, splitting(problem))
        self._loss_size = objective_size(problem)
        n = problem.rows.block.labels.size
        cheap = round(problem.rows.block.rows.values.size / (4.0 * _READS * n))
        self._stride = max(1, min(cheap, n // (_ROWS_PER_FEATURE * problem.n_coordinates)))
        self._misses = _MISSES

    def solve(
        self, problems: Sequence[View], near: Sequence[list[Neighbour]], tol: float, max_passes: float
    ) -> list[tuple[Run, Neighbour] | None]:
        """The solutions, from those of neighbours; None where it takes more than some steps, or all passes."""
        return [self._solve(*known, tol, max_passes) for known in zip(problems, near, strict=True)]

    def _solve(
        self, problem: View, near: list[Neighbour], tol: float, max_passes: float
    ) -> tuple[Run, Neighbour] | None:
        start = Neighbour(*map(extrapolate, zip(*near, strict=True)))
        n, begun = problem.rows.block.labels.size, time.perf_counter()
        form = splitting(problem)
        self._model.penalise(problem, form)
        y = -start.dual if start.dual.size == problem.F.n_outputs else np.zeros(problem.F.n_outputs)
        split = form.split(problem, start.x, y, start.gradient)
        # Of three neighbours the gradient is extrapolated, too: no row is read for the first model.
        x, margins, gradient, value, reads = start.x, start.margins, start.gradient, math.inf, 0
        known = near[0].x, near[0].gradient
        records: list[Record] = []
        gap, accuracy = math.inf, _ACCURACY
        for step in range(1, _MOST_STEPS + 1):
            reads += n + self._refresh(margins)
            if reads > max_passes * n:
                return None
            with np.errstate(over="ignore", invalid="ignore"):  # in a model without curvature, which has no minimiser
                point = self._model.minimize(x, gradient, split, accuracy)
            x = form.exact(problem, point, split)
            evaluation = evaluated_rows(problem.sums, x)
            before_value, value = value, evaluation.loss + problem.penalty.value(x)
            if not value <= before_value + _SLACK * abs(before_value):
                self._misses = _MISSES
                return None
            self._model.correct(x - known[0], evaluation.gradient - known[1])
            margins, gradient, known = evaluation.margins, evaluation.gradient, (x, evaluation.gradient)
            records.append(Record(reads / n, step, time.perf_counter() - begun, value))
            before, gap = gap, least_gap(problem, x, evaluation, value, tol)
            if not gap > tol * abs(value):
                certificate = self._certify(problem, form, x, split, evaluation, tol)
                if certificate.met is not None:
                    dual = -form.multiplier(problem, split)
                    place = Neighbour(x, evaluation.margins, np.empty(0), dual, evaluation.gradient)
                    return account(x, dual, certificate, records), place
                gap = certificate.gap if math.isfinite(certificate.gap) else certificate.residual
            if step > 1:  # the first model is as good as what was extrapolated, whatever the curvature
                self._misses += _MISSES if gap > _POOR * before else 1
            accuracy = max(_LAST_ACCURACY, 0.1 * accuracy)
        return None

    def _certify(
        self, problem: View, form: Form, x: np.ndarray, split: Split, evaluation: Evaluation, tol: float
    ) -> Certificate:
        """Certify without multipliers, which take time to find, where one norm holds all penalties."""
        if problem.penalty.joint is not None:
            quick = certify(problem, x, np.zeros(problem.F.n_outputs), evaluation=evaluation, tol=tol)
            if math.isfinite(quick.rel_gap):
                return quick.judged(tol, self._loss_size)
        dual = -form.multiplier(problem, split)
        return certify(problem, x, dual, evaluation=evaluation, tol=tol).judged(tol, self._loss_size)

    def _refresh(self, margins: np.ndarray) -> int:
        """Recompute the curvature if it is due; returns the number of rows read."""
        if self._misses < _MISSES:
            return 0
        self._misses = 0
        return self._model.move(margins, 0.0, self._stride, 0, self._model.relative_rho)
