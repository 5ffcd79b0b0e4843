"""What solver objects keep beside the state: it belongs to one problem, or to one state, and to no other."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact import ProxLBFGS, ProxNewton, SpaRSA, WorkingSet
from spdpeg.solvers import SGADM
from spdpeg.solvers.base import FullReads, kept_for, per_problem
from spdpeg.view import View


def problem(seed: int, r1: penalties.Penalty) -> spdpeg.Problem:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 12))
    y = np.sign(X[:, :4].sum(axis=1) + rng.standard_normal(80))
    F = operators.FirstDifference()
    return spdpeg.Problem(X, y, losses.Logistic(), r1, penalties.L1(0.01), F, intercept=True)


class Counting(SGADM):
    made = 0

    @per_problem
    def parts(self, view: View) -> int:
        self.made += 1
        return self.made


def test_what_is_made_of_a_problem_is_kept_until_another_one_comes() -> None:
    first, second = (problem(seed, penalties.L1(0.01)).view for seed in (0, 1))
    solver, other = Counting(), Counting()
    assert [solver.parts(view) for view in (first, first, second, second, first)] == [1, 1, 2, 2, 3]
    assert other.parts(first) == 1


def test_what_is_kept_for_a_vector_is_not_that_of_an_equal_one() -> None:
    vector = np.zeros(3)
    assert kept_for(vector, (vector, "token")) == "token"
    assert kept_for(vector.copy(), (vector, "token")) is None
    assert kept_for(vector, None) is None


CASES: list[tuple[type[FullReads], penalties.Penalty]] = [
    (SpaRSA, penalties.L1(0.02)),
    (ProxLBFGS, penalties.L2Squared(0.05)),
    (WorkingSet, penalties.L1(0.02)),
    (ProxNewton, penalties.L1(0.02)),
]


@pytest.mark.parametrize(("kind", "r1"), CASES, ids=[kind.about.name for kind, _ in CASES])
def test_one_object_takes_turns_on_two_problems(kind: type[FullReads], r1: penalties.Penalty) -> None:
    settings: dict[str, Any] = {"tol": 1e-10, "max_iterations": 2}
    problems = [problem(seed, r1) for seed in (0, 1)]
    alone = [spdpeg.solve(each, kind(), tol=1e-10, max_iterations=4) for each in problems]
    solver = kind()
    halves = [spdpeg.solve(each, solver, **settings) for each in problems]
    wholes = [
        spdpeg.solve(each, solver, state=half.state, **settings) for each, half in zip(problems, halves, strict=True)
    ]
    for whole, expected in zip(wholes, alone, strict=True):
        assert whole.iterations == expected.iterations
        assert np.array_equal(whole.x, expected.x)
        assert np.array_equal(whole.dual, expected.dual)


@pytest.mark.parametrize(("kind", "r1"), CASES, ids=[kind.about.name for kind, _ in CASES])
def test_a_state_that_could_not_keep_margins_knows_no_evaluation(kind: type[FullReads], r1: penalties.Penalty) -> None:
    solver = kind()
    state = spdpeg.solve(problem(0, r1), solver, tol=1e-10, max_iterations=2).state
    known = solver.evaluation(state)
    assert known is not None
    assert known.loss == state.numbers["loss"]
    state.vectors["margins"] = np.zeros(0)  # as of rows on a cluster
    assert kind().evaluation(state) is None
