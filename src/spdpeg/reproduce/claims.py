"""The paper's sentences about its experiments, held against the measurements under each of several conditions."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .methods import AUTHORS, DEFAULT, ONE_TUNED, PRINTED, TUNED
from .results import LOWER_IS_BETTER, METRICS
from .statistics import Difference, difference, is_larger, spread
from .values import AXES, LEVEL_AXIS, Table

_MARGIN, _NEAR = 0.5, 0.01
"""A large margin halves the distance from the optimum; who is competitive is at most a percentage point behind."""

MOSTLY, WHOLLY = 0.5, 0.9
"""Share of the comparisons that "mostly" needs, and that a sentence without such a word needs."""


class Condition(NamedTuple):
    """How SPDPEG is run, and how its rivals are."""

    ours: str
    rivals: str
    title: str


CONDITIONS = (
    Condition(AUTHORS, AUTHORS, "authors' program and scalings; rivals with the authors' parameters"),
    Condition(PRINTED, AUTHORS, "Algorithm 1 as printed; rivals with the authors' parameters"),
    Condition(AUTHORS, TUNED, "authors' program and scalings; rivals tuned"),
    Condition(PRINTED, TUNED, "Algorithm 1 as printed; rivals tuned"),
    Condition(TUNED, TUNED, "Algorithm 1 tuned; rivals tuned"),
    Condition(ONE_TUNED, TUNED, "authors' program tuned; rivals tuned"),
    Condition(DEFAULT, TUNED, "SPDPEG of this package with its own steps; rivals tuned"),
)

AHEAD, EVEN, BEHIND = "ahead", "level", "behind"


class Duel(NamedTuple):
    """SPDPEG against all rivals in one comparison."""

    condition: int
    task: str
    data: str
    metric: str
    axis: str
    outcome: str
    """"ahead" if its mean is better than every rival's; "behind" if the interval of its difference from one of them,
    all intervals holding together, says that it is worse; else "level"."""
    method: str
    rival: str
    """The best one."""
    apart: Difference
    """Distance from the best rival, positive if SPDPEG is worse."""
    counted: bool


class Tally(NamedTuple):
    """Numbers of duels won, level and lost."""

    ahead: int
    level: int
    behind: int

    @property
    def total(self) -> int:
        """Number of all duels."""
        return sum(self)

    def outcome(self, needed: float) -> str:
        """The verdict: supported; not supported, if it might be with every level duel won; or contradicted."""
        if self.ahead > needed * self.total:
            return "supported"
        return "not supported" if self.ahead + self.level > needed * self.total else "contradicted"

    def __str__(self) -> str:
        return f"ahead {self.ahead}, level {self.level}, behind {self.behind}, of {self.total}"


class Claim(NamedTuple):
    """A sentence, how it is read, and what the measurements say."""

    task: str
    condition: str
    sentence: str
    reading: str
    outcome: str
    evidence: str


def duels(table: Table) -> list[Duel]:
    """Every condition in every cell, metric by metric."""
    return [
        duel
        for number, condition in enumerate(CONDITIONS)
        for task, data in table.cells
        for metric in METRICS
        for axis in AXES
        for duel in _duel(table, number, condition, (task, data, metric, axis))
    ]


def tally(found: Iterable[Duel], condition: int, task: str, axis: str) -> Tally:
    """The tally of the duels that count."""
    here = [d.outcome for d in found if (d.condition, d.task, d.axis) == (condition, task, axis) and d.counted]
    return Tally(*(here.count(outcome) for outcome in (AHEAD, EVEN, BEHIND)))


def judge(table: Table, found: list[Duel]) -> list[Claim]:
    """The sentences whose methods and tasks are part of the study."""
    return [
        *_ahead(found, "flr", "our method mostly achieves the best performance", MOSTLY),
        *_ahead(found, "ggrlr", "our algorithm consistently outperforms other algorithms", WHOLLY),
        *_margin_over_egadm(table),
        *_competitive(table),
        *_stable(table),
        *_non_uniform(table),
    ]


def _duel(table: Table, number: int, condition: Condition, cell: tuple[str, str, str, str]) -> list[Duel]:
    task, data, metric, axis = cell
    sign = 1.0 if LOWER_IS_BETTER[metric] else -1.0
    sides: dict[str, dict[str, np.ndarray]] = {"spdpeg": {}, "rival": {}}
    for name, method in table.methods[task].items():
        wanted = {"spdpeg": condition.ours, "rival": condition.rivals}.get(method.family)
        values = table.rounds(task, data, name, metric, axis) if method.setting == wanted else ()
        if values:
            sides[method.family][name] = sign * np.array(values)
    if not all(sides.values()):
        return []
    ours = min(sides["spdpeg"], key=lambda name: float(np.mean(sides["spdpeg"][name])))
    mine = sides["spdpeg"][ours]
    apart = {name: difference(mine, values, len(sides["rival"])) for name, values in sides["rival"].items()}
    best = max(apart, key=lambda name: apart[name].mean)
    worse = any(d.low > 0.0 for d in apart.values())
    outcome = AHEAD if apart[best].mean < 0.0 else BEHIND if worse else EVEN
    counted = data in table.sets(task, condition.ours, condition.rivals)
    return [Duel(number, *cell, outcome, ours, best, apart[best], counted)]


def _ahead(found: list[Duel], task: str, sentence: str, needed: float) -> list[Claim]:
    """A claim to be ahead of the rivals, under each condition."""
    reading = (
        "At equal passes its mean is better than that of every rival, for each counted set and metric; of SC1 and SC2 "
        "the better one. Behind where an interval excludes it, all intervals of a comparison holding together."
    )
    claims = []
    for number, condition in enumerate(CONDITIONS):
        passes, seconds = (tally(found, number, task, axis) for axis in AXES)
        if passes.total:
            evidence = f"at equal passes {passes}; at equal time {seconds}"
            claims.append(Claim(task, condition.title, sentence, reading, passes.outcome(needed), evidence))
    return claims


def _claim(task: str, condition: str, sentence: str, reading: str, counts: Tally, needed: float) -> list[Claim]:
    return [Claim(task, condition, sentence, reading, counts.outcome(needed), str(counts))] if counts.total else []


def _of_family(table: Table, task: str, *settings: str) -> list[str]:
    """Methods of the paper in these settings."""
    return [n for n, m in table.methods.get(task, {}).items() if m.setting in settings and m.family != "beside"]


def _margin_over_egadm(table: Table) -> list[Claim]:
    """The margin over EGADM, with the authors' parameters and tuned; EGADM in the same setting."""
    claims = []
    for setting, egadm in ((AUTHORS, "egadm-authors"), (TUNED, "egadm")):
        counts = [0, 0, 0]
        for data in table.sets("flr", setting):
            floor = np.array([o.objective for o in table.optimum("flr", data)])
            far = table.rounds("flr", data, egadm, "objective", "passes")
            for name in _of_family(table, "flr", setting):
                values = table.rounds("flr", data, name, "objective", "passes")
                if name != egadm and far and values:
                    apart = difference(np.array(values) - floor, _MARGIN * (np.array(far) - floor))
                    counts[0 if apart.mean < 0.0 else 2 if apart.low > 0.0 else 1] += 1
        claims += _claim(
            "flr",
            "the authors' parameters" if setting == AUTHORS else "all tuned",
            "six stochastic ADMM-type algorithms, all of which outperform EGADM by a large margin",
            "At equal passes each is less than half as far above the optimum as EGADM, for each counted set.",
            Tally(*counts),
            WHOLLY,
        )
    return claims


def _competitive(table: Table) -> list[Claim]:
    claims = []
    for condition in (CONDITIONS[0], CONDITIONS[3]):
        counts = [0, 0, 0]
        for data in table.sets("flr", condition.ours, condition.rivals):
            ours = [n for n in _of_family(table, "flr", condition.ours) if table.methods["flr"][n].family == "spdpeg"]
            mine = table.rounds("flr", data, ours[0], "score", "passes") if ours else ()
            others = [
                table.rounds("flr", data, name, "score", "passes")
                for name in _of_family(table, "flr", condition.rivals)
                if name not in ours
            ]
            others = [values for values in others if values]
            if mine and others:
                apart = [difference(np.array(values) - _NEAR, mine, len(others)) for values in others]
                near = max(d.mean for d in apart) <= 0.0
                counts[0 if near else 2 if any(d.low > 0.0 for d in apart) else 1] += 1
        claims += _claim(
            "flr",
            condition.title,
            "the prediction accuracy of the SPDPEG algorithm is competitive with other algorithms",
            "At equal passes it is at most one percentage point below the best of the others, for each counted set.",
            Tally(*counts),
            WHOLLY,
        )
    return claims


def _stable(table: Table) -> list[Claim]:
    """Seeds on a fixed split, at equal suboptimality, never folds: what varies between folds is the optimum."""
    claims = []
    for condition in (CONDITIONS[0], CONDITIONS[3]):
        counts = [0, 0, 0]
        for data in table.sets("flr", condition.ours, condition.rivals):
            spreads = {}
            for name, method in table.methods["flr"].items():
                wanted = condition.ours if method.family == "spdpeg" else condition.rivals
                runs = table.runs("flr", data, name, LEVEL_AXIS)
                if runs and method.setting == wanted:
                    folds = sorted({run.fold for run in runs})
                    rounds = [[run.objective for run in runs if run.fold == fold] for fold in folds]
                    spreads[name] = spread(rounds)
            ours = [n for n in spreads if table.methods["flr"][n].family == "spdpeg"]
            others = [s for n, s in spreads.items() if n not in ours]
            if ours and others:
                mine = spreads[ours[0]]
                if mine.variance <= min(s.variance for s in others):
                    counts[0] += 1
                else:
                    counts[2 if any(is_larger(mine, s, len(others)) for s in others) else 1] += 1
        claims += _claim(
            "flr",
            condition.title,
            "The performance of our SPDPEG algorithm [...] is the most stable [...] among all methods",
            "The objective varies least over the seeds of a fixed split, where each method is as close to the optimum "
            "as the slowest gets, for each counted set.",
            Tally(*counts),
            WHOLLY,
        )
    return claims


def _non_uniform(table: Table) -> list[Claim]:
    claims = []
    for setting, title in ((PRINTED, "as printed"), (AUTHORS, "authors' program and scalings"), (TUNED, "tuned")):
        suffix = "" if setting == PRINTED else f"-{setting}"
        counts = [0, 0, 0]
        for data in table.sets("ggrlr", setting):
            sc1, sc2 = (
                table.rounds("ggrlr", data, f"spdpeg-{regime}{suffix}", "objective", "passes")
                for regime in ("sc1", "sc2")
            )
            if sc1 and sc2:
                apart = difference(sc2, sc1)
                counts[0 if apart.mean < 0.0 else 2 if apart.low > 0.0 else 1] += 1
        claims += _claim(
            "ggrlr",
            f"SC2 against SC1, {title}",
            "exhibits the advantage with non-uniformly averaged iterates over its counterpart with uniformly averaged "
            "iterates",
            "At equal passes the objective of SPDPEG-SC2 is below that of SPDPEG-SC1, for each counted set.",
            Tally(*counts),
            WHOLLY,
        )
    return claims
