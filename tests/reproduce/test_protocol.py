"""Folds, methods and grids."""

import dataclasses

import numpy as np
import pytest

from spdpeg import InputError, losses, solve
from spdpeg.datasets.catalogue import CATALOGUE
from spdpeg.engine.registry import REGISTRY
from spdpeg.reproduce import PAPER, TASKS, authors, methods, tuning
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
    printed = max(8 * problem.F.norm**2, np.sqrt(8 * bound**2 + problem.F.norm**2))
    assert numbers["step_base"] == pytest.approx(printed, rel=1e-6)
    assert (numbers["rho"], numbers["step_kappa"]) == (1.0, 1.0)


@pytest.mark.parametrize("task", TASKS)
def test_every_setting_is_accepted_by_its_solver(task, study):
    problem = TASKS[task].problem(study.data["clusters"], study.training("clusters", 0))
    for method in methods.METHODS[task].values():
        assert method.solver in {*REGISTRY, methods.AUTO}
        for number, lattice in enumerate(method.lattices or [methods.Lattice({}, {})]):
            choice = {"lattice": number, "point": [1] * len(lattice.factors)}
            settings = method.settings(task, "clusters", problem, choice)
            numbers = solve(problem, method.solver, max_passes=0, **settings.parameters).state.numbers
            assert settings.numbers.keys() <= numbers.keys()
            if "rho" in lattice.factors:
                worst = 0.25 * np.max(np.sum(problem.view.rows.block.rows.values.reshape(240, 24) ** 2, axis=1))
                assert numbers["rho"] == pytest.approx(4 * worst / problem.F.squared_norm)


def test_spdpeg_stands_four_times_and_each_rival_twice():
    for task, regimes in (("flr", ["spdpeg"]), ("ggrlr", ["spdpeg-sc1", "spdpeg-sc2"])):
        settings = {}
        for method in methods.METHODS[task].values():
            settings.setdefault((method.family, method.solver), []).append(method.setting)
        for solver in regimes:
            assert settings["spdpeg", solver] == ["printed", "authors", "tuned", "one-tuned", "default"]
        rivals = {solver: found for (family, solver), found in settings.items() if family == "rival"}
        assert len(rivals) == 7
        assert all(found == ["tuned", "authors"] for solver, found in rivals.items() if solver != "sadmm-full")
        assert all(method.runs for method in methods.METHODS[task].values())


def test_the_authors_steps_are_those_of_their_scripts(study):
    problem = TASKS["flr"].problem(study.data["clusters"], study.training("clusters", 0))
    square, bound = problem.F.squared_norm, problem.view.bounds.lipschitz_max
    k = np.array([0.0, 99.0])

    def steps(solver, data):
        settings = authors.settings("flr", solver, data, problem)
        state = solve(problem, solver, max_passes=0, **settings.parameters).state
        state.numbers.update(settings.numbers)
        return REGISTRY[solver]().step_rule(state)(k)

    printed = max(8 * square, np.sqrt(8 * bound**2 + square))
    np.testing.assert_allclose(steps("spdpeg", "w8a"), 7 / (np.sqrt(k + 1) + printed), rtol=1e-6)
    np.testing.assert_allclose(steps("sgadm", "splice"), 0.25 / (np.sqrt(k + 1) + bound + square), rtol=1e-6)
    np.testing.assert_allclose(steps("sadmm", "w8a"), 0.0025)
    np.testing.assert_allclose(steps("opg-admm", "a9a"), 1 / (4 * square))
    np.testing.assert_allclose(steps("rda-admm", "hitech"), (k + 1) / square)
    np.testing.assert_allclose(steps("sadmm-diag", "hitech"), 6 / np.sqrt(5 * 240))


def test_methods_are_chosen_by_name():
    assert list(methods.choose(["flr"], ["sgadm", "spdpeg"])["flr"]) == ["spdpeg", "sgadm"]
    assert methods.choose(TASKS) == methods.METHODS
    with pytest.raises(InputError, match="no method called 'adam'"):
        methods.choose(["flr"], ["adam"])


def test_a_walk_ends_where_no_neighbour_is_worth_a_move():
    found = tuning.walk(lambda point: 1.0 + (point[0] - 3) ** 2 + (point[1] + 2) ** 2, 2)
    assert (found.point, found.interior) == ((3, -2), True)
    # Gains that die away are not followed for ever, those that do not are told.
    assert tuning.walk(lambda point: 1.0 + 4.0 ** -point[0], 1).point[0] < 8
    assert not tuning.walk(lambda point: 2.0 ** -point[0], 1).interior
    assert tuning.walk(lambda point: np.inf if point[0] < 2 else float(point[0]), 1).point == (0,)


def test_text_sets_have_a_raw_form():
    assert set(PAPER) - set(CATALOGUE) == {"hitech-raw", "k1b-raw", "classic-raw"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 6}, "choose 1 to 5"),
        ({"rounds": 0}, "choose 1 to 5"),
        ({"seeds": 0}, "seeds is 0"),
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
