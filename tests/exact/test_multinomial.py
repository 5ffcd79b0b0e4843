"""All classes at once, against an interior-point solver and scikit-learn."""

from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from spdpeg import estimators, losses, penalties
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.paths import lam_max
from support.models import CASES, Case, minimum

cp: Any = cvxpy

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6)) + RNG.standard_normal(6)
Y = np.digitize(X @ [1.0, 1.0, -1.0, 0.0, 0.5, 0.5] + RNG.standard_normal(60), [-1.0, 1.5])

JOINT = [case for case in CASES if hasattr(case.estimator, "multi_class") and hasattr(case.estimator, "predict_proba")]
every_case = pytest.mark.parametrize("case", JOINT, ids=lambda case: case.name)


def together(case: Case, **parameters: Any) -> Any:
    return clone(case.estimator).set_params(multi_class="multinomial", tol=1e-8, **parameters)


def solved(case: Case, weights: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, intercepts of mean 0 and objective by Clarabel."""
    x, c = cp.Variable((3, 6)), cp.Variable(3)
    scores = X @ x.T + np.ones((len(X), 1)) @ cp.reshape(c, (1, 3), order="C")
    loss = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(np.eye(3)[Y], scores), axis=1)
    objective = weights @ loss / weights.sum() + sum(case.penalty(x[j]) for j in range(3))
    problem = cp.Problem(cp.Minimize(objective), [cp.sum(c) == 0.0] if intercept else [c == 0.0])
    value = minimum(problem)
    return x.value, c.value, value


def test_every_logistic_model_can() -> None:
    assert len(JOINT) == 7


@every_case
@pytest.mark.parametrize("intercept", [True, False])
def test_optimum(case: Case, intercept: bool) -> None:
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(Y))
    # Coefficients are known to the root of the gap.
    model = together(case, fit_intercept=intercept).set_params(tol=1e-10).fit(X, Y, sample_weight=weights)
    coef, c, objective = solved(case, weights, intercept)
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, c, atol=1e-5)
    assert objective - 1e-7 <= model.certificate_.primal
    assert model.certificate_.dual <= objective + 1e-9


def test_ridge_is_that_of_scikit_learn() -> None:
    lam = 0.02
    model = estimators.GraphGuidedLogisticRegression(lam1=lam, lam2=0.0, multi_class="multinomial", tol=1e-12)
    peer = LogisticRegression(C=1.0 / (lam * len(X)), solver="newton-cholesky", tol=1e-12).fit(X, Y)
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), softmax(model.decision_function(X), axis=1))
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@every_case
def test_weights_are_repetitions(case: Case) -> None:
    weights = np.random.default_rng(2).integers(0, 4, len(Y))
    weighted = together(case).fit(sp.csr_array(X), Y, sample_weight=weights)
    repeated = together(case).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)


def test_the_account_is_that_of_one_problem() -> None:
    model = estimators.FusedLogisticRegression(0.01, 0.01, multi_class="multinomial", random_state=0).fit(X, Y)
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert model.dual_.shape == (3, 5)
    assert model.certificate_.met == "relative gap"
    assert model.certificate_.rel_gap <= model.tol
    assert np.all(np.diff(model.history_.objective) <= 0.0)
    assert model.history_.objective[-1] == model.objective_
    scores = X @ model.coef_.T + model.intercept_
    written_out = -np.mean(np.log(softmax(scores, axis=1)[np.arange(60), Y]))
    written_out += 0.01 * np.abs(model.coef_).sum() + 0.01 * np.abs(np.diff(model.coef_, axis=1)).sum()
    assert model.objective_ == pytest.approx(written_out, abs=1e-12)


def test_warm_start() -> None:
    model = estimators.FusedLogisticRegression(multi_class="multinomial", warm_start=True, random_state=0).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ == 1
    assert model.set_params(lam2=0.011).fit(X, Y).n_iter_ < cold


def test_two_classes_are_one_problem() -> None:
    one = estimators.FusedLogisticRegression(random_state=0).fit(X, Y > 0)
    other = estimators.FusedLogisticRegression(multi_class="multinomial", random_state=0).fit(X, Y > 0)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_gap_without_a_norm() -> None:
    model = estimators.LowRankClassifier((2, 3), 0.0, 0.05, multi_class="multinomial", random_state=0).fit(X, Y)
    assert model.certificate_.met == "relative gap"


def test_ten_digits() -> None:
    """Raw pixels, among them some that are 0 in every image."""
    images, digits = load_digits(return_X_y=True)
    model = estimators.TotalVariationClassifier((8, 8), multi_class="multinomial", random_state=0).fit(images, digits)
    assert model.score(images, digits) > 0.95


def test_largest_weight() -> None:
    model = estimators.FusedLogisticRegression(multi_class="multinomial", tol=1e-8, random_state=0)
    lam1, lam2 = lam_max(model, X, Y)
    np.testing.assert_allclose(model.set_params(lam1=1.01 * lam1, lam2=1.01 * lam2).fit(X, Y).coef_, 0.0, atol=1e-6)
    assert np.abs(model.set_params(lam1=0.99 * lam1, lam2=0.99 * lam2).fit(X, Y).coef_).max() > 1e-3
    with pytest.raises(UnsupportedError, match="without an intercept"):
        lam_max(model.set_params(fit_intercept=False), X, Y)


def test_refusals() -> None:
    with pytest.raises(InputError, match="multi_class of FusedLogisticRegression is 'softmax'"):
        estimators.FusedLogisticRegression(multi_class="softmax").fit(X, Y)
    with pytest.raises(InputError, match="Only the logistic loss"):
        estimators.CompositeClassifier(losses.SquaredHinge(), penalties.L1(0.1), multi_class="multinomial").fit(X, Y)
    with pytest.raises(UnsupportedError, match="more than 5000"):
        estimators.FusedLogisticRegression(multi_class="multinomial").fit(np.ones((3, 2000)), [0, 1, 2])
    for parameters in ({"tol": 0.0}, {"max_passes": -1}, {"solver": "newton"}):
        with pytest.raises(InputError):
            estimators.FusedLogisticRegression(multi_class="multinomial", **parameters).fit(X, Y)
    assert not hasattr(estimators.FusedLogisticRegression(multi_class="multinomial"), "partial_fit")
    assert not hasattr(estimators.FusedSVC(), "multi_class")


def test_columns_that_say_nothing() -> None:
    model = estimators.FusedLogisticRegression(multi_class="multinomial", fit_intercept=False).fit(
        np.zeros((6, 2)), Y[:6]
    )
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)


def test_a_budget_that_is_too_small() -> None:
    model = estimators.FusedLogisticRegression(multi_class="multinomial", max_passes=2, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match="the budget of passes is used up") as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__
    assert model.certificate_.met is None
    assert model.n_iter_ == 3
