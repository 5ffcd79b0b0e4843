"""Rankings, tests and sentences, on curves that were made up."""

import csv
import math

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from spdpeg.reproduce import claims, results, verdict
from spdpeg.reproduce.methods import METHODS
from support.study import make_study


def made_up(levels, tasks=("flr", "ggrlr"), rounds=5, wobble=1e-3):
    """Methods that fall from 1 to their level within ten passes, a pass a second; the optimum is 0."""
    chosen = {task: {name: METHODS[task][name] for name in levels if name in METHODS[task]} for task in tasks}
    study = make_study(methods={"flr": {}, "ggrlr": {}} | chosen, rounds=rounds)
    noise = np.random.default_rng(0).standard_normal((len(levels), rounds))
    curves = []
    for i, (name, level) in enumerate(levels.items()):
        for task in tasks:
            for fold in range(rounds if name in chosen[task] else 0):
                end = level + wobble * noise[i, fold]
                passes = np.array([0.0, 1.0, 10.0])
                loss = np.array([1.0, (1 + end) / 2, end])
                columns = {"passes": passes, "iterations": passes, "seconds": passes, "objective": loss}
                columns |= {"test_loss": loss, "score": 1.0 - loss}
                curves.append(results.Curve(task, "clusters", name, fold, {}, "complete", name, columns))
    optima = [
        results.Optimum(task, "clusters", fold, "prox-newton", 0.0, 0.0, 0.0, 1.0)
        for task in tasks
        for fold in range(rounds)
    ]
    pace = {(task, "clusters"): (10.0, 10.0) for task in tasks}
    return results.Results(study, curves, optima, {}, pace, {})


RIVALS = dict.fromkeys(("egadm", "sgadm", "sadmm", "opg-admm", "rda-admm", "sadmm-diag", "sadmm-full"), 0.3)


def outcomes(levels, **options):
    found = made_up(levels, **options)
    return {(c.sentence[:20], c.method): c.outcome for c in claims.judge(found, verdict.standings(found))}


def test_the_corrected_test_is_the_paired_one_with_a_larger_variance():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(5), rng.standard_normal(5) + 0.5
    plain = ttest_rel(a, b)
    # (1/5 + 1/4) in the place of 1/5
    expected = 2 * t.sf(abs(plain.statistic) * math.sqrt(0.2 / 0.45), 4)
    assert verdict.paired_test(tuple(a), tuple(b)) == pytest.approx(expected)
    assert math.isnan(verdict.paired_test((1.0,), (2.0,)))
    assert verdict.paired_test((1.0, 2.0), (1.0, 2.0)) == 1.0
    assert verdict.paired_test((1.0, 2.0), (2.0, 3.0)) == 0.0


def test_places_values_and_directions():
    found = verdict.standings(made_up({"spdpeg": 0.2, "sgadm": 0.1, "egadm": 0.4}, tasks=["flr"]))
    for metric in ("objective", "test_loss", "score"):
        ranked = [s for s in found if (s.metric, s.axis, s.stage) == (metric, "seconds", "end")]
        assert [s.method for s in ranked] == ["sgadm", "spdpeg", "egadm"]
        assert [s.place for s in ranked] == [1, 2, 3]
        assert math.isnan(ranked[0].p)
        assert ranked[1].p < 0.001
        assert ranked[0].at == 10.0
    early = [s for s in found if (s.metric, s.axis, s.stage) == ("objective", "passes", "early")]
    assert early[0].at == 1.0
    assert early[0].mean == pytest.approx(0.55, abs=1e-3)


def test_a_curve_is_read_on_the_logarithm_of_its_axis():
    curve = made_up({"spdpeg": 0.2}, tasks=["flr"], wobble=0.0).curves[0]
    assert curve.at("passes", math.sqrt(10.0), "objective") == pytest.approx((0.6 + 0.2) / 2)
    assert curve.at("passes", 0.5, "objective") == 1.0
    assert math.isnan(curve.at("passes", 10.5, "objective"))
    assert curve.at("passes", 10.1, "objective") == pytest.approx(0.2)
    assert math.isnan(curve._replace(status="diverged: ...").at("passes", 1.0, "objective"))


def test_who_did_not_get_there_has_no_place():
    made = made_up({"spdpeg": 0.2, "sgadm": 0.1}, tasks=["flr"])
    for i, curve in enumerate(made.curves):
        if curve.method == "sgadm":
            made.curves[i] = curve._replace(columns={name: column[:2] for name, column in curve.columns.items()})
    ranked = [s for s in verdict.standings(made) if (s.metric, s.axis, s.stage) == ("objective", "passes", "end")]
    assert [(s.method, s.place) for s in ranked] == [("spdpeg", 1), ("sgadm", None)]


def test_sentences_that_hold():
    found = outcomes({"spdpeg": 0.05, "spdpeg-sc1": 0.1, "spdpeg-sc2": 0.05} | RIVALS | {"egadm": 0.9})
    assert found["our method mostly ac", "SPDPEG, as printed"] == "supported"
    assert found["six stochastic ADMM-", "SPDPEG and the six"] == "supported"
    assert found["the prediction accur", "SPDPEG, as printed"] == "supported"
    assert found["our algorithm consis", "the better of SC1 and SC2, as printed"] == "supported"
    assert found["exhibits the advanta", "SC2 against SC1, as printed"] == "supported"


def test_sentences_that_do_not_hold():
    found = outcomes({"spdpeg": 0.5, "spdpeg-sc1": 0.5, "spdpeg-sc2": 0.6, "spdpeg-default": 0.1} | RIVALS)
    assert found["our method mostly ac", "SPDPEG, as printed"] == "contradicted"
    assert found["our method mostly ac", "SPDPEG, default mode"] == "supported"
    assert found["six stochastic ADMM-", "SPDPEG and the six"] == "contradicted"
    assert found["the prediction accur", "SPDPEG, as printed"] == "contradicted"
    assert found["our algorithm consis", "the better of SC1 and SC2, as printed"] == "contradicted"
    assert found["exhibits the advanta", "SC2 against SC1, as printed"] == "contradicted"
    assert ("our method mostly ac", "SPDPEG, tuned") not in found


def test_differences_within_chance_are_called_undecided():
    found = outcomes({"spdpeg": 0.301} | RIVALS, tasks=["flr"], wobble=0.05)
    assert found["our method mostly ac", "SPDPEG, as printed"] == "undecided"


def test_the_most_stable_has_the_smallest_spread():
    made = made_up({"spdpeg": 0.2} | RIVALS, tasks=["flr"], wobble=0.01)
    for i, curve in enumerate(made.curves):
        if curve.method == "spdpeg":
            made.curves[i] = curve._replace(columns=made.curves[0].columns)
    stable = {c.sentence: c.outcome for c in claims.judge(made, verdict.standings(made)) if "stable" in c.sentence}
    assert list(stable.values()) == ["supported"]


def test_without_the_methods_of_a_sentence_it_is_not_judged():
    assert outcomes({"vr-spdpeg": 0.1, "sgadm": 0.2}, tasks=["flr"]) == {}


def test_the_table_holds_the_rankings(tmp_path):
    found = verdict.standings(made_up({"spdpeg": 0.2, "sgadm": 0.1}, tasks=["flr"]))
    verdict.write(found, tmp_path / "verdict.csv")
    with open(tmp_path / "verdict.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found) == 2 * 3 * 2 * 2
    assert rows[0]["method"] == "sgadm"
    assert float(rows[0]["mean"]) == found[0].mean
