"""Records at regular intervals, certificates on a schedule, and the result at the end of a run."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import Certificate, certify, null_model, objective_size
from ..data import Stream
from ..errors import DivergedError, InputError
from ..result import History, Result, Status
from ..solvers.base import Solution, Solver
from ..state import State
from ..sums import Evaluation, LocalSums
from ..view import Partitions, View
from .budgets import Clock, Limits
from .stages import Stages, account, remaining

_PATIENCE = 0.25
"""Certificates come after this many times the rows read so far, and no less than a pass: their number stays small."""

_RUNAWAY = 1e6
"""An objective this many times above its start means divergence even if every number is still finite."""

_ENDED = (Status.TOLERANCE, Status.CONDITIONS, Status.EXHAUSTED)
"""How a run ends that has come to what it takes for the solution."""

_NEARLY_NOTHING = 0.03
"""Fraction of the objective that penalties add at an x that may be 0 but for rounding."""

_ROUNDING = 1e-15
"""Relative error of an objective, which exact zeros are worth."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run, as a callback receives it at each record."""

    passes: float
    iterations: int
    seconds: float
    objective: float
    violation: float
    gap: float
    """Relative duality gap at the last certificate, or the residual where there is none; NaN before the first."""
    fraction: float
    """Fraction of this call's budget that is used up; 0 if there is no budget."""
    x: np.ndarray


class Recorder:
    """Evaluates the output on a cadence, outside the clock, and certifies it on a schedule, on the clock.

    A record tells users how a run goes. It costs a read that the method did not ask for, so it is neither timed nor
    counted. A certificate decides whether the run may stop, so its read is part of the work. Two rules keep that work
    small. Where the method has just evaluated the loss, a certificate costs hardly anything and is made at every step
    that may be the last. Elsewhere certificates come after a pass at first, and later after a quarter more rows than at
    the last one: their number grows like the logarithm of the rows, and a run goes on for at most a pass, or a quarter
    of its length, after it could have stopped.

    The schedule depends on rows and lives in the state. So a run that is cut and resumed certifies at the same points.
    """

    def __init__(
        self,
        problem: View,
        stages: Stages,
        clock: Clock,
        tol: float | None,
        limits: Limits,
    ) -> None:
        self._problem, self._stages, self._clock = problem, stages, clock
        self._tol, self._limits = tol, limits
        self.rows: list[int] = []
        self.iterations: list[int] = []
        self.seconds: list[float] = []
        self.objective: list[float] = []
        self.violation: list[float] = []
        self.certificate: Certificate | None = None
        self._certified_at = -1
        self._left: tuple[float, Solution] | None = None
        """The best point at which a stage handed over, and its objective."""
        self._solved: Solution | None = None
        self._evaluation: Evaluation | None = None

    @cached_property
    def _size(self) -> float:
        return objective_size(self._problem)

    def next_certificate(self, state: State) -> float:
        """Rows at which the next certificate is due; the state knows, so that a resumed run keeps to the schedule."""
        if self._tol is None and not self._stages.wants_certificates:
            return math.inf
        if state.loop.certify_at is None:
            # Nobody starts at 0 in the hope that it is the solution.
            wait = 0 if np.any(self._solution(state).x) else self._problem.sums.n_rows + 1
            state.loop.certify_at = state.rows + wait
        return state.loop.certify_at

    def certificate_due(self, state: State) -> bool:
        """Whether it is time for a certificate; always where it needs no read of its own and may be the last."""
        if not self._stages.may_be_optimal(self._tol):
            return False
        return state.rows >= self.next_certificate(state) or (
            self._tol is not None and state.iterations > self.iterations[-1] and self._stages.evaluation() is not None
        )

    def check(self, state: State, callback: Callable[[Progress], Any] | None) -> Status | None:
        """Certify, on the clock and in the count of rows; tell the solver, and say so if the run should stop here."""
        with self._clock:
            evaluation = self._examined(state)
            certificate = self._certified(state, evaluation)
            met = self._tol is not None and certificate.met is not None
            solution = self._solution(state)
            if not met and self._stages.certified(certificate, evaluation, solution, self._tol):
                self._solved = None  # x is the same, z and the dual are the new method's
                if self._left is None or _is_lower(certificate.primal, self._left[0]):
                    self._left = certificate.primal, solution
        # Due again at once if the run ends here: one that is resumed with a smaller tolerance asks for it first.
        state.loop.certify_at = state.rows
        if met:
            return Status.of(certificate)
        state.loop.certify_at += max(self._problem.sums.n_rows, _PATIENCE * state.rows)
        return self.record(state, callback) if state.iterations > self.iterations[-1] else None

    def record(self, state: State, callback: Callable[[Progress], Any] | None = None) -> Status | None:
        """Evaluate and keep; says so if the run should stop here."""
        solution = self._solution(state)
        self.rows.append(state.rows)
        self.iterations.append(state.iterations)
        self.seconds.append(self._clock.total)
        if self._tol is not None and self.certificate_due(state):
            with self._clock:
                self._examined(state)  # as the certificate that comes next asks for
        with np.errstate(over="ignore", invalid="ignore"):  # in a run that is about to be called diverged
            self.objective.append(self._evaluate(solution, self._evaluation or self._stages.evaluation()))
            self.violation.append(self._violation(solution))
        solution = self._kept_below_start(state, solution)
        self._guard(state)
        if callback is not None:
            progress = Progress(
                state.rows / self._per_pass(state.rows),
                state.iterations,
                self.seconds[-1],
                self.objective[-1],
                self.violation[-1],
                self._last_gap(),
                self._limits.fraction(state),
                solution.x,
            )
            if callback(progress):
                return Status.CALLBACK
        return None

    def result(self, state: State, status: Status) -> Result:
        """The account of the run."""
        left, now = math.inf if self._left is None else self._left[0], self.objective[-1]
        if self._left is not None and status is not Status.TOLERANCE and not _is_lower(now, left):
            # What an earlier stage had found is better, or as good. What is proved stays: beside it a point can only be
            # lower because it is outside a set.
            self.objective[-1], self._solved = self._left
            self._certified_at, self._evaluation = -1, self._problem.sums.evaluate(self._solved.x)
            self.violation[-1] = self._violation(self._solved)
        if not isinstance(self._problem.rows.source, Stream):
            if status in _ENDED:
                self._collapse(state)
            certificate = self._certified(state, self._evaluation or self._stages.evaluation())
            if self._tol is not None and status is not Status.INTERRUPTED:
                if certificate.met is not None:
                    status = Status.of(certificate)
                elif status in (Status.TOLERANCE, Status.CONDITIONS):
                    status = Status.EXHAUSTED  # met elsewhere, and not by the point that is returned
        history = History(
            np.array(self.rows) / self._per_pass(self.rows[-1]),
            np.array(self.iterations),
            np.array(self.seconds),
            np.array(self.objective),
            np.array(self.violation),
        )
        per_pass = self._per_pass(state.rows)
        found = self._solution(state)
        kept = None if found.slopes is None else self._problem.sums.kept(found.slopes)
        return Result(
            found.x,
            found.x_last,
            self._problem.F.forward(found.x) if found.z is None else found.z,
            found.dual,
            kept if kept is not None and kept.size else None,
            objective=self.objective[-1],
            violation=self.violation[-1],
            iterations=state.iterations,
            passes=state.rows / per_pass,
            seconds=self._clock.total,
            compile_seconds=self._clock.compile_seconds,
            status=status,
            certificate=self.certificate,
            history=history,
            state=state,
            solver=state.solver,
            stages=account(state, self._clock.total, per_pass),
        )

    def _collapse(self, state: State) -> None:
        """End at x = 0 exactly where that is as good as what was found: at and above the weight where x vanishes."""
        problem, solution = self._problem, self._solution(state)
        penalty, limit = problem.penalty.at_zero, self.objective[-1]
        near = abs(problem.penalty.value(solution.x) - penalty) <= _NEARLY_NOTHING * abs(limit)
        if not near or not np.any(solution.x[: problem.rows.n_features]) or isinstance(problem.rows.source, Partitions):
            return
        same_intercept = np.where(np.arange(problem.n_coordinates) < problem.rows.n_features, 0.0, solution.x)
        for x in (null_model(problem), same_intercept):
            margin = float(x[-1]) * problem.rows.bias if problem.rows.bias else 0.0
            value = problem.rows.loss_of_constant(margin) + penalty
            if value <= limit + _ROUNDING * abs(limit):
                self.objective[-1], self.violation[-1] = value, 0.0
                self._solved = solution._replace(x=x, x_last=x.copy(), z=None)
                self._certified_at, self._evaluation = -1, problem.sums.evaluate(x)
                return

    def _solution(self, state: State) -> Solution:
        """Read off the state once, until it moves."""
        if self._solved is None:
            self._solved = self._stages.method.solution(self._problem, state)
        return self._solved

    def _examined(self, state: State) -> Evaluation:
        """Loss and gradient at this point, from the solver if it knows them, otherwise by one read."""
        # Second-order methods have just evaluated the loss here; for all others the read is counted as theirs.
        if self._evaluation is None:
            self._evaluation = self._stages.evaluation()
        if self._evaluation is None:
            self._evaluation = self._problem.sums.evaluate(self._solution(state).x)
            state.rows += self._problem.sums.n_rows
        return self._evaluation

    def fell_back(self) -> bool:
        """Move the current method to the best point of an earlier stage, if there is one; returns whether there is."""
        if self._left is None:
            return False
        self._stages.back_to(self._left[1])
        self.forget()
        return True

    def forget(self) -> None:
        """The state has moved."""
        self._solved = self._evaluation = None

    def _certified(self, state: State, evaluation: Evaluation | None) -> Certificate:
        """Certificate at this point, with the best lower bound of the run; made once for each step."""
        # A lower bound holds whatever x is, so the best of the run is kept; the upper bound is that of this x.
        if self.certificate is None or self._certified_at != state.iterations:
            at = self._solution(state)
            best = at.lower if self.certificate is None else max(self.certificate.dual, at.lower)
            sums = self._problem.sums
            before = sums.reads
            last = self._tol is None or not self._stages.proceeds
            certificate = certify(
                self._problem, at.x, at.dual, best, evaluation, at.slopes, self._tol, at.slopes_gradient, last
            )
            if not sums.resident:  # where a read is expensive, all of them count
                state.rows += (sums.reads - before) * sums.n_rows
            self.certificate = certificate.judged(self._tol or 0.0, self._size)
            self._certified_at = state.iterations
        return self.certificate

    def _last_gap(self) -> float:
        return math.nan if self.certificate is None else remaining(self.certificate)

    def _per_pass(self, rows: int) -> int:
        # A stream that never ended has no length but what was read of it.
        return self._stages.feed.rows_per_pass or max(self.rows[-1], rows) or 1

    def _violation(self, solution: Solution) -> float:
        """|F x - z|."""
        return 0.0 if solution.z is None else _length(self._problem.F.forward(solution.x) - solution.z)

    def _evaluate(self, solution: Solution, evaluation: Evaluation | None) -> float:
        problem, (x, _, z, *_) = self._problem, solution
        if evaluation is not None and evaluation.objective is not None:
            return evaluation.objective
        if z is None:
            penalty = problem.penalty.value(x)
        else:
            own = problem.penalty.value_of_r2(x, problem.F.forward(x) if problem.r2.finite else z)
            penalty = problem.regularizer.value(x) + own
        if evaluation is not None:
            return evaluation.loss + penalty
        if isinstance(problem.rows.source, Stream):
            return LocalSums.of(self._stages.feed.block, problem.loss).loss(x) + penalty
        return problem.mean_loss(x) + penalty

    def _kept_below_start(self, state: State, solution: Solution) -> Solution:
        """The solution, or what the method falls back on where that has the lower objective."""
        if isinstance(self._problem.rows.source, Stream):
            return solution
        fallback = self._stages.method.fallback(self._problem, state)
        if fallback is None or not self.objective[-1] > (objective := self._problem.objective(fallback.x)):
            return solution
        self.objective[-1], self.violation[-1] = objective, 0.0
        # What was read, and what was certified, belongs to the other point.
        self._solved, self._evaluation, self._certified_at = fallback, None, -1
        return fallback

    def _guard(self, state: State) -> None:
        now, start = self.objective[-1], self.objective[0]
        if math.isnan(now) and not state.iterations:
            raise InputError("The objective is not a number at x0. Start nearer to 0, or leave x0 out.")
        # Sets are approached from outside, where the objective is infinite.
        outside = math.isinf(now) and not (self._problem.regularizer.finite and self._problem.r2.finite)
        if math.isnan(now) or (math.isfinite(start) and now > _RUNAWAY * (1.0 + abs(start)) and not outside):
            raise diverged(self._stages.method, state)


def _is_lower(value: float, known: float) -> bool:
    """Whether an objective is below another by more than rounding; one that is not a number is not known."""
    return not value >= known - _ROUNDING * abs(known)


def _length(vector: np.ndarray) -> float:
    """|vector|, without BLAS, which would wake its threads for it."""
    return math.sqrt(np.add.reduce(vector * vector))


def diverged(solver: Solver, state: State) -> DivergedError:
    """The error to raise: which steps were too long, and how to shorten them."""
    rule = solver.step_rule(state)
    largest = float(rule(np.zeros(1))[0])
    if rule.provably_convergent:
        advice = (
            f"Steps up to {rule.stable:.3g} are stable for the mean gradient, so single rows must be far larger than "
            "the mean: scale the columns of X, raise batch_size, or pass a larger lipschitz."
        )
    else:
        advice = f"The largest stable step is {rule.stable:.3g}: reduce scale or rho until it is respected."
    return DivergedError(
        f"{solver.about.name} diverged at iteration {state.iterations} with the step rule c_k = {rule}, whose first "
        f"step is {largest:.3g}. {advice}"
    )
