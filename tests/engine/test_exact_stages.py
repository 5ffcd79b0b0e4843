"""The plan of exact methods: which is chosen, what follows it, and that its runs can be cut and stopped anywhere."""

import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import Status, datasets, losses, operators, penalties
from spdpeg.engine import auto
from spdpeg.exact.interior_point import InteriorPoint
from spdpeg.exact.prox_newton import ProxNewton
from support import catalogue

TOL = 1e-6


def chain(n: int = 40, d: int = 900, F: Any = None) -> spdpeg.Problem:
    """More columns than rows, and few pieces."""
    X, y, _ = datasets.piecewise_constant(n, d, seed=0)
    r1, r2 = penalties.L1(2e-3), penalties.L1(1e-2)
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=r1, r2=r2, F=F or operators.FirstDifference())


def graph(d: int = 900) -> spdpeg.Problem:
    return chain(d=d, F=operators.GraphDifference([(i, (i + 7) % d) for i in range(d)]))


def small() -> spdpeg.Problem:
    return catalogue.instance().problem()


def hinge() -> spdpeg.Problem:
    return catalogue.instance().problem(loss=losses.Hinge())


PROBLEMS = {
    "prox-newton": small,
    "prox-newton on Huber's loss": lambda: catalogue.instance("Huber", "ElasticNet", "L1", "Stack").problem(
        intercept=True
    ),
    "working-set": chain,
    "working-set on a graph": graph,
    "interior-point": hinge,
}
"""By the method that is chosen."""

IN_STEPS = [name for name in PROBLEMS if name != "interior-point"]
"""Those that take more than one."""


def methods(result: spdpeg.Result) -> list[str]:
    return [stage.method for stage in result.stages]


def assert_same(one: spdpeg.Result, other: spdpeg.Result) -> None:
    assert (one.iterations, one.state.rows, one.status) == (other.iterations, other.state.rows, other.status)
    assert methods(one) == methods(other)
    for name in ("x", "x_last", "z", "dual"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.state.numbers.keys() == other.state.numbers.keys()
    for name, number in one.state.numbers.items():
        np.testing.assert_array_equal(number, other.state.numbers[name], err_msg=name)
    for name, vector in one.state.vectors.items():
        np.testing.assert_array_equal(vector, other.state.vectors[name], err_msg=name)


@pytest.mark.parametrize("name", PROBLEMS)
class TestChosen:
    def test_alone_until_the_tolerance(self, name: str) -> None:
        problem = PROBLEMS[name]()
        result = spdpeg.solve(problem, tol=TOL)
        assert (methods(result), result.status) == ([name.split(" ")[0]], Status.TOLERANCE)
        assert result.stages[0].reason.startswith("chosen because ")
        assert result.certificate is not None
        assert result.certificate.rel_gap <= TOL
        fresh = problem.certificate(result.x, result.dual)
        assert fresh.primal == pytest.approx(result.objective, rel=1e-12)

    def test_the_method_by_its_name_takes_the_same_steps(self, name: str) -> None:
        problem = PROBLEMS[name]()
        chosen, named = spdpeg.solve(problem, tol=TOL), spdpeg.solve(problem, name.split(" ")[0], tol=TOL)
        assert (named.status, named.iterations) == (Status.TOLERANCE, chosen.iterations)
        np.testing.assert_array_equal(named.x, chosen.x)

    def test_all_seeds_lead_to_the_same_bits(self, name: str) -> None:
        problem = PROBLEMS[name]()
        assert_same(spdpeg.solve(problem, tol=TOL, seed=1), spdpeg.solve(problem, tol=TOL, seed=2))

    def test_from_the_solution_nothing_is_left_to_do(self, name: str) -> None:
        """One step at most: the slopes of the rows, part of the proof, are no part of a start."""
        problem = PROBLEMS[name]()
        first = spdpeg.solve(problem, tol=1e-13)
        again = spdpeg.solve(problem, tol=TOL, x0=first.x, dual0=first.dual)
        assert again.status is Status.TOLERANCE
        assert again.iterations == (1 if name == "interior-point" else 0)
        assert problem.objective(again.x) <= problem.objective(first.x) * (1.0 + 1e-12)
        roughly = spdpeg.solve(problem, tol=TOL)
        assert spdpeg.solve(problem, tol=TOL, x0=roughly.x, dual0=roughly.dual).iterations <= 1


@pytest.mark.parametrize("tol", [None, 1e-9])
@pytest.mark.parametrize("name", IN_STEPS)
class TestCuts:
    @pytest.mark.parametrize("cuts", [(1, 3), (2, 2), (3, 1), (1, 0, 1, 1, 1)], ids=str)
    def test_k_and_k_steps_are_2k_steps(self, name: str, tol: float | None, cuts: tuple[int, ...]) -> None:
        problem = PROBLEMS[name]()
        whole = spdpeg.solve(problem, tol=tol, max_iterations=4)
        state = None
        for steps in cuts:
            result = spdpeg.solve(problem, tol=tol, max_iterations=steps, state=state)
            state = result.state
        assert_same(whole, result)

    def test_k_and_k_passes_are_2k_passes(self, name: str, tol: float | None) -> None:
        problem = PROBLEMS[name]()
        whole = spdpeg.solve(problem, tol=tol, max_passes=6)
        state = spdpeg.solve(problem, tol=tol, max_passes=3).state
        assert_same(whole, spdpeg.solve(problem, tol=tol, max_passes=3, state=state))

    def test_through_a_file(self, name: str, tol: float | None, tmp_path: Any) -> None:
        problem = PROBLEMS[name]()
        whole = spdpeg.solve(problem, tol=tol, max_iterations=3)
        spdpeg.solve(problem, tol=tol, max_iterations=2).state.save(tmp_path / "state.npz")
        state = spdpeg.State.load(tmp_path / "state.npz")
        assert_same(whole, spdpeg.solve(problem, tol=tol, max_iterations=1, state=state))


@pytest.mark.parametrize("name", IN_STEPS)
class TestStops:
    def test_budgets(self, name: str) -> None:
        problem = PROBLEMS[name]()
        one = spdpeg.solve(problem, max_iterations=1)
        assert (one.iterations, one.status) == (1, Status.MAX_ITERATIONS)
        few = spdpeg.solve(problem, max_passes=2)
        assert (few.passes <= 4, few.status) == (True, Status.MAX_PASSES)
        none = spdpeg.solve(problem, max_seconds=0.0)
        assert (none.iterations, none.status) == (0, Status.MAX_SECONDS)
        assert few.objective < none.objective

    def test_a_callback(self, name: str) -> None:
        problem, seen = PROBLEMS[name](), []

        def second(progress: Any) -> bool:
            seen.append(progress.iterations)
            return progress.iterations >= 2

        result = spdpeg.solve(problem, tol=1e-12, callback=second, record_every=1)
        assert (result.status, result.iterations, seen[-1]) == (Status.CALLBACK, 2, 2)

    def test_the_keyboard(self, name: str) -> None:
        problem = PROBLEMS[name]()

        def press(progress: Any) -> None:
            if progress.iterations == 1:
                signal.raise_signal(signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            cut = spdpeg.solve(problem, tol=1e-9, callback=press, record_every=1)
        finally:
            signal.signal(signal.SIGINT, before)
        assert (cut.status, cut.iterations) == (Status.INTERRUPTED, 1)
        whole, on = spdpeg.solve(problem, tol=1e-9), spdpeg.solve(problem, tol=1e-9, state=cut.state)
        assert_same(whole, on)


class TestFallback:
    """A method that cannot go on gives way to first-order steps; one that has no minimum to find does not."""

    @pytest.fixture
    def no_certificate(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each exact method says that it has come to its end after the first step."""
        monkeypatch.setattr(ProxNewton, "ended", lambda self, state: _after_one(state))
        monkeypatch.setattr(ProxNewton, "may_be_optimal", lambda self, state, tol: True)

    @pytest.mark.usefixtures("no_certificate")
    @pytest.mark.parametrize("tol", [None, 1e-5])
    def test_smooth_losses(self, tol: float | None) -> None:
        result = spdpeg.solve(small(), tol=tol, max_passes=None if tol else 60)
        assert methods(result) == [*["prox-newton"] * 3, "vr-spdpeg"]  # with 16 digits, 32, and 16 again
        assert result.stages[0].iterations == 1
        assert result.stages[3].reason == "chosen because prox-newton ended before the tolerance was met"
        if tol:
            assert result.status is Status.TOLERANCE

    def test_losses_made_of_lines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nowhere(self: Any, problem: Any, terms: Any, state: Any, *rest: Any) -> int:
            state.numbers["exhausted"] = 1.0
            return int(problem.rows.block.labels.size)

        monkeypatch.setattr(InteriorPoint, "advance", nowhere)
        result = spdpeg.solve(hinge(), tol=1e-3)
        assert (methods(result), result.status) == (["interior-point", "spdhg-cers"], Status.TOLERANCE)

    @pytest.mark.usefixtures("no_certificate")
    def test_cut_at_the_seam(self) -> None:
        problem = small()
        whole = spdpeg.solve(problem, max_passes=12)
        state = None
        for passes in (2, 4, 6):
            result = spdpeg.solve(problem, max_passes=passes, state=state)
            state = result.state
        assert methods(result) == [*["prox-newton"] * 3, "vr-spdpeg"]
        assert_same(whole, result)

    def test_separable_rows_without_a_penalty(self) -> None:
        X = np.linspace(-1.0, 1.0, 40)[:, None] * np.ones((1, 2)) + np.outer(np.cos(np.arange(40)), [1e-3, -1e-3])
        problem = spdpeg.Problem(X, np.sign(np.linspace(-1.0, 1.0, 40)), loss=losses.Logistic())
        result = spdpeg.solve(problem, tol=TOL)
        assert methods(result) == ["prox-newton"]
        assert result.status is Status.NO_MINIMUM
        assert result.certificate is not None
        assert result.certificate.met is None


def _after_one(state: Any) -> Status | None:
    return Status.EXHAUSTED if state.iterations >= 1 else None


class TestLimits:
    """Where the matrices are too large, exact methods step back."""

    def test_many_coordinates_and_rows_without_zeros(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(auto, "_SMALL_MATRIX", 5)
        monkeypatch.setattr(auto, "_LARGE_MATRIX", 5)
        ridge = catalogue.instance("Logistic", "L2Squared").problem()
        assert auto.plan(ridge.view)[0].method.about.name != "prox-newton"
        assert auto.plan(hinge().view)[0].method.about.name == "spdhg-cers"

    def test_penalties_without_a_conic_form(self) -> None:
        names = [
            stage.method.about.name for stage in auto.plan(catalogue.instance("Logistic", "Nuclear").problem().view)
        ]
        assert names[0] == "prox-newton"  # with the nuclear norm split off
        assert math.isfinite(losses.Logistic().curvature)


def test_a_loss_that_reaches_zero_is_not_said_to_have_no_minimum() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 30))
    problem = spdpeg.Problem(X, X @ rng.normal(size=30) > 0.0, losses.SmoothedHinge(), intercept=True)
    result = spdpeg.solve(problem, tol=1e-8)
    assert result.status is Status.TOLERANCE
    assert result.objective <= 1e-12


def test_a_small_memory_map_has_the_methods_of_an_array(tmp_path: Path) -> None:
    case = catalogue.instance()
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=case.X.shape)
    mapped[:] = case.X
    names = [
        [stage.method.about.name for stage in auto.plan(spdpeg.Problem(X, case.labels, losses.Huber(0.5)).view)]
        for X in (mapped, case.X)
    ]
    assert names[0] == names[1]
    assert "interior-point" in names[0]
