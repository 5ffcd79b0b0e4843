"""The methods of the paper's figures, each in the settings that are compared, and what is shown beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import Problem
from ..engine.registry import REGISTRY
from ..errors import InputError
from ..solvers.linearized import worst_row_rho
from ..solvers.steps import noise_scale
from . import authors
from .authors import Settings
from .tuning import Point

AUTO = "auto"
"""The solver that stands for what the planner chooses; `Results.label` says what that was."""

PRINTED, AUTHORS, TUNED, ONE_TUNED, DEFAULT = "printed", "authors", "tuned", "one-tuned", "default"
"""Settings: Algorithm 1 with the printed steps; what the authors' scripts run; chosen by cross-validation; the same for
their one-sample program; what the package takes by itself."""


@dataclass(frozen=True)
class Lattice:
    """Candidates: fixed parameters, and others that go up and down by factors from where the walk starts.

    rho starts at L_max / |F|^2 and kappa at the noise over the guessed distance, whatever the solver; eta at 0.3, a
    scale at 1.
    """

    fixed: dict[str, Any]
    factors: dict[str, float]

    def parameters(self, problem: Problem, point: Point) -> dict[str, Any]:
        """All parameters at a point of the lattice."""
        starts = {"eta": 0.3, "scale": 1.0}
        if "rho" in self.factors:
            starts["rho"] = worst_row_rho(None, problem.view)
        if "kappa" in self.factors:
            starts["kappa"] = noise_scale(problem.view, 1) or 1.0
        moved = zip(self.factors.items(), point, strict=True)
        return self.fixed | {name: starts[name] * factor**power for (name, factor), power in moved}


@dataclass(frozen=True)
class Method:
    """A solver in one setting: with given parameters, with the authors', or with lattices to choose from."""

    name: str
    label: str
    solver: str
    setting: str = DEFAULT
    parameters: dict[str, Any] = field(default_factory=dict)
    lattices: tuple[Lattice, ...] = ()
    runs: str = ""
    """What runs under this name, in words."""

    @property
    def family(self) -> str:
        """Which side of the paper's comparison it is on: "spdpeg", "rival", or "beside" it."""
        if self.setting == DEFAULT and not self.solver.startswith("spdpeg"):
            return "beside"
        return "spdpeg" if self.solver.startswith("spdpeg") else "rival"

    @property
    def deterministic(self) -> bool:
        """Another seed would give the same curve."""
        return self.solver == AUTO or REGISTRY[self.solver].about.deterministic

    def settings(self, task: str, data: str, problem: Problem, choice: dict[str, Any]) -> Settings:
        """Arguments and numbers of a run, given what tuning chose."""
        if self.setting == AUTHORS:
            return authors.settings(task, self.solver, data, problem)
        if not self.lattices:
            return Settings(self.parameters, {})
        lattice = self.lattices[choice["lattice"]]
        return Settings(self.parameters | lattice.parameters(problem, tuple(choice["point"])), {})


_STEP = {"rho": 4.0, "kappa": 3.0}
_CONVEX = (Lattice({}, _STEP),)
_STRONG = Lattice({"regime": "strongly-convex"}, {"rho": 4.0})
_ETA = (Lattice({}, {"eta": 3.0}),)
_SCALED = Lattice({}, {"rho": 4.0, "scale": 3.0})

_RIVALS = {
    "egadm": ("EGADM", (Lattice({"variant": "prox"}, {"rho": 4.0}), Lattice({"variant": "original"}, {}))),
    "sgadm": ("SGADM", _CONVEX),
    "sadmm": ("SADMM", _CONVEX),
    "opg-admm": ("OPG-ADMM", _CONVEX),
    "rda-admm": ("RDA-ADMM", _CONVEX),
    "sadmm-diag": ("SADMMdiag", _ETA),
    "sadmm-full": ("SADMMfull", _ETA),
}
_WITH_REGIME = ("sgadm", "sadmm", "opg-admm")
"""In the strongly convex task they may also take the steps that are meant for it."""

_WITHOUT_AUTHORS = ("sadmm-full",)
"""The authors' program for it sums the diagonal only, and so is the one for SADMMdiag."""


def _rivals(strong: bool) -> list[Method]:
    found = []
    for solver, (label, lattices) in _RIVALS.items():
        if strong and solver in _WITH_REGIME:
            lattices = (*lattices, _STRONG)
        found.append(Method(solver, label, solver, TUNED, lattices=lattices, runs="parameters by cross-validation"))
        if solver not in _WITHOUT_AUTHORS:
            runs = "our solver with the parameters of the authors' script"
            found.append(Method(f"{solver}-authors", f"{label}, authors'", solver, AUTHORS, runs=runs))
    return found


def _family(label: str, solver: str) -> list[Method]:
    """SPDPEG four times, and with what the package takes by itself."""
    printed = {"mode": "paper"}
    one = printed | {"variant": "one-sample"}
    lattices = (*_CONVEX, _SCALED) if solver == "spdpeg" else (_SCALED,)
    return [
        Method(solver, f"{label}, printed", solver, PRINTED, printed, runs="Algorithm 1, printed steps, rho = 1"),
        Method(
            f"{solver}-authors",
            f"{label}, authors'",
            solver,
            AUTHORS,
            runs="what the authors' program runs: one sample a step, their scalings, rho = 1",
        ),
        Method(
            f"{solver}-tuned",
            f"{label}, tuned",
            solver,
            TUNED,
            printed,
            lattices,
            runs="Algorithm 1, parameters by cross-validation",
        ),
        Method(
            f"{solver}-one-tuned",
            f"{label}, one sample, tuned",
            solver,
            ONE_TUNED,
            one,
            lattices,
            runs="the authors' one-sample program, parameters by cross-validation",
        ),
        Method(
            f"{solver}-default", f"{label}, default", solver, DEFAULT, runs="steps that the package finds by itself"
        ),
    ]


_BESIDE = [
    Method("vr-spdpeg", "VR-SPDPEG", "vr-spdpeg", runs="our variance-reduced method; not in the paper"),
    Method(AUTO, AUTO, AUTO, runs="what `solve` runs by default; not in the paper"),
]

METHODS: dict[str, dict[str, Method]] = {
    "flr": {m.name: m for m in (*_family("SPDPEG", "spdpeg"), *_rivals(False), *_BESIDE)},
    "ggrlr": {
        m.name: m
        for m in (
            *_family("SPDPEG-SC1", "spdpeg-sc1"),
            *_family("SPDPEG-SC2", "spdpeg-sc2"),
            *_rivals(True),
            *_BESIDE,
        )
    },
}
"""Methods by task and name; what the paper proposes comes first."""

NAMES = tuple(dict.fromkeys(name for methods in METHODS.values() for name in methods))


def choose(tasks: Iterable[str], names: Sequence[str] | None = None) -> dict[str, dict[str, Method]]:
    """Methods for each task: those named, else all."""
    for name in names or ():
        if name not in NAMES:
            raise InputError(f"There is no method called {name!r}. Choose from {', '.join(NAMES)}.")
    wanted = set(names or NAMES)
    return {task: {name: m for name, m in METHODS[task].items() if name in wanted} for task in tasks}


def plain(solvers: Sequence[str]) -> dict[str, Method]:
    """Solvers with the parameters that they choose by themselves."""
    return {name: Method(name, name, name, runs="with its own parameters") for name in solvers}
