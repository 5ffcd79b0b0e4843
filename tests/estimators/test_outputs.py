"""Several outputs: each as if it were alone, or coupled by the lengths of what they have in common."""

import warnings
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import d2_tweedie_score, r2_score

from spdpeg import estimators, load_model, path, save_model
from spdpeg.errors import UnsupportedError
from spdpeg.estimators import (
    FusedLasso,
    FusedLassoCV,
    GraphGuidedRegressor,
    GroupLasso,
    TotalVariationRegressor,
    TrendFilter,
)

cp: Any = cvxpy
N, D, K = 50, 6, 3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
LEVELS = np.zeros((K, D))
LEVELS[:, 2:5] = RNG.standard_normal((K, 1))
Y = X @ LEVELS.T + 0.3 * RNG.standard_normal((N, K)) + [1.0, 2.0, 3.0]
COUNTS = RNG.poisson(np.exp(0.3 * X @ LEVELS.T + 0.5)).astype(float)
WEIGHTS = np.where(np.arange(N) % 7 == 0, 0.0, RNG.uniform(0.5, 2.0, N))
TIMES = RNG.uniform(0.5, 2.0, (N, K))


@pytest.mark.parametrize(
    "name", [name for name in estimators.__all__ if hasattr(getattr(estimators, name)(), "family")]
)
def test_each_output_is_fitted_as_if_alone(name: str) -> None:
    def made() -> Any:
        given = {"shape": (2, 3)} if name.startswith("LowRank") else {}
        chosen = {"n_lam2": 2, "cv": 2, **({} if name in ("TrendFilterCV", "GroupLassoCV") else {"lam1": [0.01]})}
        return getattr(estimators, name)(**given, **(chosen if name.endswith("CV") else {}))

    model = made()
    if name.endswith("CV"):  # one choice for all outputs
        assert model.fit(X, Y).coef_.shape == (K, D)
        return
    model.fit(X, Y, WEIGHTS)
    alone = [made().fit(X, column, WEIGHTS) for column in Y.T]
    if isinstance(model.lam2, str):  # the largest weight of all outputs, so that these are not the same problems
        given = {weight: getattr(model, f"{weight}_") for weight in ("lam1", "lam2") if hasattr(model, f"{weight}_")}
        alone = [made().set_params(**given).fit(X, column, WEIGHTS) for column in Y.T]
    np.testing.assert_array_equal(model.coef_, [one.coef_ for one in alone])
    np.testing.assert_array_equal(model.intercept_, [one.intercept_ for one in alone])
    np.testing.assert_allclose(model.predict(X), np.column_stack([one.predict(X) for one in alone]), rtol=1e-12)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))
    if isinstance(model, FusedLasso | TrendFilter | TotalVariationRegressor):
        assert model.n_pieces_ == [one.n_pieces_ for one in alone]
        assert model.df_ == [one.df_ for one in alone]
        assert model.bic_ == pytest.approx([one.bic_ for one in alone])


@pytest.mark.parametrize("refit", [True, "bic"])
def test_refit_and_offsets_by_output(refit: Any) -> None:
    model = FusedLasso(0.05, 0.1, refit=refit).fit(X, Y, WEIGHTS, offset=TIMES)
    for k in range(K):
        alone = FusedLasso(0.05, 0.1, refit=refit).fit(X, Y[:, k] - TIMES[:, k], WEIGHTS)
        np.testing.assert_allclose(model.coef_[k], alone.coef_, atol=1e-7)
        assert model.n_pieces_[k] == alone.n_pieces_


def test_exposures_by_output() -> None:
    model = FusedLasso(0.02, 0.02, family="poisson").fit(X, COUNTS, exposure=TIMES)
    shared = FusedLasso(0.02, 0.02, family="poisson").fit(X, COUNTS, exposure=TIMES[:, 0])
    for k in range(K):
        alone = FusedLasso(0.02, 0.02, family="poisson").fit(X, COUNTS[:, k], exposure=TIMES[:, k])
        np.testing.assert_array_equal(model.coef_[k], alone.coef_)
    mean = model.predict(X, exposure=TIMES)
    explained = [d2_tweedie_score(COUNTS[:, k], mean[:, k], power=1) for k in range(K)]
    assert model.score(X, COUNTS, exposure=TIMES) == pytest.approx(np.mean(explained))
    np.testing.assert_allclose(shared.predict(X, exposure=TIMES[:, 0]), TIMES[:, :1] * shared.predict(X))


LOSSES: dict[str, Any] = {
    "gaussian": lambda margins: cp.square(margins - Y) / 2,
    "huber": lambda margins: cp.huber(margins - Y, 1.0) / 2,
    "quantile": lambda margins: cp.abs(margins - Y) / 2,
    "poisson": lambda margins: cp.exp(margins) - cp.multiply(COUNTS, margins),
}


@pytest.mark.parametrize("family", LOSSES)
def test_coupled_outputs_against_a_conic_solver(family: str) -> None:
    lam1, lam2 = 0.05, 0.1
    y = COUNTS if family == "poisson" else Y
    model = FusedLasso(lam1, lam2, tol=1e-7, family=family, coupled=True).fit(X, y, WEIGHTS)
    x, c = cp.Variable((K, D)), cp.Variable((1, K))
    shares = np.repeat((WEIGHTS / WEIGHTS.sum())[:, None], K, axis=1)
    loss = cp.sum(cp.multiply(shares, LOSSES[family](X @ x.T + np.ones((N, 1)) @ c)))
    jumps = cp.sum(cp.norm(x[:, 1:] - x[:, :-1], axis=0))
    problem = cp.Problem(cp.Minimize(loss + lam1 * cp.sum(cp.norm(x, axis=0)) + lam2 * jumps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.coef_, x.value, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, c.value.ravel(), atol=1e-4)
    if family != "poisson":  # whose deviance has a constant of its own
        assert model.objective_ == pytest.approx(problem.value, rel=1e-6)
        assert model.certificate_.dual <= problem.value * (1.0 + 1e-7)
    assert model.certificate_.rel_gap <= 1e-6
    assert len(set(model.n_pieces_)) == 1
    starts = [[piece.start for piece in pieces] for pieces in model.segments_]
    assert starts[0] == starts[1] == starts[2]


def test_features_of_their_own_are_the_multi_task_lasso() -> None:
    ours = GroupLasso(lam2=0.1, tol=1e-10, coupled=True).fit(X, Y)
    theirs = MultiTaskLasso(alpha=0.1, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    assert np.all(ours.coef_.any(axis=0) == ours.coef_.all(axis=0))


def test_one_output_is_not_coupled() -> None:
    np.testing.assert_array_equal(
        FusedLasso(0.05, 0.1, coupled=True).fit(X, Y[:, 0]).coef_, FusedLasso(0.05, 0.1).fit(X, Y[:, 0]).coef_
    )


def test_curves_share_their_knots() -> None:
    t = np.arange(60.0)
    curves = np.column_stack([np.abs(t - 20.0), -2.0 * np.abs(t - 20.0), 0.5 * t]) + 0.3 * RNG.standard_normal((60, 3))
    model = TrendFilter(2, 1.0, coupled=True).fit(t[:, None], curves)
    knots = [[piece.start for piece in pieces] for pieces in model.segments_]
    assert knots[0] == knots[1] == knots[2]
    assert any(abs(knot - 20) <= 2 for knot in knots[0])
    assert model.predict([[3.5], [40.0]]).shape == (2, 3)


def test_paths_and_cross_validation() -> None:
    found = path(FusedLasso(coupled=True), X, Y, n_lam1=4, n_lam2=3)
    assert found.coef.shape == (4, 3, K, D)
    assert found.nonzero[0].max() == 0
    assert found.nonzero[1, -1] > 0
    below = FusedLasso(0.97 * found.lam1[0], 0.0, coupled=True).fit(X, Y)
    assert below.coef_.any()
    model = FusedLassoCV(coupled=True, n_lam1=3, n_lam2=3, cv=3).fit(X, Y)
    alone = FusedLasso(model.lam1_, model.lam2_, coupled=True).fit(X, Y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-3)
    auto = FusedLasso("auto", "auto", coupled=True).fit(X, Y)
    assert auto.score(X, Y) > 0.8


def test_files_pages_and_pictures(tmp_path: Path) -> None:
    model = TotalVariationRegressor((2, 3), 0.01, 0.05, isotropic=True, coupled=True).fit(X, Y)
    save_model(model, tmp_path / "three.model")
    np.testing.assert_array_equal(load_model(tmp_path / "three.model").predict(X), model.predict(X))
    assert model.coef_image_.shape == (K, 2, 3)
    model.report(tmp_path / "fit.html")
    assert "output 2" in (tmp_path / "fit.html").read_text()
    path(FusedLasso(), X, Y, n_lam1=2, n_lam2=2).explore(tmp_path / "path.html")
    assert "output 2" in (tmp_path / "path.html").read_text()
    assert model.plot_coefficients().axes


def test_chunks_of_several_outputs() -> None:
    model = FusedLasso(0.05, 0.1, random_state=0).partial_fit(X, Y)
    alone = FusedLasso(0.05, 0.1, random_state=0).partial_fit(X, Y[:, 1])
    np.testing.assert_array_equal(model.coef_[1], alone.coef_)
    assert not hasattr(FusedLasso(coupled=True), "partial_fit")


def test_what_cannot_be_coupled_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="l1 and group norms"):
        FusedLasso(0.05, 0.1, positive=True, coupled=True).fit(X, Y)
    with pytest.raises(UnsupportedError, match="l1 and group norms"):
        GraphGuidedRegressor("chain", "ridge", 0.05, 0.1, coupled=True).fit(X, Y)
    with pytest.raises(UnsupportedError, match="multi_class and coupled"):
        FusedLasso(0.05, 0.1, refit=True, coupled=True).fit(X, Y)
    with pytest.raises(UnsupportedError, match="degrees of freedom"):
        _ = FusedLasso(0.05, 0.1, coupled=True).fit(X, Y).df_
