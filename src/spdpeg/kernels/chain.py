"""Total variation along a chain: its exact prox, and how far a vector can grow in the dual unit ball of l1 plus it."""

import numpy as np

from .jit import inner, kernel
from .terms import writable

MEMORY = 5
"""Numbers of working memory that `chain_prox` needs for each entry of the vector."""


@inner
def _spread(point: np.ndarray) -> float:
    """The largest minus the smallest entry; NaN if an entry is not finite."""
    smallest, largest = np.inf, -np.inf
    finite = True
    for i in range(point.size):
        smallest, largest = min(smallest, point[i]), max(largest, point[i])
        finite &= abs(point[i]) < np.inf
    return largest - smallest if finite else np.nan


@inner
def _meet(
    knots: np.ndarray,
    changes: np.ndarray,
    outermost: int,
    count: int,
    side: int,
    here: float,
    height: float,
    limit: float,
) -> tuple[float, float, int]:
    """Where an increasing, piecewise linear function is `limit` away from 0, its steepness there, and the knots passed.

    The walk goes inwards, knot by knot, from the outermost piece on the left (side = 1), where the function is
    negative, or on the right (side = -1). That piece has steepness 1 and is `height` away from 0 at the point `here`.
    """
    steepness, passed = 1.0, 0
    while passed < count:
        k = outermost + side * passed
        ahead = height - steepness * (side * (knots[k] - here))
        if ahead <= limit:
            break
        here, height = knots[k], ahead
        steepness += side * changes[k]
        passed += 1
    return here + side * ((height - limit) / steepness), steepness, passed


@inner
def chain_prox(point: np.ndarray, step: float, weights: np.ndarray, memory: np.ndarray, out: np.ndarray) -> None:
    """out = argmin over w of step * sum_i weights[i] |w[i + 1] - w[i]| + |w - point|^2 / 2; `out` may be `point`.

    Dynamic programming from left to right (Johnson, 2013). Let c_i(b) be the least cost of the entries 0 to i with
    w[i] = b. The next entry may differ from b at the price `weight` per unit. What c_i costs it, as a function of its
    own value, therefore never has a slope beyond `weight`:

        c_i'(b) = b - point[i] + clip(c_{i-1}'(b), -weight, weight)

    This is increasing and piecewise linear: steepness 1 at both ends, changed by `changes` at the `knots`. Clipping
    cuts off both ends and puts one knot where each cut is, at `low` and `high`. All other knots stay where they are, so
    the knots form a queue with two ends. Each entry adds two, each is removed at most once: O(size) in all. From
    the end, w[i] is w[i + 1] if that lies between the cuts of c_i, and otherwise the nearer cut.

    Only differences of knots are used, never sums of entries, so a large common offset does no harm. A point that is
    not finite is handed on, so that a solver sees that it diverged. `memory` is overwritten, though its type may say
    read-only: it is part of the parameters of a hook.
    """
    size = point.size
    spread = _spread(point)
    if size <= 1 or np.isnan(spread):
        for i in range(size):
            out[i] = point[i]
        return
    knots: np.ndarray = writable(memory[: 2 * size])
    changes: np.ndarray = writable(memory[2 * size : 4 * size])
    highs: np.ndarray = writable(memory[4 * size :])
    first, last = size, size - 1
    height = 0.0
    for i in range(size - 1):
        # One entry changes the slope at the solution by no more than it deviates from its neighbours. Weights beyond
        # that have no effect but to move knots far away, where digits are lost.
        limit = min(step * weights[i], height + spread)
        low, rise, passed = _meet(knots, changes, first, last - first + 1, 1, point[i], height, limit)
        first += passed
        high, fall, passed = _meet(knots, changes, last, last - first + 1, -1, point[i], height, limit)
        last -= passed
        first, last = first - 1, last + 1
        knots[first], changes[first] = low, rise
        knots[last], changes[last] = high, -fall
        out[i], highs[i] = low, high
        height = limit
        if limit == 0.0:  # nothing is handed on, and the rest is a chain of its own
            first, last = size, size - 1
    out[size - 1] = _meet(knots, changes, first, last - first + 1, 1, point[size - 1], height, 0.0)[0]
    for i in range(size - 2, -1, -1):
        out[i] = min(max(out[i + 1], out[i]), highs[i])


@inner
def _attainable(u: np.ndarray, scale: float, l1: float, l2: np.ndarray) -> float:
    """`scale` if the flows of `dual_scale` exist for scale * u, otherwise a smaller bound on the scales they exist for.

    The flows along an edge that the entries before it allow form the interval from low + scale * drift_low to
    high + scale * drift_high, where the drifts are sums of entries since the interval was last cut off by the edge's
    own limit. Where its ends cross, the scale falls to the one at which they meet. Ends that were cut off at a larger
    scale only make the interval wider than it is, so the result remains a bound.
    """
    low = high = drift_low = drift_high = 0.0
    for j in range(u.size):
        limit = l2[j] if j < l2.size else 0.0
        low, high = low - l1, high + l1
        drift_low, drift_high = drift_low + u[j], drift_high + u[j]
        if low + scale * drift_low < -limit:
            low, drift_low = -limit, 0.0
        if high + scale * drift_high > limit:
            high, drift_high = limit, 0.0
        if not low + scale * drift_low <= high + scale * drift_high:
            scale = (high - low) / (drift_low - drift_high)
    return scale


@inner
def attainable_scale(u: np.ndarray, l1: float, l2: np.ndarray) -> float:
    """The largest s in [0, 1] for which <s u, x> <= l1 |x|_1 + sum_j l2[j] |x[j + 1] - x[j]| for all x.

    Equivalently there are flows y along the edges, |y_j| <= l2[j] and none beyond the ends, that leave at most l1 of
    every entry: |s u_j + y_{j-1} - y_j| <= l1. The flows that are possible up to an edge form an interval, and one pass
    along the chain finds them all. A scale that is too large leads to an empty interval, which tells a smaller scale to
    try next: Newton's method for a concave, piecewise linear function, which ends after a few passes. With l1 = 0 only
    a u whose entries add up to exactly 0 can have an s above 0.
    """
    scale, bound = np.inf, 1.0
    while bound < scale:
        scale, bound = bound, _attainable(u, bound, l1, l2)
    return bound


@kernel
def dual_scale(u: np.ndarray, l1: float, l2: np.ndarray) -> float:
    """The dual scale as a kernel."""
    return attainable_scale(u, l1, l2)
