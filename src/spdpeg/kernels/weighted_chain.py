"""The fused lasso of a signal with weights: exact solution in linear time, and the flows that prove it."""

import numpy as np

from .chain import MEMORY, chain_prox
from .jit import inner, kernel, strict

__all__ = [
    "MEMORY",
    "chain_bounds",
    "chain_dual",
    "chain_flows",
    "chain_signal",
    "flows_along",
    "weighted_chain_signal",
]

_INSIDE = 1.0 - 1e-15
"""A scaled flow stays this far short of its limit, where rounding could cross it."""


@inner
def _cut(
    knots: np.ndarray,
    changes: np.ndarray,
    outermost: int,
    count: int,
    side: int,
    here: float,
    height: float,
    outer: float,
    jump: float,
    limit: float,
) -> tuple[float, float, int, float]:
    """Where an increasing function is `limit` away from 0, its steepness there, the knots passed, what is left at 0.

    The function is piecewise linear but for a jump at 0. The walk goes inwards, knot by knot, from the left (side = 1)
    or the right (side = -1), where the function has the steepness `outer` and is `height` away from 0 at `here`.
    """
    steepness, passed = outer, 0
    while passed < count or jump > 0.0:
        k = outermost + side * passed
        at_zero = jump > 0.0 and (passed == count or side * knots[k] >= 0.0)
        place = 0.0 if at_zero else knots[k]
        ahead = height - steepness * (side * (place - here))
        if ahead <= limit:
            return here + side * ((height - limit) / steepness), steepness, passed, jump
        here, height = place, ahead
        if at_zero:
            if ahead - jump <= limit:
                return 0.0, steepness, passed, limit - (ahead - jump)
            height -= jump
            jump = 0.0
        else:
            steepness += side * changes[k]
            passed += 1
    if side == 1:
        steepness = outer  # beyond the last knot the function is as steep as before the first, without rounding
    return (here + side * ((height - limit) / steepness) if steepness > 0.0 else here), steepness, passed, jump


@inner
def _spread(y: np.ndarray, weights: np.ndarray, l1: float) -> float:
    """The width of an interval in which the solution lies; not 0, so that every weight hands on its opinion."""
    smallest, largest = (0.0, 0.0) if l1 > 0.0 else (np.inf, -np.inf)
    for i in range(y.size):
        if weights[i] > 0.0:
            smallest, largest = min(smallest, y[i]), max(largest, y[i])
    return largest - smallest if largest > smallest else 1.0


@kernel
def weighted_chain_signal(
    y: np.ndarray, weights: np.ndarray, l1: float, l2: np.ndarray, memory: np.ndarray, out: np.ndarray
) -> None:
    """out = argmin over x of sum_i weights[i] (x[i] - y[i])^2 / 2 + l1 |x|_1 + sum_i l2[i] |x[i + 1] - x[i]|.

    The dynamic program of `chain_prox`, where each entry adds to the slope of the cost

        c_i'(b) = weights[i] (b - y[i]) + l1 sign(b) + clip(c_{i-1}'(b), -l2[i - 1], l2[i - 1])

    a steepness of its own and a jump at 0. All jumps are at the same place, so one number holds what is left of them
    between the two ends of the queue of knots. An entry of weight 0 has no opinion: its value follows from the
    neighbours. `y` is finite there too. `memory` has `MEMORY` numbers for each entry.
    """
    size = y.size
    spread = _spread(y, weights, l1)
    knots, changes, highs = memory[: 2 * size], memory[2 * size : 4 * size], memory[4 * size :]
    first, last = size, size - 1
    height = jump = 0.0
    for i in range(size - 1):
        height, jump = height + l1, jump + 2.0 * l1
        steep = weights[i]
        limit = min(l2[i], height + steep * spread)
        if steep == 0.0 and limit >= height:  # the slope is nowhere beyond the limit
            out[i], highs[i] = -np.inf, np.inf
            continue
        low, rise, passed, jump = _cut(knots, changes, first, last - first + 1, 1, y[i], height, steep, jump, limit)
        first += passed
        high, fall, passed, jump = _cut(knots, changes, last, last - first + 1, -1, y[i], height, steep, jump, limit)
        last -= passed
        high = max(high, low)
        first, last = first - 1, last + 1
        knots[first], changes[first] = low, rise
        knots[last], changes[last] = high, -fall
        out[i], highs[i] = low, high
        height = limit
        if limit == 0.0:  # nothing is handed on, and the rest is a chain of its own
            first, last = size, size - 1
            jump = 0.0
    end = size - 1
    height, jump = height + l1, jump + 2.0 * l1
    if weights[end] == 0.0 and height == 0.0:
        out[end] = 0.0  # nothing speaks for any value
    else:
        out[end] = _cut(knots, changes, first, last - first + 1, 1, y[end], height, weights[end], jump, 0.0)[0]
    for i in range(size - 2, -1, -1):
        out[i] = min(max(out[i + 1], out[i]), highs[i])


@kernel
def chain_signal(y: np.ndarray, l1: float, l2: np.ndarray, memory: np.ndarray, out: np.ndarray) -> None:
    """The same where all weights are 1: total variation first, the threshold after it."""
    chain_prox(y, 1.0, l2, memory, out)
    for i in range(y.size):
        out[i] -= min(max(out[i], -l1), l1)


@inner
def flows_along(
    y: np.ndarray, weights: np.ndarray, l1: float, l2: np.ndarray, x: np.ndarray, memory: np.ndarray, out: np.ndarray
) -> None:
    """out = the flows u, |u[j]| <= l2[j], with weights (x - y) + l1 sign(x) + F^T u = 0 for a solution x.

    No weights are ones. Where x is 0 the sign may be anything from -1 to 1, and the flows that are possible along an
    edge form an interval. One pass from the left finds these, one from the right chooses within them. `memory` has two
    numbers for each entry.
    """
    size = y.size
    lows, highs = memory[:size], memory[size : 2 * size]
    low = high = 0.0
    for i in range(size - 1):
        moved = (x[i] - y[i]) * (weights[i] if weights.size else 1.0)
        sign = np.sign(x[i])
        low += moved + (l1 * sign if sign != 0.0 else -l1)
        high += moved + (l1 * sign if sign != 0.0 else l1)
        limit, step = l2[i], x[i + 1] - x[i]
        low = limit if step > 0.0 else -limit if step < 0.0 else min(max(low, -limit), limit)
        high = limit if step > 0.0 else -limit if step < 0.0 else min(max(high, -limit), limit)
        lows[i], highs[i] = low, high
    flow = 0.0
    for i in range(size - 1, 0, -1):
        weight = weights[i] if weights.size else 1.0
        if weight > 0.0 or l1 > 0.0:  # all else hands the flow on as it is, to the last bit
            wanted = flow - (x[i] - y[i]) * weight - l1 * np.sign(x[i])
            flow = min(max(wanted, lows[i - 1]), highs[i - 1])
        out[i - 1] = flow


@kernel
def chain_flows(
    y: np.ndarray, weights: np.ndarray, l1: float, l2: np.ndarray, x: np.ndarray, memory: np.ndarray, out: np.ndarray
) -> None:
    """The same as a kernel."""
    flows_along(y, weights, l1, l2, x, memory, out)


@kernel
def chain_bounds(
    y: np.ndarray, weights: np.ndarray, l1: float, l2: np.ndarray, x: np.ndarray, flows: np.ndarray, level: float
) -> tuple[float, float, float]:
    """The objective at x, the bound from below that the flows give, and the largest divergence at an entry of weight 0.

    The bound is the least value of sum_i w_i (b_i - y_i)^2 / 2 + l1 |b|_1 + <flows, F b>, in which entries of weight 0
    are left out; it is valid if none of these has a divergence of more than l1. F maps constants to 0: without l1
    any `level` may be taken out of b, which saves digits if it is near to it.
    """
    primal = dual = largest = before = 0.0
    for i in range(y.size):
        weight = weights[i] if weights.size else 1.0
        after = flows[i] if i < flows.size else 0.0
        divergence, before = before - after, after
        residual = x[i] - y[i]
        primal += 0.5 * weight * residual * residual + l1 * abs(x[i])
        if i < l2.size:
            primal += l2[i] * abs(x[i + 1] - x[i])
        if weight == 0.0:
            largest = max(largest, abs(divergence))
        else:
            best = y[i] - divergence / weight
            best -= min(max(best, -l1 / weight), l1 / weight)
            moved = best - y[i]
            dual += 0.5 * weight * moved * moved + l1 * abs(best) + divergence * (best - level)
    return primal, dual, largest


@strict
def _added(value: float, term: float, carry: float) -> tuple[float, float]:
    """The sum, and the rounding error to take away from the next term, so that a long chain costs no digits."""
    corrected = term - carry
    total = value + corrected
    return total, (total - value) - corrected


@kernel
def chain_dual(
    y: np.ndarray, weights: np.ndarray, l1: float, x: np.ndarray, flows: np.ndarray
) -> tuple[float, float, float, float, float]:
    """The least value of sum_i w_i (b_i - y_i)^2 / 2 + <g, b>, and what rounding may have done to it.

    g is a slope of the penalties at x, close to minus that of the loss: the divergence of the flows, and what l1 |x|_1
    can add. Where the weight is 0 the flows alone must balance l1, which rounding may miss: smaller ones do not. The
    value is minus infinity if they cannot. With it come sum |g| (|y| + |y - b|), the loss at b, the sum of
    w |y - b| (|b| + |y|), and the sum of g.
    """
    largest = before = 0.0
    for i in range(y.size):
        after = flows[i] if i < flows.size else 0.0
        if weights[i] == 0.0:
            largest = max(largest, abs(before - after))
        before = after
    part = _INSIDE * l1 / largest if largest > l1 > 0.0 else 1.0
    value = carry = noise = loss = cancelled = total = before = 0.0
    for i in range(y.size):
        after = flows[i] if i < flows.size else 0.0
        divergence, before = part * (before - after), after
        slope = divergence + min(max(-weights[i] * (x[i] - y[i]) - divergence, -l1), l1)
        total += slope
        if weights[i] > 0.0:
            shift = slope / weights[i]
            value, carry = _added(value, slope * (y[i] - 0.5 * shift), carry)
            noise += abs(slope) * (abs(y[i]) + abs(shift))
            loss += 0.5 * weights[i] * shift * shift
            cancelled += weights[i] * abs(shift) * (abs(y[i] - shift) + abs(y[i]))
        elif slope != 0.0:
            value = -np.inf
    return value, noise, loss, cancelled, total
