"""The conic form of a penalty is the penalty: its smallest value over the auxiliary variables, by a conic solver."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.base import Rescaled
from spdpeg.penalties.conic import ConicForm, stack

from .conftest import CASES, SIZE, Case, solve

every_form = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def program(form: ConicForm, w: cp.Variable) -> tuple[Any, list[Any]]:
    """The form in the language of a conic solver."""
    quadratic = form.quadratic.toarray()
    total, constraints = cp.quad_form(w, cp.psd_wrap(quadratic)) / 2 + form.linear @ w, []
    for i in range(form.n_lines):
        line = form.K[[i]].toarray()[0] @ w - form.offset[i]
        up, down = form.up[i], form.down[i]
        constraints += [line <= 0] if np.isinf(up) else []
        constraints += [line >= 0] if np.isinf(down) else []
        total += up * cp.pos(line) if np.isfinite(up) else 0.0
        total += down * cp.neg(line) if np.isfinite(down) else 0.0
    for g, (first, last) in enumerate(zip(form.starts[:-1], form.starts[1:], strict=True)):
        image = form.K[first:last].toarray() @ w - form.offset[first:last]
        columns = int(form.columns[g])
        shape = ((last - first) // columns, columns)
        length = cp.normNuc(cp.reshape(image, shape, order="C")) if columns > 1 else cp.norm(image, 2)
        if np.isinf(form.weight[g]):
            constraints.append(length <= form.radius[g])
        else:
            total += form.weight[g] * length
    return total, constraints


def least(form: ConicForm, v: np.ndarray) -> float:
    """r(v) by minimising over the auxiliary variables."""
    w = cp.Variable(form.width)
    total, constraints = program(form, w)
    problem = cp.Problem(cp.Minimize(total), [*constraints, w[: form.size] == v])
    solve(problem)
    return float(problem.value)


def points(case: Case) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    free = [scale * rng.standard_normal(SIZE) for scale in (0.2, 3.0)]
    return free + [0.999 * case.penalty.prox(point, 0.1) for point in free] + [case.penalty.prox(free[1], 0.1)]


def test_the_nuclear_norm_alone_holds_matrices() -> None:
    holding = {type(case.penalty) for case in CASES if case.penalty.conic_form(SIZE).holds_matrices}
    assert holding == {pen.Nuclear}
    form = pen.SeparableSum([pen.L1(), pen.Nuclear(1.0, (2, 2))], [4, 4]).conic_form(8)
    assert form is not None
    assert form.holds_matrices


def test_the_nuclear_norm_of_one_row_is_a_euclidean_norm() -> None:
    for shape in ((1, 3), (3, 1)):
        form = pen.Nuclear(0.7, shape).conic_form(3)
        assert form is not None
        point = np.array([3.0, -4.0, 12.0])
        assert form.value(point) == pytest.approx(pen.Nuclear(0.7, shape).value(point), rel=1e-14)


@every_form
def test_value(case: Case) -> None:
    form = case.penalty.conic_form(SIZE)
    assert form.size == SIZE
    for v in points(case):
        expected = case.penalty.value(v)
        if np.isfinite(expected):
            border = case.penalty.value(1.001 * v) == np.inf
            assert least(form, v) == pytest.approx(expected, rel=1e-6, abs=1e-7) or border
        else:
            assert least(form, v) == np.inf


@every_form
def test_least_squares_with_the_form_is_the_prox(case: Case) -> None:
    """Sets are met at their border too, where the value jumps."""
    form, v = case.penalty.conic_form(SIZE), 2.0 * np.random.default_rng(5).standard_normal(SIZE)
    w = cp.Variable(form.width)
    total, constraints = program(form, w)
    solve(cp.Problem(cp.Minimize(cp.sum_squares(w[:SIZE] - v) / 2 + total), constraints))
    assert w.value[:SIZE] == pytest.approx(case.penalty.prox(v), abs=1e-4)


@every_form
def test_after_a_matrix(case: Case) -> None:
    rng = np.random.default_rng(8)
    F = sp.random_array((SIZE, 4), density=0.5, random_state=rng, data_sampler=rng.standard_normal)
    x = rng.standard_normal(4)
    if np.isfinite(case.penalty.value(F @ x)):
        form = case.penalty.conic_form(SIZE).after(F)
        assert form.size == 4
        assert least(form, x) == pytest.approx(case.penalty.value(F @ x), rel=1e-6, abs=1e-7)


def test_squares_after_long_rows_stay_sparse() -> None:
    rng = np.random.default_rng(8)
    F = sp.vstack([sp.eye_array(200), np.ones((2, 200))])
    x = rng.standard_normal(200)
    for penalty in (pen.L2Squared(np.linspace(1.0, 2.0, 202)), pen.HuberL1(0.3)):
        form = penalty.conic_form(202).after(F)
        assert form.quadratic.nnz + form.K.nnz < 2000
        assert least(form, x) == pytest.approx(penalty.value(F @ x), rel=1e-6)


@every_form
def test_parabolas_are_squares(case: Case) -> None:
    """Only the last lines are new, so that multipliers of the others keep their places."""
    form = case.penalty.conic_form(SIZE)
    other, w = form.with_parabolas(), np.random.default_rng(9).standard_normal(form.width)
    assert other.value(w, np.inf) == pytest.approx(form.value(w, np.inf), rel=1e-12, abs=1e-12)
    assert not other.curved
    assert np.array_equal(other.up[: form.n_lines], form.up)
    assert np.all(other.smoothing[form.n_lines :] > 0.0)


def test_a_round_kink_has_no_auxiliary_variable() -> None:
    rng = np.random.default_rng(10)
    v = rng.standard_normal(SIZE)
    penalty = pen.HuberL1(rng.uniform(0.0, 2.0, SIZE) * (rng.random(SIZE) < 0.7), 0.3)
    form = penalty.conic_form(SIZE).with_round_kinks()
    assert form.width == SIZE
    assert form.value(v) == pytest.approx(penalty.value(v), rel=1e-12)
    plain = pen.L2Squared(0.3).conic_form(SIZE)
    assert plain.with_round_kinks() is plain


def test_sums_stacks_and_multiples() -> None:
    rng = np.random.default_rng(2)
    v = rng.standard_normal(SIZE)
    first, second = pen.HuberL1(0.5, 0.3), pen.LInf(0.7)
    assert least(first.conic_form(SIZE) + second.conic_form(SIZE), v) == pytest.approx(
        first.value(v) + second.value(v), abs=1e-7
    )
    side = stack([first.conic_form(2), pen.GroupL2(0.4).conic_form(1), second.conic_form(3)])
    assert least(side, v) == pytest.approx(
        first.value(v[:2]) + pen.GroupL2(0.4).value(v[2:3]) + second.value(v[3:]), abs=1e-7
    )
    assert least(Rescaled(first, 3.0).conic_form(SIZE), v) == pytest.approx(3.0 * first.value(v), abs=1e-7)


def test_own_value() -> None:
    v = np.array([0.5, -2.0, 1.0])
    assert pen.FusedL1(0.3, 0.2).conic_form(3).value(v) == pytest.approx(pen.FusedL1(0.3, 0.2).value(v))
    assert pen.GroupL2(0.3).conic_form(3).value(v) == pytest.approx(pen.GroupL2(0.3).value(v))
    assert pen.L2Ball(2.0).conic_form(3).value(v) == np.inf
    assert pen.L2Ball(2.0).conic_form(3).value(v, slack=1.0) == 0.0
    assert pen.Simplex(1.0).conic_form(3).value(np.array([0.5, 0.25, 0.25])) == 0.0
    assert pen.Simplex(1.0).conic_form(3).value(v) == np.inf


def test_own_penalties_have_none() -> None:
    class Own(pen.Penalty):
        """A penalty of a user."""

    assert Own().conic_form(3) is None


def test_a_chain_of_one_point_has_no_jumps() -> None:
    form = pen.FusedL1(0.5, 2.0).conic_form(1)
    assert form.K.shape == (1, 1)
    assert form.up.tolist() == [0.5]


def test_a_chain_of_no_points_has_none_that_are_free() -> None:
    assert pen.FusedL1(0.0, 2.0).free(0).size == 0
    assert pen.FusedL1(0.0, 0.0).free(2).all()


def test_weights_of_entries_are_the_penalty() -> None:
    v, known = 2.0 * np.random.default_rng(6).standard_normal(SIZE), set()
    for case in CASES:
        weights = case.penalty.entry_weights(SIZE)
        if weights is not None:
            known.add(type(case.penalty).__name__)
            weight, square = weights
            assert weight.shape == square.shape == (SIZE,)
            assert weight @ np.abs(v) + 0.5 * square @ (v * v) == pytest.approx(case.penalty.value(v), rel=1e-12)
    assert known >= {"L1", "L2Squared", "ElasticNet", "Zero"}
    mixed = pen.SeparableSum([pen.ElasticNet(0.2, 0.3), pen.L1(0.5)], [3, SIZE - 3])
    weight, square = mixed.entry_weights(SIZE) or (np.zeros(0), np.zeros(0))
    assert weight @ np.abs(v) + 0.5 * square @ (v * v) == pytest.approx(mixed.value(v), rel=1e-12)
    assert pen.SeparableSum([pen.Nuclear(1.0, (2, 2)), pen.L1()], [4, SIZE - 4]).entry_weights(SIZE) is None
