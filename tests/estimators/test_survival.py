"""Cox regression: forms of y, weights, transformations of time, hazards, concordance, files, choices."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spdpeg import (
    ChoiceWarning,
    FusedCoxRegression,
    FusedCoxRegressionCV,
    InputError,
    UnsupportedError,
    lam_max,
    load_model,
    path,
    save_model,
)
from spdpeg.data import as_source

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0.0, 0.8, 0.0, -0.6], [3, 4, 3, 2])
X = RNG.standard_normal((150, 12))
DIED, LEFT = RNG.exponential(np.exp(-X @ TRUTH)), RNG.exponential(2.0, 150)
TIMES, EVENTS = np.ceil(20.0 * np.minimum(DIED, LEFT)) / 20.0, DIED <= LEFT
Y = np.column_stack([TIMES, EVENTS])
EXACT: dict[str, Any] = {"tol": 1e-10, "random_state": 0}


def fused(**parameters: Any) -> FusedCoxRegression:
    return FusedCoxRegression(**{"lam1": 0.01, "lam2": 0.03, **EXACT, **parameters})


MODEL = fused().fit(X, Y)


def structured(*fields: tuple[str, Any]) -> np.ndarray:
    table = np.empty(len(X), dtype=[(name, values.dtype) for name, values in fields])
    for name, values in fields:
        table[name] = values
    return table


@pytest.mark.parametrize(
    "y",
    [
        Y.tolist(),
        pd.DataFrame({"months": TIMES, "died": EVENTS}),
        structured(("died", EVENTS), ("months", TIMES)),
        structured(("months", TIMES), ("died", EVENTS)),
    ],
    ids=["list", "frame", "events and times", "times and events"],
)
def test_forms_of_y(y: Any) -> None:
    same = fused().fit(X, y)
    np.testing.assert_array_equal(same.coef_, MODEL.coef_)
    assert same.score(X, y) == MODEL.score(X, Y)


def test_times_alone_are_events() -> None:
    np.testing.assert_array_equal(
        fused().fit(X, TIMES).coef_, fused().fit(X, np.column_stack([TIMES, np.ones(150)])).coef_
    )


def test_zeros_and_pieces() -> None:
    model = fused(lam1=0.03, lam2=0.08).fit(X, Y)
    assert model.certificate_.met == "relative gap"
    assert model.n_pieces_ == len(model.segments_)
    assert 3 <= model.n_pieces_ <= 7
    assert np.any(model.coef_ == 0.0)
    for start, stop, value in model.segments_:
        np.testing.assert_array_equal(model.coef_[start:stop], value)
    assert model.df_ == sum(value != 0.0 for _, _, value in model.segments_)
    assert model.intercept_ == 0.0


def test_criteria_count_events() -> None:
    deviance = MODEL.aic_ - 2.0 * MODEL.df_
    penalty = 0.01 * np.abs(MODEL.coef_).sum() + 0.03 * np.abs(np.diff(MODEL.coef_)).sum()
    assert deviance == pytest.approx(2.0 * 150 * (MODEL.objective_ - penalty))
    assert MODEL.bic_ == pytest.approx(deviance + np.log(EVENTS.sum()) * MODEL.df_)


def test_weights_are_repetitions() -> None:
    weights = np.random.default_rng(1).integers(0, 4, 150)
    weighted = fused().fit(sp.csr_array(X), Y, sample_weight=weights)
    repeated = fused().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    assert weighted.bic_ == pytest.approx(repeated.bic_, rel=1e-6)
    np.testing.assert_allclose(weighted.log_hazards_, repeated.log_hazards_, atol=1e-6)
    assert weighted.score(X, Y, weights) == pytest.approx(
        repeated.score(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)), abs=1e-6
    )
    scaled = fused().fit(X, Y, sample_weight=1e-12 * weights)
    assert scaled.objective_ == pytest.approx(weighted.objective_, rel=1e-9)


def test_only_the_order_of_times_counts() -> None:
    other = fused().fit(X, np.column_stack([np.sqrt(TIMES) + 7.0, EVENTS]))
    np.testing.assert_array_equal(other.coef_, MODEL.coef_)
    np.testing.assert_array_equal(other.baseline_hazard_, MODEL.baseline_hazard_)
    np.testing.assert_allclose(other.event_times_, np.sqrt(MODEL.event_times_) + 7.0)


def test_a_shift_of_the_columns_cancels() -> None:
    other = fused().fit(X + 100.0, Y)
    np.testing.assert_allclose(other.coef_, MODEL.coef_, atol=1e-6)
    np.testing.assert_allclose(other.predict_survival(X[:5] + 100.0), MODEL.predict_survival(X[:5]), atol=1e-5)
    far = fused().fit(X + 1e5, Y)  # whose baseline hazard is no number
    np.testing.assert_allclose(far.predict_survival(X[:5] + 1e5), MODEL.predict_survival(X[:5]), atol=1e-4)


def test_baseline_hazard() -> None:
    """Deaths over the sum of relative hazards of those at risk."""
    ratios = np.exp(MODEL.predict(X))
    jumps = [np.sum(EVENTS[t == TIMES]) / np.sum(ratios[t <= TIMES]) for t in MODEL.event_times_]
    np.testing.assert_array_equal(MODEL.event_times_, np.unique(TIMES[EVENTS]))
    np.testing.assert_allclose(MODEL.baseline_hazard_, jumps, rtol=1e-10)
    wanted = [0.0, MODEL.event_times_[3], 0.5 * MODEL.event_times_[3:5].sum(), 1e9]
    expected = [0.0, sum(jumps[:4]), sum(jumps[:4]), sum(jumps)]
    np.testing.assert_allclose(MODEL.predict_survival(X, wanted), np.exp(-ratios[:, None] * expected), rtol=1e-9)
    assert MODEL.predict_survival(X).shape == (150, MODEL.event_times_.size)


def test_without_features_the_hazard_is_nelsons_and_aalens() -> None:
    with pytest.warns(ChoiceWarning, match="All coefficients of FusedCoxRegression are 0"):
        model = fused(lam1=10.0).fit(X, Y)
    at_risk = np.array([np.sum(t <= TIMES) for t in model.event_times_])
    died = np.array([np.sum(EVENTS[t == TIMES]) for t in model.event_times_])
    np.testing.assert_allclose(model.baseline_hazard_, died / at_risk)


def slow_concordance(scores: np.ndarray, times: np.ndarray, events: np.ndarray, weights: np.ndarray) -> float:
    agree = every = 0.0
    for i in range(len(times)):
        for j in range(len(times)):
            later = times[j] > times[i] or (times[j] == times[i] and not events[j])
            if events[i] and later:
                pair = weights[i] * weights[j]
                every += pair
                agree += pair * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
    return agree / every


@pytest.mark.parametrize("seed", range(5))
def test_concordance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    columns = rng.integers(-1, 2, (n, 12))  # so that predictions are tied
    table = np.column_stack([rng.integers(0, 15, n), rng.random(n) < 0.5])
    weights = rng.uniform(0.1, 2.0, n)
    model = fused(lam1=0.05).fit(X, Y)
    expected = slow_concordance(model.predict(columns), *table.T, np.ones(n))
    assert model.score(columns, table) == pytest.approx(expected, rel=1e-12)
    weighted = slow_concordance(model.predict(columns), *table.T, weights)
    assert model.score(columns, table, weights) == pytest.approx(weighted, rel=1e-12)


def test_largest_weights() -> None:
    lam1, lam2 = lam_max(FusedCoxRegression(), X, Y)
    with pytest.warns(ChoiceWarning):
        assert not fused(lam1=1.001 * lam1, lam2=1.001 * lam2).fit(X, Y).coef_.any()
    assert fused(lam1=0.999 * lam1, lam2=0.999 * lam2).fit(X, Y).coef_.any()
    automatic = FusedCoxRegression().fit(X, Y)
    assert 0.0 < automatic.lam1_ < 0.02 * lam_max(FusedCoxRegression(), X, Y, ratio=0.0)[0]


@pytest.mark.parametrize("structure", [[(0, 5, 1.0), (5, 9, 2.0)], (3, 4), "knn"])
def test_structures(structure: Any) -> None:
    model = fused(structure=structure).fit(X, Y)
    assert model.certificate_.rel_gap <= 1e-10
    images = model.F_.forward(model.coef_)
    loss = model.objective_ - 0.01 * np.abs(model.coef_).sum() - 0.03 * np.abs(images).sum()
    assert loss == pytest.approx(model.mean_loss_)


def test_bounds_that_do_not_fit() -> None:
    with pytest.raises(InputError, match=r"lower of Box has shape \(2,\)"):
        FusedCoxRegression(bounds=[[1, 2], [3]]).fit(X, Y)


def test_bounds() -> None:
    model = fused(positive=True).fit(X, Y)
    assert model.coef_.min() == 0.0
    assert model.certificate_.met == "relative gap"
    assert model.objective_ > MODEL.objective_


def test_refit_has_no_shrinkage() -> None:
    penalised = fused(lam1=0.03, lam2=0.08).fit(X, Y)
    model = fused(lam1=0.03, lam2=0.08, refit=True).fit(X, Y)
    assert model.mean_loss_ < penalised.mean_loss_
    pieces = np.column_stack([X[:, a:b].sum(axis=1) for a, b, value in penalised.segments_ if value != 0.0])
    free = FusedCoxRegression(0.0, 0.0, **EXACT).fit(pieces, Y)
    np.testing.assert_allclose(np.unique(model.coef_[model.coef_ != 0.0]), np.unique(free.coef_), atol=1e-6)
    ratios = np.exp(model.predict(X))
    assert model.baseline_hazard_[0] == pytest.approx(EVENTS[model.event_times_[0] == TIMES].sum() / ratios.sum())


def test_single_precision() -> None:
    model = FusedCoxRegression(0.01, 0.03).fit(X.astype(np.float32), Y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, MODEL.coef_, atol=2e-2)


def test_warm_start() -> None:
    model = fused(warm_start=True, tol=1e-6).fit(X, Y)
    assert model.fit(X, Y).n_iter_ == 1


def test_file(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "m")
    same = load_model(tmp_path / "m")
    np.testing.assert_array_equal(same.predict_survival(X, [0.1, 1.0]), MODEL.predict_survival(X, [0.1, 1.0]))
    broken = fused().fit(X, Y)
    broken.log_hazards_ = broken.log_hazards_[:-1]
    save_model(broken, tmp_path / "broken")
    with pytest.raises(InputError, match="log_hazards_"):
        load_model(tmp_path / "broken")


def test_path() -> None:
    found = path(FusedCoxRegression(tol=1e-8), X, Y, n_lam1=3, n_lam2=3)
    assert found.gap.max() <= 1e-8
    assert found.nonzero[0, 0] == 0
    model = found.at(1, 1)
    same = FusedCoxRegression(model.lam1, model.lam2, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-3)
    assert 0.5 < model.score(X, Y) < 1.0
    with pytest.raises(UnsupportedError, match="comes from a path"):
        model.predict_survival(X)


@pytest.mark.parametrize("criterion", ["cv", "aic", "bic"])
def test_weights_are_chosen(criterion: str) -> None:
    model = FusedCoxRegressionCV(n_lam1=3, n_lam2=4, cv=3, criterion=criterion).fit(X, Y)
    assert model.lam2_ in model.lam2_grid_
    assert model.score(X, Y) > 0.75
    assert model.predict_survival(X).shape == (150, model.event_times_.size)


def test_folds_share_the_events() -> None:
    """Rows in the order of their kinds: folds without events would fail."""
    order = np.argsort(EVENTS, kind="stable")
    model = FusedCoxRegressionCV(n_lam1=2, n_lam2=2, cv=4).fit(X[order], Y[order], sample_weight=np.arange(150) % 3)
    assert np.all(np.isfinite(model.scores_))


def test_among_other_tools() -> None:
    pipe = make_pipeline(StandardScaler(), FusedCoxRegression())
    assert cross_val_score(pipe, X, Y, cv=3).mean() > 0.7
    search = GridSearchCV(FusedCoxRegression(lam1=0.01), {"lam2": [0.01, 0.1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.7


def test_report(tmp_path: Path) -> None:
    MODEL.report(tmp_path / "fit.html")
    assert "FusedCoxRegression" in (tmp_path / "fit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.column_stack([TIMES, np.zeros(150)]), "No row of y has an event"),
        (np.column_stack([-TIMES, EVENTS]), "Times in y hold -"),
        (np.column_stack([np.where(TIMES > 1.0, np.nan, TIMES), EVENTS]), "Times in y hold nan"),
        (np.column_stack([EVENTS, TIMES]), "neither 0 nor 1"),
        (np.column_stack([Y, Y]), r"y has shape \(150, 4\)"),
        (
            structured(("months", TIMES), ("died", EVENTS.astype(float))),
            "structured array with the fields months, died",
        ),
        (TIMES.astype(str), "real numbers"),
        (None, "requires y to be passed"),
        (Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_outcomes_that_are_none(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FusedCoxRegression().fit(X, y)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="needs all rows in memory"):
        FusedCoxRegression().fit(as_source(X), Y)
    with pytest.raises(UnsupportedError, match="which is for least squares"):
        fused(refit="bic").fit(X, Y)
    with pytest.raises(InputError, match="No two rows of y can be compared"):
        MODEL.score(X[:2], [[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="X has 3 rows and y 2"):
        MODEL.score(X[:3], Y[:2])
    with pytest.raises(InputError, match="times are no list"):
        MODEL.predict_survival(X, [np.nan])
    with pytest.raises(InputError, match="structure is 'ring'"):
        FusedCoxRegression(structure="ring").fit(X, Y)
    assert not hasattr(FusedCoxRegression(), "partial_fit")
    assert not hasattr(FusedCoxRegression(), "fit_intercept")
