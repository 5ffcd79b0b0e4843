"""Sets that are joined again and again: connected parts of a graph, from its edges in any order."""

import numpy as np

from .jit import kernel, shared


@shared
def root(parent: np.ndarray, j: int) -> int:
    """The member that stands for the set of j; paths are halved on the way."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


@kernel
def number_parts(
    first: np.ndarray, second: np.ndarray, zero: np.ndarray, parent: np.ndarray, labels: np.ndarray
) -> int:
    """Numbers of the connected parts, by their first members; -1 for those with a zero. Returns how many are numbered.

    Edge e joins first[e] and second[e]. `parent` is 0, 1, 2, ... and `labels` is 0 before.
    """
    for e in range(first.size):
        one, other = root(parent, first[e]), root(parent, second[e])
        parent[max(one, other)] = min(one, other)
    for j in range(zero.size):
        if zero[j]:
            labels[root(parent, j)] = -1
    count = 0
    for j in range(zero.size):
        own = root(parent, j)
        if own < j:
            labels[j] = labels[own]
        elif labels[j] == 0:
            labels[j] = count
            count += 1
    return count
