"""Every model has a form that chooses its weights: by folds, by criteria, with warnings where grids end."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

from spdpeg import ChoiceWarning, datasets, estimators
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.paths import lam_max, path

X, CODES, _ = datasets.piecewise_constant(90, 8, seed=1)
_, NUMBERS, _ = datasets.piecewise_constant(90, 8, seed=1, task="regression")
WITHOUT = {"FusedSVC", "CompositeClassifier", "CompositeRegressor"}
"""Whose loss has corners, or whose penalties are the user's own."""
NAMES = [name for name in estimators.__all__ if not name.endswith("CV") and name not in WITHOUT]


def choosing(name: str, **arguments: Any) -> Any:
    known: dict[str, Any] = {"shape": (2, 4), "structure": "chain", "groups": 2}
    cls = getattr(estimators, f"{name}CV")
    names = cls().get_params()
    grids = {"n_lam1": 2, "n_lam2": 3, "cv": 2, "r1": "l1"}
    return cls(**{key: value for key, value in {**known, **grids, **arguments}.items() if key in names})


def outcomes(model: Any) -> np.ndarray:
    """What a model learns: classes, times or numbers."""
    return CODES if is_classifier(model) else np.exp(NUMBERS) if hasattr(model, "predict_survival") else NUMBERS


@pytest.mark.parametrize("name", NAMES)
def test_every_model_chooses(name: str) -> None:
    model = choosing(name)
    y = outcomes(model)
    model.fit(X, y)
    assert model.lam2_ in model.lam2_grid_
    assert model.scores_.shape == (model.lam1_grid_.size, 3, 2)
    plain = getattr(estimators, name)
    given = {**model.get_params(deep=False), "lam1": model.lam1_, "lam2": model.lam2_}
    same = plain(**{key: value for key, value in given.items() if key in plain().get_params()})
    np.testing.assert_allclose(model.coef_, same.fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("name", ["FusedLasso", "TotalVariationClassifier"])
def test_information_criteria_along_a_path(name: str, criterion: str) -> None:
    model = choosing(name, criterion=criterion, tol=1e-9)
    y = outcomes(model)
    model.fit(X, y)
    assert model.scores_.shape == (2, 3, 1)
    assert model.mean_scores_.max() == pytest.approx(-getattr(model, f"{criterion}_"), rel=1e-6)


def test_criteria_where_there_are_none() -> None:
    with pytest.raises(UnsupportedError, match="GroupLasso has no degrees of freedom"):
        choosing("GroupLasso", criterion="bic").fit(X, NUMBERS)
    with pytest.raises(InputError, match="criterion of FusedLassoCV is 'cp'"):
        choosing("FusedLasso", criterion="cp").fit(X, NUMBERS)


def test_a_curve_is_held_out_evenly() -> None:
    """Whole stretches held out would have to be extrapolated."""
    rng = np.random.default_rng(0)
    t = rng.permutation(60).astype(float)
    truth = np.abs(t - 25.0)
    y = truth + rng.standard_normal(60)
    model = estimators.TrendFilterCV(n_lam2=8, eps=1e-4).fit(t[:, None], y)
    assert float(np.abs(model.predict(t[:, None]) - truth).mean()) < 0.6
    assert model.scores_.shape == (1, 8, 5)


def test_the_end_of_a_grid_is_told() -> None:
    with pytest.warns(ChoiceWarning, match=r"The best lam1 of FusedLassoCV, .* is the smallest .*lower eps") as caught:
        estimators.FusedLassoCV(n_lam1=4, lam2=[1e-4], eps=0.5, cv=3).fit(X, NUMBERS)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", ChoiceWarning)
        estimators.FusedLassoCV(lam1=[0.1, 0.01], lam2=[0.1], cv=3).fit(X, NUMBERS)


def test_coefficients_that_are_all_zero_are_told() -> None:
    lam1, lam2 = lam_max(estimators.FusedLasso(), X, NUMBERS, ratio=0.5)
    with pytest.warns(ChoiceWarning, match=rf"All coefficients of FusedLasso are 0: .* from {lam1:.3g} on") as caught:
        estimators.FusedLasso(2 * lam1, 2 * lam2).fit(X, NUMBERS)
    assert caught[0].filename == __file__
    with pytest.warns(ChoiceWarning, match="All coefficients of FusedLasso are 0"):
        estimators.FusedLasso(100.0).fit(X, NUMBERS)  # and lam2 is chosen
    with warnings.catch_warnings():
        warnings.simplefilter("error", ChoiceWarning)
        estimators.FusedLasso(0.5 * lam1, 0.5 * lam2).fit(X, NUMBERS)
        estimators.FusedLasso().fit(X, np.ones(90))  # nothing to be found
        path(estimators.FusedLasso(), X, NUMBERS, n_lam1=2, n_lam2=2)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("Classifier")])
def test_auto_is_a_part_of_the_largest_weights(name: str) -> None:
    cls = getattr(estimators, name)
    known: dict[str, Any] = {
        "shape": (2, 4),
        "structure": "chain",
        "groups": 2,
        "r1": "l1",
        "lam1": "auto",
        "lam2": "auto",
    }
    model = cls(**{key: value for key, value in known.items() if key in cls().get_params()})
    y = outcomes(model)
    model.fit(X, y)
    given = {key: getattr(model, f"{key}_") for key in ("lam1", "lam2") if hasattr(model, f"{key}_")}
    assert all(weight > 0.0 for weight in given.values())
    same = cls(**{**model.get_params(deep=False), **given}).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-8)
    scaled = cls(**model.get_params(deep=False)).fit(X, y) if is_classifier(model) else model.fit(X, 10.0 * y)
    without_unit = is_classifier(model) or hasattr(model, "predict_survival")
    assert scaled.lam2_ == pytest.approx((1.0 if without_unit else 10.0) * given["lam2"])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_auto_looks_at_the_units_of_the_columns(kind: Any) -> None:
    """A column of far larger numbers than the others does not raise the weights; zeros say nothing about units."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((200, 9)) * (rng.random((200, 9)) < 0.7)
    y = rows[:, 0] - rows[:, 3] + 0.1 * rng.standard_normal(200)
    mixed = kind(rows * np.where(np.arange(9) == 3, 1e4, 1.0))
    for model in (estimators.FusedLasso(), estimators.GraphGuidedRegressor("chain")):  # an l1 norm, and a ridge
        weight = model.fit(kind(rows), y).lam1_
        assert 0.1 * weight < model.fit(mixed, y).lam1_ < 10.0 * weight
        assert model.score(mixed, y) > 0.95


def test_on_a_stream_auto_is_a_number() -> None:
    """No chunk knows the largest weights of all rows, and chunks must not matter."""
    streamed, given = (
        estimators.FusedLasso(*weights, random_state=0).partial_fit(X, NUMBERS) for weights in ((), (0.01, 0.01))
    )
    np.testing.assert_array_equal(streamed.coef_, given.coef_)


def test_auto_is_the_only_word() -> None:
    with pytest.raises(
        InputError,
        match=r"lam1 of FusedLasso is 'large'\. Give a finite number of at least 0, one for each entry, or 'auto'",
    ):
        estimators.FusedLasso(lam1="large").fit(X, NUMBERS)
    model = estimators.FusedLasso("auto", 0.1).fit(X, NUMBERS)
    assert model.set_params(lam1=0.1).fit(X, NUMBERS).lam1 == 0.1
    assert not hasattr(model, "lam1_")


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("limits", [{"positive": True}, {"bounds": (-np.inf, 0.0)}, {"bounds": (-0.1, 2.0)}], ids=str)
def test_weights_of_bounded_models(limits: dict[str, Any], sign: float) -> None:
    """Only what the bounds let the coefficients follow counts; wide bounds change nothing."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 6))
    y = sign * (X[:, 0] + 0.8 * X[:, 1]) + 0.1 * rng.standard_normal(80)
    down = X.T @ (y - y.mean()) / 80 - X.mean(axis=0) * np.mean(y - y.mean())
    down = np.maximum(down, 0.0) if "positive" in limits else down
    down = np.minimum(down, 0.0) if limits.get("bounds") == (-np.inf, 0.0) else down
    model = estimators.FusedLasso(**limits).fit(X, y)
    units = np.sqrt(np.mean(X**2, axis=0))
    ratio = min(1.0, np.median(units) * np.max(np.abs(down) / units) / np.abs(down).max())
    assert model.lam1_ == pytest.approx(0.01 * ratio * np.abs(down).max(), rel=1e-6)
    chosen = estimators.FusedLassoCV(**limits, n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    assert chosen.lam1_grid_[0] == pytest.approx(np.abs(down).max(), rel=1e-6)
