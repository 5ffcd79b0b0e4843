"""Groups of columns that a threshold on the covariance separates.

The precision that solves the problem at some weight separates into exactly the connected components of |S_ij| >
weight (Witten, Friedman and Simon 2011; Mazumder and Hastie 2012), so each can be solved alone.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from .covariance import Pairs


def least_weight(pairs: Pairs, n_columns: int, max_nodes: int) -> float:
    """The smallest weight at which no component of these pairs has more than `max_nodes` columns; at least the floor.

    Joining the largest pairs first, as Kruskal does, meets the components of every weight in turn.
    """
    from scipy.cluster.hierarchy import DisjointSet

    shape = (n_columns, n_columns)
    forest = sp.coo_array(minimum_spanning_tree(sp.csr_array((-pairs.sizes, (pairs.i, pairs.j)), shape=shape)))
    groups = DisjointSet(range(n_columns))
    for k in np.argsort(forest.data, kind="stable"):
        i, j = int(forest.row[k]), int(forest.col[k])
        if groups.subset_size(i) + groups.subset_size(j) > max_nodes:
            return float(-forest.data[k])
        groups.merge(i, j)
    return pairs.floor


def split(pairs: Pairs, n_columns: int) -> list[np.ndarray]:
    """The components with two columns or more, as sorted arrays of column numbers, the largest first."""
    graph = sp.coo_array((np.ones(pairs.sizes.size, dtype=np.int8), (pairs.i, pairs.j)), shape=(n_columns, n_columns))
    count, labels = connected_components(graph, directed=False)
    sizes = np.bincount(labels, minlength=count)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    return sorted((group for group in members if group.size > 1), key=len, reverse=True)
