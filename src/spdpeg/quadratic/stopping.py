"""When a run along the central path stops, and what it hands back."""

from typing import NamedTuple

from .central_path import Point

MOST_STEPS = 200
CLOSE, CLOSE_RISES = 1e-10, 2
NEAR, NEAR_RISES, MOST_RISES = 1e-6, 10, 30
"""Steps without progress after which rounding is taken to be all that is left: few below a relative measure of CLOSE,
more below NEAR, many elsewhere."""
PROGRESS = 0.9
"""A step counts as progress if it leaves at most this fraction of the measure."""
LEAST = 1e-14
"""Added to the unit diagonal of H: enough for a singular matrix, too little to slow the steps down."""
TIGHTER, LEAST_DAMPING, MOST_DAMPING = 100.0, 1e-15, 1e-3
"""Where a factorisation fails, this fraction of the diagonal is added, and the solutions are improved iteratively."""
POLISHING = 3
"""Steps at the end that bring the slope down to rounding."""
SHORT, CENTRAL = 0.1, 0.3
"""A step shorter than SHORT is replaced by one to CENTRAL times the gap, without second-order terms."""
FLOOR = 1e-3
"""Least size of an objective: b is of size 1, and a solution 0 has no size of its own."""
SMALL = 1e-3
"""Least length by which a slope is multiplied to tell what it may cost: at w = 0 every slope would look harmless."""
HUGE = 1e300
FAR = 1e10
"""Iterates of this size, in a model of size 1, are on their way to infinity: there is no solution."""


class Outcome(NamedTuple):
    """The end of a run."""

    point: Point
    short: float
    """Gap, misses and slope, all in units of the objective."""
    size: float
    """Size of the terms of the objective."""
    steps: int
    last: Point
    """Where the iterates went: if there is no solution, this says more than the best of them."""
