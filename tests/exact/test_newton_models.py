"""Models face by face, and working sets of groups: the same solutions as with all coordinates at once."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.group_pieces import Groups
from spdpeg.exact.newton_models import BlockModels, ChainModels, ConicModels
from spdpeg.exact.penalty_form import PenaltyForm
from spdpeg.exact.quadratic_bound import lower_bound
from spdpeg.penalties.conic import group_norms
from spdpeg.quadratic import Model
from spdpeg.quadratic.along_chain import ChainPenalty, minimized


def data(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    x = np.zeros(d)
    x[d // 8 : d // 4], x[d // 2 : d // 2 + 3] = 1.0, -2.0
    return X, X @ x + rng.standard_normal(n)


CHAIN = {"r2": penalties.L1(0.02), "F": operators.FirstDifference()}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "terms",
    [{"r1": penalties.L1(0.02), **CHAIN}, {"r1": penalties.L1(0.1)}, {"r1": penalties.ElasticNet(0.1, 0.1)}],
    ids=["chain", "l1", "elastic net"],
)
def test_models_face_by_face(terms: dict[str, Any], intercept: bool) -> None:
    X, y = data(400, 200)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), intercept=intercept, **terms)
    form = PenaltyForm.of(problem.view)
    assert form is not None
    models = ChainModels.of(problem.view, form)
    assert models is not None
    H, b = problem.view.moments.loss.H, problem.view.moments.loss.b
    bent = H + np.diag(form.lines.ridge)
    weights = ChainPenalty(form.lines.weight, form.lines.cost)
    assert minimized(bent, b, weights, np.zeros(b.size)) is not None  # not by interior points, then
    found = models.minimum(H, b, np.zeros(b.size))
    lower = models.rough.minimum(H, b, np.zeros(b.size)).point
    everything = ConicModels(form.form).minimum(H, b, np.zeros(b.size))
    model = Model(H, b, form.form)
    assert model.value(found.point) == pytest.approx(model.value(everything.point), rel=1e-11)
    assert model.value(lower) <= model.value(np.zeros(b.size))
    # Where no face holds, points are as far apart as the root of a gap of 1e-12.
    assert np.allclose(found.point, everything.point, rtol=1e-5, atol=1e-5)
    # Bounds lose no more than the square of what is left of the optimality condition.
    slope = H @ found.w - b + form.form.curvature(found.w) + form.form.adjoint(found.y)
    assert np.abs(slope).max() <= 1e-5 * np.abs(b).max()


def grouped(seed: int) -> tuple[spdpeg.Problem, np.ndarray, np.ndarray]:
    """Groups of any size and weight, some with l1 norms or squares, and a model of any rank."""
    rng = np.random.default_rng(seed)
    d = 2 * int(rng.integers(3, 30))
    cuts = np.unique(2 * rng.integers(1, d // 2, 1 + d // int(rng.integers(4, 20))))
    lam = float(np.exp(rng.uniform(-6.0, 0.0)))
    groups = penalties.GroupL2(lam, np.split(rng.permutation(d), cuts))
    r1 = [penalties.Zero(), penalties.L1(0.3 * lam), penalties.L2Squared(lam), penalties.ElasticNet(0.3 * lam, lam)]
    X, y = data(int(rng.choice([d // 2 + 2, 3 * d])), d, seed)
    X[:, rng.random(d) < 0.1] = 0.0
    X[:, -1] = X[:, 0]
    problem = spdpeg.Problem(
        X, y, loss=losses.Squared(), r1=r1[seed % 4], r2=groups, F=operators.Identity(), intercept=bool(seed % 3 == 0)
    )
    start = rng.choice([0.0, 1.0]) * rng.standard_normal(problem.view.n_coordinates)
    return problem, y, start


@pytest.mark.parametrize("seed", range(80))
def test_models_block_by_block(seed: int) -> None:
    problem, _, start = grouped(seed)
    form = PenaltyForm.of(problem.view)
    assert form is not None
    models = BlockModels.of(form)
    assert models is not None
    loss = problem.view.moments.loss
    found, expected = (kind.minimum(loss.H, loss.b, start) for kind in (models, ConicModels(form.form)))
    model = Model(loss.H, loss.b, form.form)
    size = abs(model.value(expected.point)) + float(np.abs(loss.b) @ np.abs(expected.point))
    assert model.value(found.point) <= model.value(expected.point) + 1e-9 * size
    lines = form.form.n_lines
    assert np.all(np.abs(found.y[:lines]) <= form.form.up)
    assert np.all(group_norms(found.y, form.form.starts) <= form.form.weight)
    slope = model.times(found.w) - model.right() + form.form.adjoint(found.y)
    assert np.abs(slope).max() <= 1e-6 * np.abs(loss.b).max()
    # The bound that one-read makes of it is one.
    value = loss.value(found.point) + problem.view.penalty.value(found.point)
    below = lower_bound(model, loss, found.w, found.y, value)
    optimum = loss.value(expected.point) + problem.view.penalty.value(expected.point)
    assert below <= optimum * (1 + 1e-12)


def test_most_models_of_groups_take_no_interior_points(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(ConicModels, "minimum", lambda *args: asked.append(args))
    for seed in range(80):
        problem, _, start = grouped(seed)
        form = PenaltyForm.of(problem.view)
        assert form is not None
        loss = problem.view.moments.loss
        BlockModels.of(form).minimum(loss.H, loss.b, start)
    assert len(asked) <= 16  # nearly singular ones, with small weights


def test_norms_bound_what_they_hold_where_the_moments_are_singular() -> None:
    """A column twice, in two groups: no direction is left out, and none is free."""
    X, y = data(40, 12)
    X = np.hstack([X, X])
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.GroupL2(0.1, 3))
    result = spdpeg.solve(problem, tol=1e-9)
    assert [stage.method for stage in result.stages] == ["one-read"]
    assert result.passes == 1.0
    reference = spdpeg.solve(problem, "working-set", tol=1e-10)
    assert result.certificate is not None
    assert result.certificate.dual <= reference.objective * (1 + 1e-12)


def test_other_penalties_are_left_to_interior_points() -> None:
    X, y = data(300, 200)
    weighted = penalties.L1(np.linspace(0.1, 0.2, 200))
    for terms in ({"r1": penalties.L1(0.0), **CHAIN}, {"r1": weighted, **CHAIN}):
        problem = spdpeg.Problem(X, y, loss=losses.Squared(), **terms)
        form = PenaltyForm.of(problem.view)
        assert form is not None
        assert ChainModels.of(problem.view, form) is None


@pytest.mark.parametrize("seed", range(12))
def test_random_models_face_by_face(seed: int) -> None:
    """What is found has the optimum of interior points, and multipliers that prove it; so have models it gives up."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 40))
    A = rng.standard_normal((int(rng.integers(d // 2 + 1, 4 * d + 2)), d)) * np.exp(rng.standard_normal(d))
    A = (A > 0.8).astype(float) if seed % 3 == 0 else A
    y = rng.standard_normal(A.shape[0]) + A[:, 0]
    size = float(np.abs(A.T @ y).max()) / y.size
    r1, r2 = (penalties.L1(size * 10.0 ** rng.uniform(-3.0, 0.0)) for _ in range(2))
    chain = {"r2": r2, "F": operators.FirstDifference()} if seed % 2 and d > 2 else {}
    problem = spdpeg.Problem(A, y, loss=losses.Squared(), r1=r1, intercept=seed % 4 == 0, **chain)
    form = PenaltyForm.of(problem.view)
    assert form is not None
    models = ChainModels.of(problem.view, form)
    assert models is not None
    H, b = problem.view.moments.loss.H, problem.view.moments.loss.b
    found, other = models.minimum(H, b, np.zeros(b.size)), ConicModels(form.form).minimum(H, b, np.zeros(b.size))
    model = Model(H, b, form.form)
    scale = abs(model.value(other.point)) + float(np.abs(b) @ np.abs(other.point))
    assert model.value(found.point) <= model.value(other.point) + 1e-11 * scale
    assert np.all(np.abs(found.y) <= form.form.up * (1.0 + 1e-15))
    assert np.abs(H @ found.w - b + form.form.adjoint(found.y)).max() <= 1e-9 * np.abs(b).max()


def test_one_read_where_rows_are_as_many_as_columns() -> None:
    X, y = data(700, 600)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.L1(0.05), **CHAIN)
    result = spdpeg.solve(problem)
    assert [stage.method for stage in result.stages] == ["one-read"]
    assert result.passes == 1.0
    assert result.certificate.rel_gap <= 1e-8


GROUPED = {
    "groups": penalties.GroupL2(0.05, 4),
    "without groups": penalties.GroupL2(0.05, np.repeat([*range(90), -1], 4)),
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared()], ids=["logistic", "squared"])
def test_working_set_of_groups(loss: Any, intercept: bool) -> None:
    X, y = data(80, 364)
    labels = np.sign(y) if loss.binary else y
    problem = spdpeg.Problem(
        sp.csr_array(X * (np.abs(X) > 1.0)), labels, loss=loss, r1=GROUPED["groups"], intercept=intercept
    )
    result = spdpeg.solve(problem, tol=1e-9)
    assert [stage.method for stage in result.stages] == ["working-set"]
    assert result.certificate.rel_gap <= 1e-9
    assert 0 < np.count_nonzero(result.x[:364]) < 364


def test_which_forms_are_groups() -> None:
    for penalty in GROUPED.values():
        form = penalty.conic_form(364)
        groups = Groups.of(form)
        assert groups is not None
        x = np.random.default_rng(0).standard_normal(364)
        assert groups.value(x) == pytest.approx(penalty.value(x))
        assert groups.form.value(x) == pytest.approx(penalty.value(x))
    alone = Groups.of(penalties.L1(1.0).conic_form(4))
    assert alone is not None
    assert alone.cost.size == 0
    assert Groups.of(penalties.L2Ball(1.0).conic_form(4)) is None


@pytest.mark.parametrize(
    ("terms", "changes"),
    [
        ({"r1": penalties.L2Squared(0.1), "r2": penalties.L1(0.02)}, False),
        ({"r1": penalties.L1(0.1), "r2": penalties.L2Squared(0.02)}, True),
        ({"r1": penalties.HuberL1(0.1), "r2": penalties.L1(0.02)}, True),
    ],
    ids=["ridge", "squares of F x", "round kinks"],
)
def test_forms_for_32_digits_differ_where_squares_are_rounded(terms: dict[str, Any], changes: bool) -> None:
    X, y = data(40, 8)
    F = operators.GraphDifference([(0, 1), (2, 5), (1, 7)])
    form = PenaltyForm.of(spdpeg.Problem(X, y, loss=losses.Squared(), F=F, **terms).view)
    assert form is not None
    assert (form.sharp is not form) is changes
