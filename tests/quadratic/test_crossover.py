"""Crossover: exact zeros and pieces, never a larger objective."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.conic import broken_lines, norms
from spdpeg.quadratic import Model, minimize, on_face, to_face
from support.quadratic import random_model


def fused_model(n: int, l1: float, l2: float, seed: int = 0) -> Model:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * n, n))
    x = np.repeat([0.0, 1.0, 0.0, -2.0], n // 4)
    return Model(A.T @ A / n, A.T @ (A @ x + rng.standard_normal(2 * n)) / n, pen.FusedL1(l1, l2).conic_form(n))


def test_random_models() -> None:
    missing = 0
    for seed in range(200):
        model = random_model(seed)
        found = minimize(model)
        if found.status in ("optimal", "inaccurate"):
            w = to_face(model, found)
            missing += w is None
            if w is not None:
                scale = abs(found.value) + float(np.abs(model.right()) @ np.abs(w))
                assert model.value(w) <= found.value + 1e-12 * (scale + 1e-3), seed
                assert model.violation(w) <= max(found.violation, 1e-12), seed
    assert missing <= 8


@pytest.mark.parametrize(("l1", "l2"), [(0.5, 1.0), (0.05, 0.1), (0.0, 1.0), (1.0, 0.0)])
def test_zeros_and_pieces_are_exact(l1: float, l2: float) -> None:
    """The same as those of the multipliers: a line whose multiplier is inside its interval vanishes."""
    model = fused_model(40, l1, l2)
    found = minimize(model)
    w = to_face(model, found)
    image = model.form.K @ w
    inside = np.abs(found.y) < model.form.up * (1.0 - 1e-6)
    assert np.all(image[inside] == 0.0)
    assert np.all(np.abs(image[~inside]) > 1e-6)
    assert w == pytest.approx(found.w, abs=1e-6)


def test_optimality_on_the_face() -> None:
    """Coordinates away from corners have a gradient of exactly minus their slope, up to rounding."""
    model = fused_model(60, 0.5, 0.0)
    w = to_face(model, minimize(model))
    slope = model.times(w) - model.b
    used = w != 0.0
    assert slope[used] == pytest.approx(-0.5 * np.sign(w[used]), abs=1e-12)


def test_zero_groups_are_zero() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((60, 30))
    model = Model(A.T @ A / 60, A.T @ rng.standard_normal(60) / 60, pen.GroupL2(0.25, groups=3).conic_form(30))
    found = minimize(model)
    w = to_face(model, found)
    lengths = np.linalg.norm(w.reshape(10, 3), axis=1)
    multipliers = np.linalg.norm(found.y.reshape(10, 3), axis=1)
    assert np.all((lengths == 0.0) == (multipliers < 0.25 * (1.0 - 1e-4)))
    assert 0 < np.count_nonzero(lengths) < 10
    slope = (model.times(w) - model.b).reshape(10, 3)
    used = lengths > 0.0
    assert slope[used] == pytest.approx(-0.25 * w.reshape(10, 3)[used] / lengths[used, None], abs=1e-11)


def test_the_border_of_a_ball_is_met() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((20, 6))
    model = Model(A.T @ A / 20, A.T @ rng.standard_normal(20), pen.L2Ball(0.3).conic_form(6))
    w = to_face(model, minimize(model))
    assert np.linalg.norm(w) == pytest.approx(0.3, rel=1e-14)


def test_bounds_are_met_exactly() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((30, 8))
    form = pen.Box(-0.1, 0.2).conic_form(8)
    w = to_face(model := Model(A.T @ A / 30, A.T @ rng.standard_normal(30), form), minimize(model))
    assert set(w[(w <= -0.1) | (w >= 0.2)]) == {-0.1, 0.2}
    assert model.violation(w) == 0.0


def test_long_rows_vanish() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 20))
    F = np.vstack([np.ones(20), rng.standard_normal((2, 20))])
    model = Model(A.T @ A / 40, A.T @ rng.standard_normal(40) / 10, pen.L1(5.0).conic_form(3).after(F))
    w = to_face(model, minimize(model))
    assert np.all(np.abs(F @ w) <= 1e-14 * (np.abs(F) @ np.abs(w)))


def test_a_sparse_matrix() -> None:
    n = 400
    rng = np.random.default_rng(4)
    y = np.repeat(rng.standard_normal(8), n // 8) + 0.1 * rng.standard_normal(n)
    model = Model(sp.eye_array(n, format="csr"), y, pen.FusedL1(0.05, 1.0).conic_form(n))
    w = to_face(model, minimize(model))
    assert w == pytest.approx(pen.FusedL1(0.05, 1.0).prox(y), abs=1e-12)
    assert np.array_equal(np.flatnonzero(np.diff(w)), np.flatnonzero(np.diff(pen.FusedL1(0.05, 1.0).prox(y))))


def test_a_wrong_guess_is_refused() -> None:
    model = fused_model(40, 0.5, 1.0)
    found = minimize(model)
    wrong = type(found)(**{**vars(found), "active": np.ones_like(found.active)})
    assert to_face(model, wrong) is None


def test_multipliers_on_a_face_have_all_digits() -> None:
    """Those of an interior point next to the border of a cone have half of them."""
    better = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, groups = 12, [np.arange(3 * g, 3 * g + 3) for g in range(4)]
        lines = broken_lines(rng.standard_normal((8, n)), rng.standard_normal(8), 0.3, 0.7)
        model = Model(np.zeros((n, n)), np.zeros(n), lines + norms(groups, np.full(4, 0.2), n))
        found = minimize(model)
        w = to_face(model, found)
        if w is not None:
            exact = on_face(model, found, w)
            assert exact.gap <= found.gap
            assert exact.value - exact.gap >= found.value - found.gap - 1e-12
            better += exact.gap <= 1e-13 * exact.value
    assert better >= 30
