"""Segments, degrees of freedom, information criteria and refits of the models whose coefficients form pieces."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from spdpeg import (
    FusedLasso,
    FusedLassoCV,
    FusedLogisticRegression,
    FusedSVC,
    GeneralizedLasso,
    GraphGuidedLogisticRegression,
    GraphGuidedRegressor,
    GraphGuidedRegressorCV,
    TotalVariationRegressor,
    TrendFilter,
    load_model,
    path,
    save_model,
)
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.operators.pieces import Segment

TRUTH = np.repeat([0.0, 2.0, -1.0], 4)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 12))
Y = X @ TRUTH + 1.0 + 0.5 * RNG.standard_normal(120)
EXACT: dict[str, Any] = {"tol": 1e-8, "random_state": 0}


@pytest.fixture(scope="module")
def fused() -> FusedLasso:
    return FusedLasso(0.05, 0.1, **EXACT).fit(X, Y)


def test_segments_of_a_line(fused: FusedLasso) -> None:
    coef = fused.coef_
    starts = [0, *(np.flatnonzero(np.diff(coef)) + 1)]
    assert [piece.start for piece in fused.segments_] == starts
    assert all(isinstance(piece, Segment) for piece in fused.segments_)
    for start, stop, value in fused.segments_:
        np.testing.assert_array_equal(coef[start:stop], value)
    assert fused.n_pieces_ == len(starts)
    assert 3 <= fused.n_pieces_ <= 6


def test_degrees_of_freedom_count_pieces_that_are_not_zero(fused: FusedLasso) -> None:
    values = [piece.value for piece in fused.segments_]
    assert fused.df_ == np.count_nonzero(values) + 1


def test_information_criteria_are_those_of_a_gaussian(fused: FusedLasso) -> None:
    residual = Y - fused.predict(X)
    variance = np.mean(residual**2)
    likelihood = -0.5 * len(Y) * (math.log(2.0 * math.pi * variance) + 1.0)
    assert fused.aic_ == pytest.approx(-2.0 * likelihood + 2.0 * fused.df_, rel=1e-9)
    assert fused.bic_ == pytest.approx(-2.0 * likelihood + math.log(len(Y)) * fused.df_, rel=1e-9)


def test_weights_are_copies() -> None:
    copies = np.tile([1, 2], 60)
    weighted = FusedLasso(0.05, 0.1, **EXACT).fit(X, Y, sample_weight=copies)
    copied = FusedLasso(0.05, 0.1, **EXACT).fit(np.repeat(X, copies, axis=0), np.repeat(Y, copies))
    assert weighted.bic_ == pytest.approx(copied.bic_, rel=1e-7)


def test_least_squares_without_penalties() -> None:
    model = FusedLasso(0.0, 0.0, **EXACT).fit(X, Y)
    assert (model.df_, model.n_pieces_) == (13, 12)
    variance = np.mean((Y - LinearRegression().fit(X, Y).predict(X)) ** 2)
    assert model.aic_ == pytest.approx(len(Y) * (math.log(2.0 * math.pi * variance) + 1.0) + 26.0, rel=1e-6)


def test_classes_have_a_list_each_unless_they_are_one_problem() -> None:
    labels = np.digitize(Y, [-2.0, 2.0])
    model = FusedLogisticRegression(0.01, 0.02, **EXACT).fit(X, labels)
    assert len(model.n_pieces_) == len(model.segments_) == len(model.df_) == len(model.bic_) == 3
    joint = FusedLogisticRegression(0.01, 0.02, multi_class="multinomial", **EXACT).fit(X, labels)
    proba = joint.predict_proba(X)[np.arange(len(labels)), labels]
    assert joint.aic_ == pytest.approx(-2.0 * np.log(proba).sum() + 2.0 * sum(joint.df_), rel=1e-6)


def test_two_classes_have_a_binomial_likelihood() -> None:
    labels = Y > 1.0
    model = FusedLogisticRegression(0.01, 0.02, **EXACT).fit(X, labels)
    proba = np.where(labels, *model.predict_proba(X).T[::-1])
    assert model.aic_ == pytest.approx(-2.0 * np.log(proba).sum() + 2.0 * model.df_, rel=1e-6)


def test_regions_of_an_image_and_a_graph() -> None:
    image = TotalVariationRegressor((3, 4), 0.01, 0.1, **EXACT).fit(X, Y)
    edges = [(i, i + 1) for i in range(11)]
    graph = GraphGuidedRegressor(edges, "l1", 0.05, 0.1, **EXACT).fit(X, Y)
    for model in (image, graph):
        assert sorted(np.concatenate([piece.members for piece in model.segments_])) == list(range(12))
        for piece in model.segments_:
            np.testing.assert_allclose(model.coef_[piece.members], piece.value, atol=1e-7)
    line = FusedLasso(0.05, 0.1, **EXACT).fit(X, Y)
    assert (graph.n_pieces_, graph.df_) == (line.n_pieces_, line.df_)
    assert graph.bic_ == pytest.approx(line.bic_, rel=1e-6)


def test_beside_a_ridge_the_hat_matrix_counts() -> None:
    """Without r2 it is that of ridge regression; under a large one that of the sum of all columns."""
    for lam2, columns, pieces in ((0.0, X, 12), (100.0, X.sum(axis=1, keepdims=True), 1)):
        weights = np.tile([1.0, 2.0], 60)
        model = GraphGuidedRegressor("chain", lam1=0.3, lam2=lam2, **EXACT).fit(X, Y, sample_weight=weights)
        rows = np.column_stack([columns, np.ones(120)]) * np.sqrt(weights / weights.sum())[:, None]
        ridge = np.diag([*np.full(pieces, 0.3 * 12 / pieces), 0.0])
        expected = np.trace(np.linalg.solve(rows.T @ rows + ridge, rows.T @ rows))
        assert model.n_pieces_ == pieces
        assert model.df_ == pytest.approx(expected, rel=1e-10)
        variance = np.average((Y - model.predict(X)) ** 2, weights=weights)
        deviance = weights.sum() * (math.log(2.0 * math.pi * variance) + 1.0)
        assert model.aic_ == pytest.approx(deviance + 2.0 * expected, rel=1e-7)


def test_beside_a_ridge_stein_counts_alike() -> None:
    """Noise of both signs, so that the fit's mean does not blur the covariance."""
    rng = np.random.default_rng(2)
    covariances, counts = [], []
    for _ in range(150):
        noise = rng.standard_normal(120)
        both = [GraphGuidedRegressor("chain", lam1=0.3, lam2=0.15).fit(X, X @ TRUTH + s * noise) for s in (1.0, -1.0)]
        covariances.append(0.5 * noise @ (both[0].predict(X) - both[1].predict(X)))
        counts.append(0.5 * sum(model.df_ for model in both))
    error = np.std(covariances) / math.sqrt(len(covariances))
    assert abs(np.mean(covariances) - np.mean(counts)) < 3.0 * error
    assert error < 0.1 * np.mean(counts)


def test_beside_a_ridge_bounds_and_refits_count() -> None:
    bounded = GraphGuidedRegressor("chain", lam1=0.3, lam2=0.01, positive=True, **EXACT).fit(X, Y)
    alive = [piece for piece in bounded.segments_ if piece.value > 0.0]
    rows = np.column_stack([*(X[:, piece.start : piece.stop].sum(axis=1) for piece in alive), np.ones(120)])
    ridge = np.diag([*(0.3 * (piece.stop - piece.start) for piece in alive), 0.0])
    assert len(alive) < bounded.n_pieces_
    assert bounded.df_ == pytest.approx(np.trace(np.linalg.solve(rows.T @ rows / 120 + ridge, rows.T @ rows / 120)))
    refitted = GraphGuidedRegressor("chain", lam1=0.3, lam2=0.1, refit=True, **EXACT).fit(X, Y)
    assert refitted.df_ == refitted.n_pieces_ + 1
    at_bounds = GraphGuidedRegressor("chain", lam1=0.3, lam2=0.1, bounds=(5.0, 6.0), **EXACT).fit(
        X, Y - 50.0 * X.sum(axis=1)
    )
    assert at_bounds.df_ == 1.0


def test_beside_a_ridge_classes_have_a_number_each(tmp_path: Any) -> None:
    labels = np.digitize(Y, [-2.0, 2.0])
    model = GraphGuidedLogisticRegression("chain", **EXACT).fit(X, labels)
    assert len(model.df_) == len(model.bic_) == 3
    for k, df in enumerate(model.df_):
        alone = GraphGuidedLogisticRegression("chain", lam1=model.lam1_, lam2=model.lam2_, **EXACT).fit(X, labels == k)
        assert df == pytest.approx(alone.df_, rel=1e-6)
        assert 1.0 < df < model.n_pieces_[k] + 1
    save_model(model, tmp_path / "model.spdpeg")
    assert load_model(tmp_path / "model.spdpeg").bic_ == model.bic_
    chosen = GraphGuidedRegressorCV("chain", criterion="bic", n_lam1=4, n_lam2=4).fit(X, Y)
    assert chosen.bic_ == pytest.approx(-chosen.mean_scores_.max(), rel=1e-3)


def test_trend_counts_knots() -> None:
    t = np.sort(RNG.uniform(0.0, 10.0, 60))
    y = np.abs(t - 4.0) + 0.05 * RNG.standard_normal(60)
    model = TrendFilter(2, 0.05, **EXACT).fit(t[:, None], y)
    knots = np.count_nonzero(np.abs(model.F_.forward(model.coef_)) > 1e-6)
    assert model.n_pieces_ == knots + 1
    assert model.df_ == knots + 2
    refitted = TrendFilter(2, 0.05, refit=True, **EXACT).fit(t[:, None], y)
    assert refitted.n_pieces_ == model.n_pieces_
    assert np.mean((refitted.predict(t[:, None]) - y) ** 2) < np.mean((model.predict(t[:, None]) - y) ** 2)


def test_refit_is_least_squares_on_the_pieces(fused: FusedLasso) -> None:
    model = FusedLasso(0.05, 0.1, refit=True, **EXACT).fit(X, Y)
    alive = [piece for piece in fused.segments_ if piece.value != 0.0]
    sums = np.column_stack([X[:, piece.start : piece.stop].sum(axis=1) for piece in alive])
    expected = LinearRegression().fit(sums, Y)
    for piece, value in zip(alive, expected.coef_, strict=True):
        np.testing.assert_allclose(model.coef_[piece.start : piece.stop], value, rtol=1e-7)
    assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-6)
    assert model.n_pieces_ == fused.n_pieces_
    assert model.aic_ < fused.aic_


def test_a_criterion_joins_staircases() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat([0.0, 2.0, 0.0], 20)
    rows = rng.standard_normal((300, 60))
    y = rows @ truth + rng.standard_normal(300)
    stairs = FusedLasso(0.0, 0.02, refit=True, **EXACT).fit(rows, y)
    pruned = FusedLasso(0.0, 0.02, refit="bic", **EXACT).fit(rows, y)
    assert pruned.n_pieces_ < stairs.n_pieces_
    assert pruned.n_pieces_ <= 5
    assert pruned.bic_ < stairs.bic_
    assert np.linalg.norm(pruned.coef_ - truth) < np.linalg.norm(stairs.coef_ - truth)


def test_refit_of_classes_is_unpenalised() -> None:
    labels = np.where(Y + RNG.standard_normal(120) > 1.0, "b", "a")
    model = FusedLogisticRegression(0.02, 0.05, refit=True, **EXACT).fit(X, labels)
    alive = [piece for piece in model.segments_ if piece.value != 0.0]
    sums = np.column_stack([X[:, piece.start : piece.stop].sum(axis=1) for piece in alive])
    expected = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(sums, labels)
    np.testing.assert_allclose([piece.value for piece in alive], expected.coef_[0], rtol=1e-4)


def test_a_saved_model_knows_its_pieces(fused: FusedLasso, tmp_path: Any) -> None:
    save_model(fused, tmp_path / "model.spdpeg")
    loaded = load_model(tmp_path / "model.spdpeg")
    assert loaded.segments_ == fused.segments_
    assert loaded.bic_ == fused.bic_


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(NotFittedError):
        _ = FusedLasso().n_pieces_
    with pytest.raises(UnsupportedError, match="likelihood"):
        _ = FusedSVC(0.02, 0.03).fit(X, Y > 1.0).aic_
    with pytest.raises(UnsupportedError, match="smooth"):
        _ = GraphGuidedRegressor("chain", family="quantile").fit(X, Y).df_
    with pytest.raises(UnsupportedError, match="ridge"):
        _ = GraphGuidedRegressor("chain").partial_fit(X, Y).df_
    with pytest.raises(UnsupportedError, match="no pieces"):
        _ = GeneralizedLasso(np.diff(np.eye(12), 2, axis=0)).fit(X, Y).n_pieces_
    with pytest.raises(UnsupportedError, match="partial_fit"):
        _ = FusedLasso().partial_fit(X, Y).bic_
    with pytest.raises(InputError, match="refit"):
        FusedLasso(refit="cp").fit(X, Y)
    with pytest.raises(UnsupportedError, match="least squares"):
        FusedLogisticRegression(refit="bic").fit(X, Y > 1.0)


def test_a_point_of_a_path_counts_its_own_pieces() -> None:
    found = path(FusedLasso(**EXACT), X, Y, lam1=[0.05], lam2=[0.5, 0.1])
    alone = FusedLasso(0.05, 0.5, **EXACT).fit(X, Y)
    assert found.at(0, 0).n_pieces_ == alone.n_pieces_ < found.at(0, 1).n_pieces_


def test_weights_that_are_chosen_count_as_those_that_are_given() -> None:
    chosen = FusedLassoCV(lam1=[0.05], lam2=[0.1], cv=2, **EXACT).fit(X, Y)
    given = FusedLasso(0.05, 0.1, **EXACT).fit(X, Y)
    assert (chosen.df_, chosen.n_pieces_) == (given.df_, given.n_pieces_)
    auto = FusedLasso("auto", "auto", **EXACT).fit(X, Y)
    assert auto.df_ == np.count_nonzero([piece.value for piece in auto.segments_]) + 1
