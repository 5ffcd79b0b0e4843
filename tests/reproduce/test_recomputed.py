"""Every number on the page, computed anew from the CSV files with nothing but NumPy and SciPy."""

import csv
import json
import math
import re
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import t

from spdpeg.reproduce import claims
from spdpeg.reproduce.methods import METHODS
from support.study import curves

BETTER = {"objective": 1.0, "test_loss": 1.0, "score": -1.0}


@pytest.fixture(scope="module")
def content(output):
    text = (output / "report.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def means(output):
    """Mean over the seeds of each round by (task, set, method, axis, stage, metric); without those not there."""
    runs = defaultdict(lambda: defaultdict(list))
    with open(output / "values.csv") as file:
        for row in csv.DictReader(file):
            for metric in BETTER:
                key = (*(row[name] for name in ("task", "set", "method", "axis", "stage")), metric)
                runs[key][row["round"]].append(float(row[metric] or "nan"))
    found = {key: np.array([np.mean(v) for _, v in sorted(rounds.items())]) for key, rounds in runs.items()}
    return {key: v for key, v in found.items() if np.all(np.isfinite(v))}


@pytest.fixture(scope="module")
def optima(output):
    rounds = defaultdict(list)
    with open(output / "optima.csv") as file:
        for row in csv.DictReader(file):
            rounds[row["task"], row["set"]].append(row)
    names = ("start", "objective", "bound", "score", "majority", "coupling", "curvature")
    return {cell: {name: np.mean([float(r[name]) for r in rows]) for name in names} for cell, rows in rounds.items()}


def interval(differences, comparisons=1):
    n = differences.size
    half = t.ppf(1 - 0.025 / comparisons, n - 1) * math.sqrt(np.var(differences, ddof=1) * (1 / n + 1 / 4))
    return np.mean(differences), np.mean(differences) - half, np.mean(differences) + half


def counted(optimum):
    return optimum["start"] - optimum["objective"] >= 0.1 * optimum["objective"]


def test_values_are_read_off_the_curves(output, content):
    """At the end of the reference's run, on the logarithm of the passes."""
    found = curves(output)
    with open(output / "values.csv") as file:
        rows = [row for row in csv.DictReader(file) if (row["axis"], row["stage"]) == ("passes", "end")]
    assert len(rows) == len(found)
    for row in rows:
        curve = found[tuple(row[name] for name in ("task", "set", "method", "round", "seed"))]
        at = np.log(float(row["at"]))
        for metric, column in zip(BETTER, (3, 4, 5), strict=True):
            assert float(row[metric]) == pytest.approx(np.interp(at, np.log(curve[1:, 0]), curve[1:, column]), rel=1e-6)


def test_rankings(content, means):
    assert content["standings"]
    for key, table in content["standings"].items():
        task, data, metric, axis, stage = key.split("/")
        here = {
            k[2]: BETTER[metric] * v for k, v in means.items() if (*k[:2], *k[3:]) == (task, data, axis, stage, metric)
        }
        order = sorted(here, key=lambda name: here[name].mean())
        rows = [row for row in table["rows"] if row[0] is not None]
        assert [row[1] for row in rows] == order
        for place, name, mean, *apart in rows:
            assert mean == pytest.approx(BETTER[metric] * here[name].mean(), rel=1e-6)
            assert order[place - 1] == name
            assert apart == pytest.approx(interval(here[name] - here[order[0]]), rel=1e-5, abs=1e-9)


def test_what_there_is_to_optimise(content, optima):
    assert {(c["task"], c["set"]) for c in content["cells"]} == set(optima)
    for cell in content["cells"]:
        optimum = optima[cell["task"], cell["set"]]
        for name, value in optimum.items():
            assert cell[name] == pytest.approx(value, rel=1e-6)
        assert cell["drop"] == pytest.approx((optimum["start"] - optimum["objective"]) / optimum["objective"], rel=1e-5)
        assert cell["counted"] == counted(optimum)


def test_the_strip_and_its_sums(content, means, optima):
    by_title = {c.title: c for c in claims.CONDITIONS}
    assert content["conditions"]
    for condition in content["conditions"]:
        wanted = by_title[condition["title"]]
        sums = defaultdict(lambda: [0, 0, 0])
        for task, data, metric, axis, outcome, ours, rival, *apart, counts in condition["duels"]:
            here = {k[2]: BETTER[metric] * v for k, v in means.items() if k == (task, data, k[2], axis, "end", metric)}
            sides = {"spdpeg": {}, "rival": {}}
            for name, v in here.items():
                method = METHODS[task][name]
                if method.setting == {"spdpeg": wanted.ours, "rival": wanted.rivals}.get(method.family):
                    sides[method.family][name] = v
            best = min(sides["spdpeg"], key=lambda name: sides["spdpeg"][name].mean())
            against = {n: interval(sides["spdpeg"][best] - v, len(sides["rival"])) for n, v in sides["rival"].items()}
            first = max(against, key=lambda name: against[name][0])
            assert (ours, rival) == (best, first)
            assert apart == pytest.approx(against[first], rel=1e-5, abs=1e-9)
            behind = any(low > 0 for _, low, _ in against.values())
            assert outcome == ("ahead" if against[first][0] < 0 else "behind" if behind else "level")
            assert counts == counted(optima[task, data])
            if counts:
                sums[f"{task}/{axis}"][("ahead", "level", "behind").index(outcome)] += 1
        for key, total in condition["tallies"].items():
            assert total == sums[key]


def test_the_conclusion_counts_what_the_strip_shows(content):
    tallies = {c["title"]: [c["tallies"][f"{task}/passes"] for task in ("flr", "ggrlr")] for c in content["conditions"]}
    sums = [np.sum(tallies[claims.CONDITIONS[number].title], axis=0) for number in (0, 3, 4, 5)]
    theirs, printed, tuned, one = ([int(part) for part in (s[0], s.sum())] for s in sums)
    expected = [*theirs, int(sums[0][2]), *printed, *tuned, *one]
    assert [int(number) for number in re.findall(r"(?<!Algorithm )\b\d+\b", content["conclusion"][0])] == expected


def test_sentences_tell_the_sums_of_the_strip(content):
    told = [c for c in content["claims"] if "achieves the best" in c["sentence"] or "consistently" in c["sentence"]]
    assert told
    sums = {c["title"]: c["tallies"] for c in content["conditions"]}
    for claim in told:
        numbers = [int(n) for n in re.findall(r"\d+", claim["evidence"])]
        for part, axis in ((numbers[:4], "passes"), (numbers[4:], "seconds")):
            tally = sums[claim["condition"]][f"{claim['task']}/{axis}"]
            assert part == [*tally, sum(tally)]
        ahead, level, total = numbers[0], numbers[1], numbers[3]
        needed = 0.5 if claim["task"] == "flr" else 0.9
        expected = (
            "supported"
            if ahead > needed * total
            else "contradicted"
            if ahead + level <= needed * total
            else "not supported"
        )
        assert claim["outcome"] == expected
