"""Models of absolute values from a guess: the interior points' minimum, or none."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.conic import ConicForm, broken_lines
from spdpeg.quadratic import Model, from_guess, minimize, minimum

KINDS = ("pairs", "pairs and l1", "long rows", "lopsided", "scales")


def form_of(kind: str, d: int, rng: np.random.Generator) -> ConicForm:
    weight = 10.0 ** rng.uniform(-4.0, -1.0)
    own = pen.ElasticNet(weight if kind == "pairs and l1" else 0.0, 0.03).conic_form(d)
    assert own is not None
    if kind == "long rows":
        return own + broken_lines(np.sign(rng.standard_normal((d, d))), 0.0, 0.1 * weight, 0.1 * weight)
    edges = rng.permuted(np.tile(np.arange(d), (3 * d, 1)), axis=1)[:, :2]
    rows, entries = np.repeat(np.arange(3 * d), 2), np.tile([1.0, -1.0], 3 * d)
    K = sp.csr_array((entries, (rows, edges.reshape(-1))), shape=(3 * d, d))
    unit = 10.0 ** rng.uniform(-3.0, 3.0, 3 * d) if kind == "scales" else np.ones(3 * d)
    more = rng.uniform(0.5, 2.0, 3 * d) if kind == "lopsided" else 1.0
    return own + broken_lines(sp.diags_array(unit) @ K, 0.0, more * weight / unit, weight / unit)


def drawn(kind: str, seed: int) -> tuple[Model, np.random.Generator]:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(4, 50))
    A = rng.standard_normal((2 * d, d)) * (10.0 ** rng.uniform(-1.0, 1.0, d) if kind == "scales" else 1.0)
    return Model(A.T @ A / d, A.T @ rng.standard_normal(2 * d) / d, form_of(kind, d, rng)), rng


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimum_or_none(kind: str) -> None:
    taken = 0
    for seed in range(30):
        model, rng = drawn(kind, seed)
        plain = minimum(model)
        nearly = plain.point * (1.0 + 1e-3 * rng.standard_normal(plain.point.size))
        for guess in (np.zeros(model.b.size), plain.point, nearly, rng.standard_normal(model.b.size)):
            found = from_guess.minimized(model, guess)
            if found is None:
                continue
            taken += 1
            scale = abs(model.value(plain.w)) + float(np.abs(model.right()) @ np.abs(plain.w))
            assert abs(model.value(found.w) - model.value(plain.w)) <= 1e-10 * scale
            # The dual point proves it: within its intervals, stationary to rounding, complementary to w.
            assert np.all((found.y <= model.form.up) & (found.y >= -model.form.down))
            residual = np.abs(model.times(found.w) - model.right() + model.form.adjoint(found.y))
            sizes = np.abs(model.H) @ np.abs(found.w) + np.abs(model.right())
            assert np.all(residual <= 1e-13 * (sizes + np.abs(model.form.K).T @ np.abs(found.y)))
            assert found.solution.gap <= 1e-12 * scale
            if found.face is not None:
                assert model.value(found.face) <= model.value(found.w) + 1e-13 * scale
                vanishing = found.solution.active & (np.diff(model.form.K.indptr) <= 2)
                assert np.all(model.form.image(found.face)[vanishing] == 0.0)
    assert taken >= 40


def test_exact_zeros_and_pieces() -> None:
    hit = 0
    for seed in range(20):
        model, _ = drawn("pairs and l1", seed)
        plain = minimum(model)
        found = from_guess.minimized(model, plain.point)
        if found is not None and found.face is not None:
            hit += 1
            assert np.array_equal(found.face == 0.0, plain.point == 0.0)
            image, other = model.form.image(found.face), model.form.image(plain.point)
            assert np.array_equal(image == 0.0, other == 0.0)
    assert hit >= 10


def test_rows_that_depend_on_each_other() -> None:
    # A triangle that vanishes has one multiplier more than it has equations.
    K = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0], [1.0, 0.0, -1.0, 0.0]])
    form = broken_lines(np.pad(K, ((0, 0), (0, 4))), 0.0, 0.3, 0.3)
    model = Model(np.eye(8), np.array([1.0, 1.1, 0.95, 3.0, 1.0, 2.0, 3.0, 4.0]), form)
    found = from_guess.minimized(model, np.ones(8))
    assert found is not None
    assert found.face is not None
    assert found.face[0] == found.face[1] == found.face[2]
    assert np.allclose(found.w, minimize(model).w, atol=1e-10)


def test_what_it_does_not_take() -> None:
    b = np.array([1.0, 2.0, -1.0, 0.5])
    forms = [penalty.conic_form(4) for penalty in (pen.GroupL2(1.0), pen.Box(-1.0, 1.0))]
    for form in forms:
        assert form is not None
        assert from_guess.minimized(Model(np.eye(4), b, form), b) is None
    lines = pen.L1(0.1).conic_form(4)
    assert lines is not None
    for H in (np.zeros((4, 4)), np.diag([1.0, 1.0, 1.0, 0.0]), np.full((4, 4), np.nan)):
        assert from_guess.minimized(Model(H, b, lines), b) is None
    assert from_guess.minimized(Model(np.eye(4), np.full(4, np.nan), lines), b) is None
    assert from_guess.minimized(Model(np.eye(4), b, lines), np.full(4, np.nan)) is None
    assert minimum(Model(np.eye(4), b, lines), np.full(4, np.nan)).status == "optimal"
