"""The outer loop: budgets, records, callbacks, stopping, interruption and the guard against divergence."""

import importlib
import json
import signal
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spdpeg
from spdpeg import DivergedError, InputError, Status, losses, operators, penalties
from spdpeg.engine.registry import REGISTRY
from spdpeg.solvers.spdpeg import SPDPEG
from support import catalogue, conic
from support.catalogue import N


@pytest.fixture
def problem() -> spdpeg.Problem:
    return catalogue.instance(r1="L2Squared").problem()


class TestBudgets:
    @pytest.mark.parametrize(("passes", "batch", "steps"), [(4, 1, 106), (4, 7, 15), (0.5, 1, 13), (0, 1, 0)])
    def test_passes(self, problem: spdpeg.Problem, passes: float, batch: int, steps: int) -> None:
        result = spdpeg.solve(problem, "spdpeg", mode="paper", max_passes=passes, batch_size=batch)
        assert result.status is Status.MAX_PASSES
        assert result.iterations == steps
        assert result.passes == pytest.approx(2 * batch * steps / N)
        assert result.passes <= passes

    def test_iterations(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=None, max_iterations=137)
        assert (result.status, result.iterations) == (Status.MAX_ITERATIONS, 137)

    def test_seconds(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=None, max_seconds=0.2)
        assert result.status is Status.MAX_SECONDS
        assert 0.2 <= result.seconds < 1.2
        assert result.iterations > 1000

    def test_seconds_exclude_compilation_and_records(self, problem: spdpeg.Problem) -> None:
        def dawdle(progress: Any) -> None:
            threading.Event().wait(0.2)

        result = spdpeg.solve(problem, "spdpeg", max_passes=5, record_every=1, callback=dawdle)
        assert result.seconds < 0.5  # the callbacks alone took a second
        assert result.compile_seconds >= 0

    def test_the_first_one_used_up_ends_the_run(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=2, max_iterations=10, max_seconds=100)
        assert (result.status, result.iterations) == (Status.MAX_ITERATIONS, 10)
        result = spdpeg.solve(problem, "spdpeg", max_passes=2, max_iterations=10_000, max_seconds=100)
        assert (result.status, result.iterations) == (Status.MAX_PASSES, 106)

    def test_a_resumed_run_gets_its_budget_on_top(self, problem: spdpeg.Problem) -> None:
        first = spdpeg.solve(problem, "spdpeg", max_passes=None, max_iterations=10)
        second = spdpeg.solve(problem, "spdpeg", max_passes=None, max_iterations=15, state=first.state)
        assert second.iterations == 25

    @pytest.mark.parametrize("solver", [solver for solver in REGISTRY if solver != "admm-newton"])
    def test_without_any(self, solver: str) -> None:
        """A method that converges runs until its tolerance is met, the others for five passes.

        A single step of admm-newton takes more.
        """
        problem = catalogue.instance_for(solver).problem()
        result = spdpeg.solve(problem, solver)
        if REGISTRY[solver].about.converges:
            assert result.status is Status.TOLERANCE
            assert problem.certificate(result.x, result.dual, result.slopes).rel_gap <= 1e-6
            assert result.passes < 1000
        else:
            assert result.status is Status.MAX_PASSES
            assert 4 <= result.passes <= 5

    def test_a_tolerance_alone(self, problem: spdpeg.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
        """A thousand passes, also for a method that does not converge; some seconds, where those are more."""
        monkeypatch.setattr(importlib.import_module("spdpeg.engine.solve"), "_LEAST_SECONDS", 0.0)
        result = spdpeg.solve(problem, "spdpeg", tol=1e-14)
        assert result.status is Status.MAX_PASSES
        assert 998 <= result.passes <= 1000

    def test_a_stream_without_any(self) -> None:
        """Five traversals, or as many rows as there are."""
        instance = catalogue.instance()
        chunks = catalogue.stream_of(instance)
        again = spdpeg.solve(instance.problem(X=chunks, y=None))
        assert (again.status, again.passes) == (Status.MAX_PASSES, pytest.approx(5, rel=0.05))
        once = spdpeg.solve(instance.problem(X=iter(chunks), y=None))
        assert (once.status, once.passes) == (Status.STREAM_ENDED, pytest.approx(1, rel=0.05))

    @pytest.mark.parametrize("name", ["max_passes", "max_seconds", "max_iterations"])
    @pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
    def test_nonsense_is_refused(self, problem: spdpeg.Problem, name: str, value: Any) -> None:
        budget: dict[str, Any] = {name: value}
        with pytest.raises(InputError, match=rf"{name} is .*\. It must be a finite number"):
            spdpeg.solve(problem, "spdpeg", **budget)


class TestHistory:
    def test_cadence(self, problem: spdpeg.Problem) -> None:
        history = spdpeg.solve(problem, "spdpeg", mode="paper", max_passes=6, record_every=2).history
        # A step reads two rows, so a record comes with the first step that reaches its mark.
        np.testing.assert_array_equal(history.iterations, [0, 53, 106, 159])
        np.testing.assert_allclose(history.passes, [0, 2, 4, 6])

    def test_fractional_cadence(self, problem: spdpeg.Problem) -> None:
        history = spdpeg.solve(problem, "spdpeg", max_passes=2, record_every=0.25).history
        assert history.passes[-1] == 2.0
        assert np.all(np.abs(np.diff(history.passes)[:-1] - 0.25) <= 2 / N)

    def test_default_cadence(self, problem: spdpeg.Problem) -> None:
        assert len(spdpeg.solve(problem, "spdpeg", max_passes=5).history) == 6
        assert len(spdpeg.solve(problem, "spdpeg", max_passes=1000).history) == 21

    def test_records_are_what_they_say(self) -> None:
        instance = catalogue.instance(r1="L2Squared")
        problem = instance.problem()
        seen: list[Any] = []
        result = spdpeg.solve(problem, "spdpeg", max_passes=5, callback=seen.append)
        history = result.history
        assert history.objective[0] == pytest.approx(instance.objective(np.zeros(catalogue.D)), rel=1e-12)
        assert history.objective[-1] == result.objective == pytest.approx(instance.objective(result.x), rel=1e-12)
        assert history.violation[-1] == result.violation
        assert history.violation[-1] == pytest.approx(np.linalg.norm(instance.F @ result.x - result.z), rel=1e-9)
        assert np.all(np.diff(history.seconds) >= 0)
        for progress, objective in zip(seen, history.objective[1:], strict=True):
            assert progress.objective == objective == pytest.approx(instance.objective(progress.x), rel=1e-12)

    def test_to_frame(self, problem: spdpeg.Problem) -> None:
        history = spdpeg.solve(problem, "spdpeg", max_passes=3).history
        frame = history.to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == ["passes", "iterations", "seconds", "objective", "violation"]
        np.testing.assert_array_equal(frame["objective"], history.objective)

    def test_to_frame_without_pandas(self, problem: spdpeg.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
        history = spdpeg.solve(problem, "spdpeg", max_passes=1).history
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(InputError, match=r"pandas is not installed\. Run: pip install"):
            history.to_frame()

    @pytest.mark.parametrize("value", [0, -1.0, float("nan")])
    def test_nonsense_is_refused(self, problem: spdpeg.Problem, value: float) -> None:
        with pytest.raises(InputError, match=r"record_every is .*\. It counts passes"):
            spdpeg.solve(problem, "spdpeg", record_every=value)


class TestStopping:
    def test_callback(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=50, record_every=1, callback=lambda p: p.passes >= 3)
        assert result.status is Status.CALLBACK
        assert 3 <= result.passes < 4
        assert result.history.passes[-1] == result.passes

    def test_callback_that_only_looks(self, problem: spdpeg.Problem) -> None:
        seen: list[float] = []
        result = spdpeg.solve(problem, "spdpeg", max_passes=4, callback=lambda p: seen.append(p.passes))
        assert result.status is Status.MAX_PASSES
        np.testing.assert_allclose(seen, result.history.passes[1:])

    def test_callback_errors_reach_the_caller(self, problem: spdpeg.Problem) -> None:
        def fail(progress: Any) -> None:
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            spdpeg.solve(problem, "spdpeg", callback=fail)

    def test_tolerance(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg-sc2", max_passes=5000, tol=1e-2, record_every=1)
        assert result.status is Status.TOLERANCE
        assert result.passes < 5000
        assert result.certificate is not None
        assert result.certificate.met == "relative gap"
        assert 0.0 <= problem.certificate(result.x, result.dual).rel_gap <= 1e-2

    def test_out_of_reach_tolerance(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=5, tol=1e-12)
        assert result.status is Status.MAX_PASSES
        assert result.certificate is not None
        assert result.certificate.met is None
        assert result.certificate.rel_gap > 1e-12

    def test_start_at_the_solution(self) -> None:
        instance, best = conic.optimum("Squared", "L2Squared", "None", "None")
        result = spdpeg.solve(instance.problem(), "spdpeg", x0=best.x, tol=1e-6, batch_size=N, max_passes=100)
        assert result.status is Status.TOLERANCE

    @pytest.mark.parametrize("value", [-1e-3, float("nan")])
    def test_nonsense_is_refused(self, problem: spdpeg.Problem, value: float) -> None:
        with pytest.raises(InputError, match=r"tol is .*\. It must be positive"):
            spdpeg.solve(problem, "spdpeg", tol=value)

    def test_every_status_is_a_sentence(self) -> None:
        for status in Status:
            assert str(status) == status.value
            assert len(str(status).split()) >= 3


def test_ctrl_c_in_the_last_step_is_heard(problem: spdpeg.Problem) -> None:
    """The budget is used up at the same time; who goes on from chunk to chunk would never stop otherwise."""

    def press(progress: Any) -> None:
        if progress.passes >= 2:
            signal.raise_signal(signal.SIGINT)

    result = spdpeg.solve(problem, "spdpeg", max_passes=2, record_every=1, callback=press)
    assert result.status is Status.INTERRUPTED
    assert result.passes == pytest.approx(2.0)


class TestRuns:
    @pytest.mark.parametrize("solver", REGISTRY)
    def test_same_seed_same_bits(self, solver: str) -> None:
        problem = catalogue.instance_for(solver).problem()
        first, second = (spdpeg.solve(problem, solver, max_passes=6, seed=7) for _ in range(2))
        for name in ("x", "x_last", "z", "dual"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        if not REGISTRY[solver].about.deterministic:
            one, other = (spdpeg.solve(problem, solver, max_passes=6, seed=seed).x for seed in (7, 8))
            assert not np.array_equal(one, other)

    @pytest.mark.parametrize("solver", REGISTRY)
    def test_inputs_are_untouched(self, solver: str) -> None:
        instance = catalogue.instance_for(solver, weighted=True)
        x0 = np.linspace(-1, 1, catalogue.D)
        assert instance.weights is not None
        kept = [array.copy() for array in (instance.X, instance.labels, instance.weights, x0)]
        problem = instance.problem()
        state = spdpeg.solve(problem, solver, max_passes=4, x0=x0).state
        saved = state.copy()
        spdpeg.solve(problem, solver, max_passes=4, state=state)
        for before, after in zip(kept, (instance.X, instance.labels, instance.weights, x0), strict=True):
            np.testing.assert_array_equal(before, after)
        assert (state.iterations, state.rows, state.batches) == (saved.iterations, saved.rows, saved.batches)
        for name, vector in saved.vectors.items():
            np.testing.assert_array_equal(state.vectors[name], vector)

    @pytest.mark.parametrize("solver", REGISTRY)
    def test_results_are_finite(self, solver: str) -> None:
        problem = catalogue.instance_for(solver).problem()
        result = spdpeg.solve(problem, solver, max_passes=20)
        for name in ("x", "x_last", "z", "dual"):
            assert np.all(np.isfinite(getattr(result, name)))
        assert result.objective < problem.objective(np.zeros(catalogue.D))

    def test_the_result_is_not_tied_to_the_state(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=2)
        before = result.x.copy(), result.x_last.copy()
        for vector in result.state.vectors.values():
            vector[:] = -1.0
        np.testing.assert_array_equal(result.x, before[0])
        np.testing.assert_array_equal(result.x_last, before[1])

    def test_progress_bar(self, problem: spdpeg.Problem, capfd: pytest.CaptureFixture[str]) -> None:
        seen: list[Any] = []
        shown = spdpeg.solve(problem, "spdpeg", max_passes=3, progress=True, callback=seen.append)
        assert capfd.readouterr().out == ""
        assert len(seen) == 3
        np.testing.assert_array_equal(shown.x, spdpeg.solve(problem, "spdpeg", max_passes=3).x)

    def test_second_thread(self, problem: spdpeg.Problem) -> None:
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(spdpeg.solve(problem, "spdpeg", max_passes=5)))
        thread.start()
        thread.join()
        np.testing.assert_array_equal(results[0].x, spdpeg.solve(problem, "spdpeg", max_passes=5).x)

    def test_repr(self, problem: spdpeg.Problem) -> None:
        result = spdpeg.solve(problem, "spdpeg", max_passes=2)
        assert f"objective={result.objective:.6g}" in repr(result)
        assert str(Status.MAX_PASSES) in repr(result)


def test_interruption_keeps_the_last_finished_step() -> None:
    """Ctrl-C, sent by a thread once the run is under way; the state then goes on as if nothing had happened."""
    script = """
        import json, os, signal, threading
        import numpy as np, spdpeg
        from spdpeg import losses, penalties
        X = np.random.default_rng(0).standard_normal((200, 5))
        problem = spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(1e-3))
        before = signal.getsignal(signal.SIGINT)
        spdpeg.solve(problem, "spdpeg", max_passes=1)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        stopped = spdpeg.solve(problem, "spdpeg", max_passes=None, max_seconds=60, record_every=1e6)
        resumed = spdpeg.solve(problem, "spdpeg", max_passes=None, max_iterations=10, state=stopped.state)
        whole = spdpeg.solve(problem, "spdpeg", max_passes=None, max_iterations=resumed.iterations, record_every=1e6)
        print(json.dumps({
            "status": stopped.status.name,
            "iterations": stopped.iterations,
            "recorded": int(stopped.history.iterations[-1]),
            "seconds": stopped.seconds,
            "same": bool(np.array_equal(resumed.x, whole.x) and np.array_equal(resumed.x_last, whole.x_last)),
            "handler": signal.getsignal(signal.SIGINT) is before,
        }))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "INTERRUPTED"
    assert report["iterations"] == report["recorded"] > 0
    assert report["seconds"] < 30
    assert report["same"]
    assert report["handler"]


class TestDivergence:
    def test_too_long_steps_are_named(self) -> None:
        problem = catalogue.instance().problem()
        with pytest.raises(DivergedError) as caught:
            spdpeg.solve(problem, "spdpeg", mode="paper", scale=64, max_passes=400)
        message = str(caught.value)
        assert "spdpeg diverged at iteration" in message
        assert "step rule c_k = 64 / (1 sqrt(k+1) + " in message
        state = spdpeg.solve(problem, "spdpeg", mode="paper", max_passes=0).state
        rule = SPDPEG(mode="paper").step_rule(state)
        assert f"The largest stable step is {rule.stable:.3g}: reduce scale or rho" in message

    def test_the_named_step_is_safe(self) -> None:
        problem = catalogue.instance().problem()
        state = spdpeg.solve(problem, "spdpeg", mode="paper", max_passes=0).state
        rule = SPDPEG(mode="paper").step_rule(state)
        scale = rule.stable / rule(np.zeros(1))[0]
        result = spdpeg.solve(problem, "spdpeg", mode="paper", scale=scale, max_passes=400)
        assert result.objective < problem.objective(np.zeros(catalogue.D))

    def test_wrong_lipschitz_constant(self) -> None:
        problem = catalogue.instance("Squared").problem()
        with pytest.raises(DivergedError, match="diverged at iteration"):
            spdpeg.solve(problem, "spdpeg", lipschitz=1e-12, kappa=0.0, max_passes=400)

    @pytest.mark.parametrize("loss", catalogue.LOSSES)
    def test_the_default_mode_clips(self, loss: str) -> None:
        problem = catalogue.instance(loss).problem()
        start = problem.objective(np.zeros(catalogue.D))
        result = spdpeg.solve(problem, "spdpeg", scale=1e6, max_passes=400)
        assert np.all(np.isfinite(result.x))
        assert np.all(result.history.objective <= start)
        assert result.objective == pytest.approx(problem.objective(result.x), rel=1e-12)
        assert spdpeg.solve(problem, "spdpeg", mode="tight", scale=1e6, max_passes=400).objective < start

    def test_never_a_result_that_is_not_finite(self) -> None:
        for scale in (16.0, 64.0, 1e3, 1e9, 1e300):
            for loss in ("Logistic", "Squared"):
                try:
                    result = spdpeg.solve(
                        catalogue.instance(loss).problem(), "spdpeg", mode="paper", scale=scale, max_passes=50
                    )
                except DivergedError:
                    continue
                assert np.all(np.isfinite(result.x))
                assert np.all(np.isfinite(result.dual))
                assert np.isfinite(result.objective)


def test_the_certificate_is_that_of_the_point_given_back() -> None:
    """Where SPDPEG falls back on its start, which is better, the certificate is the start's."""
    X, y, _ = spdpeg.datasets.piecewise_constant(400, 20, seed=3)
    terms: dict[str, Any] = {"loss": losses.Logistic(), "r1": penalties.L1(1e-3), "r2": penalties.L1(1e-2)}
    problem = spdpeg.Problem(X, y, F=operators.FirstDifference(), **terms)
    best = spdpeg.solve(problem)
    result = spdpeg.solve(problem, "spdpeg", x0=best.x, max_passes=3, tol=1e-9)
    assert result.certificate is not None
    assert result.certificate.primal == pytest.approx(problem.objective(result.x), rel=1e-14)
    assert result.objective == pytest.approx(problem.objective(result.x), rel=1e-14)
