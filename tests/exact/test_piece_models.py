"""Working sets without data, and working sets of groups: the same solutions as with all coordinates at once."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.group_pieces import Groups
from spdpeg.exact.penalty_form import PenaltyForm
from spdpeg.exact.piece_models import PieceModels
from spdpeg.quadratic import Model


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
def test_models_on_pieces(terms: dict[str, Any], intercept: bool) -> None:
    X, y = data(400, 200)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), intercept=intercept, **terms)
    form = PenaltyForm.of(problem)
    assert form is not None
    models = PieceModels.of(problem, form)
    assert models is not None
    H, b = problem.quadratic.H, problem.quadratic.b
    found = models._among_pieces(H, b, np.zeros(b.size))
    assert found is not None
    everything = form.models.minimum(H, b, np.zeros(b.size))
    model = Model(H, b, form.form)
    assert model.value(found.point) == pytest.approx(model.value(everything.point), rel=1e-11)
    # Where no face holds, points are as far apart as the root of a gap of 1e-12.
    assert np.allclose(found.point, everything.point, rtol=1e-5, atol=1e-5)
    # Bounds lose no more than the square of what is left of the optimality condition.
    slope = H @ found.w - b + form.form.curvature(found.w) + form.form.adjoint(found.y)
    assert np.abs(slope).max() <= 1e-5 * np.abs(b).max()


def test_few_coordinates_and_other_penalties_are_taken_whole() -> None:
    X, y = data(300, 200)
    for some, terms in ((X[:, :50], {"r1": penalties.L1(0.1)}), (X, {"r1": penalties.L1(0.0), **CHAIN})):
        problem = spdpeg.Problem(some, y, loss=losses.Squared(), **terms)
        form = PenaltyForm.of(problem)
        assert form is not None
        assert PieceModels.of(problem, form) is None


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
    other = spdpeg.solve(problem, "prox-newton", tol=1e-9)
    assert 0 < np.count_nonzero(result.x[:364]) < 364
    assert result.objective == pytest.approx(other.objective, rel=1e-8)


def test_which_forms_are_groups() -> None:
    for penalty in GROUPED.values():
        form = penalty.conic_form(364)
        groups = Groups.of(form)
        assert groups is not None
        x = np.random.default_rng(0).standard_normal(364)
        assert groups.value(x) == pytest.approx(penalty.value(x))
        assert groups.form.value(x) == pytest.approx(penalty.value(x))
    assert Groups.of(penalties.L1(1.0).conic_form(4)) is None
    assert Groups.of(penalties.L2Ball(1.0).conic_form(4)) is None
