"""Choosing parameters: a walk on a lattice that ends where no neighbour is better, so never at the edge of a grid."""

import math
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

_MOST_MOVES = 8
"""So many moves of a factor of 3 or 4 reach any sensible parameter; a walk that goes on is stopped and reported."""

_WORTH = 1e-4
"""A neighbour must be better by this share of the score: where a parameter tends to nothing, gains do too."""

Point = tuple[int, ...]


class WalkEnd(NamedTuple):
    """Where a walk ended."""

    point: Point
    score: float
    interior: bool
    """No neighbour is worth a move. False if the walk was stopped on its way."""
    candidates: int
    """Points that were scored."""


def walk(score: Callable[[Point], float], dimensions: int) -> WalkEnd:
    """Walk from the origin to the best neighbour, corners included, until no move is worth it.

    Parameters
    ----------
    score : callable
        To be minimised; infinite for a candidate that diverged.
    dimensions : int
        Of the lattice.
    """
    known: dict[Point, float] = {}
    place: Point = (0,) * dimensions
    offsets = list(product((-1, 0, 1), repeat=dimensions))
    for _ in range(_MOST_MOVES + 1):
        around = [tuple(a + b for a, b in zip(place, offset, strict=True)) for offset in offsets]
        for point in around:
            if point not in known:
                value = score(point)
                known[point] = value if math.isfinite(value) else math.inf
        best = min(around, key=known.__getitem__)
        here = known[place]
        if not known[best] < (here - _WORTH * abs(here) if math.isfinite(here) else here):
            return WalkEnd(place, here, True, len(known))
        place = best
    return WalkEnd(place, known[place], False, len(known))
