"""The methods of the paper's figures, their grids, and the variants shown beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from .. import Problem, solve
from ..errors import InputError

RELATIVE = {"rho": "rho", "kappa": "step_kappa"}
"""Parameters that a grid gives as multiples of what the solver takes by itself, and their names in a state."""


@dataclass(frozen=True)
class Method:
    """A solver with its parameters, or with a grid from which cross-validation chooses."""

    name: str
    label: str
    solver: str
    parameters: dict[str, Any] = field(default_factory=dict)
    grid: tuple[dict[str, Any], ...] = ()
    printed: bool = True
    """It is one of the methods in the paper's figures."""

    def defaults(self, problem: Problem) -> dict[str, float]:
        """What the solver takes by itself on this problem, for the parameters that grids give as multiples."""
        numbers = solve(problem, self.solver, max_passes=0, **self.parameters).state.numbers
        return {name: numbers[kept] for name, kept in RELATIVE.items() if kept in numbers}

    def candidate(self, defaults: dict[str, float], choice: dict[str, Any]) -> dict[str, Any]:
        """All parameters, given an entry of the grid."""
        return self.parameters | {
            name: defaults.get(name, 1.0) * value if name in RELATIVE else value for name, value in choice.items()
        }


def grid(**choices: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Every combination."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


_RHO = (0.1, 1.0, 10.0)
_STRONG = grid(regime=["strongly-convex"], rho=_RHO)
_ETA = grid(eta=(0.1, 0.3, 1.0, 3.0))
_TUNED = grid(rho=(0.01, 0.1, 1.0), scale=(1.0, 4.0, 16.0))

_COMPETITORS = (
    Method("egadm", "EGADM", "egadm", grid=(*grid(variant=["prox"], rho=_RHO), {"variant": "original"})),
    Method("sgadm", "SGADM", "sgadm", grid=grid(rho=_RHO, kappa=(0.25, 1.0, 4.0))),
    Method("sadmm", "SADMM", "sadmm", grid=grid(rho=_RHO, kappa=[3.0**power for power in range(-3, 4)])),
    Method("opg-admm", "OPG-ADMM", "opg-admm", grid=grid(rho=_RHO, kappa=(1 / 3, 1.0, 1 / 0.3))),
    Method("rda-admm", "RDA-ADMM", "rda-admm", grid=grid(rho=_RHO, kappa=(0.1, 1 / 3, 1.0))),
    Method("sadmm-diag", "SADMMdiag", "sadmm-diag", grid=_ETA),
    Method("sadmm-full", "SADMMfull", "sadmm-full", grid=_ETA),
)
_WITH_REGIME = ("sgadm", "sadmm", "opg-admm")
"""In the strongly convex task their grids also hold the steps that are meant for it."""

AUTO = "auto"
"""The solver that stands for what the planner chooses; `Results.label` says what that was."""

_BESIDE = (
    Method("vr-spdpeg", "VR-SPDPEG", "vr-spdpeg", printed=False),
    Method(AUTO, AUTO, AUTO, printed=False),
)


def _family(label: str, solver: str) -> tuple[Method, ...]:
    """SPDPEG as printed, with its corrected defaults, and with the printed step tuned like the competitors'."""
    printed = {"mode": "paper"}
    return (
        Method(solver, label, solver, printed),
        Method(f"{solver}-default", f"{label}, default mode", solver, printed=False),
        Method(f"{solver}-tuned", f"{label}, tuned", solver, printed, _TUNED, printed=False),
    )


def _strong(method: Method) -> Method:
    if method.name not in _WITH_REGIME:
        return method
    return Method(method.name, method.label, method.solver, method.parameters, (*method.grid, *_STRONG))


METHODS: dict[str, dict[str, Method]] = {
    "flr": {m.name: m for m in (*_family("SPDPEG", "spdpeg"), *_COMPETITORS, *_BESIDE)},
    "ggrlr": {
        m.name: m
        for m in (
            *_family("SPDPEG-SC1", "spdpeg-sc1"),
            *_family("SPDPEG-SC2", "spdpeg-sc2"),
            *map(_strong, _COMPETITORS),
            *_BESIDE,
        )
    },
}
"""By task and name; what the paper proposes comes first."""

NAMES = tuple(dict.fromkeys(name for methods in METHODS.values() for name in methods))


def choose(
    tasks: Iterable[str], names: Sequence[str] | None = None, tuned: bool = False
) -> dict[str, dict[str, Method]]:
    """Methods for each task: those named, else all but the tuned variants; `tuned` adds the variants of these."""
    for name in names or ():
        if name not in NAMES:
            raise InputError(f"There is no method called {name!r}. Choose from {', '.join(NAMES)}.")
    wanted = set(names or (name for name in NAMES if not name.endswith("-tuned")))
    if tuned:
        wanted |= {f"{name}-tuned" for name in wanted}
    return {task: {name: m for name, m in METHODS[task].items() if name in wanted} for task in tasks}


def plain(solvers: Sequence[str]) -> dict[str, Method]:
    """Solvers with the parameters that they choose by themselves."""
    return {name: Method(name, name, name) for name in solvers}
