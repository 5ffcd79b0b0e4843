"""Proximal Newton steps on sums over rows: the exact model of the loss, solved without data, one read a step.

At x the loss is replaced by its quadratic model g'(z - x) + (z - x)'H(z - x)/2, which with all penalties is minimised
by interior points (`models`). The multipliers of that solution are a dual point of the problem itself: with slopes
s and curvatures h at x, the slopes s + h <a, z - x> have A^T W u / N = g + H (z - x), which is what the model's
optimality conditions are about. So every step brings its own lower bound, and the gap is of fourth order in the step.

Lee, Sun, Saunders: Proximal Newton-type methods for minimizing composite functions, SIAM Journal on Optimization, 2014.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..certificate import null_model
from ..kernels import deadline
from ..kernels.jit import as_reals
from ..quadratic import Minimum
from ..sums import LocalSums, Sums, Sweep
from ..sums.blocks import sample_size
from ..view import View
from .newton_models import Models

ARMIJO = 1e-4
"""Fraction of the predicted decrease that a step must bring."""

ROUNDING = 1e-14
"""Relative error of an objective."""

SHORTEST = 1e-8
"""Length of a step below which none is taken."""

_LONGEST = 2.0**40
"""Longest step, in whole steps, where curvature is a guess."""

_AT_ONCE = 4
"""Lengths whose losses are asked for together: where rows are far away, asking costs more than adding up."""

FIRST_FLOOR = 1e-3
"""Fraction of the loss's largest curvature that all curvatures are raised to after a step that had to be cut short; it
grows tenfold each time that happens again."""

CLOSE = 1e-6
"""Relative decrease of the model from which on Newton's steps need no floor, which whole steps lower tenfold before."""


_ROUGH = 0.1
"""Fraction of the model's decrease that its minimum may miss."""

_CRAWL = 1e-9
_MOST_CRAWLED = 6
"""Relative gain of a step that is hardly one, and how many of those in a row end a run."""


_NEARER = (1e2, 1e4, 1e8)
"""Factors on the curvature of a model at a point outside the domain, where its minimum is so far inside that a loss
with exponentials overflows: with them it is the nearest point inside, in the metric of the rows."""

_BEYOND = 700.0
"""Margins whose exponential is 0 or infinite: of labels that are all 0, whose best intercept is infinite."""

_SAMPLE_STEPS, _SAMPLE_ENOUGH = 15, 1e-2
"""Most steps on a sample, and the relative decrease of the model at which more steps would fit the sample alone."""

_CALLS, _FACTORISATIONS = 2e6, 0.05
"""What a model costs, counted in additions to scattered numbers: the calls, and a part of d^3."""


@dataclass
class Iterate:
    """An iterate, with all that is known there."""

    x: np.ndarray
    sweep: Sweep
    value: float
    """Objective at x."""
    floor: float = 0.0
    reads: float = 0.0
    """Reads of the data that the step here took."""
    length: float = 1.0
    """Length of that step; 1 leads to the model's minimum."""
    predicted: float = np.inf
    """Decrease of the model along that step."""
    crawled: int = 0
    """Steps in a row that hardly improved the objective."""
    exhausted: bool = False
    """No step improves the objective beyond rounding, or many hardly do."""
    infeasible: bool = False
    """The penalties' constraints contradict each other."""


class Newton:
    """The steps, for a loss summed over rows and penalties in conic form.

    Parameters
    ----------
    sums : Sums
    models : Models
        How quadratic models with the penalties are minimised.
    penalty : callable
        The same penalties at x.
    largest_curvature : float
        Upper bound on the second derivative of the loss; the largest one seen if it has none.
    """

    def __init__(
        self, sums: Sums, models: Models, penalty: Callable[[np.ndarray], float], largest_curvature: float
    ) -> None:
        self.sums, self._models, self._penalty, self._largest_curvature = sums, models, penalty, largest_curvature

    def on_sample(self, sums: Sums) -> "Newton":
        """The steps for a sample of the rows, whose minimum need not be found exactly."""
        return Newton(sums, self._models.rough, self._penalty, self._largest_curvature)

    def start(self, x: np.ndarray) -> Iterate:
        """The iterate at x; one read."""
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that grows exponentially
            sweep = self.sums.at(x, curvature=True)
        return Iterate(x, sweep, sweep.loss + self._penalty(x), reads=1.0)

    def start_at(self, x: np.ndarray, margins: np.ndarray, floor: float, crawled: int, curvature: bool) -> Iterate:
        """The last iterate of a run that goes on, with its curvature if the run had it; one read."""
        least = self._least_curvature(floor)
        if margins.size:
            sweep = self.sums.at_margins(margins, curvature=curvature, floor=least)
        else:
            sweep = self.sums.at(x, curvature=curvature, floor=least)
        return Iterate(x, sweep, sweep.loss + self._penalty(x), floor, crawled=crawled)

    @np.errstate(over="ignore", invalid="ignore")  # a loss that grows exponentially, from which it steps back
    def step(self, at: Iterate, enough: float = 0.0) -> tuple[Iterate, Minimum, Sweep]:
        """The next iterate, usually after one read; the model's minimum; and the sums at it, dual point included.

        After a relative decrease of the model by `enough` or less the step may be the last. In memory, where curvature
        costs more than all other sums, it is left out then, and made by a read of its own if there is another step.
        """
        deadline.check()
        before_step = self.sums.reads
        if at.sweep.curvature is None:
            floor = self._least_curvature(at.floor)
            at = replace(at, sweep=self.sums.at_margins(at.sweep.margins, curvature=True, floor=floor))
        based = self._floored(at)
        minimum = self._minimum(at.x, based)
        penalty, slope, predicted = self._expected(at, based, minimum)
        rough = minimum.status == "inaccurate" and not minimum.gap <= _ROUGH * predicted
        if (rough or minimum.status == "unbounded") and at.floor < 1.0:
            # Rows without curvature leave directions open that the loss closes farther away.
            at = replace(at, floor=1.0)
            based = self._floored(at)
            minimum = self._minimum(at.x, based)
            penalty, slope, predicted = self._expected(at, based, minimum)
        outside = not np.isfinite(at.value)  # of the domain, where any point inside is better
        last = self.sums.resident and enough > 0.0 and not outside and predicted <= enough * abs(at.value)
        # The next model is made of what is read now, with the floor that it will have.
        floor = self._next_floor(at, 1.0, predicted)
        ahead = self._ahead(minimum, based, not last, floor)
        for factor in _NEARER if outside else ():
            if np.isfinite(ahead.loss):
                break
            minimum = self._minimum(at.x, based, factor)
            penalty, ahead = self._penalty(minimum.point), self._ahead(minimum, based, True, floor)
        z = minimum.point
        move = z - at.x
        following = Iterate(z, ahead, ahead.loss + penalty, at.floor, predicted=predicted)
        lower = following.value <= at.value + ARMIJO * slope + ROUNDING * abs(at.value)
        if not (outside or (lower and np.isfinite(following.value))):
            following = self._search(at, following, move, slope)
        elif at.floor >= 1.0 and not outside:
            following = self._farther(at, following, move)
        following.infeasible = minimum.status == "infeasible"
        following.reads = float(self.sums.reads - before_step)
        return self._reweighed(at, following), minimum, ahead

    def _floored(self, at: Iterate) -> Sweep:
        """The sums at x with curvatures of at least the floor, which they usually were read with."""
        least, largest = at.sweep.curvature_range
        floor = at.floor * (self._largest_curvature if np.isfinite(self._largest_curvature) else largest)
        if floor <= 0.0 or least >= floor:
            return at.sweep
        return self.sums.at_margins(at.sweep.margins, curvature=True, floor=floor)

    def _least_curvature(self, floor: float) -> float:
        """A floor as a curvature, for the next read; 0 where the largest one is known only after that read."""
        return floor * self._largest_curvature if np.isfinite(self._largest_curvature) else 0.0

    def _minimum(self, x: np.ndarray, sweep: Sweep, factor: float = 1.0) -> Minimum:
        """The minimum of the model at x, its curvature multiplied by `factor`."""
        assert sweep.curvature is not None
        H = sweep.curvature if factor == 1.0 else factor * sweep.curvature
        return self._models.minimum(H, H @ x - sweep.gradient, x)

    def _ahead(self, minimum: Minimum, based: Sweep, curvature: bool, floor: float) -> Sweep:
        """The sums at the model's minimum, dual point included."""
        z, least = minimum.point, self._least_curvature(floor)
        return self.sums.at(z, curvature=curvature, floor=least, model=based, ahead=minimum.w[: z.size])

    def _expected(self, at: Iterate, based: Sweep, minimum: Minimum) -> tuple[float, float, float]:
        """The penalty at the model's minimum, the slope of the objective towards it, and by how much the model falls on
        the way."""
        penalty = self._penalty(minimum.point)
        before = at.value - at.sweep.loss if np.isfinite(at.value) else penalty
        move = minimum.point - at.x
        slope = float(based.gradient @ move) + penalty - before
        assert based.curvature is not None
        return penalty, slope, -(slope + 0.5 * float(move @ (based.curvature @ move)))

    def _search(self, at: Iterate, whole: Iterate, move: np.ndarray, slope: float) -> Iterate:
        """A shorter step along known margins, and one read at its end."""
        # Along a segment margins are known without a read, so that trying lengths costs no products with the rows.
        longest = 0.5
        while longest > SHORTEST:
            lengths = longest * 0.5 ** np.arange(_AT_ONCE)
            for length, loss in zip(lengths, self.sums.losses_between(at.sweep, whole.sweep, lengths), strict=True):
                x = at.x + length * move
                value = float(loss) + self._penalty(x)
                if value <= at.value + ARMIJO * length * slope:
                    least = self._least_curvature(self._next_floor(at, float(length), whole.predicted))
                    sweep = self.sums.between(at.sweep, whole.sweep, length, least)
                    return replace(whole, x=x, sweep=sweep, value=value, length=float(length))
            longest *= 0.5**_AT_ONCE
        return replace(whole, x=at.x, sweep=at.sweep, value=at.value, length=0.0)

    def _farther(self, at: Iterate, whole: Iterate, move: np.ndarray) -> Iterate:
        """A longer step along known margins, and one read at its end, if that is lower than the whole step.

        Where rows have no curvature the largest possible one stands in for it, and steps are far too short: an
        intercept that has gone beyond the margins of all rows of its class would come back in thousands of them.
        """
        value, length, longest = whole.value, 1.0, 1.0
        while longest < _LONGEST:
            lengths = longest * 2.0 ** np.arange(1, _AT_ONCE + 1)
            longest = float(lengths[-1])
            for trial, loss in zip(lengths, self.sums.losses_between(at.sweep, whole.sweep, lengths), strict=True):
                found = float(loss) + self._penalty(at.x + trial * move)
                if not found < value:
                    longest = _LONGEST  # convex: it only rises from here on
                    break
                value, length = found, float(trial)
        if length == 1.0:
            return whole
        least = self._least_curvature(self._next_floor(at, length, whole.predicted))
        sweep = self.sums.between(at.sweep, whole.sweep, length, least)
        return replace(whole, x=at.x + length * move, sweep=sweep, value=value, length=length)

    @staticmethod
    def _next_floor(at: Iterate, length: float, predicted: float) -> float:
        """The floor after a step of some length, whose model falls as predicted."""
        if not np.isfinite(at.value):
            return at.floor
        if length < 0.5:
            return min(max(10.0 * at.floor, FIRST_FLOOR), 1.0)
        return 0.0 if predicted <= CLOSE * abs(at.value) else 0.1 * at.floor

    def _reweighed(self, at: Iterate, following: Iterate) -> Iterate:
        """Raise or lower the floor, and detect when nothing moves any more."""
        if not np.isfinite(at.value):
            # Outside the domain steps that stay there are none.
            following.crawled = at.crawled + 1 if not np.isfinite(following.value) else 0
            following.exhausted = following.crawled >= _MOST_CRAWLED
            return following
        size = abs(at.value)
        following.floor = self._next_floor(at, following.length, following.predicted)
        gained = at.value - following.value
        following.crawled = at.crawled + 1 if gained <= _CRAWL * size else 0
        # Nothing gained is the end after a full step without a floor, to the true model's minimum, or after a
        # short one with the largest floor. Elsewhere another floor may do better.
        still = gained <= ROUNDING * size
        following.exhausted = still and (at.floor == 0.0 if following.length == 1.0 else at.floor >= 1.0)
        following.exhausted |= following.crawled >= _MOST_CRAWLED
        return following


def first_point(problem: View, x: np.ndarray) -> np.ndarray:
    """Where to begin: at x; for a loss that grows exponentially at the best intercept, if x is 0.

    From far below Newton's steps overshoot, from far above they only go so far as the logarithm does.
    """
    if np.any(x) or not problem.loss.log_link:
        return x.copy()
    start = null_model(problem)
    return start if np.all(np.abs(start) * problem.rows.bias < _BEYOND) else x.copy()


def sampled_start(problem: View, newton: Newton, x: np.ndarray) -> tuple[np.ndarray, int]:
    """A point near the minimum of the objective on a sample of the rows, and the number of rows that were read.

    The first steps of Newton's method need few rows. A sample knows the solution up to a part of about coordinates /
    rows. Steps beyond that would fit what is by chance in it, rare columns above all, and lead to margins at which a
    logistic loss has no curvature left; so they end early.
    """
    sums, d = problem.sums, x.size
    wanted = sample_size(sums.n_rows, d)
    # Newton's first step minimises a squared loss from anywhere.
    if not wanted or problem.loss.quadratic or not _pays(sums, d):
        return x, 0
    sample = sums.sample(wanted)
    if sample is None:
        return x, 0
    block, read = sample
    if block.weights.size:
        if not float(block.weights.sum()) > 0.0:
            return x, read
        block = block._replace(weights=as_reals(block.weights * (block.labels.size / float(block.weights.sum()))))
    if problem.loss.binary and np.ptp(block.labels) == 0.0:
        return x, read  # one class only has its minimum at infinity
    newton = newton.on_sample(LocalSums.of(block, problem.loss))
    at = newton.start(x.copy())
    for _ in range(_SAMPLE_STEPS):
        at, _, _ = newton.step(at, _SAMPLE_ENOUGH)
        if at.exhausted or at.infeasible or at.predicted <= _SAMPLE_ENOUGH * abs(at.value):
            break
    found = not at.infeasible and math.isfinite(at.value) and bool(np.all(np.isfinite(at.x)))
    return (at.x, read) if found else (x, read)


def _pays(sums: Sums, d: int) -> bool:
    """Whether a read of all rows, outer products included, costs more than a model."""
    entries = sums.n_entries / sums.n_rows
    return not sums.resident or sums.n_entries * (4.0 + 0.5 * entries) >= _CALLS + _FACTORISATIONS * d**3
