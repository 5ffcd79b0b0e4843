"""Families of regressors: least squares, counts, positive numbers, robust fits, quantiles; offsets and exposures."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, r2_score

from spdpeg import losses, operators
from spdpeg.errors import InputError
from spdpeg.estimators import (
    CompositeRegressor,
    FusedLasso,
    FusedLassoCV,
    GeneralizedLasso,
    GraphGuidedRegressor,
    LowRankRegressor,
    TotalVariationRegressor,
    TrendFilter,
)
from spdpeg.paths import lam_max, path

N = 80
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 6))
EXPOSURE = RNG.uniform(0.5, 4.0, N)
COUNTS = RNG.poisson(EXPOSURE * np.exp(X @ [0.4, 0.4, 0.0, 0.0, -0.3, -0.3] + 0.5))
SIZES = RNG.gamma(3.0, np.exp(X[:, 0]) / 3.0)
FREE: dict[str, Any] = {"lam1": 0.0, "lam2": 0.0, "tol": 1e-12}


@pytest.mark.parametrize(
    ("family", "peer", "y"), [("poisson", PoissonRegressor, COUNTS), ("gamma", GammaRegressor, SIZES)]
)
def test_unpenalised_as_scikit_learn(family: str, peer: Any, y: np.ndarray) -> None:
    model = FusedLasso(family=family, **FREE).fit(X, y)
    theirs = peer(alpha=0.0, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-6)
    assert model.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-8)


def test_exposure_is_a_weight_on_rates() -> None:
    model = FusedLasso(family="poisson", **FREE).fit(X, COUNTS, exposure=EXPOSURE)
    theirs = PoissonRegressor(alpha=0.0, solver="newton-cholesky", tol=1e-10)
    theirs.fit(X, COUNTS / EXPOSURE, sample_weight=EXPOSURE)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-6)  # of exposure 1
    np.testing.assert_allclose(model.predict(X, exposure=EXPOSURE), EXPOSURE * theirs.predict(X), rtol=1e-6)
    deviance = d2_tweedie_score(COUNTS, model.predict(X, exposure=EXPOSURE), power=1)
    assert model.score(X, COUNTS, exposure=EXPOSURE) == pytest.approx(deviance)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma", "huber", "quantile"])
def test_an_offset_is_a_column_with_coefficient_one(family: str) -> None:
    """A fit to the offset alone leaves coefficients of 0, where the data are made of it."""
    offset = np.linspace(-1.0, 1.0, N)
    y = np.exp(0.5 + offset) if family in ("poisson", "gamma") else 0.5 + offset
    model = FusedLasso(0.01, 0.01, family=family, tol=1e-10).fit(X, y, offset=offset)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)
    assert model.intercept_ == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(model.predict(X, offset=offset), y, rtol=1e-5)


def test_offsets_follow_their_rows() -> None:
    """Rows of weight 0 take their offsets with them."""
    weights = (np.arange(N) % 3 > 0).astype(float)
    offset, kept = np.log(EXPOSURE), np.arange(N) % 3 > 0
    model = FusedLasso(0.05, 0.05, family="poisson", tol=1e-10)
    dropped = clone(model).fit(X[kept], COUNTS[kept], offset=offset[kept])
    weighted = model.fit(X, COUNTS, weights, offset=offset)
    np.testing.assert_allclose(weighted.coef_, dropped.coef_, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        GraphGuidedRegressor("chain", "ridge", 0.05, 0.05),
        GeneralizedLasso(operators.Difference(2), 0.05, 0.05),
        TotalVariationRegressor((2, 3), 0.05, 0.05),
        LowRankRegressor((2, 3), 0.05, 0.05),
        TrendFilter(2, 0.05),
    ],
    ids=lambda model: type(model).__name__,
)
def test_all_regressors_count(model: Any) -> None:
    model.set_params(family="poisson").fit(X, COUNTS, exposure=EXPOSURE)
    assert model.certificate_.met is not None
    assert 0.3 < model.score(X, COUNTS, exposure=EXPOSURE) < 1.0
    assert np.all(model.predict(X) > 0.0)


def test_losses_by_composition() -> None:
    named = FusedLasso(0.0, 0.0, family="gamma", tol=1e-10).fit(X, SIZES)
    composed = CompositeRegressor(losses.Gamma(), tol=1e-10).fit(X, SIZES)
    np.testing.assert_allclose(named.predict(X), composed.predict(X), rtol=1e-6)


def test_parameters_of_a_family() -> None:
    y = X[:, 0] + RNG.standard_normal(N)
    model = FusedLasso(0.0, 0.0, family=losses.Quantile(0.9)).fit(X, y)
    assert 0.8 < np.mean(y < model.predict(X)) < 0.98
    assert model.score(X, y) == pytest.approx(d2_pinball_score(y, model.predict(X), alpha=0.9))
    robust = clone(model).set_params(family=losses.Huber()).set_params(family__delta=0.5).fit(X, y)
    assert robust.family.delta == 0.5
    assert robust.score(X, y) == pytest.approx(r2_score(y, robust.predict(X)))


def test_counts_along_a_line() -> None:
    t = np.arange(60.0)
    rate = 2.0 + np.abs(t - 25.0) / 12.0
    y = np.random.default_rng(2).poisson(np.exp(rate))
    model = TrendFilter(2, lam2=3.0, family="poisson").fit(t[:, None], y)
    assert float(np.abs(np.log(model.predict(t[:, None])) - rate).max()) < 0.35


def test_weights_are_chosen_with_offsets() -> None:
    offset = np.log(EXPOSURE)
    model = FusedLassoCV(n_lam1=3, n_lam2=3, cv=3, family="poisson").fit(X, COUNTS, exposure=EXPOSURE)
    fit = FusedLasso(model.lam1_, model.lam2_, family="poisson").fit(X, COUNTS, offset=offset)
    np.testing.assert_allclose(model.coef_, fit.coef_, atol=1e-3)
    found = path(FusedLasso(family="poisson"), X, COUNTS, n_lam1=3, n_lam2=2, offset=offset)
    assert found.nonzero[0].max() == 0
    lam1, lam2 = lam_max(FusedLasso(family="poisson"), X, COUNTS, offset=offset)
    at, below = (
        FusedLasso(s * lam1, s * lam2, family="poisson").fit(X, COUNTS, offset=offset).coef_ for s in (1.001, 0.99)
    )
    assert not at.any()
    assert below.any()
    with pytest.raises(InputError, match="scorers take no offset"):
        FusedLassoCV(n_lam1=2, n_lam2=2, scoring="r2").fit(X, COUNTS, offset=offset)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"offset": np.zeros(3)}, "offset has shape"),
        ({"exposure": np.ones(N)}, "predicts numbers, not rates"),
        ({"offset": np.full(N, np.nan)}, "offset has shape .* or holds NaN"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FusedLasso().fit(X, COUNTS, **arguments)


def test_wrong_families_and_exposures_are_refused() -> None:
    with pytest.raises(InputError, match="family of FusedLasso is 'binomial'"):
        FusedLasso(family="binomial").fit(X, COUNTS)
    with pytest.raises(InputError, match="family of FusedLasso is Logistic"):
        FusedLasso(family=losses.Logistic()).fit(X, COUNTS)
    with pytest.raises(InputError, match="exposure holds entries"):
        FusedLasso(family="poisson").fit(X, COUNTS, exposure=np.zeros(N))
    with pytest.raises(InputError, match="y holds -1 and Poisson takes"):
        FusedLasso(family="poisson").fit(X, COUNTS - COUNTS.min() - 1)
    assert not hasattr(FusedLasso(family="poisson"), "partial_fit")
