"""Rows in the order of their times, the last first."""

import numpy as np

from .jit import kernel


@kernel
def deviations(rows: np.ndarray, fractions: np.ndarray, mean: np.ndarray) -> None:
    """Subtract from each row the mean of those before it.

    Parameters
    ----------
    rows : array of shape (n, d)
        Overwritten.
    fractions : array of shape (n,)
        Weight of a row as a fraction of its own and of all before it.
    mean : array of shape (d,)
        Of what comes before these rows; afterwards, of these too.
    """
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] -= mean[j]
            mean[j] += fractions[i] * rows[i, j]


@kernel
def concordance(
    ranks: np.ndarray, weights: np.ndarray, events: np.ndarray, outlived: np.ndarray, tree: np.ndarray
) -> tuple[float, float]:
    """Weight of the pairs in which the earlier event has the higher rank, ties counted half, and of all pairs.

    Parameters
    ----------
    ranks : array of int
        Of the rows, from 1.
    weights : array
    events : array of int
        Rows with an event.
    outlived : array of int
        For each of them the number of rows, counted from the first, that are known to last longer; it does not fall.
    tree : array of size max(ranks) + 1
        Zeros, for sums over ranks: entry k holds the sum over the ranks from k - (k & -k) + 1 to k.
    """
    agree, every, total, added = 0.0, 0.0, 0.0, 0
    for e in range(events.size):
        while added < outlived[e]:
            k = ranks[added]
            while k < tree.size:
                tree[k] += weights[added]
                k += k & -k
            total += weights[added]
            added += 1
        i = events[e]
        for last in (ranks[i], ranks[i] - 1):  # equal ranks are in the first sum alone
            below, k = 0.0, last
            while k > 0:
                below += tree[k]
                k -= k & -k
            agree += 0.5 * weights[i] * below
        every += weights[i] * total
    return agree, every
