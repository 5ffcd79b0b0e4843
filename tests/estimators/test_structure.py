"""`structure=` in each of its forms gives the same F as a matrix written by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spdpeg import estimators, graphs, losses, operators, penalties
from spdpeg.errors import InputError
from spdpeg.graphs.structure import resolve

X = np.cumsum(np.random.default_rng(0).standard_normal((60, 4)), axis=1)
PAIRS = [(0, 1), (1, 3), (0, 2)]
WEIGHTS = np.array([1.0, 0.5, 2.0])


def adjacency() -> sp.coo_array:
    i, j = np.array(PAIRS).T
    upper = sp.coo_array((WEIGHTS, (i, j)), shape=(4, 4))
    return sp.coo_array(upper + upper.T)


def network(names: Any) -> Any:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from((names[i], names[j], w) for (i, j), w in zip(PAIRS, WEIGHTS, strict=True))
    return graph


def rows(F: operators.Operator) -> set[tuple[float, ...]]:
    """Of F, whatever their order and sign."""
    matrix = F.bind(4).matrix().toarray()
    signs = [np.sign(row[np.flatnonzero(row)[0]]) for row in matrix]
    return {tuple((sign * row).tolist()) for sign, row in zip(signs, matrix, strict=True)}


WEIGHTED = {(1.0, -1.0, 0.0, 0.0), (0.0, 0.5, 0.0, -0.5), (2.0, 0.0, -2.0, 0.0)}
EVEN = {(1.0, -1.0, 0.0, 0.0), (0.0, 1.0, 0.0, -1.0), (1.0, 0.0, -1.0, 0.0)}
TRIPLES = [(i, j, w) for (i, j), w in zip(PAIRS, WEIGHTS.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (adjacency(), WEIGHTED),
        (adjacency().tocsc(), WEIGHTED),
        (PAIRS, EVEN),
        (tuple(PAIRS), EVEN),
        (np.array(PAIRS), EVEN),
        (TRIPLES, WEIGHTED),
        (np.array(TRIPLES), WEIGHTED),
        (operators.GraphDifference(PAIRS, WEIGHTS), WEIGHTED),
        ("chain", {(1.0, -1.0, 0.0, 0.0), (0.0, 1.0, -1.0, 0.0), (0.0, 0.0, 1.0, -1.0)}),
        ((4,), {(1.0, -1.0, 0.0, 0.0), (0.0, 1.0, -1.0, 0.0), (0.0, 0.0, 1.0, -1.0)}),
        ((2, 2), {(1.0, -1.0, 0.0, 0.0), (0.0, 0.0, 1.0, -1.0), (1.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, -1.0)}),
    ],
)
def test_forms(structure: Any, expected: set[tuple[float, ...]]) -> None:
    assert rows(resolve(structure, X, None)) == expected


def test_networkx_by_number_and_by_name() -> None:
    assert rows(resolve(network([0, 1, 2, 3]), X, None)) == WEIGHTED
    assert rows(resolve(network(list("abcd")), X, None, np.array(list("abcd")))) == WEIGHTED


def test_networkx_with_the_names_of_a_frame() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = estimators.GraphGuidedRegressor(network(list("dcba"))).fit(frame, X[:, 0])
    assert rows(model.F_) == {(0.0, 0.0, 1.0, -1.0), (0.5, 0.0, -0.5, 0.0), (0.0, 2.0, 0.0, -2.0)}


def test_learned_graphs() -> None:
    sics, knn = resolve("sics", X, None), resolve("knn", X, None)
    np.testing.assert_array_equal(sics.edges, graphs.sics(X, standardize=True).operator().edges)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(knn.edges, graphs.knn(X, 3).edges)  # type: ignore[attr-defined]


@pytest.mark.parametrize("structure", ["sics", "knn", "chain"])
def test_one_feature_has_no_edges(structure: str) -> None:
    assert resolve(structure, X[:, :1], None).bind(1).n_outputs == 0


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ("ring", "Choose one of chain, knn, sics"),
        (None, "no list of edges"),
        (np.eye(4), "csr_array"),
        ([(0.5, 1.0)], "whole numbers"),
        ([(0, 0)], "with itself"),
        (sp.csr_array(np.triu(np.ones((4, 4)))), "not symmetric"),
    ],
)
def test_refusals(structure: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(structure, X, None).bind(4).matrix()


def test_a_grid_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match="length 6"):
        estimators.GraphGuidedRegressor((2, 3)).fit(X, X[:, 0])


def test_a_graph_of_other_nodes_is_refused() -> None:
    with pytest.raises(InputError, match="Relabel"):
        resolve(network(list("abcd")), X, None)


def test_one_sample_teaches_no_graph() -> None:
    with pytest.raises(InputError, match="1 sample"):
        resolve("sics", X[:1], None)


@pytest.mark.parametrize("r2", [penalties.Zero(), penalties.L1(0.0)])
def test_a_second_penalty_of_weight_0_is_none(r2: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    for model in (
        estimators.CompositeRegressor(loss=losses.Squared(), r1=penalties.L1(0.1), r2=r2),
        estimators.CompositeClassifier(loss=losses.Logistic(), r1=penalties.L1(0.1), r2=r2),
    ):
        alone = clone(model).set_params(r2=None).fit(X, np.sign(X[:, 0]))
        np.testing.assert_allclose(model.fit(X, np.sign(X[:, 0])).coef_, alone.coef_, atol=1e-4)
