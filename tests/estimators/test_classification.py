"""Two classes and more: labels, scores and probabilities."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from spdpeg import estimators, losses, penalties

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 5))
THREE = np.digitize(X[:, 0] + 0.5 * RNG.standard_normal(120), [-0.5, 0.5])


def test_two_classes_of_any_kind() -> None:
    words = np.where(THREE > 0, "yes", "no")
    model = estimators.FusedLogisticRegression(random_state=0).fit(X, words)
    numbers = estimators.FusedLogisticRegression(random_state=0).fit(X, THREE > 0)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.coef_, numbers.coef_)
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0.0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(X @ model.coef_[0] + model.intercept_[0]))


def test_one_against_the_rest() -> None:
    lam = 0.02
    model = estimators.GraphGuidedLogisticRegression(lam1=lam, lam2=0.0, tol=1e-8, random_state=0).fit(X, THREE)
    peer = OneVsRestClassifier(LogisticRegression(C=1.0 / (lam * len(X)), solver="newton-cholesky", tol=1e-12))
    peer.fit(X, THREE)
    assert model.coef_.shape == (3, 5)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    assert len(model.certificate_) == len(model.history_) == len(model.objective_) == len(model.dual_) == 3


def test_probabilities_far_from_every_class() -> None:
    model = estimators.FusedLogisticRegression(random_state=0).fit(X, THREE)
    far = model.predict_proba(1e6 * X)
    assert np.isfinite(far).all()
    np.testing.assert_allclose(far.sum(axis=1), 1.0)


def test_probabilities_come_with_the_logistic_loss_only() -> None:
    assert hasattr(estimators.CompositeClassifier(), "predict_proba")
    assert hasattr(estimators.CompositeClassifier(losses.Logistic()), "predict_proba")
    assert not hasattr(estimators.CompositeClassifier(losses.SquaredHinge()), "predict_proba")
    assert not hasattr(estimators.FusedSVC(), "predict_proba")


def test_huber_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="a loss for classes"):
        estimators.CompositeClassifier(losses.Huber(), penalties.L1(0.1)).fit(X, THREE > 0)
    with pytest.raises(ValueError, match="a loss for numbers"):
        estimators.CompositeRegressor(losses.Logistic()).fit(X, THREE)
