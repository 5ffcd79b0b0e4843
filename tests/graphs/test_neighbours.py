"""Nearest neighbours of columns, and networkx graphs."""

import sys

import networkx
import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import InputError, UnsupportedError, graphs


def nearest(X, k, metric):
    """Slow and obvious."""
    A = X / np.linalg.norm(X, axis=0) if metric == "cosine" else X
    distances = np.linalg.norm(A[:, :, None] - A[:, None, :], axis=0)
    np.fill_diagonal(distances, np.inf)
    pairs = {tuple(sorted((i, int(j)))) for i in range(X.shape[1]) for j in np.argsort(distances[i])[:k]}
    return sorted(pairs)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array])
def test_knn(metric, kind):
    X = np.random.default_rng(0).standard_normal((30, 15)) * np.linspace(1, 3, 15)
    F = graphs.knn(kind(X), 3, metric=metric)
    assert [tuple(edge) for edge in F.edges.tolist()] == nearest(X, 3, metric)
    assert F.bind(15).n_outputs == len(F.edges)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_are_repetitions(kind):
    X = np.random.default_rng(1).standard_normal((20, 10))
    times = np.random.default_rng(2).integers(0, 4, 20)
    weighted = graphs.knn(kind(X), 2, sample_weight=times)
    assert np.array_equal(weighted.edges, graphs.knn(kind(np.repeat(X, times, axis=0)), 2).edges)
    assert not np.array_equal(weighted.edges, graphs.knn(kind(X), 2).edges)


def test_knn_of_nothing():
    assert graphs.knn(np.ones((3, 1)), 0).n_outputs == 0


@pytest.mark.parametrize("arguments", [{"k": 4}, {"k": -1}, {"k": 1.5}, {"metric": "chebyshev"}])
def test_wrong_arguments_are_named(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match=f"{name} is "):
        graphs.knn(np.eye(4), **arguments)


def test_networkx():
    graph = networkx.Graph()
    graph.add_nodes_from("abcd")
    graph.add_edge("c", "a", weight=2.0)
    graph.add_edge("a", "d")
    graph.add_edge("b", "b")
    F = graphs.from_networkx(graph)
    np.testing.assert_allclose(F @ [1.0, 2.0, 4.0, 8.0], [2.0 * (1 - 4), 1.0 - 8])
    F = graphs.from_networkx(graph, nodes=["d", "c", "b", "a"], weight=None)
    np.testing.assert_allclose(F @ [8.0, 4.0, 2.0, 1.0], [8.0 - 1, 4.0 - 1])
    with pytest.raises(InputError, match="directed"):
        graphs.from_networkx(networkx.DiGraph(graph))
    with pytest.raises(InputError, match="networkx refuses"):
        graphs.from_networkx(graph, nodes=["a", "z"])


def test_networkx_is_optional(monkeypatch):
    graph = networkx.path_graph(3)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UnsupportedError, match="pip install networkx"):
        graphs.from_networkx(graph)
