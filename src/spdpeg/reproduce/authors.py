"""Settings of the authors' published scripts (github.com/tyDLin/SPDPEGD): scalings by task, method and data set.

Where a script has no case for a set, and for the text sets there is none, it runs with a scaling of 1. rho is 1
everywhere (`opts.beta = 1`), which the paper does not print. There every pass repeats one permuted order of the rows;
here each has an order of its own.
"""

import math
from typing import Any, NamedTuple

from .. import Problem

EPOCHS = 5
"""Passes over the training part that the scripts ask for, and that one of their steps depends on."""

_SCALINGS: dict[str, dict[str, dict[str, float]]] = {
    "flr": {
        "spdpeg": {"splice": 1.0, "svmguide3": 5.0, "mushrooms": 4.0, "a9a": 4.0, "w8a": 7.0},
        "sgadm": {"splice": 1 / 4, "w8a": 1 / 8},
        "sadmm": {"splice": 1 / 8, "w8a": 1 / 4},
        "opg-admm": {"splice": 1024.0, "svmguide3": 16.0, "mushrooms": 13.0, "a9a": 4.0, "w8a": 64.0},
        "rda-admm": {"splice": 1024.0, "svmguide3": 14.0, "mushrooms": 13.0, "a9a": 4.0, "w8a": 64.0},
        "sadmm-diag": {"splice": 2.0},
    },
    "ggrlr": {
        "spdpeg-sc1": {"splice": 8.025, "mushrooms": 7.0, "a9a": 4.0, "w8a": 8.0},
        "spdpeg-sc2": {"splice": 4.022, "mushrooms": 7.0, "a9a": 5.0, "w8a": 8.0},
        "sgadm": {"splice": 1 / 2, "svmguide3": 1 / 8, "a9a": 1 / 2},
        "sadmm": {"splice": 1 / 32, "svmguide3": 1 / 4, "mushrooms": 1 / 32, "a9a": 1 / 16, "w8a": 1 / 64},
        "opg-admm": {"svmguide3": 10.0, "mushrooms": 4.0, "a9a": 6.0, "w8a": 4.0},
        "rda-admm": {"svmguide3": 13.0, "mushrooms": 4.0, "a9a": 4.0, "w8a": 2.0},
    },
}
_OTHERWISE = {("flr", "sadmm-diag"): 6.0, ("ggrlr", "sadmm-diag"): 2.0}


class Settings(NamedTuple):
    """Arguments of a solver, and numbers of its state that no argument sets."""

    parameters: dict[str, Any]
    numbers: dict[str, float]


def scaling(task: str, solver: str, data: str) -> float:
    """The factor or divisor that the scripts apply to a step on this set."""
    of_set = _SCALINGS.get(task, {}).get(solver, {})
    return of_set.get(data, _OTHERWISE.get((task, solver), 1.0))


def has_case(task: str, data: str) -> bool:
    """Whether the scripts set anything for this set."""
    return any(data in of_set for of_set in _SCALINGS.get(task, {}).values())


def settings(task: str, solver: str, data: str, problem: Problem) -> Settings:
    """The authors' parameters in the words of our solvers."""
    factor, square = scaling(task, solver, data), problem.F.squared_norm
    if solver == "egadm":
        return Settings({"variant": "original"}, {})
    common: dict[str, Any] = {"rho": 1.0, "sampling": "reshuffled"}
    match solver:
        case "sgadm":
            return Settings(common | {"kappa": 1.0}, {"step_scale": factor})
        case "sadmm":
            return Settings(common, {"step_base": 1.0 / (0.01 * factor), "step_kappa": 0.0})
        case "opg-admm" | "rda-admm":
            return Settings(common, {"step_base": factor * square, "step_kappa": 0.0})
        case "sadmm-diag":
            assert problem.n_samples is not None
            eta = factor / math.sqrt(EPOCHS * problem.n_samples)
            return Settings(common | {"eta": eta, "averaging": "last"}, {})
    return Settings({"mode": "paper", "variant": "one-sample", "scale": factor, "sampling": "reshuffled"}, {})
