"""The largest weights: above them all coefficients are 0, below them they are not."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import InputError, UnsupportedError, datasets, estimators
from spdpeg.paths import lam_max

CHAIN = datasets.piecewise_constant(200, 20, seed=3)
NUMBERS = datasets.piecewise_constant(200, 20, task="regression", seed=3)
GRAPH = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 3), (7, 8), (0, 9)]

MODELS = {
    "fused-lasso": (estimators.FusedLasso(), NUMBERS),
    "fused-lasso-without-intercept": (estimators.FusedLasso(fit_intercept=False), NUMBERS),
    "fused-logistic": (estimators.FusedLogisticRegression(), CHAIN),
    "balanced": (estimators.FusedLogisticRegression(class_weight="balanced"), CHAIN),
    "grid": (estimators.TotalVariationRegressor((4, 5)), NUMBERS),
    "graph": (estimators.GraphGuidedLogisticRegression(GRAPH, r1="l1"), CHAIN),
    "matrix": (estimators.GeneralizedLasso(np.random.default_rng(0).standard_normal((7, 20))), NUMBERS),
}


def size(model: Any, data: datasets.Sample, weights: tuple[float, float], factor: float) -> float:
    """The largest coefficient with weights that many times as large."""
    model = model.set_params(lam1=factor * weights[0], lam2=factor * weights[1], tol=1e-10, random_state=0)
    return float(np.abs(model.fit(data.X, data.y).coef_).max())


@pytest.mark.parametrize("ratio", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("name", MODELS)
def test_coefficients_vanish_there(name: str, ratio: float) -> None:
    model, data = MODELS[name]
    weights = lam_max(model, data.X, data.y, ratio=ratio)
    assert weights[1] == ratio * weights[0]
    above, below = size(model, data, weights, 1.0 + 1e-4), size(model, data, weights, 1.0 - 1e-2)
    assert above < 1e-6
    assert below > 1e-4


def test_the_chain_needs_no_linear_program() -> None:
    """Both ways to the same weights."""
    X, y, _ = CHAIN
    edges = [(j, j + 1) for j in range(X.shape[1] - 1)]
    chain = lam_max(estimators.FusedLogisticRegression(), X, y, ratio=0.7)
    graph = lam_max(estimators.GraphGuidedLogisticRegression(edges, r1="l1"), X, y, ratio=0.7)
    np.testing.assert_allclose(chain, graph, rtol=1e-6)


def test_weights_count_as_repetitions() -> None:
    X, y, _ = CHAIN
    counts = np.random.default_rng(0).integers(0, 4, y.size)
    model = estimators.FusedLogisticRegression()
    weighted = lam_max(model, X, y, counts)
    np.testing.assert_allclose(weighted, lam_max(model, X.repeat(counts, axis=0), y.repeat(counts)), rtol=1e-9)


def test_several_classes_and_sparse_rows() -> None:
    """All classes vanish together, those of sparse rows at the same weights."""
    X, _, _ = CHAIN
    y = np.argmax(X[:, :3], axis=1)
    model = estimators.FusedLogisticRegression()
    weights = lam_max(model, X, y)
    np.testing.assert_allclose(weights, lam_max(model, sp.csr_array(X), y), rtol=1e-12)
    data = datasets.Sample(X, y, np.empty(0))
    assert size(model, data, weights, 1.0 + 1e-4) < 1e-6 < 1e-4 < size(model, data, weights, 0.99)


def test_labels_without_a_pattern() -> None:
    X, y, _ = NUMBERS
    assert lam_max(estimators.FusedLasso(), X, np.full(y.size, 2.0)) == (0.0, 0.0)


def test_refusals() -> None:
    X, y, _ = CHAIN
    with pytest.raises(UnsupportedError, match="L2Squared"):
        lam_max(estimators.GraphGuidedLogisticRegression("chain"), X, y)
    with pytest.raises(UnsupportedError, match="non-smooth"):
        lam_max(estimators.FusedSVC(), X, y)
    with pytest.raises(InputError, match="ratio is -1"):
        lam_max(estimators.FusedLogisticRegression(), X, y, ratio=-1.0)
