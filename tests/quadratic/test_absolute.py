"""Models of absolute values in one compiled call: the same as by the general way, step by step."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.conic import ConicForm, broken_lines
from spdpeg.quadratic import Model, absolute, minimize, minimum, to_face

FORMS = ("l1", "chain", "trend", "graph", "lopsided", "ridge")


def form_of(kind: str, d: int, rng: np.random.Generator) -> ConicForm:
    weight = 10.0 ** rng.uniform(-3.0, -0.5)
    own = pen.L1(weight).conic_form(d)
    if kind == "chain":
        return pen.FusedL1(weight, 3.0 * weight).conic_form(d)
    if kind == "trend":
        return own + broken_lines(sp.csr_array(np.diff(np.eye(d), 2, axis=0)), 0.0, weight, weight)
    if kind == "graph":
        ends = rng.integers(d, size=(2 * d, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        K = np.zeros((ends.shape[0], d))
        K[np.arange(ends.shape[0]), ends[:, 0]], K[np.arange(ends.shape[0]), ends[:, 1]] = 1.0, -1.0
        return own + broken_lines(K, 0.0, weight, weight)
    if kind == "lopsided":
        return broken_lines(np.eye(d), 0.0, weight * rng.uniform(0.5, 2.0, d), 2.0 * weight)
    return pen.ElasticNet(weight, weight).conic_form(d) if kind == "ridge" else own


@pytest.mark.parametrize("kind", FORMS)
def test_as_by_the_general_way(kind: str) -> None:
    taken = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(3, 50))
        n = int(rng.integers(d // 2 + 1, 3 * d))
        A = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2.0, 2.0, d)
        A[:, rng.integers(d)] *= seed % 4 > 0  # a column that the data do not see
        model = Model(A.T @ A / n, A.T @ rng.standard_normal(n) / n, form_of(kind, d, rng))
        found = absolute.minimized(model)
        if found is None:
            continue
        taken += 1
        plain = minimize(model)
        scale = abs(plain.value) + float(np.abs(model.right()) @ np.abs(plain.w))
        assert abs(model.value(found.solution.w) - plain.value) <= 1e-10 * scale
        face = to_face(model, plain)
        if found.simple and face is not None and found.face is not None:
            assert np.array_equal(found.face == 0.0, face == 0.0)
            assert np.allclose(found.face, face, rtol=1e-6, atol=1e-8 * np.abs(face).max())
        # The dual point is within its intervals, and stationary to rounding, at least that of its weight.
        assert np.all((found.y <= model.form.up) & (found.y >= -model.form.down))
        residual = np.abs(model.times(found.w) - model.right() + model.form.adjoint(found.y))
        sizes = np.abs(model.H) @ np.abs(found.w) + np.abs(model.right()) + np.abs(model.form.K).T @ np.abs(found.y)
        weights = np.abs(model.form.K).T @ np.maximum(model.form.up, model.form.down)
        assert np.all(residual <= 1e-10 * sizes + np.finfo(float).eps * weights)
    assert taken >= 15


def test_others_are_left_alone() -> None:
    H, b = np.eye(4), np.ones(4)
    for penalty in (pen.GroupL2(1.0), pen.Box(-1.0, 1.0), pen.L2Ball(1.0)):
        form = penalty.conic_form(4)
        assert form is not None
        assert absolute.minimized(Model(H, b, form)) is None
        assert minimum(Model(H, b, form)).status == "optimal"
    assert absolute.minimized(Model(np.zeros((4, 4)), 0.1 * b, pen.L1(1.0).conic_form(4))) is None
