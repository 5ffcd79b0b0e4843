"""Sparse inverse covariance selection: against scikit-learn, a conic solver, its own gap, and on awkward data."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.covariance import empirical_covariance, graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from spdpeg import InputError, datasets, graphs
from spdpeg.errors import CacheWarning

DATA = os.environ.get("SPDPEG_DATA_DIR")
with_data = pytest.mark.skipif(not DATA, reason="SPDPEG_DATA_DIR is not set")


def correlated(n=300, d=12, seed=0):
    """Rows whose columns depend on each other along a chain, in units of their own."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, d))
    for j in range(1, d):
        noise[:, j] += 0.7 * noise[:, j - 1]
    return noise * rng.uniform(0.2, 5.0, d)


def objective(S, T, weight, penalize_diagonal=False):
    """Written down again, independently of the package."""
    size = np.abs(T).sum() - (0.0 if penalize_diagonal else np.abs(np.diag(T)).sum())
    sign, log_determinant = np.linalg.slogdet(T)
    assert sign > 0
    return -log_determinant + np.sum(S * T) + weight * size


@pytest.mark.parametrize("weight", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_agrees_with_scikit_learn(weight, kind):
    X = correlated()
    S = empirical_covariance(X)
    _, theirs = graphical_lasso(S, alpha=weight, tol=1e-6, enet_tol=1e-9, max_iter=1000)
    ours = graphs.sics(kind(X), weight)
    T = ours.precision.toarray()
    assert ours.objective == pytest.approx(objective(S, T, weight), abs=1e-9)
    assert ours.objective == pytest.approx(objective(S, theirs, weight), abs=1e-4)
    assert ours.gap <= 1e-6 * 12
    np.testing.assert_allclose(T, T.T, atol=1e-10)


@pytest.mark.parametrize("penalize_diagonal", [False, True])
def test_agrees_with_a_conic_solver(penalize_diagonal):
    cvxpy = pytest.importorskip("cvxpy")
    X = correlated(40, 5, seed=3)
    X[:, 4] = X[:, 0]
    S, weight = empirical_covariance(X), 0.1
    T = cvxpy.Variable((5, 5), PSD=True)
    penalised = cvxpy.sum(cvxpy.abs(T)) - (0 if penalize_diagonal else cvxpy.trace(T))
    problem = cvxpy.Problem(cvxpy.Minimize(-cvxpy.log_det(T) + cvxpy.trace(S @ T) + weight * penalised))
    best = problem.solve(solver="CLARABEL")
    ours = graphs.sics(X, weight, penalize_diagonal=penalize_diagonal, tol=1e-8)
    assert ours.objective == pytest.approx(best, abs=1e-5)
    assert objective(S, ours.precision.toarray(), weight, penalize_diagonal) == pytest.approx(best, abs=1e-5)


def test_the_gap_bounds_the_error_of_a_run_that_is_cut_short():
    X = correlated()
    best = graphs.sics(X, 0.05, tol=1e-10).objective
    with pytest.warns(ConvergenceWarning, match="Raise max_iterations"):
        early = graphs.sics(X, 0.05, tol=1e-10, max_iterations=6)
    assert early.objective - best > 1e-8
    assert early.objective - best <= early.gap


def test_components_are_solved_apart_and_exactly():
    rng = np.random.default_rng(1)
    left, right = correlated(2000, 6, seed=1), correlated(2000, 4, seed=2)
    X = np.hstack([left, right, rng.standard_normal((2000, 3))])[:, rng.permutation(13)]
    S = empirical_covariance(X)
    weight = 0.6
    ours = graphs.sics(X, weight)
    assert ours.sizes.size > 1
    _, whole = graphical_lasso(S, alpha=weight, tol=1e-6, enet_tol=1e-9, max_iter=1000)
    assert objective(S, ours.precision.toarray(), weight) == pytest.approx(objective(S, whole, weight), abs=1e-4)
    assert ours.gaps.shape == ours.sizes.shape
    assert np.all(np.diff(ours.sizes) <= 0)


def test_constant_and_collinear_columns():
    X = correlated(50, 6)
    X = np.column_stack([X, np.full(50, 3.0), np.zeros(50), X[:, 2], -2.0 * X[:, 3], X @ np.ones(6)])
    found = graphs.sics(X, 0.005)
    assert found.constant.tolist() == [6, 7]
    assert not np.isin(found.edges, [6, 7]).any()
    assert found.precision[[6, 7]].nnz == 0
    assert found.gap <= 1e-6 * 11
    kept = np.delete(np.arange(11), [6, 7])
    T = found.precision.toarray()[np.ix_(kept, kept)]
    assert objective(empirical_covariance(X[:, kept]), T, 0.005) == pytest.approx(found.objective, abs=1e-6)
    full = graphs.sics(X, 0.005, penalize_diagonal=True)
    assert full.precision[6, 6] == pytest.approx(1 / 0.005)


def test_standardized_is_free_of_units():
    X = correlated()
    scaled = X * np.logspace(-3, 3, 12) + 5.0
    one, other = graphs.sics(X, 0.1, standardize=True), graphs.sics(scaled, 0.1, standardize=True)
    assert one.objective == pytest.approx(other.objective, abs=1e-8)
    expected = graphs.sics((X - X.mean(axis=0)) / X.std(axis=0), 0.1)
    np.testing.assert_allclose(one.precision.toarray(), expected.precision.toarray(), atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_are_repetitions(kind):
    X = correlated(60, 8)
    times = np.random.default_rng(4).integers(0, 4, 60)
    weighted = graphs.sics(kind(X), 0.1, sample_weight=2.5 * times)
    repeated = graphs.sics(kind(np.repeat(X, times, axis=0)), 0.1)
    np.testing.assert_allclose(weighted.precision.toarray(), repeated.precision.toarray(), atol=1e-9)


def test_default_weight_keeps_the_graph_sparse_and_components_small():
    X = correlated(200, 40)
    S = np.abs(empirical_covariance(X))[np.triu_indices(40, 1)]
    default = graphs.sics(X)
    assert default.weight == pytest.approx(np.sort(S)[-161])
    small = graphs.sics(X, max_nodes=5)
    assert small.weight > default.weight
    assert small.sizes.max() <= 5
    assert len(small.edges) > 0
    scaled = graphs.sics(10.0 * X)
    assert scaled.weight == pytest.approx(100.0 * default.weight)
    assert np.array_equal(scaled.edges, default.edges)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_columns(d):
    found = graphs.sics(correlated(30, d))
    assert found.precision.shape == (d, d)
    assert np.all(found.precision.diagonal() > 0)


def test_columns_without_relation():
    found = graphs.sics(sp.eye_array(30, 10))
    assert found.gap <= 1e-5
    unrelated = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    found = graphs.sics(unrelated)
    assert len(found.edges) == 0
    assert found.operator().n_outputs == 0
    np.testing.assert_allclose(found.precision.toarray(), np.eye(2))


def test_too_large_a_component_names_a_weight_that_works():
    X = correlated(100, 60)
    with pytest.raises(InputError, match="component of more than 10") as refusal:
        graphs.sics(X, 0.001, max_nodes=10)
    least = float(str(refusal.value).split("at least ")[1].split(",")[0])
    assert graphs.sics(X, least, max_nodes=10).sizes.max() <= 10
    with pytest.raises(InputError, match="component"):
        graphs.sics(X, 0.97 * least, max_nodes=10)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_every_sparse_format(form):
    X = sp.random_array((40, 8), density=0.5, random_state=np.random.default_rng(0))
    expected = graphs.sics(X.toarray(), 0.01).precision.toarray()
    np.testing.assert_allclose(graphs.sics(X.asformat(form), 0.01).precision.toarray(), expected, atol=1e-7)


def test_blocks_of_the_covariance_add_up(monkeypatch):
    X = sp.random_array((80, 50), density=0.1, random_state=np.random.default_rng(0))
    whole = graphs.sics(X, 0.004)
    monkeypatch.setattr("spdpeg.graphs.covariance._BLOCK_ENTRIES", 64)
    assert (graphs.sics(X, 0.004).precision != whole.precision).nnz == 0
    assert graphs.sics(X).weight == pytest.approx(graphs.sics(X.toarray()).weight)


def test_operators():
    found = graphs.sics(correlated(), 0.05)
    d, edges = 12, found.edges
    x = np.arange(12.0) ** 2
    np.testing.assert_allclose(found.operator() @ x, x[edges[:, 0]] - x[edges[:, 1]])
    signed = found.operator("signed").matrix().toarray()
    expected = np.zeros((d, d))
    expected[edges[:, 0], edges[:, 1]] = 1.0
    expected[edges[:, 1], edges[:, 0]] = -1.0
    assert np.array_equal(signed, expected)
    sizes = np.abs(found.precision.toarray()[edges[:, 0], edges[:, 1]])
    threshold = float(np.median(sizes))
    assert found.operator(threshold=threshold).n_outputs == np.sum(sizes > threshold)
    with pytest.raises(InputError, match="form is 'laplacian'"):
        found.operator("laplacian")
    with pytest.raises(InputError, match="threshold is -1"):
        found.operator(threshold=-1)


def test_cache(tmp_path, monkeypatch):
    X = sp.csr_array(np.abs(correlated()) > 1.0, dtype=float)
    first = graphs.sics(X, 0.01, cache_dir=tmp_path / "new")
    (file,) = (tmp_path / "new").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr("spdpeg.graphs.glasso_admm.solve", None)
        again = graphs.sics(X.tocsc(), 0.01, cache_dir=tmp_path / "new")
        for arguments in ({"weight": 0.02}, {"weight": 0.01, "sample_weight": np.arange(300.0)}):
            with pytest.raises(TypeError):
                graphs.sics(X, **arguments, cache_dir=tmp_path / "new")
    assert (again.precision != first.precision).nnz == 0
    assert (again.weight, again.objective, again.gap) == (first.weight, first.objective, first.gap)
    assert repr(again) == repr(first)
    file.write_bytes(file.read_bytes()[:-40])
    assert graphs.sics(X, 0.01, cache_dir=tmp_path / "new").objective == first.objective
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.warns(CacheWarning, match="could not be kept"):
        graphs.sics(X, 0.01, cache_dir=blocked)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"weight": 0.0}, "weight is 0.0"),
        ({"weight": np.nan}, "weight is nan"),
        ({"tol": -1.0}, "tol is -1.0"),
        ({"max_nodes": 0}, "max_nodes is 0"),
        ({"max_iterations": 1.5}, "max_iterations is 1.5"),
        ({"sample_weight": [1.0]}, "sample_weight has shape"),
        ({"sample_weight": -np.ones(300)}, "sample_weight holds"),
        ({"X": np.ones(3)}, "X has shape"),
        ({"X": np.ones((1, 3))}, "X has shape"),
        ({"X": [["a", "b"], ["c", "d"]]}, "X has entries of type"),
        ({"X": [[np.nan, 1.0], [1.0, 2.0]]}, "NaN"),
    ],
)
def test_wrong_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        graphs.sics(**({"X": correlated()} | arguments))


@with_data
@pytest.mark.parametrize("name", ["splice", "svmguide3", "mushrooms", "a9a", "w8a"])
def test_gap_on_the_sets_of_the_paper_at_the_weight_of_the_authors(name):
    X = datasets.load(name).X.toarray()
    found = graphs.sics(X, 0.005, tol=1e-6)
    assert found.gap <= 1e-6 * X.shape[1]
    kept = np.flatnonzero(X.std(axis=0) > 0)
    T = found.precision.toarray()[np.ix_(kept, kept)]
    S = empirical_covariance(X[:, kept])
    assert objective(S, T, 0.005) == pytest.approx(found.objective, abs=1e-6)
    # scikit-learn refuses svmguide3 even without its constant column, as too ill-conditioned.
    if name != "svmguide3":
        with warnings.catch_warnings():
            # Its inner lasso complains where columns are collinear, and the result is good all the same.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, theirs = graphical_lasso(S, alpha=0.005, tol=1e-4, enet_tol=1e-6, max_iter=200)
        assert found.objective == pytest.approx(objective(S, theirs, 0.005), abs=1e-4)


@with_data
def test_nearly_the_published_graph_of_splice():
    published = sp.load_npz(Path(DATA, "graphs", "F_splice.npz")).toarray()
    ours = graphs.sics(datasets.load("splice").X, 0.005).operator("signed", threshold=0.0025).matrix().toarray()
    assert np.mean(ours != published) < 0.07


@with_data
@pytest.mark.parametrize("name", ["hitech", "k1b", "classic"])
def test_gap_on_wide_sets(name):
    X = datasets.load(name).X
    found = graphs.sics(X, max_nodes=100, tol=1e-6)
    assert found.sizes.max() <= 100
    assert len(found.edges) > 50
    assert np.all(found.gaps <= 1e-6 * found.sizes)


def test_a_covariance_takes_the_place_of_rows():
    X = correlated()
    S = np.cov(X.T, bias=True)
    by_rows, given = graphs.sics(X, 0.05), graphs.sics(covariance=S, weight=0.05)
    np.testing.assert_allclose(given.precision.toarray(), by_rows.precision.toarray(), rtol=1e-7, atol=1e-9)
    for standardize in (False, True):
        by_rows = graphs.sics(X, standardize=standardize)
        given = graphs.sics(covariance=sp.csr_array(S), standardize=standardize)
        np.testing.assert_array_equal(by_rows.edges, given.edges)
    for arguments, words in [
        ({}, "either"),
        ({"X": X, "covariance": S}, "either"),
        ({"covariance": S[:3]}, "square"),
        ({"covariance": S + np.triu(S, 1)}, "symmetric"),
        ({"covariance": -S}, "negative"),
    ]:
        with pytest.raises(InputError, match=words):
            graphs.sics(**arguments)


def test_the_precision_has_seven_digits_by_default():
    """The conditions of optimality: W = T^-1 is S plus the weight times the sign where T is not 0."""
    X = correlated()
    S = np.cov(X.T, bias=True)
    found = graphs.sics(X, 0.05)
    T = found.precision.toarray()
    W = np.linalg.inv(T)
    off = ~np.eye(len(S), dtype=bool)
    used = (T != 0.0) & off
    np.testing.assert_allclose(np.diag(W), np.diag(S), rtol=1e-8)
    np.testing.assert_allclose(W[used], (S + 0.05 * np.sign(T))[used], atol=1e-8)
    assert np.all(np.abs(W - S)[off] <= 0.05 + 1e-8)
