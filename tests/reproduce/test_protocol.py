"""Folds, methods and grids."""

import dataclasses

import numpy as np
import pytest

from spdpeg import InputError, losses, solve
from spdpeg.engine.registry import REGISTRY
from spdpeg.reproduce import TASKS, measure, methods
from support.study import make_study


def test_folds_share_no_row_and_miss_none(study):
    folds = study.folds["clusters"]
    assert np.bincount(folds).tolist() == [60] * 5
    train, test = study.training("clusters", 3), study.testing("clusters", 3)
    assert sorted([*train, *test]) == list(range(300))
    y = study.data["clusters"].y
    shares = [np.mean(y[folds == fold] > 0) for fold in range(5)]
    assert np.ptp(shares) <= 1 / 60 + 1e-12


def test_the_weights_are_those_of_the_paper(study):
    x = np.random.default_rng(0).standard_normal(24)
    rows = study.training("clusters", 0)
    data = study.data["clusters"]
    loss = np.mean(np.log1p(np.exp(-data.y[rows] * (data.X[rows] @ x))))
    fused = loss + 5e-4 * np.abs(x).sum() + 5e-3 * np.abs(np.diff(x)).sum()
    assert TASKS["flr"].problem(data, rows).objective(x) == pytest.approx(fused, rel=1e-12)
    across = x[data.graph.edges[:, 0]] - x[data.graph.edges[:, 1]]
    guided = loss + 1e-2 / 2 * np.sum(x**2) + 1e-5 * np.abs(across).sum()
    assert TASKS["ggrlr"].problem(data, rows).objective(x) == pytest.approx(guided, rel=1e-12)


def test_printed_spdpeg_takes_the_bound_of_the_worst_row(study):
    problem = TASKS["flr"].problem(study.data["clusters"], study.training("clusters", 0))
    method = methods.METHODS["flr"]["spdpeg"]
    numbers = solve(problem, method.solver, max_passes=0, **method.parameters).state.numbers
    bound = 0.25 * np.max(np.sum(study.data["clusters"].X[study.training("clusters", 0)] ** 2, axis=1))
    printed = max(8 * problem.norm_F**2, np.sqrt(8 * bound**2 + problem.norm_F**2))
    assert numbers["step_base"] == pytest.approx(printed, rel=1e-6)
    assert (numbers["rho"], numbers["step_kappa"]) == (1.0, 1.0)


@pytest.mark.parametrize("task", TASKS)
def test_every_entry_of_a_grid_is_accepted_by_its_solver(task, study):
    problem = TASKS[task].problem(study.data["clusters"], study.training("clusters", 0))
    for method in methods.METHODS[task].values():
        assert method.solver in {*REGISTRY, methods.AUTO}
        defaults = method.defaults(problem)
        for choice in method.grid or ({},):
            parameters = method.candidate(defaults, choice)
            numbers = solve(problem, method.solver, max_passes=0, **parameters).state.numbers
            if "rho" in choice:
                assert numbers["rho"] == pytest.approx(choice["rho"] * defaults["rho"])


def test_competitors_have_grids_and_the_paper_has_none():
    for task in TASKS:
        for name, method in methods.METHODS[task].items():
            assert bool(method.grid) == ((method.printed and not name.startswith("spdpeg")) or name.endswith("-tuned"))


def test_methods_are_chosen_by_name_and_variants_added():
    assert list(methods.choose(["flr"], ["sgadm", "spdpeg"])["flr"]) == ["spdpeg", "sgadm"]
    assert list(methods.choose(["flr"], ["spdpeg"], tuned=True)["flr"]) == ["spdpeg", "spdpeg-tuned"]
    everything = methods.choose(TASKS)
    assert not any(name.endswith("-tuned") for names in everything.values() for name in names)
    with pytest.raises(InputError, match="no method called 'adam'"):
        methods.choose(["flr"], ["adam"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 6}, "choose 1 to 5"),
        ({"rounds": 0}, "choose 1 to 5"),
        ({"passes": 0.0}, "passes is 0.0"),
        ({"seconds": -1.0}, "seconds is -1.0"),
        ({"methods": {"flr": {}, "ggrlr": {}}}, "None of the methods"),
    ],
)
def test_a_study_refuses_what_cannot_be_run(changes, words):
    with pytest.raises(InputError, match=words):
        make_study(**changes)


def test_a_class_too_small_for_the_folds_is_refused(study):
    data = dataclasses.replace(study.data["clusters"], y=np.r_[np.ones(4), -np.ones(296)])
    with pytest.raises(InputError, match=r"300 rows and 4 of the class 1\.0"):
        make_study(data={"clusters": data})


def test_regression_needs_no_classes(study):
    data = dataclasses.replace(study.data["clusters"], y=np.arange(300.0))
    task = dataclasses.replace(TASKS["flr"], loss=losses.Squared())
    made = make_study(data={"clusters": data}, tasks={"flr": task}, methods=methods.choose(["flr"], ["spdpeg"]))
    assert np.bincount(made.folds["clusters"]).tolist() == [60] * 5


def test_inner_folds_never_include_the_test_fold():
    assert measure.pairs(5) == [(a, b) for a in range(5) for b in range(a + 1, 5)]
    assert measure.pairs(1) == [(0, 1), (0, 2), (0, 3), (0, 4)]


def test_selection_reads_the_score_on_the_inner_fold():
    # Candidate 0 is better on fold 1, which round 0 may look at; candidate 1 on fold 0, which it may not.
    scores = {(0, 1): {"scores": [[9.0, 1.0], [1.0, 9.0]]}}
    assert measure.select(scores, 0) == 0
    assert measure.select(scores, 1) == 1
    assert measure.select({(0, 1): {"scores": [[None, None], [1.0, 9.0]]}}, 0) == 1
    assert measure.select({(0, 1): {"skipped": "too wide"}}, 0) is None
