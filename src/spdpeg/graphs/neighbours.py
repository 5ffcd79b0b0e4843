"""Graphs that are cheaper than a precision: nearest neighbours, and what other libraries hold."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, UnsupportedError
from ..operators import GraphDifference
from ..parameters import as_number, one_of, shown
from .covariance import as_columns, normalized_weights

METRICS = ("cosine", "euclidean")


def knn(X: Any, k: int = 5, *, metric: str = "cosine", sample_weight: Any = None) -> GraphDifference:
    """Differences between each column of X and its k nearest ones.

    Two columns are joined if one of them is among the k nearest of the other. Constant memory per column: distances are
    computed in chunks.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    k : int
        Smaller than d; with 0 there are no edges.
    metric : str
        Distance between columns: "cosine" or "euclidean".
    sample_weight : array of n numbers, optional
        Weights of the rows in that distance.

    Returns
    -------
    GraphDifference

    See Also
    --------
    from_networkx : A graph that is known.
    sics : A graph of conditional dependence.

    Examples
    --------
    >>> from spdpeg import graphs
    >>> graphs.knn([[1.0, 2.0, 0.0, 0.1], [0.0, 0.1, 3.0, 1.0]], k=1).edges.tolist()
    [[0, 1], [2, 3]]
    """
    from sklearn.neighbors import NearestNeighbors

    one_of("metric", metric, METRICS)
    columns = as_columns(X).T
    d, n = columns.shape
    if not (0 <= as_number(k) < d and as_number(k).is_integer()):
        raise InputError(f"k is {shown(k)} and X has {d} columns. k must be a whole number between 0 and {d - 1}.")
    if k == 0:
        return GraphDifference(np.empty((0, 2), dtype=np.int64), n_nodes=d)
    if sample_weight is not None:
        # Both distances are made of inner products, in which a root of the weight stands on either side.
        columns = columns @ sp.diags_array(np.sqrt(normalized_weights(sample_weight, n)))
    near = NearestNeighbors(n_neighbors=int(k), metric=metric).fit(columns).kneighbors(return_distance=False)
    pairs = np.column_stack([np.repeat(np.arange(d), int(k)), near.reshape(-1)])
    return GraphDifference(np.unique(np.sort(pairs, axis=1), axis=0), n_nodes=d)


def from_networkx(graph: Any, nodes: Any = None, weight: str | None = "weight") -> GraphDifference:
    """Differences across the edges of a networkx graph.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected. Loops are left out, parallel edges add up.
    nodes : list, optional
        The nodes in the order of the columns of X; that of `graph.nodes` by default.
    weight : str, optional
        Attribute of the edges to multiply the differences with; 1 where it is missing, and for None.

    Returns
    -------
    GraphDifference

    See Also
    --------
    knn : A graph of nearest neighbours.
    spdpeg.operators.GraphDifference : What these functions return.

    Examples
    --------
    >>> import networkx
    >>> from spdpeg import graphs
    >>> graphs.from_networkx(networkx.path_graph(3)).edges.tolist()
    [[0, 1], [1, 2]]
    """
    try:
        import networkx
    except ImportError:
        raise UnsupportedError("networkx is not installed. Run: pip install networkx.") from None
    if not isinstance(graph, networkx.Graph):
        raise InputError(f"graph is {shown(graph)}. Give a networkx.Graph.")
    if graph.is_directed():
        raise InputError("The graph is directed, but a difference has no direction. Give graph.to_undirected().")
    try:
        adjacency = networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight=weight, dtype=float)
    except (networkx.NetworkXError, TypeError, ValueError) as error:
        raise InputError(f"networkx refuses the graph: {error} Check graph and nodes.") from None
    return GraphDifference.from_adjacency(adjacency)
