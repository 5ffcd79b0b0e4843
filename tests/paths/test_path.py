"""A path holds the solutions that fits from scratch find, and finds them with less work."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spdpeg import InputError, datasets, estimators
from spdpeg.paths import Path, path

CLASSES = datasets.piecewise_constant(400, 30, seed=1)
NUMBERS = datasets.piecewise_constant(400, 30, task="regression", seed=1)
CHAIN = [(j, j + 1) for j in range(29)]

MODELS = {
    "fused-lasso": (estimators.FusedLasso(), NUMBERS),
    "fused-logistic": (estimators.FusedLogisticRegression(), CLASSES),
    "grid": (estimators.TotalVariationClassifier((5, 6)), CLASSES),
    "graph": (estimators.GraphGuidedLogisticRegression("knn"), CLASSES),
    "low-rank": (estimators.LowRankRegressor((5, 6)), NUMBERS),
}


def cold_fits(model: Any, data: datasets.Sample, found: Path) -> np.ndarray:
    """Objectives and passes of fits from scratch at all pairs of weights."""
    fits = np.empty((2, found.lam1.size, found.lam2.size))
    for i, lam1 in enumerate(found.lam1):
        for j, lam2 in enumerate(found.lam2):
            fit = clone(model).set_params(lam1=lam1, lam2=lam2).fit(data.X, data.y)
            fits[:, i, j] = fit.objective_, fit.n_iter_
    return fits


@pytest.mark.parametrize("name", MODELS)
def test_equals_fits_from_scratch(name: str) -> None:
    """Both are within tol of the optimum, so within tol of each other."""
    model, data = MODELS[name]
    model = clone(model).set_params(tol=1e-6, random_state=0)
    found = path(model, data.X, data.y, n_lam1=4, n_lam2=4, eps=1e-2)
    objectives, _ = cold_fits(model, data, found)
    assert np.all(found.gap <= 1e-6)
    np.testing.assert_allclose(found.objective, objectives, rtol=1e-6)


def test_neighbours_save_work() -> None:
    model = estimators.FusedLogisticRegression(tol=1e-6, random_state=0)
    found = path(model, CLASSES.X, CLASSES.y, n_lam1=8, n_lam2=8)
    _, passes = cold_fits(model, CLASSES, found)
    assert found.passes.sum() < 0.85 * passes.sum()


def test_least_squares_read_the_rows_once() -> None:
    found = path(estimators.FusedLasso(tol=1e-6), NUMBERS.X, NUMBERS.y, n_lam1=3, n_lam2=3)
    assert found.passes.sum() == 1
    assert np.all(found.gap <= 1e-6)


def test_grids_reach_from_nothing_to_much() -> None:
    """At the largest lam1 all coefficients are 0, at the largest lam2 hardly any jump is left."""
    X, y, _ = CLASSES
    found = path(estimators.FusedLogisticRegression(tol=1e-7, random_state=0), X, y, n_lam1=3, n_lam2=3, eps=1e-3)
    assert np.all(found.nonzero[0] == 0)
    assert found.nonzero[-1, -1] == X.shape[1]
    jumps = np.abs(np.diff(found.coef[-1], axis=-1)) > 1e-6
    assert jumps[0].sum() <= 2 < 20 < jumps[-1].sum()
    np.testing.assert_allclose(found.lam1[-1] / found.lam1[0], 1e-3)


def test_given_weights_come_sorted_and_once() -> None:
    X, y, _ = NUMBERS
    found = path(estimators.FusedLasso(random_state=0), X, y, lam1=[0.01, 0.1, 0.01], lam2=[0.0, 0.1])
    assert found.lam1.tolist() == [0.1, 0.01]
    assert found.lam2.tolist() == [0.1, 0.0]
    alone = estimators.FusedLasso(0.01, 0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(found.objective[1, 1], alone.objective_, rtol=2e-4)


def test_ridge_begins_at_the_lipschitz_constant() -> None:
    X, y, _ = CLASSES
    model = estimators.GraphGuidedLogisticRegression(CHAIN, fit_intercept=False, random_state=0)
    found = path(model, X, y, n_lam1=2, n_lam2=2)
    assert found.lam1[0] == pytest.approx(0.25 * np.linalg.norm(X, 2) ** 2 / X.shape[0], rel=0.02)
    assert np.abs(np.diff(found.coef[0, 0])).max() < 1e-3 < np.abs(found.coef[0, 0]).max()


def test_a_model_with_one_weight() -> None:
    t = np.arange(20.0)
    found = path(estimators.TrendFilter(random_state=0), t.reshape(-1, 1), np.abs(t - 10.0), n_lam2=3)
    assert found.coef.shape == (1, 3, 20)
    assert found.lam1.tolist() == [0.0]


@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_several_classes_in_sparse_rows(multi_class: str) -> None:
    X = CLASSES.X
    y = np.argmax(X[:, :3], axis=1)
    model = estimators.FusedLogisticRegression(multi_class=multi_class, random_state=0)
    found = path(model, sp.csr_array(X), y, n_lam1=3, n_lam2=3)
    assert found.coef.shape == (3, 3, 3, 30)
    assert found.intercept.shape == (3, 3, 3)
    assert np.all(found.gap <= 1e-4)


def test_a_learned_graph_is_learned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from spdpeg.graphs import structure

    calls = []
    learn = structure.knn
    monkeypatch.setattr(structure, "knn", lambda *args: calls.append(args) or learn(*args))
    model = estimators.GraphGuidedLogisticRegression("knn", random_state=0)
    path(model, CLASSES.X, CLASSES.y, lam1=[0.1, 0.01], lam2=[0.1, 0.01])
    assert len(calls) == 1
    assert model.structure == "knn"


def test_saved_arrays(tmp_path: Any) -> None:
    X, y, _ = NUMBERS
    found = path(estimators.FusedLasso(random_state=0), X, y, n_lam1=2, n_lam2=3)
    found.save(tmp_path / "path.npz")
    with np.load(tmp_path / "path.npz") as saved:
        assert set(saved) == {"lam1", "lam2", "coef", "intercept", "objective", "gap", "passes"}
        np.testing.assert_array_equal(saved["coef"], found.coef)
    assert "2 x 3 fits" in repr(found)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (estimators.CompositeRegressor(), {}, "no parameter lam2"),
        (estimators.TrendFilter(), {"lam1": [0.1]}, "no parameter lam1"),
        (estimators.FusedLasso(), {"lam1": [-0.1]}, "lam1 is"),
        (estimators.FusedLasso(), {"lam2": []}, "lam2 is"),
        (estimators.FusedLasso(), {"lam2": "many"}, "lam2 is 'many'"),
        (estimators.FusedLasso(), {"n_lam1": 0}, "n_lam1 is 0"),
        (estimators.FusedLasso(), {"n_lam2": 2.5}, "n_lam2 is 2.5"),
        (estimators.FusedLasso(), {"eps": 1.0}, "eps is 1.0"),
    ],
)
def test_refusals(model: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        path(model, NUMBERS.X, NUMBERS.y, **options)
