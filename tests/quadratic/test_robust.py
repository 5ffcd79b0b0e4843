"""Models at the border: badly scaled, degenerate, empty, without a solution."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.conic import broken_lines, group_norms
from spdpeg.quadratic import Model, minimize, to_face
from support.quadratic import by_clarabel, random_model


def rescaled(model: Model, decades: float, rng: np.random.Generator) -> tuple[Model, float]:
    """The same model in other units of every variable, line and of the objective."""
    form, known = model.form, model.b.size
    columns, factor = 10.0 ** rng.uniform(-decades, decades, model.width), float(10.0 ** rng.uniform(-decades, decades))
    lines = 10.0 ** rng.uniform(-decades, decades, form.n_lines)
    rows = np.concatenate([lines, np.ones(form.K.shape[0] - lines.size)])
    scale = sp.diags_array(columns)
    moved = replace(
        form,
        quadratic=sp.csr_array(scale @ form.quadratic @ scale) * factor,
        linear=form.linear * columns * factor,
        K=sp.csr_array(sp.diags_array(rows) @ form.K @ scale),
        offset=form.offset * rows,
        up=form.up * factor / lines,
        down=form.down * factor / lines,
        weight=form.weight * factor,
    )
    own = columns[:known]
    return Model(model.H * own[:, None] * own * factor, model.b * own * factor, moved), factor


@pytest.mark.parametrize("decades", [3.0, 6.0])
def test_units_do_not_matter(decades: float) -> None:
    rng = np.random.default_rng(0)
    for seed in range(60):
        model = random_model(seed)
        plain = minimize(model)
        if plain.status == "optimal" and abs(plain.value) > 1e-9:  # a value of 0 has no size of its own
            other, factor = rescaled(model, decades, rng)
            found = minimize(other)
            assert found.value / factor == pytest.approx(plain.value, abs=1e-7 * (1e-2 + abs(plain.value))), seed


def test_huge_and_tiny_weights() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((50, 20))
    H, b = A.T @ A / 50, A.T @ rng.standard_normal(50)
    free = np.linalg.solve(H, b)
    for weight in (1e-12, 1e-9, 1e-6):
        found = minimize(Model(H, b, pen.FusedL1(weight, weight).conic_form(20)))
        assert found.status == "optimal"
        assert found.w == pytest.approx(free, rel=1e-3, abs=100.0 * weight)
    for weight in (1e6, 1e9, 1e12):
        model = Model(H, b, pen.FusedL1(weight, weight).conic_form(20))
        found = minimize(model)
        assert found.status == "optimal"
        assert np.array_equal(to_face(model, found), np.zeros(20))


def test_weights_zero_empty_K_and_one_variable() -> None:
    one = minimize(Model(np.array([[2.0]]), np.array([3.0]), pen.L1(1.0).conic_form(1)))
    assert one.w == pytest.approx([1.0], abs=1e-10)
    assert one.y == pytest.approx([1.0])
    free = minimize(Model(np.diag([2.0, 4.0]), np.array([2.0, 4.0]), pen.L1(0.0).conic_form(2)))
    assert free.w == pytest.approx([1.0, 1.0])
    assert free.y.size == 0
    nothing = minimize(Model(np.zeros((2, 2)), np.zeros(2), pen.Zero().conic_form(2)))
    assert nothing.status == "optimal"
    assert np.array_equal(nothing.w, np.zeros(2))


def test_zero_rows_of_F() -> None:
    F = sp.csr_array(np.array([[1.0, -1.0], [0.0, 0.0]]))
    model = Model(np.eye(2), np.array([3.0, 0.0]), pen.Hinge([1.0, 1.0]).conic_form(2).after(F))
    found = minimize(model)
    status, value, _ = by_clarabel(model)
    assert (found.status, status) == ("optimal", "Solved")
    assert found.value == pytest.approx(value)
    assert found.y[1] == -1.0


@pytest.mark.parametrize("copies", [2, 5])
def test_duplicated_columns(copies: int) -> None:
    rng = np.random.default_rng(2)
    A = np.repeat(rng.standard_normal((40, 6)), copies, axis=1)
    model = Model(A.T @ A / 40, A.T @ rng.standard_normal(40), pen.L1(1e-6).conic_form(6 * copies))
    found = minimize(model)
    _, value, _ = by_clarabel(model)
    assert found.status == "optimal"
    assert found.value == pytest.approx(value, rel=1e-8)
    assert np.abs(found.residual).max() < 1e-12


def test_losses_with_corners_are_linear_programs() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 12))
    labels = np.sign(X[:, 0] + rng.standard_normal(300))
    form = pen.Hinge(labels, 1 / 300).conic_form(300).after(X) + pen.FusedL1(0.01, 0.01).conic_form(12)
    model = Model(np.zeros((12, 12)), np.zeros(12), form)
    found = minimize(model)
    _, value, _ = by_clarabel(model)
    assert found.status == "optimal"
    assert found.value == pytest.approx(value, rel=1e-9)
    w = to_face(model, found)
    vertex = np.count_nonzero(np.abs(form.K @ w - form.offset) < 1e-12)
    assert vertex >= 12


def test_unbounded() -> None:
    for model in (
        Model(np.zeros((3, 3)), np.ones(3), pen.Zero().conic_form(3)),
        Model(np.diag([1.0, 0.0, 1.0]), np.array([1.0, 0.2, 0.0]), pen.L1([0.5, 0.05, 0.1]).conic_form(3)),
        Model(np.zeros((2, 2)), np.array([1.0, 1.0]), pen.GroupL2(1.0).conic_form(2)),
        Model(np.zeros((2, 2)), np.array([1.0, -1.0]), pen.NonNegative().conic_form(2)),
    ):
        found = minimize(model)
        assert found.status == "unbounded"
        d = found.certificate
        image = model.form.K @ d
        slopes = np.where(image[: model.form.n_lines] > 0.0, model.form.up, model.form.down)
        fall = model.right() @ d - np.where(image[: model.form.n_lines] != 0.0, slopes, 0.0) @ np.abs(
            image[: model.form.n_lines]
        )
        fall -= model.form.weight @ group_norms(image, model.form.starts)
        assert fall > 0.0
        assert np.abs(model.times(d)).max() <= 1e-6 * fall


@pytest.mark.parametrize(
    "form",
    [
        pen.Box(1.0, 2.0).conic_form(3) + pen.Simplex(1.0).conic_form(3),
        pen.Box(1.0, 2.0).conic_form(3) + pen.L2Ball(1.0).conic_form(3),
        pen.L1Ball(0.5).conic_form(3) + pen.Simplex(1.0).conic_form(3),
        broken_lines(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]), [1.0, 2.0], np.inf, np.inf),
        broken_lines(sp.csr_array((1, 3)), -1.0, np.inf, 0.0),
    ],
    ids=["box-simplex", "box-ball", "ball-simplex", "equations", "empty row"],
)
def test_infeasible(form) -> None:  # type: ignore[no-untyped-def]
    found = minimize(Model(np.eye(3), np.array([1.0, 0.0, 0.0]), form))
    assert found.status == "infeasible"
    z = found.certificate
    lines = form.n_lines
    assert np.all((z[:lines] <= 0.0) | np.isinf(form.up))
    assert np.all((z[:lines] >= 0.0) | np.isinf(form.down))
    promised = -form.offset @ z - form.radius @ group_norms(z, form.starts)
    assert promised > 0.0
    assert np.abs(form.K.T @ z).max() <= 1e-6 * promised


@pytest.mark.stress
@pytest.mark.parametrize("block", range(15))
def test_a_thousand_models(block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        model = random_model(seed, most=30)
        found = minimize(model)
        status, value, _ = by_clarabel(model)
        if "Infeasible" in status:
            assert found.status == "infeasible", seed
            continue
        scale = abs(value) + 1e-1 + float(np.abs(model.right()) @ np.abs(found.w))
        assert value - 1e-6 * scale <= found.value <= value + 1e-7 * scale, seed
        assert found.gap <= 1e-7 * scale, seed
