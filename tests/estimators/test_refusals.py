"""Parameters and labels that make no sense are told by name, and a call that fails leaves no traces."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from spdpeg import InputError, estimators, graphs, paths

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)
ODD = [None, "a", b"x", np.nan, 1j, [1, 2], {}, object(), np.zeros((2, 2)), 10**400]


def refused(call):
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["tol", "max_passes", "solver", "fit_intercept", "warm_start", "verbose", "lam1"])
def test_parameters(name, value):
    truths = name in ("fit_intercept", "warm_start", "verbose") and isinstance(value, int)
    if not truths and not (name == "lam1" and isinstance(value, list)):
        told = refused(lambda: estimators.FusedLasso(**{name: value}).fit(X, Y))
        assert name in told or "solver" in told
        if not isinstance(value, str) or name != "solver":  # which `partial_fit` does not use
            refused(lambda: estimators.FusedLasso(**{name: value}).partial_fit(X, Y))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("make", [estimators.FusedLasso, estimators.FusedLogisticRegression, estimators.FusedLassoCV])
def test_damaged_sparse_labels(make, kind):
    labels = kind(Y[:, None])
    labels.indices[2] = 10**6
    model = make()
    assert "y is a damaged sparse matrix" in refused(lambda: model.fit(X, labels))
    model.fit(X, Y)
    refused(lambda: model.score(X, labels))
    refused(lambda: model.score(X, Y, labels))


def test_one_weight_for_all_rows_cannot_be_split():
    refused(lambda: estimators.FusedLassoCV().fit(X, Y, sample_weight=2.0))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("name", ["bounds", "lam1", "F"])
def test_damaged_sparse_matrices_as_parameters(name, kind):
    """SciPy would follow their indices out of memory."""
    matrix = kind(np.eye(4))
    matrix.indices[2] = 10**6
    for model in (estimators.GeneralizedLasso(), estimators.GeneralizedLassoCV()):
        told = refused(lambda model=model: model.set_params(**{name: matrix}).fit(X, Y))
        assert f"{name} of {type(model).__name__.removesuffix('CV')}" in told.replace("CV ", " ")
        assert "damaged" in told


@pytest.mark.parametrize("value", ["a", 1.5, [1, 2], np.zeros((2, 2))], ids=lambda value: type(value).__name__)
def test_parameters_of_classifiers(value):
    for name in ("random_state", "class_weight", "multi_class"):
        refused(lambda name=name: estimators.FusedLogisticRegression(**{name: value}).fit(X, Y))
    for name in ("cv", "scoring", "rule", "n_lam1", "eps"):
        refused(lambda name=name: estimators.FusedLogisticRegressionCV(**{name: value}, max_passes=1).fit(X, Y))
    refused(lambda: estimators.GraphGuidedRegressor(r1=value).fit(X, Y))
    refused(lambda: paths.lam_max(value, X, Y))
    refused(lambda: graphs.knn(X, k=value))


INPUT = [None, "a", 3.0, [], [[1, 2], [3]], X[:, 0], np.full((30, 4), np.nan), X * 1j, X[:, :, None], object(), len]


@pytest.mark.parametrize("value", INPUT, ids=lambda value: type(value).__name__)
def test_what_scikit_learn_refuses_is_an_error_of_the_package(value):
    """On one line, without the data themselves."""
    fitted = estimators.FusedLogisticRegression()
    for call in (fitted.fit, fitted.partial_fit):
        assert len(refused(lambda call=call: call(value, Y))) < 300
        assert len(refused(lambda call=call: call(X, value))) < 300
    if value is not None and not isinstance(value, float):  # no weights, or one for all
        refused(lambda: fitted.fit(X, Y, sample_weight=value))
    fitted.fit(X, Y)
    assert len(refused(lambda: fitted.predict(value))) < 300
    if not isinstance(value, np.ndarray):  # at NaN scikit-learn warns before it refuses
        refused(lambda: fitted.score(X, value))


@pytest.mark.parametrize("value", [np.ones((2, 2)), np.array([1, "a"], dtype=object), 0, 1.5, True, "two"])
def test_numbers_of_threads(value):
    assert "n_jobs" in refused(lambda: estimators.FusedLasso(n_jobs=value).fit(X, Y))


@pytest.mark.parametrize("place", [None, np.nan, 2, -3, 10**30, True, [0], np.ones((2, 0))], ids=str)
def test_places_on_a_path(place):
    found = paths.path(estimators.FusedLasso(max_passes=2), X, Y, n_lam1=2, n_lam2=2)
    refused(lambda: found.at(place, 0))
    refused(lambda: found.at(0, place))


@pytest.mark.parametrize("weights", [{0: "a"}, {-1.0: -1.0}, {-1.0: np.nan}, {"x": 1.0}])
def test_weights_of_classes(weights):
    assert "class_weight" in refused(lambda: estimators.FusedLogisticRegression(class_weight=weights).fit(X, Y))


@pytest.mark.parametrize("size", [1e-300, 1e308])
@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_weights_of_any_unit(size, multi_class):
    labels = np.arange(30) % 3
    models = [
        estimators.FusedLogisticRegression(multi_class=multi_class, class_weight="balanced", random_state=0)
        for _ in range(2)
    ]
    one, other = (model.fit(X, labels, np.full(30, unit)) for model, unit in zip(models, (1.0, size), strict=True))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("classes", [None, [1], ["a", 1], object(), np.zeros((2, 2)) * 1j])
def test_the_first_chunk_must_name_the_classes(classes):
    model = estimators.FusedLogisticRegression()
    refused(lambda: model.partial_fit(X, Y, classes=classes))
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("make", [estimators.FusedLogisticRegression, estimators.FusedLasso])
def test_a_first_call_that_fails_does_not_block_the_corrected_one(make):
    classes = {"classes": [-1.0, 1.0]} if make is estimators.FusedLogisticRegression else {}
    broken = X.copy()
    broken[3, 1] = np.nan
    model, fresh = make(random_state=0), make(random_state=0)
    for bad in (broken, X[:, :2] * 1e200):
        with pytest.raises(ValueError):
            model.partial_fit(bad, Y, **classes)
    model.partial_fit(X, Y, **classes)
    fresh.partial_fit(X, Y, **classes)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)


def test_a_chunk_that_fails_changes_nothing():
    model, fresh = (estimators.FusedLogisticRegression(random_state=0) for _ in range(2))
    for each in (model, fresh):
        each.partial_fit(X[:15], Y[:15], classes=[-1.0, 1.0])
    with pytest.raises(ValueError):
        model.partial_fit(X[15:] * np.nan, Y[15:])
    refused(lambda: model.partial_fit(X[15:], np.full(15, 7.0)))
    for each in (model, fresh):
        each.partial_fit(X[15:], Y[15:])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = estimators.FusedLogisticRegression(random_state=0).fit(X, Y)
    before = model.predict_proba(X)
    refused(lambda: model.fit(X[:, :2], np.ones(30)))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_what_to_do_is_told():
    """The mistakes that people make first: text, gaps, columns in another order, numbers for classes."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    cities = frame.assign(city=["x", "y"] * 15)
    lasso = estimators.FusedLasso()
    told = refused(lambda: lasso.fit(cities, Y))
    assert "Column 'city' of X holds text" in told
    assert "OneHotEncoder" in told
    assert "'city', 'town'" in refused(lambda: lasso.fit(cities.assign(town="z"), Y))
    assert "A column of X holds text" in refused(lambda: lasso.fit(cities.to_numpy(), Y))
    assert "SimpleImputer" in refused(lambda: lasso.fit(np.where(X > 1.0, np.nan, X), Y))
    assert "masked" in refused(lambda: lasso.fit(np.ma.masked_greater(X, 1.0), Y))
    assert "masked" in refused(lambda: lasso.fit(X, np.ma.masked_greater(X[:, 0], 1.0)))
    lasso.fit(np.ma.masked_greater(X, 1e9), Y)  # nothing is hidden
    assert "take a classifier" in refused(lambda: lasso.fit(X, np.where(Y > 0.0, "yes", "no")))
    lasso.fit(frame, Y)
    assert "same order" in refused(lambda: lasso.predict(frame[["b", "a", "c", "d"]]))
    assert "unseen at fit time: - e" in refused(lambda: lasso.predict(frame.rename(columns={"d": "e"})))
    assert "9 pixels, and X has 4 columns" in refused(lambda: estimators.TotalVariationRegressor((3, 3)).fit(X, Y))
    assert "Add 1" in refused(lambda: estimators.TrendFilter(order=0).fit(X, Y))
