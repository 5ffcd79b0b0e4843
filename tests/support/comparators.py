"""Every comparator by name: its steps as the papers and the tables of defaults give them, its twin, its output."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from spdpeg import Problem, penalties
from spdpeg.solvers import sampling
from support import admm, catalogue, twin
from support.admm import Trace, Vector
from support.instances import Instance

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ("sgadm", "opg-admm", "spdhg", "sadmm", "optimal-sadmm")},
    **{
        f"{name} strong": (name, {"regime": "strongly-convex"})
        for name in ("sgadm", "opg-admm", "spdhg", "sadmm", "optimal-sadmm")
    },
    **{name: (name, {}) for name in ("rda-admm", "sadmm-diag", "sadmm-full", "online-admm", "svrg-admm")},
    **{f"sag-admm {variant}": ("sag-admm", {"variant": variant}) for variant in ("simple", "inexact", "exact")},
    **{name: (name, {}) for name in ("sdca-admm", "spdhg-cers", "ladmm", "condat-vu", "pd3o", "admm-newton")},
    **{f"egadm {variant}": ("egadm", {"variant": variant}) for variant in ("prox", "original")},
}
"""Every comparator in every form, by a name of its own: the solver and the options that choose the form."""

DETERMINISTIC = {"ladmm", "condat-vu", "pd3o", "admm-newton", "egadm prox", "egadm original"}
ONE_ROW = {"online-admm", "spdhg-cers"}
CORNERS = {"online-admm", "spdhg-cers", "sdca-admm"}
BY_SUBGRADIENT = {"sadmm", "sadmm strong", "optimal-sadmm", "optimal-sadmm strong", "sadmm-diag", "sadmm-full"}

_LAST = {"svrg-admm", "sag-admm", "sdca-admm", "spdhg-cers", "ladmm", "condat-vu", "pd3o", "admm-newton"}


class Output(NamedTuple):
    """What a solver reports."""

    x: Vector
    x_last: Vector
    z: Vector
    dual: Vector


@dataclass(frozen=True)
class Run:
    """A comparator on an instance. L of the mean and the bound on |F|^2 are estimates and come from the package."""

    variant: str
    instance: Instance
    problem: Problem
    count: int
    batch: int = 1
    seed: int = 3
    x0: Vector | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the solver."""
        return VARIANTS[self.variant][0]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters given to the solver."""
        return {**VARIANTS[self.variant][1], **self.options}

    @cached_property
    def start(self) -> Vector:
        """x0."""
        return np.zeros(self.instance.X.shape[1]) if self.x0 is None else self.x0

    @cached_property
    def known(self) -> twin.Constants:
        """What the steps depend on; a loss with corners counts as one of curvature 1."""
        return _measure(self.instance, self.problem.view.bounds.lipschitz, self.problem.F.squared_norm)

    @cached_property
    def batches(self) -> Vector:
        """Rows of each iteration."""
        if self.variant in DETERMINISTIC:
            return np.tile(np.arange(len(self.instance.X)), (self.count, 1))
        sampler = sampling.make("auto", len(self.instance.X), self.batch, self.seed, on_disk=False)
        return sampler.draw(0, self.count).reshape(-1, self.batch)

    @property
    def updates_of_F(self) -> list[int]:
        """spdhg-cers tosses a coin that falls on F with probability p until it falls on a row."""
        p = self.parameters.get("probability", 0.5) if len(self.instance.F) else 0.0
        tosses = (sampling.Independent(1 << 40, 1, self.seed + 1).draw(0, self.count) + 1.0) / 2.0**40
        return [sum(toss <= p**k for k in range(1, 60)) if p else 0 for toss in tosses]

    @property
    def stacked(self) -> Instance:
        """r1 behind [F; I]."""
        return admm.stacked(self.instance)

    @property
    def sampled(self) -> admm.Sampled:
        """The stochastic gradient."""
        return admm.Sampled(self.instance, self.batches)

    @cached_property
    def rho(self) -> float:
        """The default weight: L_max / |F|^2, or with the L that deterministic methods know."""
        if "rho" in self.parameters:
            return float(self.parameters["rho"])
        L, square = self.parameters.get("lipschitz", self.known.lipschitz), self.known.squared_norm
        if self.variant in DETERMINISTIC:
            return 0.25 * L / square if square else 1.0
        size = (
            self.known.lipschitz if self.variant in ("sag-admm inexact", "sag-admm exact") else self.known.lipschitz_max
        )
        return size / square if square else 1.0

    @property
    def coupling(self) -> float:
        """rho |F|^2."""
        return self.rho * self.known.squared_norm

    @property
    def distance(self) -> float:
        """A guess of |x*|."""
        return self.known.spread * math.sqrt(self.start.size / self.known.mean_square)

    @property
    def kappa(self) -> float:
        """Noise of a batch drawn without repetition over distance."""
        n, b = len(self.instance.X), self.batch
        noise = self.known.noise * math.sqrt((n - b) / (b * (n - 1)))
        return float(self.parameters.get("kappa", noise / self.distance))

    def decreasing(self, base: float) -> admm.Step:
        """1 / (kappa sqrt(k+1) + base) or 1 / (mu (k+1) + base)."""
        if self.parameters.get("regime") == "strongly-convex":
            return lambda k: 1.0 / (self.known.mu_r1 * (k + 1) + base)
        return lambda k: 1.0 / (self.kappa * math.sqrt(k + 1) + base)

    @property
    def trace(self) -> Trace:
        """All iterates of the twin."""
        return TWINS[self.variant.removesuffix(" strong")](self)

    def outputs(self, checkpoints: tuple[int, ...]) -> list[Output]:
        """What the solver must report after so many iterations."""
        trace, m = self.trace, self.instance.F.shape[0]
        rule = self.parameters.get("averaging")
        if rule is None:
            rule = "last" if self.name in _LAST else "linear" if self.name == "optimal-sadmm" else "uniform"
        # The dual methods average x alone.
        rest = "last" if self.name in ("sdca-admm", "spdhg-cers") else rule
        return [
            Output(
                admm.average(trace.x[:t], rule),
                trace.last[t - 1],
                admm.average(trace.z[:t], rest)[:m],
                admm.average(trace.dual[:t], rest)[:m],
            )
            for t in checkpoints
        ]


def _measure(instance: Instance, lipschitz: float, squared_norm: float) -> twin.Constants:
    A, b, w = instance.X, instance.labels, instance.scaled_weights
    squares = (A**2).sum(axis=1)
    slopes = w * admm.slope(instance.loss, np.zeros(len(b)), b)
    curvature = instance.loss.curvature if math.isfinite(instance.loss.curvature) else 1.0
    return twin.Constants(
        lipschitz,
        curvature * (w * squares).max(),
        (w * squares).mean(),
        math.sqrt(np.mean(slopes**2 * squares)),
        3.0 if instance.loss.binary else float(b.std()),
        squared_norm,
        0.0,
        0.0 if instance.r1 is None else instance.r1.strong_convexity,
    )


def _sgadm(r: Run) -> Trace:
    step = r.decreasing(r.parameters.get("lipschitz", r.known.lipschitz_max) + r.coupling)
    return admm.z_first(r.instance, r.sampled, step, r.rho, r.start, r.count)


def _opg_admm(r: Run) -> Trace:
    # Steps without any brake are for losses with bounded slopes only.
    brake = r.coupling or (r.known.lipschitz_max if type(r.instance.loss).__name__ == "Squared" else 0.0)
    return admm.x_first(r.instance, r.sampled, r.decreasing(brake), r.rho, r.start, r.count)


def _spdhg(r: Run) -> Trace:
    step = r.decreasing(r.parameters.get("lipschitz", r.known.lipschitz_max))
    return admm.arrow_hurwicz(r.instance, r.sampled, step, r.rho, r.start, r.count)


def _rda_admm(r: Run) -> Trace:
    def step(k: int) -> float:
        t = k + 1
        eta = math.sqrt(t) / r.kappa
        return eta / (1.0 + r.coupling * eta / t)

    return admm.dual_averaging(r.instance, r.sampled, step, r.rho, r.start, r.count)


def _sadmm(r: Run) -> Trace:
    strong = r.parameters.get("regime") == "strongly-convex"
    identity = np.eye(r.start.size)

    def metric(k: int, g: Vector) -> Vector:
        if not strong:
            return (r.known.lipschitz_max + r.kappa * math.sqrt(k + 1)) * identity
        return r.known.mu_r1 * ((k + 2) / 2 if r.name == "optimal-sadmm" else k + 1) * identity

    return admm.stochastic_admm(r.instance, r.sampled, metric, r.rho, r.start, r.count)


def _adaptive(r: Run) -> Trace:
    d = r.start.size
    kind = admm.FullMetric if r.name == "sadmm-full" else admm.DiagonalMetric
    metric = kind(d, r.parameters.get("eta", r.distance / math.sqrt(2.0 * d)))
    return admm.stochastic_admm(r.instance, r.sampled, metric, r.rho, r.start, r.count)


def _online_admm(r: Run) -> Trace:
    rows = r.batches[:, 0]
    return admm.online_admm(r.stacked, rows, lambda k: r.kappa * math.sqrt(k + 1), r.rho, r.start, r.count)


def _svrg_admm(r: Run) -> Trace:
    eta = r.parameters.get("eta", 1.0 / (3.0 * r.known.lipschitz_max))
    gradient = admm.Corrected(r.instance, r.batches, -(-len(r.instance.X) // r.batch))
    return admm.z_first(r.instance, gradient, lambda k: eta / (1.0 + eta * r.coupling), r.rho, r.start, r.count)


def _sag_admm(r: Run) -> Trace:
    seen = admm.Averaged(r.instance, r.batches, r.start)
    if r.parameters["variant"] == "simple":
        base = r.parameters.get("lipschitz", 3.0 * r.known.lipschitz_max) + r.coupling
        return admm.x_first(r.instance, seen, lambda k: 1.0 / base, r.rho, r.start, r.count)
    exact = r.parameters["variant"] == "exact"
    L = r.parameters.get("lipschitz", (0.2 if exact else 0.1) * r.known.lipschitz)
    form = r.stacked if exact else r.instance
    return admm.stored_points(form, exact, seen, L, r.rho, r.coupling, r.start, r.count)


def _sdca_admm(r: Run) -> Trace:
    rho = r.parameters.get("rho", 2.0 / r.known.mean_square)
    gamma = r.parameters.get("gamma", 1.0) / len(r.instance.X)
    norm = 1.01 * (r.known.squared_norm + 1.0)
    return admm.sdca_admm(r.stacked, r.batches, rho, gamma, norm, r.start, above=1.01)


def _spdhg_cers(r: Run) -> Trace:
    p = r.parameters.get("probability", 0.5) if len(r.instance.F) else 0.0
    gamma, norm = r.parameters.get("gamma", 1.0), r.problem.F.norm
    return admm.dual_coordinates(r.instance, r.batches[:, 0], r.updates_of_F, gamma, p, norm, r.start)


def _ladmm(r: Run) -> Trace:
    step = 1.0 / (r.parameters.get("lipschitz", r.known.lipschitz) / 2 + r.coupling)
    return admm.z_first(r.instance, r.sampled, lambda k: step, r.rho, r.start, r.count)


def _condat_vu(r: Run) -> Trace:
    relaxation, L = r.parameters.get("relaxation", 1.0), r.parameters.get("lipschitz", r.known.lipschitz)
    step = 1.0 / ((L if relaxation > 1.0 else L / 2) + r.coupling)
    y = np.zeros(len(r.instance.F))
    return admm.condat_vu(r.instance, step, r.rho, relaxation, r.start, r.count, y)


def _pd3o(r: Run) -> Trace:
    c, square = r.parameters.get("step", 1.9 / r.known.lipschitz), r.known.squared_norm
    rho = r.parameters.get("rho", 1.0 / (c * square) if square else 1.0)
    return admm.pd3o(r.instance, c, rho, r.start, r.count)


def _admm_newton(r: Run) -> Trace:
    return admm.admm_newton(r.stacked, r.parameters.get("rho", r.known.lipschitz / 5), r.start, r.count)


def _egadm(r: Run) -> Trace:
    L, square = r.known.lipschitz, r.known.squared_norm
    original = r.parameters["variant"] == "original"
    if original:
        c = rho = 1.0 / math.sqrt(max(2 * L**2 + square + 1.0, 2 * (square + 1.0)))
    else:
        rho, s = r.rho, r.coupling
        c = ((math.sqrt(s + 4 * L) - math.sqrt(s)) / (2 * L)) ** 2
    batches = list(np.repeat(r.batches, 2, axis=0))
    path = twin.run(r.stacked if original else r.instance, "spdpeg", lambda k: c, rho, batches, r.start)
    return Trace(path.x, path.x_bar, path.z, path.dual_bar)


TWINS: dict[str, Callable[[Run], Trace]] = {
    "sgadm": _sgadm,
    "opg-admm": _opg_admm,
    "spdhg": _spdhg,
    "rda-admm": _rda_admm,
    "sadmm": _sadmm,
    "optimal-sadmm": _sadmm,
    "sadmm-diag": _adaptive,
    "sadmm-full": _adaptive,
    "online-admm": _online_admm,
    "svrg-admm": _svrg_admm,
    "sag-admm simple": _sag_admm,
    "sag-admm inexact": _sag_admm,
    "sag-admm exact": _sag_admm,
    "sdca-admm": _sdca_admm,
    "spdhg-cers": _spdhg_cers,
    "ladmm": _ladmm,
    "condat-vu": _condat_vu,
    "pd3o": _pd3o,
    "admm-newton": _admm_newton,
    "egadm prox": _egadm,
    "egadm original": _egadm,
}


def wide(loss: Any, r1: Any, weighted: bool, d: int, n: int = 31) -> Instance:
    """A sparse graph on more coordinates than are worth a diagonalisation."""
    X = catalogue.rows(n, d, seed=4)
    rng = np.random.default_rng(5)
    edges = [(i, i + 1) for i in range(0, d - 1, 3)] + [(i, (7 * i + 5) % d) for i in range(1, d, 4)]
    matrix = np.zeros((len(edges), d))
    for row, (i, j) in zip(matrix, edges, strict=True):
        row[i], row[j] = 1.0, -1.0
    return Instance(
        X,
        catalogue.labels_for(loss, X),
        loss,
        r1=r1,
        r2=penalties.L1(0.02),
        operator=sp.csr_array(matrix),
        matrix=matrix,
        weights=rng.integers(0, 4, n).astype(float) if weighted else None,
    )
