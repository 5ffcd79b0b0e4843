"""Weights are repetitions, weight 0 drops a row, and a column of ones is the intercept, for every estimator."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from spdpeg import estimators
from support.models import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def solution(model: object) -> np.ndarray:
    return np.append(model.coef_, model.intercept_)  # type: ignore[attr-defined]


@every_case
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_repetitions(case: Case, sparse: bool) -> None:
    X, y = case.data(25)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    kind = sp.csr_array if sparse else np.asarray
    weighted = clone(case.estimator).fit(kind(X), y, sample_weight=weights)
    repeated = clone(case.estimator).fit(kind(np.repeat(X, weights, axis=0)), np.repeat(y, weights))
    np.testing.assert_allclose(solution(weighted), solution(repeated), atol=1e-5)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)


@every_case
def test_weight_zero_drops_a_row(case: Case) -> None:
    X, y = case.data(25)
    weights = np.ones(len(y))
    weights[::4] = 0.0
    kept = weights > 0.0
    weighted = clone(case.estimator).fit(X, y, sample_weight=weights)
    dropped = clone(case.estimator).fit(X[kept], y[kept])
    np.testing.assert_allclose(solution(weighted), solution(dropped), atol=1e-5)


@pytest.mark.parametrize("structure", ["sics", "knn"])
def test_a_learned_graph_counts_weights(structure: str) -> None:
    rng = np.random.default_rng(4)
    X, weights = np.cumsum(rng.standard_normal((40, 8)), axis=1), rng.integers(0, 4, 40)
    y = X[:, 0] + rng.standard_normal(40)
    weighted = estimators.GraphGuidedRegressor(structure).fit(X, y, sample_weight=weights)
    repeated = estimators.GraphGuidedRegressor(structure).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.F_.n_outputs > 0
    np.testing.assert_array_equal(weighted.F_.edges, repeated.F_.edges)


def test_a_column_of_ones_is_the_intercept() -> None:
    case = next(case for case in CASES if case.name == "FusedLogisticRegression")
    X, y = case.data()
    ones = np.column_stack([X, np.ones(len(y))])
    free = estimators.FusedLogisticRegression(
        np.append(np.full(6, 0.02), 0.0),
        np.append(np.full(5, 0.03), 0.0),
        fit_intercept=False,
        tol=1e-8,
        random_state=0,
    )
    with_intercept = clone(case.estimator).fit(X, y)
    np.testing.assert_allclose(free.fit(ones, y).coef_.ravel(), solution(with_intercept), atol=1e-5)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 5.0}])
def test_class_weight(class_weight: object) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 4))
    y = (X[:, 0] + rng.standard_normal(150) > 1.0).astype(int)
    lam = 0.02
    model = estimators.GraphGuidedLogisticRegression(lam1=lam, lam2=0.0, class_weight=class_weight, tol=1e-12)
    weights = np.random.default_rng(6).integers(1, 4, 150).astype(float)
    factors = {"balanced": weights.sum() / (2 * np.bincount(y, weights))}.get(str(class_weight), np.array([1.0, 5.0]))
    total = float((factors[y] * weights).sum())
    peer = LogisticRegression(C=1.0 / (lam * total), solver="newton-cholesky", tol=1e-12)
    peer.fit(X, y, sample_weight=factors[y] * weights)
    np.testing.assert_allclose(solution(model.fit(X, y, sample_weight=weights)), solution(peer), atol=1e-5)


def test_all_weights_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="zero"):
        estimators.FusedLasso().fit(np.eye(3), np.ones(3), sample_weight=np.zeros(3))


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        estimators.FusedLasso().fit(np.eye(3), np.ones(3), sample_weight=[1.0, -1.0, 1.0])
