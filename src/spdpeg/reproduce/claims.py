"""The paper's sentences about its experiments, held against the measurements."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .results import LOWER_IS_BETTER, METRICS, Results
from .verdict import LEVEL, Standing, paired_test

_STOCHASTIC = ("sgadm", "sadmm", "opg-admm", "rda-admm", "sadmm-diag", "sadmm-full")
_PRINTED = ("spdpeg", "spdpeg-sc1", "spdpeg-sc2", "egadm", *_STOCHASTIC)
_VARIANTS = {"": "as printed", "-default": "default mode", "-tuned": "tuned"}
"""Ways of running SPDPEG."""

_MARGIN, _NEAR = 0.5, 0.01
"""A large margin halves the distance from the optimum; who is competitive is at most a percentage point behind."""

_MOSTLY, _WHOLLY = 0.5, 0.9
"""Share of the comparisons that "mostly" needs, and that a sentence without such a word needs."""


class Claim(NamedTuple):
    """A sentence, how it is read, and what the measurements say."""

    task: str
    method: str
    sentence: str
    reading: str
    outcome: str
    evidence: str


class Tally(NamedTuple):
    """Comparisons won, those lost by no more than chance, and all."""

    won: int
    level: int
    total: int

    def outcome(self, needed: float) -> str:
        """In a word."""
        if self.won > needed * self.total:
            return "supported"
        return "undecided" if self.won + self.level > needed * self.total else "contradicted"

    def __str__(self) -> str:
        return f"won {self.won}, undecided {self.level}, of {self.total}"


def judge(results: Results, found: list[Standing]) -> list[Claim]:
    """The sentences whose methods and tasks are part of the study."""
    table = _Table(results, found)
    return [*_fused(table), *_graph_guided(table)]


class _Table:
    """Comparisons at the end of the reference's run, looked up by task, set, metric and axis."""

    def __init__(self, results: Results, found: list[Standing]) -> None:
        self.results = results
        self._cells: dict[tuple[str, str, str, str], dict[str, Standing]] = {}
        for s in found:
            if s.stage == "end" and s.place is not None:
                self._cells.setdefault((s.task, s.data, s.metric, s.axis), {})[s.method] = s

    def cells(self, task: str, metrics: Sequence[str], axis: str) -> Iterable[tuple[str, str, dict[str, Standing]]]:
        """Set, metric, and the standings by method."""
        for (of, data, metric, at), standings in self._cells.items():
            if of == task and metric in metrics and at == axis:
                yield data, metric, standings

    def best(self, task: str, ours: Sequence[str], axis: str) -> Tally:
        """How often one of ours is ahead of every rival in the paper's figures."""
        won = level = total = 0
        for _, metric, standings in self.cells(task, METRICS, axis):
            here = _ordered(standings, metric, ours)
            rivals = _ordered(standings, metric, [name for name in _PRINTED if not name.startswith("spdpeg")])
            if not here or not rivals:
                continue
            total += 1
            ahead = _ordered(standings, metric, [here[0].method, rivals[0].method])[0]
            won += ahead.method == here[0].method
            level += ahead.method != here[0].method and paired_test(here[0].values, ahead.values) >= LEVEL
        return Tally(won, level, total)


def _ordered(standings: dict[str, Standing], metric: str, names: Iterable[str]) -> list[Standing]:
    present = [standings[name] for name in names if name in standings]
    return sorted(present, key=lambda s: s.mean, reverse=not LOWER_IS_BETTER[metric])


def _claim(
    task: str, method: str, sentence: str, reading: str, tally: Tally, needed: float, more: str = ""
) -> list[Claim]:
    if tally.total == 0:
        return []
    return [Claim(task, method, sentence, reading, tally.outcome(needed), f"{tally}{more}")]


def _ahead(table: _Table, task: str, method: str, ours: Sequence[str], sentence: str, needed: float) -> list[Claim]:
    """A claim to be ahead of the rivals, for one way of running the method."""
    passes = table.best(task, ours, "passes")
    more = f"; at equal passes {passes}" if passes.total else ""
    reading = (
        "At equal time it has the best mean over the rounds among the paper's methods, for each set and metric; "
        "undecided where it is behind by no more than chance."
    )
    return _claim(task, method, sentence, reading, table.best(task, ours, "seconds"), needed, more)


def _fused(table: _Table) -> list[Claim]:
    task = "flr"
    if task not in table.results.study.tasks:
        return []
    sentence = "our method mostly achieves the best performance"
    ahead = [
        claim
        for variant, how in _VARIANTS.items()
        for claim in _ahead(table, task, f"SPDPEG, {how}", [f"spdpeg{variant}"], sentence, _MOSTLY)
    ]
    return [*ahead, *_margin_over_egadm(table), *_competitive(table), *_stable(table)]


def _margin_over_egadm(table: _Table) -> list[Claim]:
    task, won, total = "flr", 0, 0
    for data, _, standings in table.cells(task, ["objective"], "seconds"):
        if "egadm" not in standings:
            continue
        bound = np.mean([o.bound for o in table.results.optimum(task, data)])
        for name in (*_STOCHASTIC, "spdpeg"):
            if name in standings:
                total += 1
                won += standings[name].mean - bound < _MARGIN * (standings["egadm"].mean - bound)
    return _claim(
        task,
        "SPDPEG and the six",
        "six stochastic ADMM-type algorithms, all of which outperform EGADM by a large margin",
        "At equal time each is less than half as far above the optimum as EGADM, for each set.",
        Tally(won, 0, total),
        _WHOLLY,
    )


def _competitive(table: _Table) -> list[Claim]:
    task, won, level, total = "flr", 0, 0, 0
    for _, metric, standings in table.cells(task, ["score"], "seconds"):
        others = _ordered(standings, metric, [name for name in _PRINTED if name != "spdpeg"])
        if "spdpeg" in standings and others:
            ours = standings["spdpeg"]
            near = ours.mean >= others[0].mean - _NEAR
            total += 1
            won += near
            level += not near and paired_test(ours.values, others[0].values) >= LEVEL
    return _claim(
        task,
        "SPDPEG, as printed",
        "the prediction accuracy of the SPDPEG algorithm is competitive with other algorithms",
        "At equal time it is at most one percentage point below the best of the others, for each set; undecided where "
        "it is farther below, but by no more than chance.",
        Tally(won, level, total),
        _WHOLLY,
    )


def _stable(table: _Table) -> list[Claim]:
    task, won, total = "flr", 0, 0
    for _, _, standings in table.cells(task, METRICS, "seconds"):
        others = [standings[name].spread for name in _PRINTED if name in standings and name != "spdpeg"]
        if "spdpeg" in standings and others and len(standings["spdpeg"].values) > 1:
            total += 1
            won += standings["spdpeg"].spread <= min(others)
    return _claim(
        task,
        "SPDPEG, as printed",
        "The performance of our SPDPEG algorithm [...] is the most stable [...] among all methods",
        "At equal time its standard deviation over the rounds is the smallest, for each set and metric.",
        Tally(won, 0, total),
        _WHOLLY,
    )


def _graph_guided(table: _Table) -> list[Claim]:
    task = "ggrlr"
    if task not in table.results.study.tasks:
        return []
    sentence = "our algorithm consistently outperforms other algorithms"
    ahead = []
    for variant, how in _VARIANTS.items():
        ours = [f"spdpeg-sc1{variant}", f"spdpeg-sc2{variant}"]
        ahead += _ahead(table, task, f"the better of SC1 and SC2, {how}", ours, sentence, _WHOLLY)
    return [*ahead, *_non_uniform(table)]


def _non_uniform(table: _Table) -> list[Claim]:
    task, won, level, total = "ggrlr", 0, 0, 0
    for _, _, standings in table.cells(task, ["objective"], "seconds"):
        if {"spdpeg-sc1", "spdpeg-sc2"} <= set(standings):
            sc1, sc2 = standings["spdpeg-sc1"], standings["spdpeg-sc2"]
            total += 1
            won += sc2.mean < sc1.mean
            level += sc2.mean >= sc1.mean and paired_test(sc1.values, sc2.values) >= LEVEL
    return _claim(
        task,
        "SC2 against SC1, as printed",
        "exhibits the advantage with non-uniformly averaged iterates over its counterpart with uniformly averaged "
        "iterates",
        "At equal time the objective of SPDPEG-SC2 is below that of SPDPEG-SC1, for each set.",
        Tally(won, level, total),
        _WHOLLY,
    )
