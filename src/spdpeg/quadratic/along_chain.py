"""Dense models with an l1 norm, alone or with absolute differences along a chain: face by face, in one compiled call.

A proximal step names a face: coordinates that are 0, neighbours that are equal, signs of all others. The minimum on the
face solves a linear system with one unknown for each piece. Pieces whose sign comes out wrong become 0, steps whose
sign does are closed, until all are as assumed. Near a solution that is known about, as that of the last Newton step,
one or two such systems are all it takes, where interior points factor a dozen matrices of all coordinates. The result
counts only where the optimality conditions hold; elsewhere interior points take over.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.chain import MEMORY, attainable_scale, chain_prox
from ..kernels.jit import allocating, allocating_kernel, inner, shared
from ..kernels.lapack import ROUTINES, Routines
from ..kernels.weighted_chain import flows_along
from .dense import multiply
from .simple_face import among_pieces

_MOST_FACES = 16
_MOST_MERGERS = 6
"""Faces that are tried, at all and after each proximal step: about what interior points take. Far from the solution, or
where it is not the only one, more may be needed."""

_SURE = 1e-10
"""Relative gap, and part of a weight, by which the optimality conditions may be missed."""

_NOISE = 1e-14
"""Fraction of the largest term of b - H w that rounding may leave of it where a coordinate has no weight."""

_GAINS = 1e-12
"""Relative fall of the objective that a face brings, if it is another one than the last."""

_SHORTER = 0.25
_SHORTEST = 1e-8
"""Factor on a proximal step that is too long, and the part of the first one at which there is none left to try."""


_TINY = 2.0**-60
"""A power of two: it keeps the digits of what it multiplies."""


class ChainPenalty(NamedTuple):
    """sum_j weight_j |w_j| + sum_j cost_j |w_{j+1} - w_j|, where all weights along the chain are the same.

    The chain is that of the first coordinates, one more than it has steps; without steps there is none.
    """

    weight: np.ndarray
    cost: np.ndarray


class ChainMinimum(NamedTuple):
    """The minimum, and the multipliers that prove it: subgradients of weight_j |w_j| and of cost_j |w_{j+1} - w_j|."""

    w: np.ndarray
    own: np.ndarray
    along: np.ndarray
    gap: float


def minimized(H: np.ndarray, b: np.ndarray, penalty: ChainPenalty, x: np.ndarray) -> ChainMinimum | None:
    """The minimum of 1/2 w^T H w - b^T w plus the penalty, from the guess x; None where none was proved."""
    found, *rest = _minimized(H, b, penalty, x, ROUTINES)
    return ChainMinimum(*rest) if found else None


def lowered(H: np.ndarray, b: np.ndarray, penalty: ChainPenalty, x: np.ndarray) -> np.ndarray:
    """The minimum, or where it was not found in a few steps a point no higher than x."""
    w: np.ndarray = _minimized(H, b, penalty, x, ROUTINES)[1]
    return w


@allocating_kernel
def _minimized(
    H: np.ndarray, b: np.ndarray, penalty: ChainPenalty, x: np.ndarray, lapack: Routines
) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray, float]:
    n, edges = b.size, penalty.cost.size
    w, product, tried, image = x.copy(), np.empty(n), np.empty(n), np.empty(n)
    near, near_product = np.empty(n), np.empty(n)
    signs, steps, memory = np.zeros(n), np.zeros(edges), np.empty(MEMORY * (edges + 1))
    own, along, gap = np.zeros(n), np.zeros(edges), np.inf
    largest = 0.0
    for j in range(n):
        largest = max(largest, H[j, j] if _held(penalty, j) else 0.0)
    if not 0.0 < largest < np.inf:
        return False, w, own, along, gap
    multiply(H, w, product)
    value = _value(b, penalty, w, product)
    # Only the signs of this step are used, and the face that they name is judged by its objective. So it may be longer
    # than 1 / |H|, which descent would ask for. Coordinates without a penalty have no signs, and their minimum on any
    # face is found whatever they were.
    length = 1.0 / largest
    faces = 0
    while faces < _MOST_FACES:
        _step(b, penalty, w, product, length, memory, tried)
        _signs(penalty, tried, signs, steps)
        visited = _on_face(H, b, penalty, signs, steps, tried, lapack, _MOST_MERGERS)
        if visited == 0:
            break
        faces += visited
        multiply(H, tried, image)
        reached = _value(b, penalty, tried, image)
        if not reached <= value - _GAINS * abs(value):
            gap = _gap(H, b, penalty, tried, image, own)
            if gap == np.inf:
                # Too much was closed. What a short enough step gains is safe, and from there the way to the minimum of
                # its own face leads down as far as the first wrong sign at least.
                reached = np.inf
                while not reached < value and length > _SHORTEST / largest:
                    _step(b, penalty, w, product, length, memory, near)
                    multiply(H, near, near_product)
                    reached = _value(b, penalty, near, near_product)
                    length *= 1.0 if reached < value else _SHORTER
                _signs(penalty, near, signs, steps)
                faces += _on_face(H, b, penalty, signs, steps, tried, lapack, 1)
                multiply(H, tried, image)
                part = _lowest_between(b, penalty, near, near_product, tried, image)
                for j in range(n):
                    tried[j] = near[j] + part * (tried[j] - near[j])
                multiply(H, tried, image)
                reached = _value(b, penalty, tried, image)
                if not reached < value:
                    break
        w[:], product[:], value = tried, image, reached
        gap = _gap(H, b, penalty, w, product, own)
        if gap < np.inf:
            _multipliers(penalty, w, own, along, memory)
            return True, w, own, along, gap
    return False, w, own, along, gap


@shared
def _value(b: np.ndarray, penalty: ChainPenalty, w: np.ndarray, product: np.ndarray) -> float:
    """The objective at w, where the product is H w."""
    total = 0.0
    for j in range(b.size):
        total += (0.5 * product[j] - b[j]) * w[j] + penalty.weight[j] * abs(w[j])
    for j in range(penalty.cost.size):
        total += penalty.cost[j] * abs(w[j + 1] - w[j])
    return total


@inner
def _held(penalty: ChainPenalty, j: int) -> bool:
    """Whether a coordinate has a penalty; the others, as an intercept, may be in units of their own."""
    return penalty.weight[j] > 0.0 or j <= penalty.cost.size > 0


@inner
def _step(
    b: np.ndarray,
    penalty: ChainPenalty,
    w: np.ndarray,
    product: np.ndarray,
    length: float,
    memory: np.ndarray,
    out: np.ndarray,
) -> None:
    """A proximal gradient step of the coordinates with a penalty."""
    for j in range(b.size):
        out[j] = w[j] - length * (product[j] - b[j])
    if penalty.cost.size:
        chain = out[: penalty.cost.size + 1]
        chain_prox(chain, length, penalty.cost, memory, chain)
    for j in range(b.size):
        limit = length * penalty.weight[j]
        out[j] = out[j] - min(max(out[j], -limit), limit) if _held(penalty, j) else w[j]


@shared
def _signs(penalty: ChainPenalty, w: np.ndarray, signs: np.ndarray, steps: np.ndarray) -> None:
    """Signs of the coordinates that have a weight, and of the steps that have a cost."""
    for j in range(w.size):
        signs[j] = np.sign(w[j]) if penalty.weight[j] > 0.0 else 0.0
    for j in range(steps.size):
        steps[j] = np.sign(w[j + 1] - w[j]) if penalty.cost[j] > 0.0 else 0.0


@allocating
def _on_face(
    H: np.ndarray,
    b: np.ndarray,
    penalty: ChainPenalty,
    signs: np.ndarray,
    steps: np.ndarray,
    w: np.ndarray,
    lapack: Routines,
    most: int,
) -> int:
    """The minimum on a face with these signs, or on one that it contains, whose signs are as assumed.

    After so many faces it is what was found last, whatever its signs. Returns how many there were, 0 where there is no
    minimum.
    """
    n = b.size
    label, linear = np.empty(n, dtype=np.int64), np.empty(n)
    for visited in range(1, most + 1):
        count = _labels(penalty, signs, steps, label)
        for j in range(n):
            w[j] = 0.0
            linear[j] = b[j] - penalty.weight[j] * signs[j]
        for j in range(steps.size):
            linear[j] += penalty.cost[j] * steps[j]
            linear[j + 1] -= penalty.cost[j] * steps[j]
        if count > 0 and not among_pieces(H, linear, label, w, count, lapack):
            return 0
        if count == 0 or not _merged(penalty, w, signs, steps):
            return visited
    return most


@shared
def _labels(penalty: ChainPenalty, signs: np.ndarray, steps: np.ndarray, label: np.ndarray) -> int:
    """The piece of each coordinate, -1 where it is 0; returns how many there are."""
    count = 0
    for j in range(signs.size):
        if signs[j] == 0.0 and penalty.weight[j] > 0.0:
            label[j] = -1
        elif 0 < j <= steps.size and steps[j - 1] == 0.0 and penalty.cost[j - 1] > 0.0 and label[j - 1] >= 0:
            label[j] = label[j - 1]
        else:
            label[j] = count
            count += 1
    return count


@shared
def _merged(penalty: ChainPenalty, w: np.ndarray, signs: np.ndarray, steps: np.ndarray) -> bool:
    """Make pieces 0 and close steps that came out with the wrong sign; says whether there were any."""
    any_wrong = False
    for j in range(signs.size):
        if w[j] * signs[j] < 0.0 or (signs[j] != 0.0 and not np.isfinite(w[j])):
            signs[j] = 0.0
            any_wrong = True
    for j in range(steps.size):
        if signs[j] != 0.0 and signs[j + 1] != 0.0 and (w[j + 1] - w[j]) * steps[j] < 0.0:
            steps[j] = 0.0
            any_wrong = True
    if any_wrong:
        # Beside zeros a step has the sign of its other end. One that is closed joins equal signs, which all steps
        # between pieces of different signs are kept from: those differ by both.
        for j in range(steps.size):
            if penalty.cost[j] > 0.0 and (signs[j] == 0.0 or signs[j + 1] == 0.0):
                steps[j] = signs[j + 1] - signs[j]
    return any_wrong


@allocating
def _lowest_between(
    b: np.ndarray,
    penalty: ChainPenalty,
    start: np.ndarray,
    start_product: np.ndarray,
    end: np.ndarray,
    end_product: np.ndarray,
) -> float:
    """The part of the way from one point to the other at which the objective is lowest; products are those with H."""
    n, edges = b.size, penalty.cost.size
    places, jumps = np.empty(n + edges), np.zeros(n + edges)
    slope = curvature = 0.0
    for j in range(n):
        slope += (end[j] - start[j]) * (start_product[j] - b[j])
        curvature += (end[j] - start[j]) * (end_product[j] - start_product[j])
    for e in range(n + edges):
        first, last = (start[e], end[e]) if e < n else (start[e - n + 1] - start[e - n], end[e - n + 1] - end[e - n])
        weight = penalty.weight[e] if e < n else penalty.cost[e - n]
        slope += weight * (np.sign(first) * (last - first) if first != 0.0 else abs(last))
        places[e] = np.inf
        if first * last < 0.0:
            places[e], jumps[e] = first / (first - last), 2.0 * weight * abs(last - first)
    part = 0.0
    for e in np.argsort(places):
        if slope + curvature * min(places[e], 1.0) >= 0.0 or places[e] >= 1.0:
            break
        slope += jumps[e]
        part = places[e]
    return min(max(-slope / curvature, part), 1.0) if curvature > 0.0 else part


@allocating
def _gap(
    H: np.ndarray, b: np.ndarray, penalty: ChainPenalty, w: np.ndarray, product: np.ndarray, residual: np.ndarray
) -> float:
    """Objective minus bound at w, infinite unless the optimality conditions hold; fills the residual b - H w."""
    n, chain = b.size, penalty.cost.size + 1 if penalty.cost.size else 0
    # Where b - H w lies in the dual ball of the penalty, penalty(w) - <b - H w, w> is the duality gap.
    gap = total = largest = 0.0
    for j in range(n):
        residual[j] = b[j] - product[j]
        largest = max(largest, abs(b[j]), abs(H[j, j] * w[j]))
        gap += penalty.weight[j] * abs(w[j]) - residual[j] * w[j]
        total += penalty.weight[j] * abs(w[j]) + abs(b[j] * w[j])
    for j in range(penalty.cost.size):
        held = penalty.cost[j] * abs(w[j + 1] - w[j])
        gap += held
        total += held
    for j in range(chain, n):
        if not abs(residual[j]) <= (1.0 + _SURE) * penalty.weight[j] + _NOISE * largest:
            return np.inf
    if chain:
        scale = attainable_scale(residual[:chain], penalty.weight[0], penalty.cost)
        if not (1.0 - scale) * penalty.weight[0] <= _SURE * penalty.weight[0] + _NOISE * largest:
            return np.inf
    return abs(gap) if abs(gap) <= _SURE * total else np.inf


@allocating
def _multipliers(penalty: ChainPenalty, w: np.ndarray, own: np.ndarray, along: np.ndarray, memory: np.ndarray) -> None:
    """From the residual b - H w in `own`, the flow along the chain, and what is left for the coordinates."""
    if along.size:
        chain = along.size + 1
        # Of w only signs and steps matter; so small, it leaves the digits of the residual alone.
        small, target = np.empty(chain), np.empty(chain)
        for j in range(chain):
            small[j] = _TINY * w[j]
            target[j] = small[j] + own[j]
        flows_along(target, target[:0], penalty.weight[0], penalty.cost, small, memory, along)
        for j in range(along.size):
            own[j] += along[j]
            own[j + 1] -= along[j]
    for j in range(own.size):
        own[j] = min(max(own[j], -penalty.weight[j]), penalty.weight[j])
