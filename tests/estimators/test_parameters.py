"""Parameters: all seen by GridSearchCV, clone and metadata routing, none ignored."""

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spdpeg import estimators, losses, operators, penalties
from spdpeg.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6))
Y = X @ [2.0, 2.0, 0.0, 0.0, 1.0, 1.0] + RNG.standard_normal(80)

every_estimator = pytest.mark.parametrize("cls", [getattr(estimators, name) for name in estimators.__all__])


@every_estimator
def test_all_parameters_are_documented(cls: type) -> None:
    names = set(inspect.signature(cls).parameters)
    section = cls.__doc__.split("Parameters\n")[1].split("\n\n")[0]  # type: ignore[union-attr]
    documented = re.findall(r"^(\w+(?:, \w+)*) : ", section, flags=re.MULTILINE)
    assert sorted(names) == sorted(name for line in documented for name in line.split(", "))


@every_estimator
def test_documented_defaults_are_the_real_ones(cls: type) -> None:
    doc = cls.__doc__ or ""
    for name, parameter in inspect.signature(cls).parameters.items():
        stated = re.search(rf"^{name} : .*default=(\S+)$", doc, flags=re.MULTILINE)
        assert stated is not None, name
        assert eval(stated[1]) == parameter.default, name


def test_search_over_weights() -> None:
    search = GridSearchCV(estimators.FusedLasso(random_state=0), {"lam1": [0.01, 1.0], "lam2": [0.01, 1.0]}, cv=3)
    assert search.fit(X, Y).best_params_ == {"lam1": 0.01, "lam2": 0.01}


def test_search_over_the_parameters_of_terms() -> None:
    model = estimators.CompositeRegressor(
        losses.Huber(), penalties.L1(0.1), penalties.L1(0.1), operators.Difference(), random_state=0
    )
    grid = {"r1__weight": [0.01, 5.0], "loss__delta": [1.0, 2.0], "F__order": [1, 2]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_params_["r1__weight"] == 0.01
    assert model.r1.weight == 0.1
    assert search.best_estimator_.F_.n_outputs == 6 - search.best_params_["F__order"]


def test_clones_share_nothing() -> None:
    model = estimators.CompositeRegressor(r1=penalties.L1(0.1))
    copy = clone(model).set_params(r1__weight=0.7)
    assert (model.r1.weight, copy.r1.weight) == (0.1, 0.7)


def test_a_stack_is_cloned() -> None:
    F = operators.Stack(operators.Identity(), operators.FirstDifference())
    copy = clone(estimators.GeneralizedLasso(F, 0.0, 0.1))
    assert copy.F is not F
    assert copy.fit(X, Y).F_.n_outputs == 11


def test_weights_are_routed() -> None:
    weights = RNG.uniform(0.0, 1.0, 80)
    with sklearn.config_context(enable_metadata_routing=True):
        model = estimators.FusedLasso(random_state=0).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipeline.fit(X, Y, sample_weight=weights)
    direct = estimators.FusedLasso(random_state=0).fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, direct.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame: Any) -> None:
    names = [f"gene {j}" for j in range(6)]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = estimators.FusedLasso(random_state=0).fit(table, Y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.coef_, estimators.FusedLasso(random_state=0).fit(X, Y).coef_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(dict(zip(reversed(names), X.T, strict=True))))


def test_vector_weights_leave_features_free() -> None:
    lam1 = np.array([0.0, 9.0, 9.0, 9.0, 9.0, 9.0])
    model = estimators.FusedLasso(lam1, 0.0, tol=1e-8, random_state=0).fit(X, Y)
    assert model.coef_[0] != 0.0
    np.testing.assert_allclose(model.coef_[1:], 0.0, atol=1e-9)


def test_same_seed_same_bits() -> None:
    fits = [estimators.GeneralizedLasso(np.eye(6)[::2], random_state=7).fit(X, Y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_solver_and_budget_are_used() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        model = estimators.FusedLasso(solver="egadm", max_passes=3).fit(X, Y)
    assert caught[0].filename == __file__
    gap = f"{model.certificate_.rel_gap:.2g}"
    assert str(caught[0].message) == (
        f"FusedLasso ended after {model.n_iter_} passes with a relative duality gap of {gap} where tol is 0.0001: the "
        "budget of passes is used up. Raise max_passes or tol, or scale the columns of X to similar size."
    )
    assert model.n_iter_ <= 4  # with the check at the end
    with pytest.raises(InputError, match="no solver called 'newton'"):
        estimators.FusedLasso(solver="newton").fit(X, Y)


def test_the_objective_is_the_documented_one() -> None:
    model = estimators.FusedLasso(0.05, 0.1).fit(X, Y)
    residual = X @ model.coef_ + model.intercept_ - Y
    written_out = np.mean(residual**2) / 2 + 0.05 * np.abs(model.coef_).sum() + 0.1 * np.abs(np.diff(model.coef_)).sum()
    assert model.objective_ == pytest.approx(written_out, abs=1e-12)
    assert model.certificate_.primal == pytest.approx(written_out, abs=1e-12)
    assert model.certificate_.met == "relative gap"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (estimators.FusedLasso(lam1=-1.0), "lam1 of FusedLasso is -1.0"),
        (estimators.FusedLasso(lam2=np.inf), "lam2 of FusedLasso is inf"),
        (estimators.FusedLasso(lam2="much"), "lam2 of FusedLasso is 'much'"),
        (estimators.FusedLasso(lam1=[0.1, 0.2]), "weight of L1 has shape"),
        (estimators.GraphGuidedRegressor(r1="l2"), "r1 of GraphGuidedRegressor is 'l2'. Choose one of l1, ridge"),
        (estimators.TotalVariationRegressor(shape=(2, 2)), "has 4 pixels, and X has 6 columns"),
        (estimators.LowRankRegressor(shape=(2, 2)), "shape of Nuclear"),
        (estimators.TrendFilter(order=0), "order of TrendFilter is 0"),
        (estimators.GeneralizedLasso(np.eye(5)), "length 5"),
        (estimators.CompositeRegressor(r1="l1"), "r1 is 'l1'"),
        (estimators.FusedLasso(tol=0.0), "tol of FusedLasso is 0.0"),
        (estimators.FusedLasso(max_passes=-1), "max_passes of FusedLasso is -1"),
    ],
)
def test_refusals(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        model.fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        estimators.FusedLasso(tol=1e-6, solver="pd3o"),
        estimators.TotalVariationRegressor((2, 3), tol=1e-6, solver="pd3o"),
        estimators.GraphGuidedLogisticRegression("chain", tol=1e-6, solver="pd3o"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_warm_start_goes_on_from_both_solutions(model: Any) -> None:
    """With a solver whose passes tell how far the start is from the solution; Newton's are too few for that."""
    y = np.digitize(Y, [-1.0, 1.0]) if is_classifier(model) else Y
    cold = clone(model).fit(X, y)
    warm = clone(model).set_params(warm_start=True).fit(X, y)
    assert warm.n_iter_ == cold.n_iter_
    assert warm.fit(X, y).n_iter_ < cold.n_iter_
    assert warm.set_params(lam2=0.011).fit(X, y).n_iter_ < cold.n_iter_


def test_warm_start_with_other_features_or_another_graph() -> None:
    model = estimators.GraphGuidedRegressor("chain", warm_start=True, random_state=0).fit(X, Y)
    other = model.set_params(structure=[(0, 5)]).fit(X, Y)
    assert other.dual_.shape == (1,)
    fewer = model.set_params(structure="chain").fit(X[:, :4], Y)
    cold = estimators.GraphGuidedRegressor("chain", random_state=0).fit(X[:, :4], Y)
    np.testing.assert_array_equal(fewer.coef_, cold.coef_)
