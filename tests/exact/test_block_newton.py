"""Newton's steps among few columns, compiled: beside the same problem solved by interior points."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.block_newton import Aim, minimized
from spdpeg.exact.block_terms import Blocks
from spdpeg.exact.group_pieces import GroupIdentifier, Groups
from spdpeg.exact.penalty_form import PenaltyForm

LOSSES = [losses.Logistic(), losses.Squared(), losses.Poisson(), losses.Huber()]
PENALTIES = {
    "l1": penalties.L1(0.03),
    "elastic net": penalties.ElasticNet(0.03, 0.02),
    "weights": penalties.L1(np.linspace(0.01, 0.1, 24)),
    "groups": penalties.GroupL2(0.04, [np.arange(i, i + 3) for i in range(0, 24, 3)]),
    "sparse groups": (penalties.L1(0.02), penalties.GroupL2(0.03, [np.arange(i, i + 4) for i in range(0, 24, 4)])),
}


def problem(loss: Any, penalty: Any, seed: int, intercept: bool = False, dense: bool = True) -> spdpeg.Problem:
    """Sixty rows with repeated columns, some rows heavier than others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 24)) * (rng.random((60, 24)) < (1.0 if dense else 0.3))
    X[:, 5] = X[:, 4]
    score = X[:, :4] @ rng.standard_normal(4) + 0.5 * rng.standard_normal(60)
    y = np.sign(score) if loss.binary else rng.poisson(np.exp(np.clip(score, -3, 2))) if loss.log_link else score
    r1, r2 = penalty if isinstance(penalty, tuple) else (penalty, None)
    return spdpeg.Problem(
        X if dense else sp.csr_array(X),
        np.asarray(y, dtype=float),
        loss=loss,
        r1=r1,
        r2=r2,
        F=None if r2 is None else operators.Identity(),
        intercept=intercept,
        sample_weight=rng.uniform(0.5, 2.0, 60),
    )


def groups_of(given: spdpeg.Problem) -> tuple[Groups, Blocks, np.ndarray]:
    """The penalties, in the order of their blocks, and which coordinate is where."""
    form = PenaltyForm.of(given.view)
    assert form is not None
    assert form.groups is not None
    size = given.view.n_coordinates
    found = GroupIdentifier(form.groups)(np.zeros(size), np.ones(size), 1.0, 10**6)
    return form.groups, form.groups.collapsed(found.pieces).blocks, found.pieces.labels


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_minimum_is_that_of_interior_points(loss: Any, kind: str, dense: bool) -> None:
    given = problem(loss, PENALTIES[kind], 3, intercept=dense, dense=dense)
    _, blocks, labels = groups_of(given)
    block = given.view.sums.collapse(labels, labels.size).block
    found = minimized(block, loss, blocks, np.zeros(labels.size), Aim(1e-13, 1e-13, 0.0))
    assert found.found
    x = found.w[labels]
    result = spdpeg.solve(given, "prox-newton", tol=1e-10)
    assert given.objective(x) <= result.objective + 1e-12 * abs(result.objective)
    assert np.allclose(found.margins, given.view.sums.at(x).margins, atol=1e-12)
    unique = np.delete(np.arange(x.size), [4, 5])  # of two equal columns either will do
    assert np.array_equal(x[unique] == 0.0, np.abs(result.x[unique]) < 1e-9)


def test_what_is_held_least_is_open_and_groups_stay_whole() -> None:
    weight, members = np.zeros(9), np.array([8, 1, 2, 4])
    weight[[0, 3, 5, 6]] = 1.0
    groups = Groups(weight, np.zeros(9), members, np.array([0, 2, 4]), np.array([1.0, 1.0]))
    gradient = np.array([0.5, 3.0, 0.1, 0.9, 0.1, 2.0, 0.2, 0.0, 0.0])
    found = GroupIdentifier(groups)(np.zeros(9), gradient, 1.0, 4).pieces
    # Coordinate 7 has no weight and is always open; then the first group, and 5.
    assert set(np.flatnonzero(found.labels >= 0)) >= {8, 1, 7, 5}
    assert (found.labels[8] >= 0) == (found.labels[1] >= 0)
    assert (found.labels[2] >= 0) == (found.labels[4] >= 0)
    small = groups.collapsed(found)
    assert small.weight.size == found.number
    assert list(small.blocks.starts[:2]) == [0, 2]


def test_few_reads_of_text_like_rows() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 5000), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.standard_normal(5000) + 0.2 * rng.standard_normal(400) > 0.0, 1.0, -1.0)
    most = float(np.max(np.abs(X.T @ y))) / 800
    for r1 in (penalties.L1(0.1 * most), penalties.ElasticNet(0.1 * most, 0.01 * most)):
        result = spdpeg.solve(spdpeg.Problem(X, y, losses.Logistic(), r1=r1), tol=1e-9)
        assert [stage.method for stage in result.stages] == ["working-set"]
        assert result.certificate.rel_gap <= 1e-9
        assert result.passes <= 15


def test_groups_beside_weights_take_the_working_set_too() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 600))
    y = np.where(X[:, :5] @ rng.standard_normal(5) + 0.3 * rng.standard_normal(80) > 0.0, 1.0, -1.0)
    groups = penalties.GroupL2(0.02, np.repeat(np.arange(120), 5))
    given = spdpeg.Problem(
        X, y, losses.Logistic(), r1=penalties.L1(0.01), r2=groups, F=operators.Identity(), intercept=True
    )
    result = spdpeg.solve(given, tol=1e-8)
    assert [stage.method for stage in result.stages] == ["working-set"]
    assert result.certificate.rel_gap <= 1e-8
    assert 0 < np.count_nonzero(result.x[:600]) < 300


def test_a_loss_without_curvature_at_the_start_is_solved_with_the_same_bits_whatever_memory_held() -> None:
    rng = np.random.default_rng(2)
    X = sp.random_array((300, 140), density=0.2, rng=rng, format="csr")
    y = np.where(X @ rng.standard_normal(140) > 0.0, 1.0, -1.0)
    groups = penalties.GroupL2(2e-3, np.repeat(np.arange(20), 7))
    given = spdpeg.Problem(X, y, losses.SmoothedHinge(0.5), r2=groups, F=operators.Identity(), intercept=True)
    _, blocks, labels = groups_of(given)
    block = given.view.sums.collapse(labels, labels.size).block
    answers = set()
    for number in (np.nan, 0.0, 1e300, -1.0, 1e-300):
        kept = [np.full(size, number) for size in (20, 21, 140, 141, 300) for _ in range(100)]
        del kept  # the next call takes its arrays from there
        found = minimized(block, given.loss, blocks, np.zeros(labels.size), Aim(1e-12, 1e-12, 0.0))
        answers.add(found.w.tobytes())
        assert found.found
    assert len(answers) == 1
    result = spdpeg.solve(given, "prox-newton", tol=1e-10)
    assert given.objective(found.w[labels]) <= result.objective * (1.0 + 1e-10)


def test_few_reads_where_groups_are_sparse_inside_and_one_has_a_single_member() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 1602))
    y = X[:, :400:9] @ rng.standard_normal(45) + rng.standard_normal(80)
    most = float(np.max(np.abs(X.T @ np.clip(y, -1.0, 1.0)))) / 80
    groups = [list(range(start, min(start + 7, 1602))) for start in range(0, 1602, 7)]
    assert len(groups[-1]) == 6
    groups[-1:] = [groups[-1][:5], groups[-1][5:]]
    r1, r2 = penalties.L1(0.02 * most), penalties.GroupL2(0.005 * most, groups)
    given = spdpeg.Problem(X, y, losses.Huber(1.0), r1=r1, r2=r2, F=operators.Identity())
    result = spdpeg.solve(given, tol=1e-8)
    assert [stage.method for stage in result.stages] == ["working-set"]
    assert result.certificate.rel_gap <= 1e-8
    assert result.passes <= 25
