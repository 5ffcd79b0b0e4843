"""`partial_fit` is one run of SPDPEG over all chunks, bit for bit, in constant memory."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import spdpeg
from spdpeg import datasets, estimators, losses, operators, penalties
from spdpeg.errors import InputError


def data(rows: int = 200, features: int = 12) -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = datasets.piecewise_constant(n_samples=rows, n_features=features, seed=1)
    return X, y


def chunks(*arrays: Any, sizes: tuple[int, ...] = (7, 50, 1, 1, 41, 100)) -> list[tuple[Any, ...]]:
    stops = np.cumsum(sizes)
    return [tuple(array[stop - size : stop] for array in arrays) for stop, size in zip(stops, sizes, strict=True)]


@pytest.mark.parametrize("sparse", [False, True])
def test_same_bits_as_one_run(sparse: bool) -> None:
    X, y = data()
    rows = sp.csr_array(X) if sparse else X
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = estimators.FusedLogisticRegression(0.01, 0.02, random_state=3)
    for part in chunks(rows, y, weights):
        model.partial_fit(*part[:2], classes=[-1, 1], sample_weight=part[2])
    problem = spdpeg.Problem(
        spdpeg.data.Stream(chunks(rows, y, weights)),
        loss=losses.Logistic(),
        r1=penalties.L1(0.01),
        r2=penalties.L1(0.02),
        F=operators.FirstDifference(),
        intercept=1.0,
    )
    seed = int(np.random.RandomState(3).randint(2**31))
    coef, intercept = problem.split(spdpeg.solve(problem, "spdpeg", max_passes=1, buffer_size=256, seed=seed).x)
    np.testing.assert_array_equal(model.coef_[0], coef)
    assert model.intercept_[0] == intercept


def test_a_pickled_model_goes_on() -> None:
    X, _ = data()
    whole, resumed = (estimators.FusedLasso(random_state=0) for _ in range(2))
    for part in chunks(X, X[:, 0]):
        whole.partial_fit(*part)
        resumed = pickle.loads(pickle.dumps(resumed)).partial_fit(*part)
    np.testing.assert_array_equal(whole.coef_, resumed.coef_)


def test_approaches_the_batch_fit() -> None:
    X, y = data(20_000)
    batch = estimators.FusedLogisticRegression(random_state=0).fit(X, y)
    stream = clone(batch)
    for start in range(0, len(y), 500):
        stream.partial_fit(X[start : start + 500], y[start : start + 500], classes=[-1, 1])
    assert stream.score(X, y) > batch.score(X, y) - 0.01
    assert stream.certificate_ is None


def test_goes_on_from_a_fit() -> None:
    X, y = data()
    model = estimators.FusedLogisticRegression(random_state=0).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X[:2], y[:2])
    assert 0.0 < np.abs(model.coef_ - before).max() < np.abs(before).max()


def test_fit_begins_anew() -> None:
    X, y = data()
    model = estimators.FusedLasso(random_state=0)
    fresh = clone(model).fit(X, X[:, 0])
    model.partial_fit(X[:51], X[:51, 1]).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    after = clone(model).fit(X, X[:, 0]).partial_fit(X[:50], y[:50])
    np.testing.assert_array_equal(model.partial_fit(X[:50], y[:50]).coef_, after.coef_)


def test_a_single_row_is_learned_from() -> None:
    X, y = data()
    model = estimators.FusedLogisticRegression(random_state=0).partial_fit(X[:1], y[:1], classes=[-1, 1])
    assert model.coef_.any()


def test_a_class_may_come_late() -> None:
    X, y = data(2000)
    early = np.flatnonzero(y < 0)[:100]
    order = np.concatenate([early, np.setdiff1d(np.arange(2000), early)])
    model = estimators.FusedLogisticRegression(1e-3, 1e-3, random_state=0)
    for part in chunks(X[order], y[order], sizes=(100,) * 20):
        model.partial_fit(*part, classes=[-1, 1])
    assert model.score(X, y) > 0.98 * estimators.FusedLogisticRegression(1e-3, 1e-3).fit(X, y).score(X, y)


def test_a_first_call_that_fails_leaves_nothing_behind() -> None:
    X, y = data()
    model = estimators.FusedLogisticRegression(random_state=0)
    with pytest.raises(InputError, match="label"):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.partial_fit(X, y, classes=[-1, 1]).classes_.tolist() == [-1, 1]


def test_several_classes() -> None:
    X, _ = data(600)
    thirds = np.digitize(X @ np.arange(12), [-10.0, 10.0])
    model = estimators.FusedLogisticRegression(1e-4, 1e-4, random_state=0)
    for part in chunks(X, thirds, sizes=(300, 300)):
        model.partial_fit(*part, classes=[0, 1, 2])
    assert model.coef_.shape == (3, 12)
    assert model.score(X, thirds) > 0.6


def test_a_changed_weight_counts() -> None:
    X, y = data()
    model = estimators.FusedLasso(random_state=0).partial_fit(X[:100], y[:100])
    same = clone(model).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    model.set_params(lam1=1.0).partial_fit(X[100:], y[100:])
    assert not np.array_equal(model.coef_, same.coef_)


def test_refusals() -> None:
    X, y = data()
    model = estimators.FusedLogisticRegression()
    with pytest.raises(InputError, match="classes is missing"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(InputError, match="must stay the same"):
        model.partial_fit(X, y, classes=[-1, 0, 1])
    with pytest.raises(InputError, match="label 5"):
        model.partial_fit(X, np.full(len(y), 5))
    with pytest.raises(InputError, match="balanced"):
        estimators.FusedLogisticRegression(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
    assert not hasattr(estimators.FusedSVC(), "partial_fit")
    assert not hasattr(estimators.CompositeRegressor(losses.Quantile(0.5)), "partial_fit")


def test_a_single_row_gives_a_whole_model() -> None:
    X, _ = data()
    model = estimators.FusedLasso(random_state=0, warm_start=True).partial_fit(X[:1], X[:1, 0])
    assert model.objective_ <= 0.5 * X[0, 0] ** 2
    assert model.fit(X, X[:, 0]).certificate_.met == "relative gap"


def test_coefficients_shown_are_sparse_and_fused() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 40))
    truth = np.repeat([0.0, 1.0, 0.0, -1.0], 10)
    y = np.sign(X @ truth + rng.logistic(size=4000))
    stream = estimators.FusedLogisticRegression(0.01, 0.02, random_state=0)
    for part in chunks(X, y, sizes=(500,) * 8):
        stream.partial_fit(*part, classes=[-1, 1])
    batch = estimators.FusedLogisticRegression(0.01, 0.02, random_state=0).fit(X, y)
    assert np.count_nonzero(stream.coef_) <= 1.5 * np.count_nonzero(batch.coef_)
    assert np.count_nonzero(np.diff(stream.coef_)) <= 20
    # Only what is shown is so: the averages that the next chunk goes on from are not touched.
    assert np.count_nonzero(stream._learners[0].state.vectors["x_average"]) == 41


def test_chunks_after_a_fit_keep_it_sparse() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 40))
    y = np.sign(X @ np.repeat([0.0, 1.0, 0.0, 0.0], 10) + rng.logistic(size=2000))
    model = estimators.FusedLogisticRegression(0.01, 0.02, random_state=0).fit(X, y)
    before = model.score(X, y)
    model.partial_fit(X[:100], y[:100])
    assert np.count_nonzero(model.coef_) <= 30
    assert model.score(X, y) > before - 0.03
