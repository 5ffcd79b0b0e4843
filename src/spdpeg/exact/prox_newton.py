"""The proximal Newton method whose quadratic model, penalties included, is solved exactly by interior points.

Lee, Sun, Saunders: Proximal Newton-type methods for minimizing composite functions, SIAM Journal on Optimization, 2014.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..certificate.slopes import profiled
from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import as_number, shown
from ..result import Status
from ..solvers.base import About, FullReads, Solution, kept_for, per_problem, require_differentiable
from ..state import State
from ..sums import Token
from ..view import View
from .newton import Iterate, Newton, first_point, sampled_start
from .newton_models import RowModels, models_of
from .penalty_form import PenaltyForm, SplitForm, model_form

MOST_COORDINATES = 3000
"""Most coordinates of x, auxiliary variables included: matrices of that order are factorised some ten times a step."""

SLOW = 40
"""Steps that are so many that another method may be tried."""
MOST_SECONDS = 8.0
"""Seconds after which they may, too, on a problem whose steps should take moments."""

_VANISHES = 1e-9
"""Fraction of the objective at the start that is left where the loss has no minimum."""

_HARDLY_LEFT = 1e-6
"""Fraction of the objective at the start that is left without a minimum where rounding ends the fall: the model of rows
without curvature beside others has no digits left."""

_FALLS = (0.5, 5.0)
"""Range of the model's decrease relative to the new objective, along an exponentially decaying tail: about e / 2."""

_NO_PENALTY = 1e-3
"""Fraction of an objective that is as good as none of it."""

_PROMISING, _SURELY = 0.1, 0.03
"""Times the root of the tolerance: the relative decrease of the model from which on a step may be the last. The gap
that a step leaves is of the order of its square where the curvature is continuous: in 80 generated problems with 0.2
all first certificates proved their tolerance. Where it jumps, one in four did not with 0.03."""

_USUAL = 1e-6
"""Whoever asks for a smaller tolerance wants digits of the coefficients, whose error is of the order of the decrease.
"""


@dataclass(eq=False, repr=False)
class ProxNewton(FullReads):
    """x <- minimiser of the quadratic model of l plus r1 + r2(F .), with step halving; the last iterate.

    The model has the curvature of all rows and is solved exactly, by interior points that read no data. Its multipliers
    are a dual point of the problem, so that each step brings a lower bound with it.

    Parameters
    ----------
    digits : int
        16, or 32 for models of rows that are solved in twice the digits: for small problems whose columns almost depend
        on each other, or differ by many orders of magnitude.
    """

    about = About(
        name="prox-newton",
        summary="proximal Newton with the exact model, solved by interior points; deterministic, for few coordinates",
        update="x+ = x + step (m - x), m the minimiser of the quadratic model of l at x, plus r1 + r2(F .)",
        cost="1 pass with curvature, some 15 factorisations of a d x d matrix",
        memory="2 N + 3 d + l; 2 d^2 + 3 N + d more for a step",
        rate="quadratic; the duality gap is of fourth order in the step",
        needs="smooth loss; finite sum; d at most 3000, or some hundreds where r1 or r2 has no conic form",
        assumptions="phi'' Lipschitz, the model strictly convex at the solution; near it",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )

    digits: int = 16

    def __post_init__(self) -> None:
        if as_number(self.digits) not in (16, 32):
            raise InputError(f"digits of prox-newton is {shown(self.digits)}. It is 16 or 32.")

    def check(self, problem: View) -> None:
        require_differentiable(self, problem)
        form = model_form(problem)
        if form is None:
            raise UnsupportedError(
                f"prox-newton has no way to minimise its models with r1={problem.penalty.r1!r} and r2={problem.r2!r}. "
                'Use "vr-spdpeg".'
            )
        if form.width > MOST_COORDINATES:
            raise UnsupportedError(
                f"prox-newton factorises a matrix of order {form.width}; it takes up to {MOST_COORDINATES}. "
                'Use "working-set" or "vr-spdpeg".'
            )
        if self.digits > 16 and not RowModels.take(problem):
            raise UnsupportedError(
                "prox-newton with 32 digits takes few coordinates, some thousand rows in memory at most, and penalties "
                "of lines, squares and norms. Leave digits out."
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        vectors = self._vectors(problem, first_point(problem, x0))
        vectors |= {"slopes": np.zeros(problem.sums.length_kept()), "slopes_gradient": np.zeros(x0.size)}
        numbers = {
            "floor": 0.0,
            "loss": math.nan,
            "drop": math.inf,
            "jumps": problem.loss.curvature_jumps,
            "predicted": False,
            "exhausted": False,
            "infeasible": False,
            "value": math.nan,
            "start": math.nan,
            "crawled": 0,
            "curved": True,
        }
        return numbers, vectors

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        if not math.isnan(state.numbers["loss"]):
            return 0
        x, sampled, reads = state.vectors["x"].copy(), 0, 1
        given = bool(np.any(x))
        if not given:
            # A Newton step on a few rows costs next to nothing and saves reads of all of them.
            x, sampled = sampled_start(problem, self._steps(problem), x)
        if self.digits > 16 and math.isfinite(problem.objective(moved := profiled(problem, x))):
            x = moved
        start = self._steps(problem).start(x)
        nothing = np.zeros(x.size)
        at_zero = problem.rows.loss_at_zero + problem.penalty.at_zero if sampled else math.nan
        if sampled and not start.value <= at_zero:
            start, reads = self._steps(problem).start(nothing), 2  # the sample was not like the rest
        if problem.loss.log_link and given and not math.isfinite(start.value):
            # From outside the domain, or where it overflows, a loss with exponentials leads anywhere.
            start, reads = self._steps(problem).start(first_point(problem, nothing)), 2
        self._take(problem, state, start)
        if sampled and not math.isnan(state.numbers["start"]):
            state.numbers["start"] = at_zero  # what is left of the loss is told beside x = 0, whatever the sample knew
        if given and problem.sums.resident:
            # A given start may be the solution. Where a read is expensive, the next step tells as much as a certificate
            # here would, for the same read.
            state.numbers["drop"] = 0.0
        return reads * problem.sums.n_rows + sampled

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        v, numbers = state.vectors, state.numbers
        newton = self._steps(problem)
        enough = self._decisive(state, state.loop.planned_for or 0.0)
        following, minimum, ahead = newton.step(self._iterate(problem, state), enough)
        if not math.isfinite(following.value):  # exponentials overflow at every point tried: another method goes on
            numbers["exhausted"], numbers["infeasible"] = True, following.infeasible
            return round(following.reads * problem.sums.n_rows)
        # The multipliers belong to the minimiser of the model, not to the point of the line search: mixing the two
        # leaves a gap that never closes.
        if ahead.predicted is not None and ahead.predicted_gradient is not None:
            v["y"][:] = self._form(problem).multiplier(minimum.w, minimum.y)
            v["slopes"], v["slopes_gradient"] = problem.sums.kept(ahead.predicted), ahead.predicted_gradient
            self._predicted = v["slopes"], ahead.predicted
            if minimum.slopes is not None:
                v["slopes"], v["slopes_gradient"] = minimum.slopes, problem.sums.adjoint(minimum.slopes)
            numbers["predicted"] = True
        self._take(problem, state, following)
        return round(following.reads * problem.sums.n_rows)

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        x = v["x"].copy()
        slopes = gradient = None
        if state.numbers["predicted"]:
            slopes, gradient = self._slopes(state), v["slopes_gradient"].copy()
        return Solution(x, x.copy(), None, -v["y"], slopes, gradient)

    def may_be_optimal(self, state: State, tol: float) -> bool:
        numbers = state.numbers
        # A certificate takes time, so it waits until the objective has nearly stopped falling.
        seldom = state.iterations >= SLOW and state.iterations % SLOW == 0  # others may do better
        seldom |= state.seconds - state.loop.stages[-1].seconds >= MOST_SECONDS
        return numbers["drop"] <= self._decisive(state, tol) or bool(numbers["exhausted"]) or seldom

    @staticmethod
    def _decisive(state: State, tol: float) -> float:
        """The relative decrease of the model from which on a step may meet the tolerance."""
        early = tol >= _USUAL and not state.numbers["jumps"]
        return (_PROMISING if early else _SURELY) * math.sqrt(tol)

    def ended(self, state: State) -> Status | None:
        numbers = state.numbers
        if numbers["infeasible"]:
            return Status.INFEASIBLE
        # A separable problem without a penalty in the separating direction has no minimum: the loss falls by the same
        # factor with every step, for ever.
        left = numbers["value"] / numbers["start"] if numbers["start"] else 1.0
        alone = numbers["value"] - numbers["loss"]
        unpenalised = alone <= _NO_PENALTY * numbers["value"]
        if left <= _VANISHES:
            falls = unpenalised and _FALLS[0] <= numbers["drop"] <= _FALLS[1]
            if falls or numbers["exhausted"]:
                return Status.NO_MINIMUM
        if left <= _HARDLY_LEFT and unpenalised and numbers["exhausted"]:
            return Status.NO_MINIMUM
        return Status.EXHAUSTED if numbers["exhausted"] else None

    _iterates: tuple[np.ndarray, Iterate] | None = field(default=None, init=False)
    """Where the run stands, beside the margins there."""
    _predicted: tuple[np.ndarray, Token] | None = field(default=None, init=False)
    """The slopes of the state's vector beside it."""

    @per_problem
    def _form(self, problem: View) -> PenaltyForm | SplitForm:
        form = model_form(problem)
        assert form is not None
        return form.sharp if self.digits > 16 and isinstance(form, PenaltyForm) else form

    @per_problem
    def _steps(self, problem: View) -> Newton:
        models = models_of(problem, self._form(problem), self.digits)
        return Newton(problem.sums, models, problem.penalty.value, problem.loss.curvature)

    def _slopes(self, state: State) -> Token:
        """The slopes that the last model predicted, if they are still there."""
        kept = state.vectors["slopes"]
        return kept.copy() if kept.size else kept_for(kept, self._predicted)

    def _iterate(self, problem: View, state: State) -> Iterate:
        """Where the run stands, with the curvature: kept from the last step, or recomputed from the margins."""
        v, numbers = state.vectors, state.numbers
        at = kept_for(v["margins"], self._iterates)
        if at is None:
            floor, crawled, curved = numbers["floor"], int(numbers["crawled"]), bool(numbers["curved"])
            at = self._steps(problem).start_at(v["x"].copy(), v["margins"].copy(), floor, crawled, curved)
        return at

    def _take(self, problem: View, state: State, at: Iterate) -> None:
        numbers = state.numbers
        self._keep(problem, state, at.x, at.sweep)
        self._iterates = state.vectors["margins"], at
        numbers["floor"], numbers["value"] = at.floor, at.value
        if math.isnan(numbers["start"]) and math.isfinite(at.value) and not problem.loss.attained:
            # That at x = 0 if it is less: a start far away, or the first point inside a domain, may have any.
            at_zero = problem.rows.loss_at_zero + problem.penalty.at_zero
            numbers["start"] = min(at.value, at_zero if math.isfinite(at_zero) else problem.rows.loss_at_zero)
        numbers["drop"] = at.predicted / abs(at.value) if at.value else 0.0
        numbers["exhausted"], numbers["infeasible"] = at.exhausted, at.infeasible
        numbers["crawled"], numbers["curved"] = at.crawled, at.sweep.curvature is not None
