"""The generators keep their promises: shapes, seeds, structure of the truth, meaning of the noise."""

import numpy as np
import pytest

from spdpeg import InputError
from spdpeg.datasets import clustered_graph, piecewise_constant


@pytest.mark.parametrize("n_pieces", [1, 2, 7, 30])
def test_truth_has_the_pieces_asked_for(n_pieces):
    X, y, truth = piecewise_constant(50, 30, n_pieces=n_pieces, seed=3)
    assert X.shape == (50, 30)
    assert y.shape == (50,)
    assert np.count_nonzero(np.diff(truth)) == n_pieces - 1


def test_every_other_piece_is_zero():
    truth = piecewise_constant(1, 200, n_pieces=6).truth
    levels = truth[np.flatnonzero(np.diff(truth, prepend=np.nan) != 0)]
    assert np.all(levels[::2] == 0)
    assert np.all(np.abs(levels[1::2]) >= 0.5)


@pytest.mark.parametrize("generate", [piecewise_constant, clustered_graph])
def test_same_seed_same_data_other_seed_other_data(generate):
    first, again, other = (generate(20, 10, seed=seed) for seed in (5, 5, 6))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_regression_noise_has_the_size_asked_for():
    X, y, truth = piecewise_constant(20_000, 10, n_pieces=4, task="regression", noise=0.3)
    assert np.std(y - X @ truth) == pytest.approx(0.3, rel=0.03)


def test_labels_follow_the_logistic_odds():
    X, y, truth = piecewise_constant(200_000, 4, n_pieces=4, noise=2.0)
    assert set(np.unique(y)) == {-1.0, 1.0}
    log_odds = X @ truth / 2.0
    near_one = np.abs(log_odds - 1.0) < 0.1
    assert np.mean(y[near_one] > 0) == pytest.approx(1 / (1 + np.exp(-1.0)), abs=0.02)


def test_graph_joins_each_cluster_and_nothing_else():
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    X, y, truth, edges = clustered_graph(10, 60, n_clusters=6, seed=1)
    assert X.shape == (10, 60)
    assert y.shape == (10,)
    assert np.all(edges[:, 0] < edges[:, 1])
    assert np.unique(edges, axis=0).shape == edges.shape
    assert np.all(truth[edges[:, 0]] == truth[edges[:, 1]])
    adjacency = coo_array((np.ones(len(edges)), edges.T), shape=(60, 60))
    assert connected_components(adjacency, directed=False)[0] == 6


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n_samples": 0}, "n_samples is 0"),
        ({"n_features": 0}, "n_features is 0"),
        ({"n_pieces": 0}, "n_pieces is 0"),
        ({"n_features": 3, "n_pieces": 4}, "n_pieces is 4"),
        ({"task": "ranking"}, "ranking"),
        ({"noise": 0.0}, "noise is 0.0"),
        ({"noise": np.nan}, "noise is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"n_samples": 1.5}, "n_samples is 1.5"),
    ],
)
def test_wrong_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        piecewise_constant(**arguments)


def test_more_clusters_than_features_are_refused():
    with pytest.raises(InputError, match="n_clusters is 9"):
        clustered_graph(10, 8, n_clusters=9)
