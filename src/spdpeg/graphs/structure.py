"""`structure=`: how features or values hang together, in any of the ways users have it."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Source
from ..errors import InputError, UnsupportedError
from ..operators import FirstDifference, GraphDifference, GridDifference, Matrix, Operator
from ..parameters import numbers
from .neighbours import from_networkx, knn
from .sics import sics

_NAMES = ("chain", "knn", "sics")
_NEIGHBOURS = 5
_GRAPH = 1e-6
"""Gap of the precision whose zeros make a graph: more digits would change no edge."""


def resolve(structure: Any, X: Any, weights: np.ndarray | None, names: Any = None) -> Operator:
    """F for the features, the columns of X.

    Parameters
    ----------
    structure : str, tuple, sparse matrix, array, networkx graph or Operator
        "chain", neighbouring columns; "knn", each column and the 5 with the most similar direction; "sics", columns
        that depend on each other given all others; the shape of a grid; a symmetric sparse adjacency matrix of weights;
        a sparse matrix that is not square, which is F itself; pairs (i, j) or triples (i, j, weight) of column numbers;
        a networkx graph whose nodes are the names of the columns, or their numbers; F itself as an operator.
    X : array or CSR matrix
        "knn" and "sics" learn from it.
    weights : array, optional
        Of the rows of X.
    names : array, optional
        Of the columns.
    """
    if isinstance(structure, Operator):
        return structure
    if isinstance(structure, str):
        return _named(structure, X, weights)
    if sp.issparse(structure):
        square = structure.ndim == 2 and structure.shape[0] == structure.shape[1]
        return GraphDifference.from_adjacency(structure) if square else Matrix(structure)
    if hasattr(structure, "nodes") and hasattr(structure, "edges"):
        return from_networkx(structure, nodes=_nodes(structure, names, X.shape[1]))
    if isinstance(structure, tuple) and structure and all(isinstance(n, int | np.integer) for n in structure):
        return GridDifference(structure)
    return _from_edges(structure)


def _named(structure: str, X: Any, weights: np.ndarray | None) -> Operator:
    if structure not in _NAMES:
        raise InputError(
            f"structure is {structure!r}. Choose one of {', '.join(_NAMES)}, or give a grid shape, a sparse adjacency "
            "matrix, edges, a networkx graph or an operator."
        )
    if structure == "chain":
        return FirstDifference()
    if isinstance(X, Source):
        raise UnsupportedError(
            f"structure is {structure!r}, a graph that is learned from rows in memory. Learn it from a sample with "
            "spdpeg.graphs and give it as structure."
        )
    if X.shape[0] < 2:
        raise InputError(f"structure is {structure!r} and X has 1 sample. Give more rows to learn a graph from.")
    if X.shape[1] == 1:
        return FirstDifference()  # no edges
    if structure == "knn":
        rows = X if weights is None else sp.diags_array(np.sqrt(weights)) @ X
        return knn(rows, min(_NEIGHBOURS, X.shape[1] - 1))
    return sics(X if weights is None else _weighted(X, weights), standardize=True, tol=_GRAPH).operator()


def _weighted(X: Any, weights: np.ndarray) -> np.ndarray:
    """Rows whose covariance is that of X with weights: centred, scaled, and mirrored so that their mean stays 0."""
    fraction = weights / weights.sum()
    dense = X.toarray() if sp.issparse(X) else X
    rows = np.sqrt(fraction * weights.size)[:, None] * (dense - fraction @ dense)
    return np.concatenate([rows, -rows])


def _nodes(graph: Any, names: Any, n_features: int) -> list[Any]:
    """The nodes in the order of the columns: by name if they bear the columns' names, by number otherwise."""
    for nodes in ([] if names is None else list(names), list(range(n_features))):
        if nodes and set(graph.nodes) == set(nodes):
            return nodes
    raise InputError(
        f"The nodes of the graph are not the {n_features} columns of X, by name or by number from 0. "
        "Relabel them with networkx.relabel_nodes, and add the columns that have no edge as nodes."
    )


def _from_edges(structure: Any) -> Operator:
    try:
        table = numbers("structure", structure)
    except InputError:
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise InputError(
            f"structure is a {type(structure).__name__} that is no list of edges. Give pairs (i, j) or triples "
            "(i, j, weight) of column numbers; wrap a dense adjacency matrix in scipy.sparse.csr_array, a dense F in "
            "operators.Matrix."
        )
    ends = table[:, :2].astype(np.int64)
    if not np.array_equal(ends, table[:, :2]):
        raise InputError("The edges of structure hold ends that are not whole numbers. Give the numbers of columns.")
    return GraphDifference(ends, table[:, 2] if table.shape[1] == 3 else None)
