"""Covering designs: every pair of values of any two factors occurs in some case."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np

Choice = tuple[str, str]


def pairwise(factors: Mapping[str, Sequence[str]], seed: int = 0) -> list[dict[str, str]]:
    """Few cases that cover all pairs: each starts with a pair not seen yet and takes the most new pairs it can."""
    rng = np.random.default_rng(seed)
    names = list(factors)
    missing: dict[tuple[Choice, Choice], None] = {
        ((a, u), (b, v)): None for a, b in combinations(names, 2) for u, v in product(factors[a], factors[b])
    }
    cases = []
    while missing:
        case = dict(next(iter(missing)))
        for name in rng.permutation([name for name in names if name not in case]):
            values = list(rng.permutation(factors[name]))
            case[str(name)] = str(max(values, key=lambda v: sum(p in missing for p in _pairs(names, case, name, v))))
        for first, second in combinations(names, 2):
            missing.pop(((first, case[first]), (second, case[second])), None)
        cases.append({name: case[name] for name in names})
    return cases


def _pairs(names: list[str], case: dict[str, str], name: str, value: str) -> list[tuple[Choice, Choice]]:
    """Pairs of the choices made so far with this one, in the order of the factors."""
    here = names.index(name)
    return [
        ((other, chosen), (name, value)) if names.index(other) < here else ((name, value), (other, chosen))
        for other, chosen in case.items()
    ]
