"""Data as they come: shipped sets out of the box, and inputs that break other packages."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from spdpeg import Problem, estimators, files, losses, operators, penalties
from spdpeg.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 7))
Y = X[:, 0] + 0.1 * RNG.standard_normal(50)


def test_breast_cancer_as_it_comes() -> None:
    """Warnings are errors here: the raw columns span five orders of magnitude and the fit must still converge."""
    rows, y = load_breast_cancer(return_X_y=True)
    assert estimators.FusedLogisticRegression(random_state=0).fit(rows, y).score(rows, y) > 0.94


def test_digits_as_images() -> None:
    rows, y = load_digits(return_X_y=True)
    model = estimators.TotalVariationClassifier(shape=(8, 8), random_state=0).fit(rows, y > 4)
    assert model.score(rows, y > 4) > 0.88


@pytest.mark.skipif("SPDPEG_DATA_DIR" not in os.environ, reason="SPDPEG_DATA_DIR names no directory with a9a.xz")
def test_a9a() -> None:
    directory = Path(os.environ["SPDPEG_DATA_DIR"])
    model = estimators.FusedLogisticRegression(random_state=0).fit(*files.read(directory / "a9a.xz"))
    assert model.score(*files.read(directory / "a9a.t.xz", n_features=123)) > 0.82


def test_diabetes() -> None:
    rows, y = load_diabetes(return_X_y=True)
    assert estimators.FusedLasso(random_state=0).fit(rows, y).score(rows, y) > 0.5


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array])
def test_sparse_formats(kind: Any) -> None:
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = estimators.FusedLasso(random_state=0, tol=1e-8).fit(thin, Y)
    sparse = estimators.FusedLasso(random_state=0, tol=1e-8).fit(kind(thin), Y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(kind(thin)), dense.predict(thin), atol=1e-6)


def test_long_indices() -> None:
    long = sp.csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    model = estimators.FusedLasso(random_state=0).fit(long, Y)
    np.testing.assert_array_equal(model.coef_, estimators.FusedLasso(random_state=0).fit(sp.csr_array(X), Y).coef_)


def test_read_only_and_memory_mapped(tmp_path: Any) -> None:
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frozen = X.copy()
    frozen.flags.writeable = False
    model = estimators.FusedLasso(random_state=0, tol=1e-8).fit(X, Y)
    for rows in (mapped, frozen):
        again = estimators.FusedLasso(random_state=0, tol=1e-8).fit(rows, Y)
        np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-6)


def test_wide_data() -> None:
    wide = RNG.standard_normal((20, 300))
    model = estimators.FusedLasso(0.1, 0.1, random_state=0).fit(wide, wide[:, :3].sum(axis=1))
    assert 0 < np.count_nonzero(np.abs(model.coef_) > 1e-6) < 150


def test_constant_columns_and_features_of_no_use() -> None:
    padded = np.column_stack([X, np.full(50, 3.0), np.zeros(50)])
    model = estimators.FusedLasso(0.01, 0.0, random_state=0, tol=1e-8).fit(padded, Y)
    np.testing.assert_allclose(model.coef_[-2:], 0.0, atol=1e-9)
    guided = estimators.GraphGuidedRegressor("sics", random_state=0).fit(padded, Y)
    assert not np.isin(guided.F_.edges, [7, 8]).any()


def test_a_constant_target() -> None:
    model = estimators.FusedLasso(random_state=0).fit(X, np.full(50, 5.0))
    np.testing.assert_allclose(model.predict(X), 5.0, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (np.where(X > 2.0, np.nan, X), Y > 0, "NaN"),
        (np.where(X > 2.0, np.inf, X), Y > 0, "infinity"),
        (X, np.ones(50), "one class only, 1.0"),
        (X, Y, "Unknown label type"),
        (X[:0], Y[:0] > 0, "0 sample"),
        (X[:, :0], Y > 0, "0 feature"),
        (X, Y[:-1] > 0, "inconsistent numbers of samples"),
    ],
)
def test_unusable_data(rows: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimators.FusedLogisticRegression().fit(rows, y)


def test_one_class_after_weights() -> None:
    with pytest.raises(InputError, match="rows of weight 0 do not count"):
        estimators.FusedLogisticRegression().fit(X, Y > 0, sample_weight=(Y > 0).astype(float))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_single_precision_stays(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)).astype(np.float32)
    y = X[:, 0] + X[:, 1]
    regressor = estimators.FusedLasso(random_state=0).fit(kind(X), y)
    classifier = estimators.FusedLogisticRegression(random_state=0).fit(kind(X), y > 0.0)
    assert regressor.coef_.dtype == regressor.predict(kind(X)).dtype == np.float32
    assert classifier.coef_.dtype == classifier.decision_function(kind(X)).dtype == np.float32
    double = estimators.FusedLasso(random_state=0).fit(kind(X.astype(float)), y)
    assert double.coef_.dtype == np.float64
    np.testing.assert_allclose(regressor.coef_, double.coef_, rtol=1e-5, atol=1e-6)
    assert regressor.n_pieces_ == double.n_pieces_


@pytest.mark.parametrize("fit_intercept", [False, True], ids=["bare", "intercept"])
def test_objective_of_rounded_coefficients(fit_intercept: bool) -> None:
    """What is told of a fit in single precision is true of the numbers that it leaves."""
    rng = np.random.default_rng(1)
    X = (100.0 * rng.standard_normal((40, 5))).astype(np.float32)
    y = X[:, 0] / 3.0 + 1e-3 * rng.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the solver has met its tolerance, whatever rounding does after it
        model = estimators.FusedLasso(1e-3, 1e-3, fit_intercept=fit_intercept, tol=1e-9).fit(X, y)
    r1, r2 = penalties.L1(1e-3), penalties.L1(1e-3)
    terms = {"r1": r1, "r2": r2, "F": operators.FirstDifference()}
    problem = Problem(X, y, losses.Squared(), **terms, intercept=fit_intercept)
    value = problem.objective(problem.join(model.coef_, float(np.ravel(model.intercept_)[0])))
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-12)
    assert model.certificate_.dual <= value


def test_objective_of_rounded_coefficients_of_joint_fits() -> None:
    """The same where all classes or outputs are one problem; formulas written out here."""
    rng = np.random.default_rng(2)
    X = (100.0 * rng.standard_normal((60, 4))).astype(np.float32)
    Y = X @ rng.standard_normal((4, 3)) / 3.0 + 1e-3 * rng.standard_normal((60, 3))

    model = estimators.FusedLasso(1e-3, 1e-3, coupled=True, tol=1e-9).fit(X, Y)
    left = X.astype(float) @ model.coef_.T.astype(float) + model.intercept_ - Y
    lengths = np.linalg.norm(model.coef_, axis=0).sum() + np.linalg.norm(np.diff(model.coef_), axis=0).sum()
    value = 0.5 * np.mean(np.sum(left**2, axis=1)) + 1e-3 * float(lengths)
    assert model.coef_.dtype == np.float32
    assert model.objective_ == model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.gap > 0.0

    codes = np.argmax(Y, axis=1)
    classes = estimators.FusedLogisticRegression(1e-2, 1e-2, multi_class="multinomial", tol=1e-6).fit(X, codes)
    margins = X.astype(float) @ classes.coef_.T.astype(float) + classes.intercept_
    loss = np.mean(logsumexp(margins, axis=1) - margins[np.arange(60), codes])
    value = loss + 1e-2 * float(np.abs(classes.coef_).sum() + np.abs(np.diff(classes.coef_)).sum())
    assert classes.coef_.dtype == np.float32
    assert classes.objective_ == classes.certificate_.primal == pytest.approx(value, rel=1e-6)


def test_sets_that_contradict_each_other_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    model = estimators.CompositeRegressor(r1=penalties.Box(2.0, 3.0), r2=penalties.Box(-1.0, 1.0))
    with pytest.raises(InputError, match="contradict each other"):
        model.fit(X, X[:, 0])


def test_columns_out_of_order() -> None:
    """Each row of a CSR matrix backwards: SciPy would sort it where it is, which is the user's memory."""
    thin = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    order = np.concatenate([np.arange(*ends)[::-1] for ends in zip(thin.indptr[:-1], thin.indptr[1:], strict=True)])
    backwards = sp.csr_array((thin.data[order], thin.indices[order], thin.indptr), shape=thin.shape)
    given = backwards.indices.copy()
    for model in (estimators.FusedLasso(), estimators.FusedLasso(family="huber"), estimators.FusedLassoCV(cv=3)):
        np.testing.assert_allclose(model.fit(backwards, Y).coef_, model.fit(thin, Y).coef_, atol=1e-9)
    np.testing.assert_array_equal(backwards.indices, given)
