"""Rankings, intervals, ranks and sentences, on values that were made up."""

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, t, ttest_rel

from spdpeg.reproduce import claims, conclusion, results, statistics, values, verdict
from spdpeg.reproduce.methods import METHODS

RIVALS = ("egadm", "sgadm", "sadmm", "opg-admm", "rda-admm", "sadmm-diag", "sadmm-full")
TUNED = dict.fromkeys(RIVALS, 0.3)
AUTHORS = {f"{name}-authors": 0.3 for name in RIVALS[:-1]}


def made_up(levels, tasks=("flr", "ggrlr"), rounds=5, wobble=1e-3, sets=("one",), start=1.0, seeds=2):
    """Methods that end at their levels, with noise for each round; the optimum is 0.01."""
    rng = np.random.default_rng(0)
    rows = []
    for task in tasks:
        for data in sets:
            for name in (name for name in levels if name in METHODS[task]):
                for fold in range(rounds):
                    end = levels[name] + wobble * rng.standard_normal()
                    for seed in range(seeds):
                        here = end + 0.1 * wobble * rng.standard_normal()
                        for axis in (*values.AXES, values.LEVEL_AXIS):
                            for stage in values.STAGES:
                                rows.append(
                                    values.Value(task, data, name, axis, stage, 5.0, fold, seed, here, here, 1.0 - here)
                                )
    optima = [
        results.Optimum(task, data, fold, "prox-newton", 0.01, 0.01, 0.01, 0.99, start, 0.5, 32.0, 10.0)
        for task in tasks
        for data in sets
        for fold in range(rounds)
    ]
    chosen = {task: {name: METHODS[task][name] for name in levels if name in METHODS[task]} for task in tasks}
    return values.Table(rows, optima, chosen)


def judged(levels, **options):
    table = made_up(levels, **options)
    return {(c.sentence[:20], c.condition[:20]): c.outcome for c in claims.judge(table, claims.duels(table))}


def test_the_interval_is_the_paired_one_with_a_larger_variance():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(5), rng.standard_normal(5) + 0.5
    found = statistics.difference(a, b)
    # (1/5 + 1/4) in the place of 1/5
    half = t.ppf(0.975, 4) * np.std(a - b, ddof=1) * math.sqrt(0.45)
    assert found == pytest.approx((np.mean(a - b), np.mean(a - b) - half, np.mean(a - b) + half))
    plain = ttest_rel(a, b).confidence_interval()
    assert found.low < plain.low < plain.high < found.high
    assert statistics.difference(a, b, comparisons=7).low < found.low
    assert math.isnan(statistics.difference([1.0], [2.0]).low)


def test_average_ranks_with_the_tests_of_friedman_and_nemenyi():
    scores = {"a": [1.0, 2.0, 1.0, 1.0], "b": [2.0, 1.0, 2.0, 2.0], "c": [3.0, 3.0, 3.0, 3.0]}
    found = statistics.ranks(scores, lower_is_better=True)
    assert found.average == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert found.p == pytest.approx(friedmanchisquare(*scores.values()).pvalue)
    # Demsar (2006) has 2.343 for three methods.
    assert found.critical == pytest.approx(2.343 * math.sqrt(3 * 4 / (6 * 4)), rel=1e-3)
    assert statistics.ranks(scores, lower_is_better=False).average["c"] == 1.0
    assert statistics.ranks({"a": [1.0] * 4, "b": [1.0] * 4}, lower_is_better=True) is None


def test_rankings_are_over_the_counted_sets():
    levels = {"spdpeg-tuned": 0.2, "spdpeg-one-tuned": 0.1} | TUNED
    found = verdict.rankings(made_up(levels, tasks=["flr"], sets=("one", "two", "three")))
    assert {(r.group, r.metric, r.axis) for r in found} == {
        ("all tuned", metric, axis) for metric in results.METRICS for axis in values.AXES
    }
    assert found[0].ranks.sets == 3
    assert found[0].ranks.average["spdpeg-one-tuned"] == 1.0
    assert verdict.rankings(made_up(levels, tasks=["flr"], sets=("one", "two", "three"), start=0.0105)) == []


def test_places_values_and_directions():
    found = verdict.standings(made_up({"spdpeg": 0.2, "sgadm": 0.1, "egadm": 0.4}, tasks=["flr"]))
    for metric in results.METRICS:
        ranked = [s for s in found if (s.metric, s.axis, s.stage) == (metric, "seconds", "end")]
        assert [s.method for s in ranked] == ["sgadm", "spdpeg", "egadm"]
        assert [s.place for s in ranked] == [1, 2, 3]
        assert ranked[0].behind == 0.0
        assert ranked[1].behind == pytest.approx(0.1, abs=2e-3)
        assert 0.0 < ranked[1].low < ranked[1].behind < ranked[1].high
        assert ranked[0].at == 5.0


def test_who_did_not_get_there_has_no_place():
    table = made_up({"spdpeg": 0.2, "sgadm": 0.1}, tasks=["flr"])
    rows = [v._replace(objective=math.nan) if v.method == "sgadm" and v.fold == 3 else v for v in table.values]
    cut = values.Table(rows, table.optima, table.methods)
    ranked = [s for s in verdict.standings(cut) if (s.metric, s.axis, s.stage) == ("objective", "passes", "end")]
    assert [(s.method, s.place) for s in ranked] == [("spdpeg", 1), ("sgadm", None)]


def test_a_table_is_what_its_files_say(tmp_path):
    table = made_up({"spdpeg": 0.2, "sgadm": 0.1}, tasks=["flr"])
    values.write(table, tmp_path / "values.csv")
    results.write_table(tmp_path / "optima.csv", ("task", "set", "round", *results.Optimum._fields[3:]), table.optima)
    found = values.read(tmp_path / "values.csv", tmp_path / "optima.csv", table.methods)
    assert found.optima == table.optima
    for one, other in zip(found.values, table.values, strict=True):
        assert one[:8] == other[:8]
        assert one[8:] == pytest.approx(other[8:], rel=1e-6)


def test_a_curve_is_read_on_the_logarithm_of_its_axis():
    passes, loss = np.array([0.0, 1.0, 10.0]), np.array([1.0, 0.6, 0.2])
    columns = dict.fromkeys(("passes", "iterations", "seconds"), passes) | dict.fromkeys(results.METRICS, loss)
    curve = results.Curve("flr", "one", "spdpeg", 0, 0, {}, "complete", "spdpeg", columns)
    assert curve.at("passes", math.sqrt(10.0), "objective") == pytest.approx((0.6 + 0.2) / 2)
    assert curve.at("passes", 0.5, "objective") == 1.0
    assert math.isnan(curve.at("passes", 10.5, "objective"))
    assert curve.at("passes", 10.1, "objective") == pytest.approx(0.2)
    assert math.isnan(curve._replace(status="diverged: ...").at("passes", 1.0, "objective"))


def test_sentences_that_hold():
    levels = {"spdpeg": 0.05, "spdpeg-sc1": 0.1, "spdpeg-sc2": 0.05} | TUNED | {"egadm": 0.9}
    found = judged(levels)
    assert found["our method mostly ac", "Algorithm 1 as print"] == "supported"
    assert found["our algorithm consis", "Algorithm 1 as print"] == "supported"
    assert found["six stochastic ADMM-", "all tuned"] == "supported"
    assert found["the prediction accur", "Algorithm 1 as print"] == "supported"
    assert found["exhibits the advanta", "SC2 against SC1, as "] == "supported"


def test_sentences_that_do_not_hold():
    found = judged({"spdpeg": 0.5, "spdpeg-sc1": 0.5, "spdpeg-sc2": 0.6, "spdpeg-default": 0.1} | TUNED)
    assert found["our method mostly ac", "Algorithm 1 as print"] == "contradicted"
    assert found["our method mostly ac", "SPDPEG of this packa"] == "supported"
    assert found["six stochastic ADMM-", "all tuned"] == "contradicted"
    assert found["the prediction accur", "Algorithm 1 as print"] == "contradicted"
    assert found["our algorithm consis", "Algorithm 1 as print"] == "contradicted"
    assert found["exhibits the advanta", "SC2 against SC1, as "] == "contradicted"
    assert ("our method mostly ac", "Algorithm 1 tuned; r") not in found


def test_only_an_interval_that_excludes_it_contradicts_a_claim():
    found = judged({"spdpeg": 0.301} | TUNED, tasks=["flr"], wobble=0.05)
    assert found["our method mostly ac", "Algorithm 1 as print"] == "not supported"


def test_the_most_stable_varies_least_over_the_seeds():
    table = made_up({"spdpeg": 0.2} | TUNED, tasks=["flr"], wobble=0.01, seeds=4)
    steady = [v._replace(objective=0.2) if v.method == "spdpeg" else v for v in table.values]
    restless = [v._replace(objective=0.2 + v.seed) if v.method == "spdpeg" else v for v in table.values]
    for rows, outcome in ((steady, "supported"), (restless, "contradicted")):
        changed = values.Table(rows, table.optima, table.methods)
        stable = [c.outcome for c in claims.judge(changed, []) if "stable" in c.sentence]
        assert stable == [outcome]


def test_cells_with_nothing_to_optimise_are_shown_and_not_counted():
    table = made_up({"spdpeg": 0.2} | TUNED, tasks=["flr"], start=0.0109)
    found = claims.duels(table)
    assert found
    assert not any(duel.counted for duel in found)
    assert claims.judge(table, found) == []


def test_the_authors_parameters_count_where_they_have_any():
    ours = {"spdpeg": 0.5, "spdpeg-authors": 0.2, "spdpeg-tuned": 0.4, "spdpeg-one-tuned": 0.31}
    table = made_up(ours | TUNED | AUTHORS, tasks=["flr"], sets=("a9a", "hitech"))
    assert table.sets("flr") == ["a9a", "hitech"]
    assert table.sets("flr", "authors") == ["a9a"]
    found = claims.duels(table)
    for duel in found:
        with_theirs = "authors" in claims.CONDITIONS[duel.condition][:2]
        assert duel.counted == (duel.data == "a9a" or not with_theirs)
    first, _ = conclusion.conclude(table, found)
    assert "in 3 of 3 comparisons" in first
    assert (
        "on the sets that they have parameters for; with the rivals tuned, Algorithm 1 as printed is ahead in" in first
    )
    assert made_up(ours, tasks=["flr"], sets=("hitech",)).sets("flr", "authors") == ["hitech"]


def test_the_conclusion_says_whose_ranking_holds():
    ours = {"spdpeg": 0.5, "spdpeg-authors": 0.2, "spdpeg-tuned": 0.4, "spdpeg-one-tuned": 0.31}
    table = made_up(ours | TUNED | AUTHORS, tasks=["flr"])
    first, second = conclusion.conclude(table, claims.duels(table))
    assert "ahead of all rivals in 3 of 3 comparisons" in first
    assert "as printed is ahead in 0 of 3" in first
    assert "holds in most comparisons under the authors' own settings" in second
    assert "is contradicted where all methods are tuned alike" in second
    assert conclusion.conclude(made_up(TUNED, tasks=["flr"]), []) == []


def test_without_the_methods_of_a_sentence_it_is_not_judged():
    assert judged({"vr-spdpeg": 0.1, "sgadm": 0.2}, tasks=["flr"]) == {}
