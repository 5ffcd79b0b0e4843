"""Each estimator against an interior-point solver that was given the objective of its docstring."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression

from spdpeg import estimators
from support.models import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_no_estimator_is_left_out() -> None:
    """But for times, whose loss is no sum over rows: test_survival.py."""
    assert sorted(case.name for case in CASES) == sorted(
        name for name in estimators.__all__ if not name.endswith("CV") and name != "FusedCoxRegression"
    )


def precise(case: Case) -> Any:
    """The estimator; its coefficients are known to the root of the gap, which a flat loss needs smaller."""
    model = clone(case.estimator)
    return model.set_params(tol=1e-11) if "Logistic" in type(model).__name__ else model


@every_case
@pytest.mark.parametrize("intercept", [True, False])
def test_optimum(case: Case, intercept: bool) -> None:
    X, y = case.data()
    model = precise(case).set_params(fit_intercept=intercept).fit(X, y)
    coef, c, objective = case.solve(X, y, intercept=intercept)
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(np.ravel(model.coef_), coef, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, c, atol=1e-5)


@every_case
def test_weighted_optimum(case: Case) -> None:
    X, y = case.data()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    model = precise(case).fit(X, y, sample_weight=weights)
    coef, c, objective = case.solve(X, y, weights)
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), np.append(coef, c), atol=1e-5)


def shifted(rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Features off centre and labels with a level of their own."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, 8)) * np.linspace(0.5, 2.0, 8) + 1.0
    return X, X @ [1.0, 0.0, 0.0, -1.0, 0.0, 0.5, 0.0, 0.0] + 3.0 + rng.standard_normal(rows)


def equal(model: Any, peer: Any) -> None:
    np.testing.assert_allclose(np.ravel(model.coef_), np.ravel(peer.coef_), atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_lasso(intercept: bool) -> None:
    X, y = shifted()
    model = estimators.FusedLasso(0.1, 0.0, tol=1e-8, fit_intercept=intercept, random_state=0).fit(X, y)
    equal(model, Lasso(0.1, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, y))


@pytest.mark.parametrize("intercept", [True, False])
def test_l1_logistic(intercept: bool) -> None:
    X, y = shifted()
    lam, labels = 0.02, y > y.mean() - 1.0
    model = estimators.FusedLogisticRegression(lam, 0.0, tol=1e-8, fit_intercept=intercept, random_state=0)
    saga = LogisticRegression(
        C=1.0 / (lam * len(y)), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000, fit_intercept=intercept
    )
    equal(model.fit(X, labels), saga.fit(X, labels))


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_logistic(intercept: bool) -> None:
    X, y = shifted()
    lam, labels = 0.02, y > y.mean() - 1.0
    model = estimators.GraphGuidedLogisticRegression(
        lam1=lam, lam2=0.0, tol=1e-11, fit_intercept=intercept, random_state=0
    )
    newton = LogisticRegression(
        C=1.0 / (lam * len(y)), solver="newton-cholesky", tol=1e-12, max_iter=1000, fit_intercept=intercept
    )
    equal(model.fit(X, labels), newton.fit(X, labels))
