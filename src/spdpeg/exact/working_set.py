"""Newton's method on a working set of pieces, for many coordinates.

Each step finds, without data, the coordinates that may become non-zero and the neighbours that may part; adds up the
columns of the data over the pieces that are left; and solves the small problem among them by Newton's steps. Two reads
of the data: one for the columns, one for the gradient at the end, which also proves how far the point is from optimal.

With equal neighbours this is cut pursuit (Landrieu, Obozinski, SIAM Journal on Imaging Sciences 10, 2017) with the
steepest direction of all levels at once in the place of a binary one. Without F it is the working set of Celer
(Massias, Gramfort, Salmon, ICML 2018) and skglm (Bertrand et al., NeurIPS 2022).
"""

import math

import numpy as np

from ..certificate import Certificate, certify
from ..data import Block
from ..errors import UnsupportedError
from ..kernels.terms import Terms
from ..result import Status
from ..solvers.base import About, FullReads, Solution, kept_for, per_problem, require_differentiable
from ..state import State
from ..sums import Evaluation, Sweep, Token
from ..view import View
from . import few_rows, gram_descent
from .block_newton import Aim, Reached, minimized
from .condensed import Condensed
from .group_pieces import GroupIdentifier, Groups
from .identify import Identified, Identifier
from .interpolation import free_pieces, interpolated
from .newton import Newton, first_point
from .newton_models import ConicModels
from .penalty_form import PenaltyForm
from .pieces import AbsolutePenalties, Pieces

_FIRST_PIECES = 200
"""Pieces that a step may have at first."""

_GROWTH, _GROWTH_OF_PIECES = 2.0, 3.0
"""Later a step may have this many times the coordinates that are not 0; of pieces more, since equal neighbours count as
one and may part again. Chosen on hitech, shown on k1b and classic."""

_SATURATED = 4
_SPARE, _MOST_SPARE = 3.0, 600.0
"""Where the rows are fewer than this many times the pieces in use, each piece that is added or left out changes the
slopes of all others. Pieces that hardly stay closed are opened in advance then: up to this many times those in use, and
this many in all. Chosen on seeds 5000 to 5079 of benchmarks/random_problems.py."""

_INNER = 0.01
"""Fraction of the gap that the small problem is solved to."""

_INNER_TOL = 0.02
"""Fraction of the tolerance below which the small problem need not be solved."""

_LEFT = 0.3
"""Fraction of the gap, or of the tolerance, that compiled steps may leave."""

_FINER = 0.01
"""Factor on that after a step that has stalled."""

_COARSE = 1e-3
"""Fraction of the gap that they come to before they ask whether another read would take less time."""

_VISITS = 30.0
"""Visits to as many entries as there are in all that take longer than such a read and the step that follows."""

_FIRST_TOL = 1e-6
"""Tolerance before it is known."""

_MOST_MODEL = 500
"""Coordinates that interior points are asked for where compiled steps lead no further."""

_FINEST = 1e-13
"""Relative decrease below which rounding is all that the small problem has left."""

_MOST_INNER = 30
"""Newton steps on one small problem."""

_STALLED, _MOST_STALLED = 1e-14, 3
"""A step that gains less than this fraction of the objective has stalled, and how many of those in a row end a run."""

_WIDER = 4.0
"""Factor on the pieces that a step may have after one that has stalled."""


class WorkingSet(FullReads):
    """x <- solution of the problem among points that are constant on chosen pieces; the last iterate."""

    about = About(
        name="working-set",
        summary="Newton's method on a working set of pieces; deterministic, for many coordinates of which few matter",
        update="x+ = argmin of the problem over x that are constant on pieces, which a proximal step has chosen",
        cost="2 passes; Newton steps on N x k collapsed columns, k the number of pieces",
        memory="N + 2 d + l; N k + k^2 + 4 N + 4 d more for a step",
        rate="ends after finitely many steps if the small problems are solved exactly",
        needs="smooth loss; r1 and r2 of l1 type, ridge or zero, or disjoint groups of x beside r1; finite sum",
        assumptions="the small problems solved exactly, the loss strictly convex among the pieces",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )

    def check(self, problem: View) -> None:
        require_differentiable(self, problem)
        form = PenaltyForm.of(_inner(problem))
        if form is None or (form.lines is None and form.groups is None):
            raise UnsupportedError(
                "working-set takes weighted absolute values of x and F x, ridge, and disjoint groups of x; "
                f'here r1={problem.penalty.r1!r}, r2={problem.r2!r}. Use "prox-newton" or "vr-spdpeg".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        small = Condensed.of(problem)
        if small is not None:
            problem, x0 = small.problem, small.reduced(x0)
        vectors = self._vectors(problem, first_point(problem, x0))
        numbers = {"loss": math.nan, "value": math.nan, "gap": math.inf, "step": 1.0, "pieces": 0.0}
        numbers |= {"cap": float(_FIRST_PIECES), "stalled": 0, "tol": 0.0}
        return numbers, vectors

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        if Condensed.of(problem) is None:  # elsewhere the first read tells
            super().set_dual(problem, vectors, y)

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        if not math.isnan(state.numbers["loss"]):
            return 0
        problem = _inner(problem)
        self._take(problem, state, state.vectors["x"], problem.sums.at(state.vectors["x"]))
        return problem.sums.n_rows

    def on_certificate(
        self, problem: View, state: State, certificate: Certificate, evaluation: Evaluation, tol: float | None
    ) -> None:
        state.numbers["gap"] = certificate.rel_gap
        state.numbers["tol"] = tol or 0.0

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        problem = _inner(problem)
        v, numbers, parts = state.vectors, state.numbers, self._parts(problem)
        free = free_pieces(problem) if not numbers["pieces"] else None
        if free is not None and np.array_equal(v["x"], first_point(problem, np.zeros(v["x"].size))):
            return self._interpolate(problem, state, free)
        before = numbers["value"]
        found = self._identified(problem, state)
        pieces = _not_empty(found.pieces, v["gradient"], problem.rows.n_features)
        # On the pieces the problem is small and is solved exactly, so that no set of pieces is visited twice and there
        # are finitely many.
        sums = problem.sums.collapse(pieces.labels, pieces.number)
        penalties = parts.penalties.collapsed(pieces)
        w = pieces.reduce(v["x"])
        reached: Reached | None = None
        if isinstance(penalties, Groups) and sums.block is not None:
            aim, blocks = _aim(problem, numbers, found.capped), penalties.blocks
            if problem.loss.quadratic and gram_descent.pays(sums.block, blocks):
                reached = gram_descent.descended(sums, blocks, w, aim.fine)
            if reached is None or not reached.found:
                start = w if reached is None else reached.w
                reached = minimized(sums.block, problem.loss, blocks, start, aim)
        stuck = numbers["stalled"] > 1
        if reached is not None and (w.size > _MOST_MODEL or (not stuck and (reached.found or found.capped))):
            w, margins = reached.w, reached.margins
        else:
            models = ConicModels(penalties.form)
            newton = Newton(few_rows.kept(sums, problem.loss), models, penalties.value, problem.loss.curvature)
            w, margins, curvatures = self._solve(newton, w, _enough(numbers))
            if isinstance(penalties, AbsolutePenalties):
                w = penalties.without_rounding(w)
            # The step that finds the next pieces is that of the most curved one of these, by its number of coordinates.
            sizes = np.bincount(pieces.labels[pieces.labels >= 0], minlength=pieces.number)
            numbers["step"] = 1.0 / max(float(np.max(curvatures / sizes)), np.finfo(float).tiny)
        numbers["pieces"] = float(penalties.count(w))
        self._take(problem, state, pieces.expand(w), problem.sums.at_margins(margins))
        gained = before - numbers["value"]
        if gained <= _STALLED * abs(before):
            numbers["stalled"] += 1
            # Nothing gained: what is missing lies beyond the pieces that may be opened.
            numbers["cap"] *= _WIDER
            self._found = None  # the next step may open more
        else:
            numbers["stalled"] = 0
        return 2 * problem.sums.n_rows

    def _interpolate(self, problem: View, state: State, free: Pieces) -> int:
        """Move to a point where rows have their least loss; the number of rows read."""
        x, numbers = interpolated(problem, free), state.numbers
        sweep = problem.sums.at(x)
        if sweep.loss + problem.penalty.value(x) < numbers["value"]:
            self._take(problem, state, x, sweep)
        numbers["pieces"] = float(free.number)
        if free.number > _MOST_MODEL:
            numbers["stalled"] = _MOST_STALLED  # they would be pieces of every step
        return 2 * problem.sums.n_rows

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        self._small = Condensed.of(problem)
        if self._small is None:
            x, y = v["x"].copy(), v["y"]
        else:
            x, y = self._small.point(v["x"]), self._small.multiplier(v["y"])
        return Solution(x, x.copy(), None, -y)

    def evaluation(self, state: State) -> Evaluation | None:
        known = super().evaluation(state)
        if known is None or self._small is None:
            return None if known is None else known._replace(objective=state.numbers["value"])
        return known._replace(gradient=self._small.gradient(known.gradient))

    def may_be_optimal(self, state: State, tol: float) -> bool:
        # Where columns were left out, proofs for all of them take longer than steps, and that for the others is known.
        return self._small is None or state.numbers["gap"] <= tol

    def ended(self, state: State) -> Status | None:
        return Status.EXHAUSTED if state.numbers["stalled"] >= _MOST_STALLED else None

    def pieces(self, state: State) -> int:
        """Pieces that are not 0 where the run stands."""
        return int(state.numbers["pieces"])

    def _solve(self, newton: Newton, w: np.ndarray, enough: float) -> tuple[np.ndarray, Token, np.ndarray]:
        """Newton's steps among the pieces; the point, its margins and the diagonal of the curvature there."""
        at = newton.start(w)
        for _ in range(_MOST_INNER):
            at, _, _ = newton.step(at)
            # Only after a full step: one that was cut short says nothing about the distance that is left.
            if at.exhausted or (at.length == 1.0 and at.predicted <= enough * abs(at.value)):
                break
        assert at.sweep.curvature is not None
        return at.x, at.sweep.margins, at.sweep.curvature.diagonal()

    _small: Condensed | None = None
    """The small problem, if the problem was condensed."""
    _found: tuple[np.ndarray, Identified] | None = None
    """The pieces for the next step, beside the margins of the point that they were found at."""

    @per_problem
    def _parts(self, problem: View) -> "_Parts":
        return _Parts(problem)

    def _identified(self, problem: View, state: State) -> Identified:
        """The pieces for the next step, found when x was; recomputed in a run that is resumed."""
        found = kept_for(state.vectors["margins"], self._found)
        return self._identify(problem, state) if found is None else found

    def _identify(self, problem: View, state: State) -> Identified:
        v, numbers = state.vectors, state.numbers
        parts = self._parts(problem)
        growth = _GROWTH if isinstance(parts.penalties, Groups) else _GROWTH_OF_PIECES
        used = numbers["pieces"]
        most = int(max(numbers["cap"], growth * used))
        saturated = problem.sums.n_rows < _SATURATED * used
        wanted = int(min(_SPARE * used, _MOST_SPARE)) if saturated else 0
        found = parts.identify(v["x"], v["gradient"], numbers["step"], most, wanted)
        self._found = v["margins"], found
        return found

    def _take(self, problem: View, state: State, x: np.ndarray, sweep: Sweep) -> None:
        v, numbers, parts = state.vectors, state.numbers, self._parts(problem)
        self._keep(problem, state, x, sweep)
        numbers["value"] = sweep.loss + problem.penalty.value(x)
        if isinstance(parts.penalties, Groups):
            self._found = None  # which of them the next step opens is found when it is taken
            v["y"][:] = parts.dual_of_groups(problem, parts.penalties, v["x"], v["gradient"])
        else:
            found = self._identify(problem, state)
            v["y"][:] = parts.dual(problem, parts.penalties, v["x"], v["gradient"], found)
        if self._small is not None:
            evaluation = Evaluation(sweep.loss, sweep.margins, sweep.gradient, None)
            tol = numbers["tol"] or None
            numbers["gap"] = certify(problem, v["x"], -v["y"], evaluation=evaluation, tol=tol).rel_gap


class _Parts:
    """The parts of a problem that the working set uses."""

    def __init__(self, problem: View) -> None:
        form = PenaltyForm.of(problem)
        assert form is not None
        self.form = form
        self.penalties: AbsolutePenalties | Groups
        self.identify: Identifier | GroupIdentifier
        if form.groups is not None:
            self.penalties, self.identify = form.groups, GroupIdentifier(form.groups)
        else:
            assert form.lines is not None
            self.penalties, self.identify = form.lines, Identifier(form.lines, problem.penalty.fused)

    def dual_of_groups(self, problem: View, groups: Groups, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Multiplier of r2 at F x."""
        if not problem.F.n_outputs:
            return np.zeros(0)
        if not self.form.inner.K.shape[0]:  # r2 is made of squares
            return self.form.multiplier(x, np.zeros(0))
        # Of groups of x itself: what the weights of r1 leave of the slope.
        slopes, weight = -(gradient + groups.ridge * x), self.form.own_weight
        return (slopes - np.clip(slopes, -weight, weight))[: problem.F.n_outputs]

    def dual(
        self, problem: View, lines: AbsolutePenalties, x: np.ndarray, gradient: np.ndarray, found: Identified
    ) -> np.ndarray:
        """The same where rows of F are among the penalties."""
        if found.multipliers is None:
            return problem.penalty.chain_dual(x, -gradient)
        slopes = -(gradient + lines.K.T @ found.multipliers + lines.ridge * x)
        return self.form.multiplier_of_lines(x, slopes, found.multipliers)


def _enough(numbers: dict[str, float]) -> float:
    """Relative decrease at which the small problem is solved: more accuracy than the gap asks for is lost when the
    pieces change."""
    gap = numbers["gap"] if math.isfinite(numbers["gap"]) else 1.0
    return max(_INNER * gap, _INNER_TOL * numbers["tol"], _FINEST)


def _aim(problem: View, numbers: dict[str, float], capped: bool) -> Aim:
    """How far compiled steps should go: where columns wait outside, no bound will be tight; elsewhere this step may be
    the last, if it does not take longer than a read for another one."""
    gap, tol = numbers["gap"], numbers["tol"]
    if not math.isfinite(gap):
        gap, tol = 1.0, _FIRST_TOL
    # Where that gained nothing and proved too little, the guess of the gap was too low.
    fine = max(_LEFT * tol * _FINER ** numbers["stalled"], _FINEST)
    if capped:
        return Aim(max(_LEFT * gap, fine), max(_LEFT * gap, fine), 0.0)
    return Aim(fine, max(_COARSE * gap, fine), _VISITS * problem.rows.block.rows.values.size)


def _inner(problem: View) -> View:
    """The problem without its empty columns, if most of them are."""
    small = Condensed.of(problem)
    return problem if small is None else small.problem


def _not_empty(pieces: Pieces, gradient: np.ndarray, n_features: int) -> Pieces:
    """The pieces, with one feature added, that of the largest slope, if all are 0: rows need a column."""
    if np.any(pieces.labels[:n_features] >= 0):
        return pieces
    labels = np.where(pieces.labels >= 0, pieces.labels + 1, -1)
    labels[int(np.argmax(np.abs(gradient[:n_features])))] = 0
    return Pieces(labels, pieces.number + 1)
