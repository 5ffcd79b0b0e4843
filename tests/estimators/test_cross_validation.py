"""Weights by cross-validation: what is chosen, what is kept, and that it generalises."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.validation import check_is_fitted

from spdpeg import InputError, datasets
from spdpeg.estimators import (
    FusedLasso,
    FusedLassoCV,
    FusedLogisticRegression,
    FusedLogisticRegressionCV,
    GraphGuidedLogisticRegressionCV,
    fitting,
)
from spdpeg.model_file import load_model, save_model

NUMBERS = datasets.piecewise_constant(120, 60, task="regression", noise=3.0, seed=2)
CLASSES = datasets.piecewise_constant(300, 20, seed=2)
GRIDS: dict[str, Any] = {"lam1": [0.1, 0.01], "lam2": [0.1, 0.03, 0.01]}


def test_scores_are_those_of_a_grid_search() -> None:
    """The same folds, weights and scores as scikit-learn's search, which fits from scratch."""
    X, y, _ = CLASSES
    folds = KFold(3, shuffle=True, random_state=0)
    plain = FusedLogisticRegression(tol=1e-8, random_state=0)
    ours = FusedLogisticRegressionCV(**GRIDS, cv=folds, tol=1e-8, random_state=0, scoring="neg_log_loss").fit(X, y)
    search = GridSearchCV(plain, GRIDS, cv=folds, scoring="neg_log_loss").fit(X, y)
    theirs = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)], axis=1)
    np.testing.assert_allclose(ours.scores_.reshape(6, 3), theirs, rtol=1e-4)
    np.testing.assert_allclose(ours.mean_scores_.ravel(), search.cv_results_["mean_test_score"], rtol=1e-4)
    np.testing.assert_allclose(ours.std_scores_.ravel(), search.cv_results_["std_test_score"], rtol=1e-2)
    assert {"lam1": ours.lam1_, "lam2": ours.lam2_} == search.best_params_
    np.testing.assert_allclose(ours.coef_, search.best_estimator_.coef_, atol=1e-4)
    default = FusedLogisticRegressionCV(**GRIDS, cv=folds, tol=1e-8, random_state=0).fit(X, y)
    np.testing.assert_allclose(default.scores_, ours.scores_, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_under_the_squared_loss_follow_from_the_whole(weighted: bool) -> None:
    """Fits and scores from second moments are those of the rows, which a scorer of one's own reads."""
    X, y, _ = NUMBERS
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 120) if weighted else None
    by_moments, by_rows = (
        FusedLassoCV(**GRIDS, cv=4, tol=1e-9, solver=solver, random_state=0).fit(X[:, :20] + 50.0, y, weights)
        for solver in ("auto", "prox-newton")
    )
    np.testing.assert_allclose(by_moments.scores_, by_rows.scores_, rtol=1e-6)
    assert (by_moments.lam1_, by_moments.lam2_) == (by_rows.lam1_, by_rows.lam2_)


def test_folds_that_do_not_part_the_rows_are_read() -> None:
    X, y, _ = NUMBERS
    folds = [(np.arange(60), np.arange(60, 100)), (np.arange(60, 120), np.arange(40))]
    model = FusedLassoCV(**GRIDS, cv=folds, random_state=0)
    assert fitting.FoldMoments.of(model._at(1.0, 1.0), (X, y, None, None), folds) is None
    assert model.fit(X, y).scores_.shape == (2, 3, 2)


@pytest.fixture(scope="module")
def chosen() -> FusedLassoCV:
    """A fused lasso with the weights of the best score."""
    return FusedLassoCV(n_lam1=6, n_lam2=6, cv=3, random_state=0).fit(NUMBERS.X, NUMBERS.y)


def test_chosen_weights_find_the_truth(chosen: FusedLassoCV) -> None:
    """Far closer to the truth than a weak or a strong penalty, and about as good as the best of the grid."""
    X, y, truth = NUMBERS

    def error(lam1: float, lam2: float) -> float:
        return float(np.sum((FusedLasso(lam1, lam2, random_state=0).fit(X, y).coef_ - truth) ** 2))

    found = float(np.sum((chosen.coef_ - truth) ** 2))
    best = min(error(lam1, lam2) for lam1 in chosen.lam1_grid_ for lam2 in chosen.lam2_grid_)
    assert found < 0.2 * error(chosen.lam1_grid_[0], chosen.lam2_grid_[0])
    assert found < 0.5 * error(chosen.lam1_grid_[-1], chosen.lam2_grid_[-1])
    assert found < 3.0 * best


def test_one_standard_error_takes_larger_weights(chosen: FusedLassoCV) -> None:
    X, y, _ = NUMBERS
    plain = clone(chosen).set_params(rule="one-standard-error").fit(X, y)
    np.testing.assert_array_equal(chosen.scores_, plain.scores_)
    top = np.unravel_index(chosen.mean_scores_.argmax(), (6, 6))
    assert (chosen.lam1_, chosen.lam2_) == (chosen.lam1_grid_[top[0]], chosen.lam2_grid_[top[1]])
    limit = chosen.mean_scores_.max() - chosen.scores_[top].std(ddof=1) / np.sqrt(3)
    steps = np.add.outer(np.arange(6), np.arange(6))
    at = (plain.lam1_grid_ == plain.lam1_)[:, None] & (plain.lam2_grid_ == plain.lam2_)
    assert plain.mean_scores_[at] >= limit
    assert steps[at] == steps[plain.mean_scores_ >= limit].min() < steps[top]


def test_threads_change_nothing() -> None:
    X, y, _ = CLASSES
    one, two = (FusedLogisticRegressionCV(**GRIDS, cv=3, random_state=0, n_jobs=n).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_graph_of_the_rows_at_hand() -> None:
    """A learned graph, columns with names, several classes."""
    X = pd.DataFrame(CLASSES.X, columns=[f"c{j}" for j in range(20)])
    y = np.array(["a", "b", "c"])[np.argmax(CLASSES.X[:, :3], axis=1)]
    model = GraphGuidedLogisticRegressionCV("knn", lam1=[0.01], lam2=[0.1, 0.001], cv=2, random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.coef_.shape == (3, 20)
    assert model.score(X, y) > 0.8
    assert model.predict_proba(X).shape == (300, 3)


def test_weights_reach_fits_and_scores() -> None:
    """Rows of weight 0 are as good as absent, in fits and in scores."""
    X, y, _ = CLASSES
    weights = np.ones(y.size)
    weights[200:] = 0.0
    spoilt = np.where(weights > 0.0, y, -y)
    folds = [(np.r_[100:300], np.r_[:100]), (np.r_[:100, 200:300], np.r_[100:200])]
    dropped = [(np.r_[100:200], np.r_[:100]), (np.r_[:100], np.r_[100:200])]
    weighted = FusedLogisticRegressionCV(**GRIDS, cv=folds, random_state=0).fit(X, spoilt, weights)
    clean = FusedLogisticRegressionCV(**GRIDS, cv=dropped, random_state=0).fit(X[:200], y[:200])
    np.testing.assert_allclose(weighted.scores_, clean.scores_, rtol=1e-12)
    np.testing.assert_allclose(weighted.coef_, clean.coef_, rtol=1e-12)


def test_what_there_is_not() -> None:
    X, y, _ = CLASSES
    assert not hasattr(FusedLogisticRegressionCV(), "partial_fit")
    with pytest.raises(InputError, match="rule of FusedLassoCV is 'first'"):
        FusedLassoCV(rule="first").fit(X, y)
    assert "n_jobs : int" in str(FusedLassoCV.__doc__)
    assert "solver : str" in str(FusedLassoCV.__doc__)
    check_is_fitted(FusedLassoCV(lam1=[0.1], lam2=[0.1], cv=2).fit(X, y), ("lam1_", "certificate_", "history_"))


def test_a_file_holds_the_scores_too(chosen: FusedLassoCV, tmp_path: Path) -> None:
    save_model(chosen, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(NUMBERS.X), chosen.predict(NUMBERS.X))
    np.testing.assert_array_equal(loaded.scores_, chosen.scores_)
    assert (loaded.lam1_, loaded.lam2_) == (chosen.lam1_, chosen.lam2_)
