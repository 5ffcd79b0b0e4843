"""Curves against runs done by hand."""

import dataclasses

import numpy as np
import pytest

from spdpeg import datasets, losses, operators, solve
from spdpeg.reproduce import TASKS, Data, measure, methods
from support.study import make_study


def curve_of(study, task, name, fold=0, least_seconds=0.0, choice=None):
    method = methods.METHODS[task][name]
    return measure.curve(study, task, "clusters", method, fold, choice or {}, least_seconds)


@pytest.mark.parametrize("name", ["spdpeg", "vr-spdpeg", "egadm"])
def test_a_curve_is_the_plain_run_seen_from_outside(study, name):
    choice = {"variant": "prox", "rho": 10.0} if name == "egadm" else {}
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
    assert "d = 501" in curve_of(study, "flr", "sadmm-full")["skipped"]
    full = methods.METHODS["flr"]["sadmm-full"]
    assert "d = 501" in measure.scores(study, "flr", "clusters", full, (0, 1))["skipped"]


def test_divergence_ends_a_curve_and_disqualifies_a_candidate(study):
    wild = methods.Method("wild", "wild", "spdpeg", {"mode": "paper"}, ({"scale": 1e9}, {"scale": 1.0}))
    found = measure.curve(study, "flr", "clusters", wild, 0, wild.grid[0], 0.0)
    assert found["status"].startswith("diverged: spdpeg diverged at iteration")
    assert found["passes"][0] == 0
    scores = measure.scores(study, "flr", "clusters", wild, (0, 1))["scores"]
    assert scores[0] == [None, None]
    assert all(0 < score < 1 for score in scores[1])


def test_scores_are_held_out_objectives(study):
    sgadm = methods.METHODS["flr"]["sgadm"]
    scores = measure.scores(study, "flr", "clusters", sgadm, (1, 3))["scores"]
    data = study.data["clusters"]
    problem = TASKS["flr"].problem(data, study.training("clusters", 1, 3))
    parameters = sgadm.candidate(sgadm.defaults(problem), sgadm.grid[4])
    x = solve(problem, "sgadm", max_passes=study.passes, **parameters).x
    assert scores[4][1] == TASKS["flr"].problem(data, study.testing("clusters", 3)).objective(x)


@pytest.mark.parametrize("task", TASKS)
def test_the_optimum_is_certified(study, task):
    found = measure.optimum(study, task, "clusters", 0)
    assert found["bound"] <= found["objective"] <= found["bound"] * (1 + measure.OPTIMUM_TOLERANCE)
    assert found["solver"] == "auto (prox-newton)"


def test_a_curve_of_auto_says_what_ran(study):
    method = methods.METHODS["flr"]["auto"]
    found = measure.curve(study, "flr", "clusters", method, 0, {}, 0.0)
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
