"""Total variation on a graph beside a diagonal H: minimised exactly, level by level, by minimum cuts.

    min over x of  sum_i curvature_i (x_i - target_i)^2 / 2 + weight_i |x_i|  +  sum_e cost_e |x_j - x_i|,  e = (i, j)

Whether x_i lies above a level t is a minimum cut, whatever x is elsewhere: the excess curvature_i (target_i - t) flows
along the edges, at most cost_e through each, from where it is positive to where it is negative; what cannot leave lies
above t, what cannot be filled below, and all else at t. The graph is cut at 0, if there are weights, and each part
again at the level that would be its own if it were one piece, until nothing is left of the excess anywhere. The flows
are the multipliers. They stay when a part is cut again, so that all cuts together cost little more than the first.

What is found is exact but for rounding, without a tolerance and whatever the sizes of the pieces, where iterative
methods are slow on large ones and factorisations fill in on graphs that are not planar.

Hochbaum: An efficient algorithm for image segmentation, Markov random fields and related problems. Journal of the ACM
48, 2001. Chambolle, Darbon: On total variation minimization and surface evolution using parametric maximum flows.
International Journal of Computer Vision 84, 2009. Goldberg, Tarjan: A new approach to the maximum-flow problem. Journal
of the ACM 35, 1988.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import inner, kernel, shared

_ROUNDING = 4.0 * float(np.finfo(float).eps)
"""Fraction of its terms that rounding leaves of an excess, and of a cost that it leaves of the room of an edge."""

_SHORT = np.int32
"""Numbers of nodes and edges: walks through a large graph wait for memory."""

_BETWEEN_SEARCHES = 0.5
"""Nodes whose distance changes between two exact searches, as a fraction of all."""


class Graph(NamedTuple):
    """The edges of each node."""

    pointers: np.ndarray
    heads: np.ndarray
    """The other ends."""
    edges: np.ndarray
    sides: np.ndarray
    """1 at the first end of an edge, -1 at the second."""

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, size: int) -> "Graph":
        """The graph of edges (first, second) among nodes 0, 1, ..., size - 1."""
        ends = np.concatenate([first, second])
        order = np.argsort(ends, kind="stable")
        pointers = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=size))])
        edges, sides = (
            np.tile(np.arange(first.size, dtype=_SHORT), 2),
            np.repeat(np.array([1, -1], np.int8), first.size),
        )
        return cls(pointers, np.concatenate([second, first])[order].astype(_SHORT), edges[order], sides[order])


class Terms(NamedTuple):
    """Those of the objective, by node and by edge."""

    curvature: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    cost: np.ndarray


class _Work(NamedTuple):
    """Of a run: by node, but for the numbers of the parts."""

    part: np.ndarray
    """The part of a node, -1 once its level is known."""
    tilt: np.ndarray
    """Slope of the weights: -weight above 0, weight below it."""
    excess: np.ndarray
    noise: np.ndarray
    """Up to which an excess is rounding."""
    distance: np.ndarray
    """Edges to a node that can be filled; as many as there are nodes if there is none."""
    current: np.ndarray
    queue: np.ndarray
    marked: np.ndarray
    nodes: np.ndarray
    """Those whose level is not known yet."""
    level: np.ndarray
    mass: np.ndarray
    names: np.ndarray
    """New numbers of what lies below and above the level of a part."""


def minimized(graph: Graph, terms: Terms) -> tuple[np.ndarray, np.ndarray]:
    """x at the minimum, with equal numbers on each piece, and the multipliers of x_j - x_i for all edges (i, j)."""
    n = terms.target.size
    x, y = np.zeros(n), np.zeros(terms.cost.size)
    # Without weights a common level changes nothing, and would cost digits.
    level, mass = 0.0, float(terms.curvature.sum())
    if not terms.weight.any() and mass > 0.0:
        level = float(terms.curvature @ terms.target) / mass
        terms = terms._replace(target=terms.target - level)
    real, whole = np.zeros((5, n)), np.zeros((4, n), dtype=_SHORT)
    nodes, marked, names = np.arange(n, dtype=_SHORT), np.zeros(n, dtype=bool), np.zeros((2, n), dtype=_SHORT)
    work = _Work(
        whole[0], real[0], real[1], real[2], whole[1], whole[2], whole[3], marked, nodes, real[3], real[4], names
    )
    _minimize(graph, terms, bool(terms.weight.any()), x, y, work)
    return (x + level if level else x), y


@kernel
def _minimize(graph: Graph, terms: Terms, at_zero: bool, x: np.ndarray, y: np.ndarray, work: _Work) -> None:
    part, nodes = work.part, work.nodes
    n = count = x.size
    parts = 1
    part[:] = 0
    _measure_noise(graph, terms, work)
    if at_zero:
        part[:] = 2
        for sign in (1.0, -1.0):  # what lies above 0, and then below it
            left = 0
            for i in range(n):
                if part[i] == 2:
                    nodes[left] = i
                    work.tilt[i] = -sign * terms.weight[i]
                    left += 1
            _fill_excess(graph, terms, left, 0.0, y, work)
            _flow(graph, terms, left, sign, y, work)
            _mark_above(graph, terms, left, sign, y, work)
            for a in range(left):
                if work.marked[nodes[a]]:
                    part[nodes[a]] = 0 if sign > 0.0 else 1
        count, parts = 0, 2
        for i in range(n):
            if part[i] == 2:
                part[i] = -1
            else:
                nodes[count] = i
                count += 1
    while count > 0:
        _set_levels(graph, terms, count, parts, x, y, work)
        _flow(graph, terms, count, 1.0, y, work)
        _mark_above(graph, terms, count, 1.0, y, work)
        count, parts = _divide(count, parts, x, work)
    _settle(graph, terms, y, work)


@shared
def _settle(graph: Graph, terms: Terms, y: np.ndarray, work: _Work) -> None:
    """Take what rounding has left at nodes without curvature to others.

    Where there is none, what flows in and out must balance to the last digits: no bound would survive anything else.
    """
    part, excess, nodes = work.part, work.excess, work.nodes
    n, bare = part.size, 0
    for i in range(n):
        part[i], nodes[i] = 0, i
        bare += int(terms.curvature[i] == 0.0)
    if bare == 0 or bare == n:
        return
    for i in range(n):
        size = terms.weight[i]
        for k in range(graph.pointers[i], graph.pointers[i + 1]):
            size += abs(y[graph.edges[k]])
        work.noise[i] = _ROUNDING * size
    for sign in (1.0, -1.0):
        for i in range(n):
            work.tilt[i] = -sign * terms.weight[i]
        _fill_excess(graph, terms, n, 0.0, y, work)
        for i in range(n):
            if terms.curvature[i] > 0.0:
                excess[i] = -sign * np.inf
        _flow(graph, terms, n, sign, y, work)


@shared
def _measure_noise(graph: Graph, terms: Terms, work: _Work) -> None:
    """Up to which size the excess of each node is rounding."""
    n, most = work.part.size, 0.0
    for i in range(n):
        work.noise[i] = terms.curvature[i] * abs(terms.target[i]) + terms.weight[i]
        most = max(most, work.noise[i])
    for i in range(n):
        size = work.noise[i]
        for k in range(graph.pointers[i], graph.pointers[i + 1]):
            # Where an edge may carry any amount, about as much flows through it as one node has.
            size += min(terms.cost[graph.edges[k]], most)
        work.noise[i] = _ROUNDING * size


@shared
def _fill_excess(graph: Graph, terms: Terms, count: int, level: float, y: np.ndarray, work: _Work) -> None:
    """What flows in, and what the terms of each node ask for at a level."""
    for a in range(count):
        i = work.nodes[a]
        total = terms.curvature[i] * (terms.target[i] - level) + work.tilt[i]
        for k in range(graph.pointers[i], graph.pointers[i + 1]):
            total += graph.sides[k] * y[graph.edges[k]]
        work.excess[i] = total


@shared
def _set_levels(graph: Graph, terms: Terms, count: int, parts: int, x: np.ndarray, y: np.ndarray, work: _Work) -> None:
    """The level that each part would have as one piece, and the excess there."""
    part, level = work.part, work.level
    _fill_excess(graph, terms, count, 0.0, y, work)
    for p in range(parts):
        level[p] = work.mass[p] = 0.0
    for a in range(count):
        i = work.nodes[a]
        level[part[i]] += work.excess[i]
        work.mass[part[i]] += terms.curvature[i]
    for p in range(parts):
        level[p] = level[p] / work.mass[p] if work.mass[p] > 0.0 else 0.0
    for a in range(count):
        i = work.nodes[a]
        if not work.mass[part[i]] > 0.0:
            level[part[i]] = x[i]  # without curvature all levels are alike, and the last one was in order
    for a in range(count):
        i = work.nodes[a]
        # From the target, as the excess at 0 has lost digits where that is large.
        total = terms.curvature[i] * (terms.target[i] - level[part[i]]) + work.tilt[i]
        for k in range(graph.pointers[i], graph.pointers[i + 1]):
            total += graph.sides[k] * y[graph.edges[k]]
        work.excess[i] = total


@inner
def _room(graph: Graph, terms: Terms, k: int, sign: float, y: np.ndarray) -> float:
    """How much more may flow out of a node along its edge k; in the other direction if `sign` is -1."""
    cost = terms.cost[graph.edges[k]]
    left = cost + sign * graph.sides[k] * y[graph.edges[k]]
    return left if left > _ROUNDING * cost else 0.0


@shared
def _measure_distances(graph: Graph, terms: Terms, count: int, sign: float, y: np.ndarray, work: _Work) -> None:
    """How far each node is from one of its part that can be filled."""
    part, distance, queue = work.part, work.distance, work.queue
    first, last, far = 0, 0, part.size
    for a in range(count):
        i = work.nodes[a]
        distance[i] = far
        if sign * work.excess[i] < -work.noise[i]:
            distance[i] = 0
            queue[last] = i
            last += 1
    while first < last:
        j = queue[first]
        first += 1
        for k in range(graph.pointers[j], graph.pointers[j + 1]):
            i = graph.heads[k]
            # Room from i to j is that of the other direction at j.
            if part[i] == part[j] and distance[i] == far and _room(graph, terms, k, -sign, y) > 0.0:
                distance[i] = distance[j] + 1
                queue[last] = i
                last += 1


@shared
def _flow(graph: Graph, terms: Terms, count: int, sign: float, y: np.ndarray, work: _Work) -> None:
    """Let excess flow, within parts, to where it is missing, as long as there is a way (push and relabel).

    With `sign` -1 what is missing flows to where there is excess. Ends with exact distances.
    """
    distance, current, queue, waits, excess = work.distance, work.current, work.queue, work.marked, work.excess
    far = work.part.size
    while True:
        _measure_distances(graph, terms, count, sign, y, work)
        first = length = 0
        for a in range(count):
            i = work.nodes[a]
            current[i] = graph.pointers[i]
            waits[i] = sign * excess[i] > work.noise[i] and distance[i] < far
            if waits[i]:
                queue[length] = i
                length += 1
        if length == 0:
            return
        changes = 1 + int(_BETWEEN_SEARCHES * count)
        while length > 0 and changes > 0:
            i = queue[first]
            first = first + 1 if first + 1 < count else 0
            length -= 1
            waits[i] = False
            while sign * excess[i] > work.noise[i] and distance[i] < far:
                k = current[i]
                if k == graph.pointers[i + 1]:
                    _move_away(graph, terms, i, sign, y, work)
                    changes -= 1
                    continue
                current[i] = k + 1
                j = graph.heads[k]
                if work.part[j] != work.part[i] or distance[j] + 1 != distance[i]:
                    continue
                room = _room(graph, terms, k, sign, y)
                if room == 0.0:
                    continue
                if room <= sign * excess[i]:
                    y[graph.edges[k]] = -sign * graph.sides[k] * terms.cost[graph.edges[k]]
                    moved = sign * room
                else:
                    moved = excess[i]
                    y[graph.edges[k]] -= graph.sides[k] * moved
                    current[i] = k  # there is room left
                excess[i] -= moved
                excess[j] += moved
                if not waits[j] and sign * excess[j] > work.noise[j]:
                    waits[j] = True
                    queue[(first + length) % count] = j
                    length += 1


@shared
def _move_away(graph: Graph, terms: Terms, i: int, sign: float, y: np.ndarray, work: _Work) -> None:
    """Put a node one edge beyond the nearest of those that it has room to."""
    far = work.part.size
    nearest = far
    for k in range(graph.pointers[i], graph.pointers[i + 1]):
        j = graph.heads[k]
        if work.part[j] == work.part[i] and work.distance[j] < nearest and _room(graph, terms, k, sign, y) > 0.0:
            nearest = work.distance[j]
    work.distance[i] = min(nearest + 1, far)
    work.current[i] = graph.pointers[i]


@shared
def _mark_above(graph: Graph, terms: Terms, count: int, sign: float, y: np.ndarray, work: _Work) -> None:
    """Mark the nodes that excess cannot leave, and all that it has a way to."""
    marked, queue = work.marked, work.queue
    first = last = 0
    for a in range(count):
        i = work.nodes[a]
        marked[i] = sign * work.excess[i] > work.noise[i]
        if marked[i]:
            queue[last] = i
            last += 1
    while first < last:
        i = queue[first]
        first += 1
        for k in range(graph.pointers[i], graph.pointers[i + 1]):
            j = graph.heads[k]
            if work.part[j] == work.part[i] and not marked[j] and _room(graph, terms, k, sign, y) > 0.0:
                marked[j] = True
                queue[last] = j
                last += 1


@shared
def _divide(count: int, parts: int, x: np.ndarray, work: _Work) -> tuple[int, int]:
    """Make parts of what lies above and below the level of each; returns how many nodes and parts are left.

    What lies neither above nor below is at the level, and so is a part with one of the two alone: that is rounding.
    """
    part, nodes, names, far = work.part, work.nodes, work.names, work.part.size
    for p in range(parts):
        names[0, p] = names[1, p] = 0
    for a in range(count):
        i = nodes[a]
        if work.marked[i] or work.distance[i] < far:
            names[int(work.marked[i]), part[i]] = 1
    fresh = 0
    for p in range(parts):
        divided = names[0, p] + names[1, p] == 2
        for side in range(2):
            names[side, p] = fresh if divided else -1
            fresh += int(divided)
    left = 0
    for a in range(count):
        i = nodes[a]
        p = part[i]
        x[i] = work.level[p]
        part[i] = names[int(work.marked[i]), p] if work.marked[i] or work.distance[i] < far else -1
        if part[i] >= 0:
            nodes[left] = i
            left += 1
    return left, fresh
