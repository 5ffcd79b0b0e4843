"""Choosing lam2, and degrees of freedom against Stein's identity."""

import numpy as np
import pytest

import spdpeg
from spdpeg.signals import choose, solution

TRUTH = np.repeat([0.0, 2.0, -1.0, 0.5], 25)


def noisy(sigma: float = 0.3, seed: int = 0) -> np.ndarray:
    return TRUTH + sigma * np.random.default_rng(seed).standard_normal(TRUTH.size)


@pytest.mark.parametrize("criterion", ["cv", "sure", "bic"])
def test_a_chosen_weight_is_near_the_best(criterion: str) -> None:
    truth = np.repeat(TRUTH, 8)
    y = truth + 0.3 * np.random.default_rng(0).standard_normal(truth.size)
    found = spdpeg.denoise(y, criterion)
    assert found.choice is not None
    errors = [np.mean((spdpeg.denoise(y, lam2).x - truth) ** 2) for lam2 in found.choice.weights]
    assert np.mean((found.x - truth) ** 2) < 2.0 * min(errors)
    assert found.lam2 == found.choice.best == found.choice.weights[np.argmin(found.choice.scores)]


def test_the_path_begins_at_one_piece() -> None:
    found = spdpeg.denoise(noisy(), "bic")
    assert found.choice is not None
    top = found.choice.weights[0]
    assert spdpeg.denoise(noisy(), 1.000001 * top).n_pieces == 1
    assert spdpeg.denoise(noisy(), 0.99 * top).n_pieces > 1


def test_folds_are_interleaved() -> None:
    """Held out by hand: every fifth value that is there, predicted by the middle of its neighbours."""
    y = noisy()
    y[[3, 4, 50]] = np.nan
    found = spdpeg.denoise(y, "cv")
    assert found.choice is not None
    seen = np.flatnonzero(~np.isnan(y))
    k, total = 30, 0.0
    for fold in range(5):
        out = seen[fold::5]
        rest = y.copy()
        rest[out] = np.nan
        x = spdpeg.denoise(rest, found.choice.weights[k]).x
        kept = np.flatnonzero(~np.isnan(rest))
        for i in out:
            left, right = kept[kept < i], kept[kept > i]
            ends = [side for side in (left[-1:], right[:1]) if side.size]
            total += (y[i] - np.mean([x[end[0]] for end in ends])) ** 2
    assert found.choice.scores[k] == pytest.approx(total / seen.size, rel=1e-12)


def test_noise_is_told_from_the_differences() -> None:
    y = np.tile(TRUTH, 20) + 0.3 * np.random.default_rng(0).standard_normal(2000)
    found = spdpeg.denoise(y, "sure")
    assert found.choice is not None
    assert found.choice.sigma == pytest.approx(0.3, rel=0.1)
    given = spdpeg.denoise(y, "sure", sigma=0.5)
    assert given.choice is not None
    assert given.choice.sigma == 0.5


@pytest.mark.parametrize("lam1", [0.0, 0.2])
def test_degrees_of_freedom_are_those_of_stein(lam1: float) -> None:
    """sum cov(x_i, y_i) / sigma^2 over many draws of the noise."""
    rng = np.random.default_rng(1)
    draws, sigma = 1500, 0.5
    noise = sigma * rng.standard_normal((draws, TRUTH.size))
    found = [spdpeg.denoise(TRUTH + row, 1.0, lam1) for row in noise]
    products = np.array([(noise[k] @ found[k].x) for k in range(draws)]) / sigma**2
    mean, error = products.mean(), products.std() / np.sqrt(draws)
    assert abs(mean - np.mean([one.df for one in found])) < 4.0 * error
    assert error < 0.7


def test_isotropic_degrees_of_freedom_are_those_of_stein(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of both signs, so that the mean of the fit does not blur the covariance; many pieces by random signs."""
    rng = np.random.default_rng(4)
    image = np.kron([[0.0, 2.0], [1.0, 0.0]], np.ones((5, 6)))
    covariances, counts = [], []
    for _ in range(60):
        noise = rng.standard_normal(image.shape)
        both = [spdpeg.denoise(image + sign * noise, 0.8, isotropic=True) for sign in (1.0, -1.0)]
        covariances.append(0.5 * float(np.sum(noise * (both[0].x - both[1].x))))
        counts.append(0.5 * sum(one.df for one in both))
    error = np.std(covariances) / np.sqrt(len(covariances))
    assert abs(np.mean(covariances) - np.mean(counts)) < 3.0 * error
    assert error < 0.1 * np.mean(counts)
    assert spdpeg.denoise(image, 1e9, isotropic=True).df == pytest.approx(1.0)
    exact = both[0].df
    monkeypatch.setattr(solution, "_FEW_PIECES", 0)
    estimated = spdpeg.denoise(image + noise, 0.8, isotropic=True).df
    assert estimated != exact
    assert abs(estimated - exact) < 4.0 * np.sqrt(2.0 * exact / 100.0)


def test_degrees_of_freedom_by_closed_forms() -> None:
    assert spdpeg.denoise(noisy(), 0.0).df == TRUTH.size
    assert spdpeg.denoise(noisy(), 1e9).df == 1
    assert spdpeg.denoise(noisy(), 0.0, 1.0).df == np.count_nonzero(np.abs(noisy()) > 1.0)
    for order in (1, 2, 3):
        found = spdpeg.denoise(noisy(), 1e9, order=order)
        assert found.df == order
    sparse = spdpeg.denoise(noisy(), 2.0, 0.3, order=2)
    F = np.diff(np.eye(TRUTH.size), 2, axis=0)
    kept = np.abs(sparse.x) > 1e-9
    vanish = np.abs(F @ sparse.x) < 1e-9
    assert sparse.df == kept.sum() - np.linalg.matrix_rank(F[vanish][:, kept])


def test_a_signal_without_noise_warns_at_the_edge() -> None:
    y = np.arange(50.0)
    with pytest.warns(UserWarning, match="smallest that was tried"):
        spdpeg.denoise(y, "cv")


def test_choosing_for_trends_and_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_FEW", 9)
    rng = np.random.default_rng(0)
    curve = np.abs(np.linspace(-0.4, 0.6, 30))
    noise = 0.05 * rng.standard_normal(30)
    trend = spdpeg.denoise(curve + noise, "bic", order=2)
    assert np.mean((trend.x - curve) ** 2) < 0.5 * np.mean(noise**2)
    image, noise = np.kron([[0.0, 1.0], [1.0, 0.0]], np.ones((3, 3))), 0.1 * rng.standard_normal((6, 6))
    for isotropic in (False, True):
        found = spdpeg.denoise(image + noise, "sure", sigma=0.1, isotropic=isotropic)
        assert np.mean((found.x - image) ** 2) < 0.5 * np.mean(noise**2)
