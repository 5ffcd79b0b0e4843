"""The planner: which methods a run without a named solver is made of, and why; and what they are guessed to cost.

Costs are counted in floating-point operations on scattered numbers, as stochastic steps do them; one in dense linear
algebra takes a fifth of the time. They decide between methods and need not be exact: where both choices cost about the
same, either is right.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Stream, Tables
from ..errors import UnsupportedError
from ..exact import split_program
from ..exact.condensed import Condensed
from ..exact.interior_point import InteriorPoint, with_matrices
from ..exact.interpolation import free_pieces
from ..exact.newton_models import MOST_ENTRIES, RowModels, are_sparse, takes_few_rows
from ..exact.one_read import OneRead
from ..exact.penalty_form import PenaltyForm, SplitForm
from ..exact.pieces import AbsolutePenalties
from ..exact.prox_lbfgs import ProxLBFGS
from ..exact.prox_newton import MOST_COORDINATES, MOST_SECONDS, SLOW, ProxNewton
from ..exact.signal import differences, is_chain
from ..exact.sparsa import SpaRSA
from ..exact.working_set import WorkingSet
from ..result import Status
from ..sampled_newton.continuation import Continuation
from ..sampled_newton.kept_curvature import KeptCurvature, chain_penalty
from ..sampled_newton.method import MOST_FEATURES, ROWS_PER_FEATURE, SampledNewton, fits, is_tall
from ..sampled_newton.models import is_sparse
from ..solvers.base import Periodic, Solver
from ..solvers.spdhg_cers import SPDHGCERS
from ..solvers.spdpeg import SPDPEG
from ..solvers.vr_choices import dense_flops, joint_flops, row_flops
from ..solvers.vr_spdpeg import JOINT_PROX, VRSPDPEG
from ..state import State
from ..view import Partitions, View
from .stages import Planned

_NEWTON_STEPS = 6.0
"""Newton steps that six digits take on a problem that suits them."""
_REDUCED_PASSES = 60.0
"""Passes of variance-reduced steps that six digits take on a problem that suits them."""
_SMALL = 2e8
"""Flops, some tenths of a second, below which Newton's steps are taken whatever the alternative would cost."""
_AIM = 1e-6
"""Relative gap that a run without a tolerance is planned for."""
_SMALL_MATRIX = 300
"""Coordinates up to which the model of all of them is solved, whatever the rows."""
_LARGE_MATRIX = 1500
"""Coordinates up to which it is solved if there are many rows, or nothing to leave out."""
_TALL, _VERY_TALL = 4, 20
"""Rows per coordinate that are many, and that are so many that descent on columns costs more than their matrix."""
_FEW_COLUMNS, _MOST_COLUMNS_IN_USE = 100, 1 / 3
"""Coordinates up to which the matrix costs next to nothing, and the fraction of those in use from which on it pays; of
few rows, the fraction that pieces in use come to before the whole problem is solved among these."""
_MOST_PROGRAM_ROWS, _MOST_PROGRAM_WORK = 20_000, 2e9
"""Rows, and flops of a step, up to which a problem with a smooth loss is tried as one conic program."""
_MOST_FORM = 2_000_000
"""Coordinates up to which the penalties are written out."""
_MOST_SIGNAL = 5_000_000
"""Entries of all penalties, up to which that is done for a signal as a whole."""
_MOST_PIECES, _MOST_RIDGE_PIECES = 1000, 200
"""Pieces of a working set beyond which models of all of them cost more than many reads in memory, or, beside a ridge,
than the few that a quasi-Newton model takes."""
_FEW_ROWS = 400
"""Rows up to which a ridge leaves so few pieces that models of them pay, where quasi-Newton models take hundreds of
reads."""
_MOST_COLUMNS = 20_000
"""The same of single columns and groups, whose models are solved on the columns."""
_MANY_READS = 500
"""Reads after which that was a wrong guess."""
_CURVATURE = 1e6
"""Products of two entries of a row, over all rows, from which on a path keeps the curvature of a neighbour."""
_INNER_STEPS = 300.0
"""Steps of ADMM that solve a quadratic model, about."""
_DENSE = 0.2
"""Time of a flop in dense linear algebra, relative to one on scattered numbers."""
_TRIANGULAR = 50.0
"""Flops per coordinate of a sparse triangular solve."""
_SPARSE_COORDINATE = 2e4
"""Flops per coordinate of a step whose model stays sparse."""
_NO_BOUND = {False: "is non-smooth", True: "has no bound on its curvature"}
"""What a loss without a bound is like, by whether it is smooth."""


class StagePlan(Sequence[Planned]):
    """The stages of a run, one after the other, each made when it is first asked for: most runs end in the first."""

    def __init__(self, stages: Iterator[Planned]) -> None:
        self._coming = stages
        self._made: list[Planned] = []

    def __getitem__(self, number: Any) -> Any:
        while len(self._made) <= number:
            following = next(self._coming, None)
            if following is None:
                raise IndexError(number)
            self._made.append(following)
        return self._made[number]

    def __len__(self) -> int:
        self._made += self._coming
        return len(self._made)


def plan(problem: View, tol: float | None = None) -> StagePlan:
    """The stages of a run on this problem, aimed at this relative gap.

    The questions are asked in this order, and the first yes decides.

    1. Is it a stream? Each row is seen once, so stochastic steps are all that is left: `spdpeg`.
    2. Can one of the exact methods take it? They need a few reads and end with all digits (`_exact`). A first-order
       method stands behind them for the case that they end early.
    3. Has the curvature of the loss no bound that steps could be taken from? `spdhg-cers` needs none.
    4. What is cheaper, by the count of flops: a few Newton steps on sampled curvature, or many passes of stochastic
       steps? Where that is a guess, the second begins, and the first takes over if progress stalls.

    Parameters
    ----------
    problem : View
    tol : float, optional
        A stage that has a successor is left once this relative gap is out of its reach.

    Returns
    -------
    StagePlan
        At least one stage, with the reason that `result.stages` shows.

    Notes
    -----
    To add a method: put its stages in `_stages`, before the first line that would take its problems, with a reason
    that completes "chosen because". A stage that is followed by another has a rule that says when to leave it.
    """
    return StagePlan(_stages(problem, tol))


def _stages(problem: View, tol: float | None) -> Iterator[Planned]:
    """The stages of `plan`."""
    if isinstance(problem.rows.source, Stream):
        yield _chosen(SPDPEG(), "a stream shows each row once")
        return
    exact = _exact(problem)
    if isinstance(problem.rows.source, Tables | Partitions):
        if not exact or not exact[0][0].on_sums:
            raise UnsupportedError(
                f"{problem.rows.source.name} is read block by block, and no method that reads all rows at a time takes "
                f'this problem of {problem.n_coordinates} coordinates. Stream it with "spdpeg", or load it into memory.'
            )
        *first, (last, why) = exact
        yield from (_chosen(method, reason, Ended(method, tol)) for method, reason in first)
        yield _chosen(last, why)
    elif exact:
        yield from _exact_stages(problem, exact, tol)
    elif not math.isfinite(problem.loss.curvature):
        yield _chosen(SPDHGCERS(), f"the loss {_NO_BOUND[problem.loss.smooth]} and this method needs no gradient")
    elif newton_first(problem):
        yield _chosen(SampledNewton(), "a few Newton steps should cost less than many passes of stochastic ones")
    elif not fits(problem):
        yield _chosen(VRSPDPEG(), "the matrices of Newton's steps would not fit")
    else:
        why = "many passes of stochastic steps should cost less than a few Newton steps"
        yield _chosen(VRSPDPEG(), why, Stalls(tol))
        yield _chosen(SampledNewton(), "at the pace of its last passes, vr-spdpeg would have cost more")


def _exact_stages(problem: View, exact: list[tuple[Periodic, str]], tol: float | None) -> Iterator[Planned]:
    """The stages of exact methods, and a first-order method for the case that they end early."""
    last = exact[-1][0]
    limit = MOST_SECONDS if _is_small(problem) else math.inf
    stages = [_chosen(method, why, Ended(method, tol, most_seconds=limit)) for method, why in exact]
    columns = exact[0][0]
    if isinstance(columns, WorkingSet) and isinstance(last, ProxNewton | InteriorPoint):
        many = problem.n_coordinates if isinstance(last, ProxNewton) else problem.sums.n_rows
        most = _MOST_COLUMNS_IN_USE * many
        stages[0] = stages[0]._replace(leave=Crowded(columns, tol, most_seconds=limit, most_pieces=most))
    if isinstance(last, ProxNewton):
        stages[-1] = stages[-1]._replace(leave=Ended(last, tol, SLOW, limit, _other_way))
    if isinstance(last, WorkingSet):
        stages[-1:] = _with_many_pieces(problem, last, stages[-1], tol)
    yield from stages
    if isinstance(last, WorkingSet) and problem.n_coordinates <= _LARGE_MATRIX:
        newton, why = ProxNewton(), "working-set ended before the tolerance was met, and models of all are affordable"
        yield _chosen(newton, why, Ended(newton, tol, SLOW))
    if isinstance(last, ProxNewton) and (other := _other_way(problem)) is not None:
        again = ProxNewton(digits=32 if isinstance(other, InteriorPoint) and RowModels.take(problem) else 16)
        why = "prox-newton ended or took many steps without meeting the tolerance"
        yield _chosen(other, why, Ended(other, tol, SLOW, limit))
        yield _chosen(again, "that ended before the tolerance was met", Ended(again, tol, SLOW, limit))
    yield _chosen(_first_order(problem), f"{last.about.name} ended before the tolerance was met")


def _with_many_pieces(problem: View, method: WorkingSet, stage: Planned, tol: float | None) -> list[Planned]:
    """The stage of a working set, and what takes over in memory while the pieces are too many for models of them.

    How many there are is known only on the way there.
    """
    form = PenaltyForm.of(problem) if problem.n_coordinates <= _MOST_FORM else None
    other: Periodic
    again = WorkingSet()
    if form is None or problem.rows.on_disk or not math.isfinite(problem.loss.curvature):
        return [stage]
    if _is_ridge_alone(problem, form):
        other, most = ProxLBFGS(), _MOST_RIDGE_PIECES if problem.sums.n_rows > _FEW_ROWS else _MOST_PIECES
    elif problem.penalty.joint is not None:
        other, most = SpaRSA(), _MOST_PIECES if form.groups is None else _MOST_COLUMNS
    else:
        return [stage]
    return [
        stage._replace(leave=Crowded(method, tol, most_pieces=most)),
        _chosen(
            other, "the pieces are so many that reads cost less than models of them", Ended(other, tol, _MANY_READS)
        ),
        _chosen(again, f"{other.about.name} took many steps without meeting the tolerance", Ended(again, tol)),
    ]


def _exact(problem: View) -> list[tuple[Periodic, str]]:
    """The exact methods for a problem, best first, and why they are chosen; none if they would cost too much."""
    if problem.loss.quadratic and is_chain(problem):
        return [(OneRead(), "X is diagonal and the penalties have an exact prox along the chain")]
    # Only sparse rows leave columns empty.
    if problem.loss.smooth and problem.sums.is_sparse and Condensed.of(problem) is not None:
        return [(WorkingSet(), "most columns are empty, and of the others the penalties leave few that differ")]
    form = PenaltyForm.of(problem) if problem.n_coordinates <= _MOST_FORM else None
    if form is None:
        if problem.loss.smooth and SplitForm.of(problem) is not None:
            return [(ProxNewton(), "the coordinates are so few that the quadratic model can be solved to all digits")]
        if with_matrices(problem) is not None:
            return [(InteriorPoint(), "the whole problem is one small semidefinite program")]
        if split_program.takes(problem):
            return [(InteriorPoint(), "the problem is so small that all of its terms can be split off")]
        return []
    among_rows = _exact_on_rows(problem, form)
    if problem.loss.smooth:
        among_rows = _with_few_rows(problem, form, among_rows)
    if problem.loss.smooth and form.width > _LARGE_MATRIX and free_pieces(problem) is not None:
        why = "directions without a penalty are as many as the rows, which can all have their least loss"
        among_rows = [(WorkingSet(), why), *among_rows]
    if problem.loss.quadratic:
        small = bool(among_rows) and isinstance(among_rows[0][0], ProxNewton)
        again = [(method, "one-read ended before the tolerance was met") for method, _ in among_rows]
        if differences(problem) is not None:
            return [(OneRead(), "X is diagonal and minimum cuts give the exact prox of the differences"), *again]
        if problem.moments.is_signal and form.form.K.nnz <= _MOST_SIGNAL:
            return [(OneRead(), "X is diagonal, so that the whole problem is one sparse conic program"), *again]
        # On a disk reads count, not flops; elsewhere a product of all rows pays if the rest is nearly free.
        few = not form.holds_groups and _may_be_few(problem, form)  # interior points are slow with groups
        whole = problem.sums.n_rows >= form.width and (problem.rows.on_disk or few)
        if small or ((problem.moments.known or whole) and form.width <= MOST_COORDINATES):
            return [(OneRead(), "the second moments of the rows are all that the squared loss depends on"), *again]
    return among_rows


def _exact_on_rows(problem: View, form: PenaltyForm) -> list[tuple[Periodic, str]]:
    """The exact methods that read the rows at every step."""
    n, width = problem.sums.n_rows, form.width
    small = width <= _SMALL_MATRIX or (width <= _LARGE_MATRIX and n >= _TALL * width)
    if not problem.loss.smooth:
        solved = width <= _LARGE_MATRIX or takes_few_rows(problem, form)
        if solved and problem.loss.lines(problem.rows.labels) is not None:
            return [(InteriorPoint(), "the loss is made of lines, and the whole problem is one small conic program")]
        return []
    if width > _LARGE_MATRIX and n > _FEW_ROWS and _ridge_and_graph(problem, form):
        return [(ProxLBFGS(), "r1 is strongly convex, and reads cost less than finding the pieces of a graph")]
    if width <= _LARGE_MATRIX and _descends_on_columns(problem, form):
        why = "without F the penalties leave few columns, and descent on those costs less than a matrix of all"
        return [
            (WorkingSet(), why),
            (ProxNewton(), "many columns are in use, or working-set ended before the tolerance was met"),
        ]
    if not small and _may_be_few(problem, form):
        return [(WorkingSet(), "of many coordinates the penalties leave few that differ")]
    if width <= _LARGE_MATRIX:
        return [(ProxNewton(), "the coordinates are so few that the quadratic model can be solved exactly")]
    bounded = math.isfinite(problem.loss.curvature)
    if bounded and not small and form.lines is not None and _is_ridge(problem, form.lines):
        return [(ProxLBFGS(), "r1 is strongly convex, and few reads show the curvature that matters beside it")]
    if not bounded and width <= MOST_COORDINATES:
        return [(ProxNewton(), "the curvature of the loss has no bound that steps could be taken from")]
    if bounded and form.lines is not None and _has_no_penalties(form.lines):
        if width <= MOST_COORDINATES:
            return [(ProxNewton(), "without penalties the quadratic model is one linear system")]
        return [(SpaRSA(), "without penalties a step costs no more than its reads")]
    return []


def _with_few_rows(problem: View, form: PenaltyForm, methods: list[tuple[Periodic, str]]) -> list[tuple[Periodic, str]]:
    """The methods, with that for far more coordinates than rows where the loss is made of lines and parabolas."""
    lines = form.lines if takes_few_rows(problem, form) else None
    if lines is None or _has_no_penalties(lines) or problem.loss.lines(problem.rows.labels) is None:
        return methods
    whole = (InteriorPoint(), "the rows are so few that the whole problem is solved among them")
    if not _may_be_few(problem, form):
        return [whole, *methods]
    # Rows of F that are no pairs tie coordinates that differ, so that as many may be in use as there are rows.
    return methods if lines.pairs.all() else [*methods, whole]


def _descends_on_columns(problem: View, form: PenaltyForm) -> bool:
    """Whether penalties of single columns and groups should be taken by descent on columns in memory.

    Where rows are many, a matrix of few columns costs no more than some reads.
    """
    if form.groups is None or not problem.rows.in_memory or problem.rows.on_disk or problem.loss.quadratic:
        return False
    few = form.width <= _SMALL_MATRIX and problem.sums.n_rows >= _VERY_TALL * form.width
    return form.width > _FEW_COLUMNS and not few and _may_be_few(problem, form)


def _other_way(problem: View) -> Periodic | None:
    """The method to try on a small problem where Newton's steps crawl or end short of the tolerance.

    Where the loss is curved only here and there the program as a whole does not crawl; where there is no such program,
    models of twice the digits may lack none.
    """
    if not problem.rows.in_memory:  # a small array on a disk may be mapped
        return None
    made_of_lines = problem.loss.curvature != 0.0 and problem.loss.lines(problem.rows.labels) is not None
    if _is_small(problem) and made_of_lines and (PenaltyForm.of(problem) or with_matrices(problem)) is not None:
        return InteriorPoint()
    return ProxNewton(digits=32) if RowModels.take(problem) else None


def _is_small(problem: View) -> bool:
    """Whether steps should take no more than moments."""
    n, d = problem.sums.n_rows, problem.n_coordinates
    return n <= _MOST_PROGRAM_ROWS and n * d * d <= _MOST_PROGRAM_WORK


def _may_be_few(problem: View, form: PenaltyForm) -> bool:
    """Whether penalties can make the solution one of few pieces, and finding them is not too expensive."""
    if form.groups is not None:
        return form.groups.holds(problem.rows.n_features)
    lines = form.lines
    if lines is None:
        return False
    sparse = bool(np.count_nonzero(lines.weight) >= problem.rows.n_features)
    if not sparse and lines.pairs.all():
        directions = problem.penalty.free_directions
        sparse = directions is not None and int(directions.shape[1]) <= 1 + problem.rows.n_features // 10
    # Along a chain or a graph steps are exact and take moments.
    return sparse and (problem.penalty.joint is not None or bool(lines.pairs.all()) or lines.K.nnz <= MOST_ENTRIES)


def _is_ridge(problem: View, lines: AbsolutePenalties) -> bool:
    """Whether all coordinates have a square, and a model with F is solved without a dense matrix."""
    return bool(np.all(lines.ridge[: problem.rows.n_features] > 0.0)) and are_sparse(lines)


def _is_ridge_alone(problem: View, form: PenaltyForm) -> bool:
    """Whether a ridge stands beside F alone."""
    groups = form.groups
    if groups is not None and (groups.weight.any() or groups.members.size):
        return False  # before the lines are written down
    lines = form.lines
    return lines is not None and not lines.weight.any() and _is_ridge(problem, lines)


def _has_no_penalties(lines: AbsolutePenalties) -> bool:
    """Whether there are no penalties at all."""
    return not (lines.weight.any() or lines.ridge.any() or lines.K.nnz)


def _ridge_and_graph(problem: View, form: PenaltyForm) -> bool:
    """Whether a ridge stands beside F alone, in memory, and F is no chain, whose pieces are cheap to find."""
    if problem.F.core.chain or problem.rows.on_disk or not math.isfinite(problem.loss.curvature):
        return False
    return _is_ridge_alone(problem, form)


def _first_order(problem: View) -> Solver:
    return VRSPDPEG() if math.isfinite(problem.loss.curvature) else SPDHGCERS()


@dataclass(frozen=True)
class Ended:
    """Leave a method that cannot go on, or has taken so many steps or seconds, and has not come to its aim."""

    method: Periodic
    tol: float | None
    most_steps: float = math.inf
    most_seconds: float = math.inf
    other: Callable[[View], Periodic | None] | None = None
    """Finds another method; where it finds none many steps are no reason to leave."""

    def __call__(self, problem: View, state: State, gap: float) -> bool:
        begun = state.loop.stages[-1]
        slow = state.iterations - begun.iterations >= self.most_steps
        slow = slow and (self.other is None or self.other(problem) is not None)
        slow |= state.seconds - begun.seconds >= self.most_seconds
        return (slow or self.method.ended(state) is Status.EXHAUSTED) and not gap <= (self.tol or _AIM)


@dataclass(frozen=True)
class Crowded(Ended):
    """Leave a working set also when its pieces are so many that another method should end sooner."""

    method: WorkingSet
    most_pieces: float = math.inf

    def __call__(self, problem: View, state: State, gap: float) -> bool:
        crowded = self.method.pieces(state) > self.most_pieces and not gap <= (self.tol or _AIM)
        return crowded or super().__call__(problem, state, gap)


@dataclass(frozen=True)
class Stalls:
    """Leave stochastic steps once they are so slow that Newton's would end sooner, by the pace since the last gap."""

    tol: float | None

    def __call__(self, problem: View, state: State, gap: float) -> bool:
        passes = (state.rows - state.loop.gap_at) / problem.rows.block.labels.size
        if not (0.0 < gap < math.inf and math.isfinite(state.loop.last_gap) and passes > 0.0):
            return False
        pace = math.log(max(state.loop.last_gap / gap, 1.0)) / passes
        left = math.log(max(gap / (self.tol or _AIM), 1.0))
        passes_left = left / pace if pace > 0.0 else math.inf
        return left > 0.0 and _NEWTON_STEPS * newton_flops(problem) < passes_left * _pass_flops(problem, state)


def newton_first(problem: View) -> bool:
    """Whether to begin with Newton's steps, by what either way is likely to cost.

    A stochastic pass before them would gain nothing, and make the outcome depend on an order of the rows. Batches of
    the default size make the dense part of a pass as expensive as its rows.
    """
    one_pass = 2.0 * problem.rows.block.labels.size * row_flops(problem)
    return fits(problem) and _NEWTON_STEPS * newton_flops(problem) < max(_REDUCED_PASSES * one_pass, _SMALL)


def continuation(problem: View) -> Continuation | KeptCurvature | None:
    """What takes runs from one penalty weight to the next in memory; None if each should be one of `solve`."""
    rows = problem.rows
    if not rows.in_memory or not is_tall(problem) or not math.isfinite(problem.loss.curvature):
        return None
    exact = _exact(problem)
    newton = bool(exact) and isinstance(exact[0][0], ProxNewton) and not rows.on_disk
    if newton and chain_penalty(problem) is not None:
        return KeptCurvature(problem)
    # A step of the exact methods computes the curvature of all rows, which may cost several reads. Kept curvature takes
    # more steps, and gives the same structure where one prox holds all penalties.
    n, entries = rows.block.labels.size, rows.block.rows.values.size
    kept = newton and problem.penalty.joint is not None and entries**2 > _CURVATURE * n
    return Continuation(problem) if (kept or not exact) and newton_first(problem) else None


def newton_flops(problem: View) -> float:
    """Flops of one Newton step."""
    n, d = problem.rows.block.labels.size, problem.n_coordinates
    entries = max(1.0, problem.rows.block.rows.values.size / n)
    one_pass = 4.0 * n * entries
    if is_sparse(problem):
        return one_pass + _SPARSE_COORDINATE * d
    if d <= MOST_FEATURES:
        curvature = min(n, ROWS_PER_FEATURE * d) * entries**2
        return one_pass + curvature + _DENSE * (d**3 + _INNER_STEPS * 2.0 * d * d) + _INNER_STEPS * 10.0 * d
    core = n * one_pass if problem.penalty.joint is not None else n * d * (_DENSE * 2.0 * n + _TRIANGULAR)
    return core + one_pass + _INNER_STEPS * (one_pass + _DENSE * 2.0 * n * n + 80.0 * d)


def _pass_flops(problem: View, state: State) -> float:
    """Flops of one pass of variance-reduced steps."""
    joint = VRSPDPEG().scheme_for(problem, state.batch_size) == JOINT_PROX
    dense = joint_flops(problem) if joint else dense_flops(problem)
    return problem.rows.block.labels.size * (row_flops(problem) + dense / state.batch_size)


def _chosen(method: Solver, why: str, leave: "Stalls | Ended | None" = None) -> Planned:
    return Planned(method, f"chosen because {why}", leave)
