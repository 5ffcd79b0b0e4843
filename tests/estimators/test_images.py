"""Masks, isotropic total variation, and bounds on coefficients."""

from typing import Any

import cvxpy
import numpy as np
import pytest

from spdpeg import (
    FusedLasso,
    GeneralizedLasso,
    GraphGuidedRegressor,
    TotalVariationClassifier,
    TotalVariationRegressor,
    TrendFilter,
)
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.operators import GridDifference
from support.models import minimum

cp: Any = cvxpy
RNG = np.random.default_rng(0)
SHAPE = (4, 5)
MASK = np.ones(SHAPE, dtype=bool)
MASK[[0, 0, 3, 2], [0, 4, 1, 2]] = False
GRID = RNG.standard_normal((60, 20))
IMAGE = np.where(np.arange(20).reshape(SHAPE) % 5 < 2, 1.0, -0.5)
Y = GRID @ np.where(MASK, IMAGE, 0.0).ravel() + 0.3 * RNG.standard_normal(60)
INSIDE = GRID[:, MASK.ravel()]
EXACT: dict[str, Any] = {"tol": 1e-9, "random_state": 0}


def test_a_mask_is_a_grid_without_the_edges_that_leave_it() -> None:
    masked = TotalVariationRegressor(lam1=0.02, lam2=0.05, mask=MASK, **EXACT).fit(INSIDE, Y)
    F = GridDifference(SHAPE).matrix()
    inside = F[np.flatnonzero(abs(F) @ (~MASK).ravel().astype(float) == 0.0)]
    full = GeneralizedLasso(inside, 0.02, 0.05, **EXACT).fit(np.where(MASK.ravel(), GRID, 0.0), Y)
    np.testing.assert_allclose(masked.coef_image_.ravel(), full.coef_, atol=1e-6)
    assert masked.coef_image_.shape == SHAPE
    assert np.all(masked.coef_image_[~MASK] == 0.0)
    np.testing.assert_array_equal(masked.coef_image_[MASK], masked.coef_)
    assert masked.n_pieces_ == len(masked.segments_)


def test_a_mask_of_ones_is_no_mask() -> None:
    whole = TotalVariationRegressor(SHAPE, 0.02, 0.05, **EXACT).fit(GRID, Y)
    masked = TotalVariationRegressor(lam1=0.02, lam2=0.05, mask=np.ones(SHAPE, dtype=bool), **EXACT).fit(GRID, Y)
    np.testing.assert_allclose(whole.coef_, masked.coef_, atol=1e-7)


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "mask"])
def test_isotropic_against_a_conic_solver(mask: Any) -> None:
    X = GRID if mask is None else INSIDE
    places = np.ones(SHAPE, dtype=bool) if mask is None else mask
    parameters = {"shape": SHAPE} if mask is None else {"mask": mask}
    model = TotalVariationRegressor(lam1=0.02, lam2=0.05, isotropic=True, **parameters, **EXACT).fit(X, Y)
    number = np.cumsum(places).reshape(SHAPE) - 1
    x, c = cp.Variable(X.shape[1]), cp.Variable()
    lengths: Any = 0
    for i, j in np.argwhere(places):
        ahead = [(i + 1, j), (i, j + 1)]
        near = [x[number[k]] - x[number[i, j]] for k in ahead if k[0] < 4 and k[1] < 5 and places[k]]
        lengths += cp.norm2(cp.hstack(near)) if near else 0
    loss = cp.sum_squares(X @ x + c - Y) / (2 * len(Y))
    value = minimum(cp.Problem(cp.Minimize(loss + 0.02 * cp.norm1(x) + 0.05 * lengths)))
    assert model.objective_ == pytest.approx(value, rel=1e-7)


def test_isotropic_degrees_of_freedom_are_those_of_stein() -> None:
    """Noise of both signs, so that the fit's mean does not blur the covariance."""
    rng = np.random.default_rng(3)
    covariances, counts = [], []
    for _ in range(60):
        noise = rng.standard_normal(len(Y))
        both = [TotalVariationRegressor(SHAPE, 0.01, 0.1, isotropic=True).fit(GRID, Y + s * noise) for s in (1.0, -1.0)]
        covariances.append(0.5 * noise @ (both[0].predict(GRID) - both[1].predict(GRID)))
        counts.append(0.5 * sum(model.df_ for model in both))
    error = np.std(covariances) / np.sqrt(len(covariances))
    assert abs(np.mean(covariances) - np.mean(counts)) < 3.0 * error
    assert error < 0.1 * np.mean(counts)
    assert both[0].df_ < both[0].n_pieces_


def test_classes_have_an_image_each() -> None:
    labels = np.digitize(Y, [-1.0, 1.0])
    model = TotalVariationClassifier(lam1=0.02, lam2=0.02, mask=MASK).fit(INSIDE, labels)
    assert model.coef_image_.shape == (3, *SHAPE)


def test_picture_of_a_mask() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = TotalVariationRegressor(lam1=0.02, lam2=0.05, mask=MASK).fit(INSIDE, Y).plot_coefficients()
    assert figure.axes[0].images[0].get_array().shape == SHAPE
    plt.close(figure)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"mask": np.ones((2, 2), dtype=bool)}, "4 places"),
        ({"mask": MASK.astype(int)}, "bools"),
        ({"mask": MASK, "shape": (5, 4)}, "shape"),
        ({"mask": MASK, "isotropic": "yes"}, "isotropic"),
        ({"mask": MASK, "bounds": 3.0}, "bounds"),
        ({"mask": MASK, "positive": "yes"}, "positive"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        TotalVariationRegressor(**parameters).fit(INSIDE, Y)


@pytest.mark.parametrize(
    ("model", "penalty"),
    [
        (FusedLasso(0.02, 0.05, positive=True), lambda x: 0.02 * cp.norm1(x) + 0.05 * cp.norm1(cp.diff(x))),
        (FusedLasso(0.0, 0.05, positive=True), lambda x: 0.05 * cp.norm1(cp.diff(x))),
        (TrendFilter(2, 0.05, positive=True), lambda x: 0.05 * cp.norm1(cp.diff(x, 2))),
        (
            GraphGuidedRegressor("chain", lam1=0.02, lam2=0.05, positive=True),
            lambda x: 0.01 * cp.sum_squares(x) + 0.05 * cp.norm1(cp.diff(x)),
        ),
    ],
    ids=["sparse", "fused", "trend", "ridge"],
)
def test_coefficients_keep_their_signs(model: Any, penalty: Any) -> None:
    model.set_params(**EXACT).fit(GRID, Y)
    x, c = cp.Variable(20), cp.Variable()
    value = minimum(cp.Problem(cp.Minimize(cp.sum_squares(GRID @ x + c - Y) / 120 + penalty(x)), [x >= 0]))
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    assert model.coef_.min() >= -1e-9


def test_bounds_on_both_sides() -> None:
    free = FusedLasso(0.01, 0.02, **EXACT).fit(GRID, Y)
    model = FusedLasso(0.01, 0.02, bounds=(-0.2, 0.5), **EXACT).fit(GRID, Y)
    assert (free.coef_.min(), free.coef_.max()) < (-0.2, 0.6)
    assert -0.2 - 1e-9 <= model.coef_.min() <= model.coef_.max() <= 0.5 + 1e-9
    assert model.df_ < free.df_
    with pytest.raises(UnsupportedError, match="bounds"):
        FusedLasso(0.01, 0.02, bounds=(-0.2, 0.5), refit=True).fit(GRID, Y)
