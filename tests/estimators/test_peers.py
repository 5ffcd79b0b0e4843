"""What the tests of other packages ask of their l1 models, asked of ours."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.svm import l1_min_c

import spdpeg
from spdpeg import CompositeRegressor, FusedLasso, FusedLogisticRegression, files, losses, penalties

DATA = os.environ.get("SPDPEG_DATA_DIR")


def lasso(lam: float, **options: Any) -> FusedLasso:
    return FusedLasso(**{"lam1": lam, "lam2": 0.0, "tol": 1e-10, **options})


def logistic(lam: float, **options: Any) -> FusedLogisticRegression:
    return FusedLogisticRegression(**{"lam1": lam, "lam2": 0.0, "tol": 1e-10, **options})


def made(n: int = 60, d: int = 100, seed: int = 42) -> tuple[np.ndarray, np.ndarray]:
    """Few rows, many columns, ten of them true."""
    rng = np.random.default_rng(seed)
    X, truth = rng.standard_normal((n, d)), np.zeros(d)
    truth[:10] = rng.uniform(-10, 10, 10)
    return X, X @ truth


@pytest.mark.parametrize(("lam", "slope"), [(1e-8, 1.0), (0.1, 0.85), (0.5, 0.25), (1.0, 0.0)])
def test_three_points(lam: float, slope: float) -> None:
    """scikit-learn: y = x at -1, 0, 1."""
    X = np.array([[-1.0], [0.0], [1.0]])
    model = lasso(lam).fit(X, X[:, 0])
    np.testing.assert_allclose(model.coef_, [slope], atol=1e-6)
    np.testing.assert_allclose(model.predict([[2.0], [3.0], [4.0]]), slope * np.array([2, 3, 4]), atol=1e-5)


@pytest.mark.parametrize(("ratio", "slope"), [(0.3, 0.50819), (0.5, 0.45454)])
def test_three_points_of_the_elastic_net(ratio: float, slope: float) -> None:
    """scikit-learn: alpha = 0.5."""
    X = np.array([[-1.0], [0.0], [1.0]])
    r1 = penalties.ElasticNet(0.5 * ratio, 0.5 * (1.0 - ratio))
    model = CompositeRegressor(loss=losses.Squared(), r1=r1, tol=1e-10).fit(X, X[:, 0])
    np.testing.assert_allclose(model.coef_, [slope], atol=1e-3)


def test_zeros_only() -> None:
    """scikit-learn: rows and labels of zeros have coefficients of 0."""
    model = lasso(0.1).fit(np.zeros((3, 1)), np.zeros(3))
    assert model.coef_.tolist() == [0.0]
    assert model.intercept_ == 0.0


def test_positive_ones() -> None:
    X, y = made(30, 10)
    model = lasso(0.1, positive=True).fit(X, y)
    peer = Lasso(0.1, positive=True, tol=1e-12, max_iter=100_000).fit(X, y)
    assert np.all(model.coef_ >= 0.0)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows_are_dense_rows(layout: Any, intercept: bool) -> None:
    X, y = made(50, 20)
    X[np.abs(X) < 1.0] = 0.0
    one, other = (lasso(0.1, fit_intercept=intercept).fit(rows, y + 3.0) for rows in (X, layout(X)))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    assert one.intercept_ == pytest.approx(other.intercept_, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_predictions_have_the_mean_of_the_labels(lam: float, weighted: bool) -> None:
    """scikit-learn: the balance property, to seven digits whatever the tolerance."""
    X, y = made(200, 20)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 200) if weighted else np.ones(200)
    model = FusedLasso(lam1=lam, lam2=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spdpeg.ChoiceWarning)
        model.fit(X, y + 10.0, sample_weight=weights)
    assert np.average(model.predict(X), weights=weights) == pytest.approx(np.average(y + 10.0, weights=weights))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_nothing_from_the_largest_weight_on(loss: str) -> None:
    """celer and liblinear: from lam_max on all coefficients are exactly 0, just below it one is not."""
    X, y = made()
    labels = np.where(y > 0, 1.0, -1.0)
    if loss == "squared":
        model, largest, target = lasso, float(np.abs(X.T @ y).max()) / len(y), y
    else:
        model, largest, target = logistic, 1.0 / (l1_min_c(X, labels, loss="log", fit_intercept=False) * len(y)), labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spdpeg.ChoiceWarning)
        assert not model(1.0001 * largest, fit_intercept=False).fit(X, target).coef_.any()
    assert model(0.999 * largest, fit_intercept=False).fit(X, target).coef_.any()


def test_the_gap_is_what_was_asked_for() -> None:
    """celer: duality gaps along a path."""
    X, y = made()
    for part in (0.5, 0.1, 0.02):
        model = lasso(part * float(np.abs(X.T @ y).max()) / len(y), fit_intercept=False, tol=1e-8).fit(X, y)
        assert model.certificate_.gap + 1e-13 * model.objective_ >= 0.0
        assert model.certificate_.rel_gap <= 1e-8


@pytest.mark.parametrize("part", [0.5, 0.05])
def test_elastic_net(part: float) -> None:
    X, y = made()
    lam = part * float(np.abs(X.T @ y).max()) / len(y)
    peer = ElasticNet(lam, l1_ratio=0.7, tol=1e-12, max_iter=100_000, fit_intercept=False).fit(X, y)
    r1 = penalties.ElasticNet(0.7 * lam, 0.3 * lam)
    model = CompositeRegressor(loss=losses.Squared(), r1=r1, tol=1e-10, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)


def test_a_warm_start_takes_no_step() -> None:
    """scikit-learn: a second fit from the first one's coefficients is at its end at once."""
    X, y = made(200, 20)
    model = lasso(0.1, warm_start=True).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ <= 1
    np.testing.assert_array_equal(model.coef_, first)


@pytest.mark.skipif(DATA is None, reason="SPDPEG_DATA_DIR does not name a directory with the data sets")
def test_published_accuracy_on_a9a() -> None:
    """l1-regularised logistic regression with C = 1: 0.8499 or 0.8500 of the test rows."""
    train, test = (files.read(Path(DATA or "", name), n_features=123) for name in ("a9a.xz", "a9a.t.xz"))
    model = FusedLogisticRegression(lam1=1.0 / len(train.y), lam2=0.0, tol=1e-7).fit(train.X, train.y)
    assert model.objective_ == pytest.approx(0.324252, abs=1e-5)
    assert 0.8498 <= model.score(test.X, test.y) <= 0.8501
