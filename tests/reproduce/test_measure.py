"""Curves against runs done by hand."""

import dataclasses

import numpy as np
import pytest

from spdpeg import datasets, losses, operators, solve
from spdpeg.engine import budgets
from spdpeg.reproduce import TASKS, Data, measure, methods
from spdpeg.solvers import exact_x_step
from support.study import make_study


def curve_of(study, task, name, fold=0, least_seconds=0.0, choice=None):
    method = methods.METHODS[task][name]
    return measure.curve(study, task, "clusters", method, (fold, 0), choice or {}, least_seconds)


@pytest.mark.parametrize("name", ["spdpeg", "vr-spdpeg", "egadm"])
def test_a_curve_is_the_plain_run_seen_from_outside(study, name):
    choice = {"lattice": 0, "point": [1]} if name == "egadm" else {}
    found = curve_of(study, "flr", name, fold=1, choice=choice)
    data, train, test = study.data["clusters"], study.training("clusters", 1), study.testing("clusters", 1)
    problem = TASKS["flr"].problem(data, train)
    for k in (1, -1):
        steps = int(found["iterations"][k])
        result = solve(problem, name, max_passes=None, max_iterations=steps, seed=1, **found["parameters"])
        assert result.objective == found["objective"][k]
        margins = data.X[test] @ result.x
        assert found["test_loss"][k] == pytest.approx(np.mean(np.log1p(np.exp(-data.y[test] * margins))), rel=1e-12)
        assert found["score"][k] == np.mean(np.sign(margins) == data.y[test])
    assert found["passes"][0] == found["seconds"][0] == found["iterations"][0] == 0
    assert found["objective"][0] == pytest.approx(np.log(2))
    assert np.all(np.diff(found["seconds"]) > 0)
    assert found["passes"][-1] >= 0.98 * study.passes


def test_a_curve_goes_on_until_the_time_of_the_reference(study):
    found = curve_of(study, "flr", "spdpeg", least_seconds=0.2)
    assert found["seconds"][-1] >= 0.2
    assert found["seconds"][-2] < 0.2
    assert found["passes"][-1] > study.passes


def test_a_curve_ends_with_the_seconds_of_the_study():
    study = make_study(passes=1e7, seconds=0.1)
    found = curve_of(study, "flr", "spdpeg")
    assert 0.1 <= found["seconds"][-1] < 0.5
    assert found["passes"][-1] < 1e7


def test_the_pace_is_that_of_the_first_method(study):
    found = measure.pace(study, "flr", "clusters")
    assert found["passes"] == study.passes
    assert 0 < found["seconds"] < study.seconds


def test_what_does_not_fit_is_skipped_with_the_reason():
    X, y, _ = datasets.piecewise_constant(40, 501)
    study = make_study(data={"clusters": Data("clusters", X, y, "wide", operators.FirstDifference())})
    full = methods.METHODS["flr"]["sadmm-full"]
    skipped = measure.tune(study, "flr", "clusters", full, 0)
    assert "d = 501" in skipped["skipped"]
    assert measure.curve(study, "flr", "clusters", full, (0, 0), skipped, 0.0) == skipped


def test_divergence_ends_a_curve_and_disqualifies_a_candidate(study):
    steps = methods.Lattice({"mode": "paper"}, {"scale": 1e9})
    wild = methods.Method("wild", "wild", "spdpeg", methods.TUNED, lattices=(steps,))
    found = measure.curve(study, "flr", "clusters", wild, (0, 0), {"lattice": 0, "point": [1]}, 0.0)
    assert found["status"].startswith("diverged: spdpeg diverged at iteration")
    assert found["passes"][0] == 0
    assert measure.tune(study, "flr", "clusters", wild, 0)["point"] == (0,)


def test_tuning_scores_by_the_objective_on_the_next_fold(study):
    sgadm = methods.METHODS["flr"]["sgadm"]
    found = measure.tune(study, "flr", "clusters", sgadm, 3)
    data = study.data["clusters"]
    problem = TASKS["flr"].problem(data, study.training("clusters", 3, 4))
    held_out = TASKS["flr"].problem(data, study.testing("clusters", 4))

    def score(point):
        parameters = sgadm.lattices[0].parameters(problem, point)
        return held_out.objective(solve(problem, "sgadm", max_passes=study.passes, **parameters).x)

    best = score(found["point"])
    assert found["interior"]
    for move in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)):
        assert score(tuple(np.add(found["point"], move))) >= best * (1 - 1e-4)


def test_set_up_is_off_the_clock(study, monkeypatch):
    now = 0.0

    def tick(seconds=1e-6):
        nonlocal now
        now += seconds
        return now

    prepare = exact_x_step.prepare
    monkeypatch.setattr(budgets.time, "perf_counter", tick)
    monkeypatch.setattr(
        exact_x_step, "prepare", lambda *arguments, **options: (tick(100.0), prepare(*arguments, **options))[1]
    )
    found = curve_of(study, "ggrlr", "sadmm", choice={"lattice": 0, "point": [0, 0]})
    assert now > 100.0
    assert found["seconds"][-1] < 1.0


def test_seeds_of_a_round_differ_in_nothing_but_the_rows_drawn(study):
    method = methods.METHODS["flr"]["spdpeg"]
    one, other = (measure.curve(study, "flr", "clusters", method, (1, seed), {}, 0.0) for seed in (0, 1))
    assert one["parameters"] == other["parameters"]
    assert one["objective"][0] == other["objective"][0]
    assert one["objective"][-1] != other["objective"][-1]


@pytest.mark.parametrize("task", TASKS)
def test_the_optimum_is_certified(study, task):
    found = measure.optimum(study, task, "clusters", 0)
    assert found["bound"] <= found["objective"] <= found["bound"] * (1 + measure.OPTIMUM_TOLERANCE)
    assert found["start"] == pytest.approx(np.log(2))
    y, test = study.data["clusters"].y, study.testing("clusters", 0)
    assert found["majority"] in (np.mean(y[test] > 0), np.mean(y[test] < 0))
    problem = TASKS[task].problem(study.data["clusters"], study.training("clusters", 0))
    printed = solve(problem, "spdpeg", max_passes=0, mode="paper").state.numbers["step_base"]
    assert max(found["coupling"], found["curvature"]) == pytest.approx(printed)
    assert found["solver"] == "auto (prox-newton)"


def test_a_curve_of_auto_says_what_ran(study):
    method = methods.METHODS["flr"]["auto"]
    found = measure.curve(study, "flr", "clusters", method, (0, 0), {}, 0.0)
    assert found["ran"] == "auto (prox-newton)"
    assert curve_of(study, "flr", "vr-spdpeg", fold=0, choice={})["ran"] == "vr-spdpeg"


def test_the_score_of_a_regression_is_r_squared(study):
    rng = np.random.default_rng(0)
    X, truth = rng.standard_normal((50, 24)), rng.standard_normal(24)
    data = Data("clusters", X, X @ truth + rng.standard_normal(50), "regression")
    task = dataclasses.replace(TASKS["flr"], loss=losses.Squared())
    problem = task.problem(data, np.arange(50))
    residual = np.sum((data.y - X @ (truth / 2)) ** 2)
    assert measure.score(problem, truth / 2) == pytest.approx(1 - residual / np.sum((data.y - data.y.mean()) ** 2))
