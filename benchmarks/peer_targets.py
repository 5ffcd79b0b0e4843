"""How fast this package wants to be, beside whom; and what a record says about that."""

import math
from typing import Any, NamedTuple

from common import Verdicts
from peer_data import LARGE, PIXELS, TALL, TEXT, WIDE
from peer_methods import PEERS
from peer_ours import BEFORE, PROVED
from peer_runs import LEVELS

PROOF = 1e-9
SLOWDOWN = 1.1
FINE = (LEVELS[-1],)
ALONE = ("skglm", "celer", "scikit-learn", "saga", "liblinear")
SMALL = ("splice", "svmguide3")
SMALL_SECONDS = 2e-3


class Target(NamedTuple):
    """On a task, for these sets and weights: reads at most, and times of rivals over ours at least."""

    task: str
    sets: tuple[str, ...] = ()
    """All, if empty."""
    weights: str = ""
    reads: float = math.inf
    rivals: tuple[str, ...] = ()
    """First letters of their names; the fastest counts."""
    factor: float = 1.0
    levels: tuple[float, ...] = FINE

    def covers(self, record: dict[str, Any]) -> bool:
        """Whether a record is of this kind."""
        return (
            record["task"] == self.task
            and (not self.sets or record["set"] in self.sets)
            and (not self.weights or self.weights in record["weights"].split(", "))
        )


TARGETS = (
    Target("flr", TEXT, "x 1", 7, ("spams",), 10.0),
    Target("flr", TEXT, "x 0.1", 12, ("spams",), 50.0),
    Target("flr", TEXT, "x 0.01", 20),
    Target("flr", (WIDE,), reads=18, rivals=("spams",), factor=20.0),
    Target("flr", TALL, "x 1", 7, PEERS, levels=LEVELS),
    Target("flr", TALL, "x 0.1", 8, PEERS, levels=LEVELS),
    Target("flr", TALL, "x 0.01", 12, PEERS, levels=LEVELS),
    Target("graph-l1", TEXT, "x 1", 12, (BEFORE,), 20.0),
    Target("graph-l1", TEXT, "x 0.1", 16, (BEFORE,), 20.0),
    Target("ggrlr", TEXT, "x 1", 8, ("copt",), levels=LEVELS),
    Target("trend", reads=10, rivals=("clarabel",), factor=10.0),
    Target("tv", (PIXELS,), reads=10, rivals=("clarabel",), factor=10.0),
    *(Target(task, reads=15, rivals=ALONE) for task in ("l1", "elastic net", "group")),
    Target("path", (LARGE,), "squared", 1, (BEFORE,), 20.0),
)


def time_of(record: dict[str, Any], name: str, level: float) -> float:
    """Seconds, or infinity where the level was not reached or the method not run."""
    value = record["methods"].get(name, {}).get("seconds", {}).get(f"{level:g}")
    return math.inf if value is None else float(value)


def fastest(record: dict[str, Any], level: float, rivals: tuple[str, ...] = PEERS) -> tuple[float, str]:
    """Seconds and name of the fastest method whose name starts like one of the rivals'."""
    names = [name for name in record["methods"] if name.startswith(rivals)]
    return min(((time_of(record, name, level), name) for name in names), default=(math.inf, "none"))


def judge(record: dict[str, Any], cap: float, verdicts: Verdicts) -> None:
    """What was wanted and what came of it. Where no rival reached a level in time, the cap stands in for its time."""
    name = f"{record['set']}/{record['task']}/{record['weights']}"
    verdicts.at_most(f"{name}: gap of the optimum ({record['optimum_by']})", PROOF, record["gap"])
    lowest = min(method["lowest"] for method in record["methods"].values())
    verdicts.at_least(f"{name}: best x beside the optimum", -1e-8, lowest)
    for target in (target for target in TARGETS if target.covers(record)):
        if math.isfinite(target.reads):
            used = record["methods"][PROVED]["reads"].get(f"{FINE[0]:g}", math.inf)
            verdicts.at_most(f"{name}: reads to {FINE[0]:g}, proved", target.reads, used)
        for level in target.levels:
            seconds, rival = fastest(record, level, target.rivals or ("no one",))
            if rival != "none":
                ratio = min(seconds, cap) / time_of(record, PROVED, level)
                told = "" if math.isfinite(seconds) else ", a lower bound by the cap"
                verdicts.at_least(f"{name}: {rival} / ours, proved, at {level:g}{told}", target.factor, ratio)
    if record["set"] in SMALL and record["task"] == "flr":
        verdicts.at_most(f"{name}: seconds", SMALL_SECONDS, time_of(record, PROVED, FINE[0]))
    if BEFORE in record["methods"]:
        ratio = time_of(record, PROVED, FINE[0]) / min(time_of(record, BEFORE, FINE[0]), cap)
        verdicts.at_most(f"{name}: ours / before", SLOWDOWN, ratio)
