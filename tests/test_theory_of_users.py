"""T1, T2 and T3 of docs/theory.md: the violation and the objective that users read, against runs."""

import math
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties, theory
from support import catalogue

PARTS = [
    ("L1", "L1", "FirstDifference"),
    ("L2Squared", "GroupL2", "GraphDifference"),
    ("ElasticNet", "L1", "DenseMatrix"),
    ("L1", "HuberL1", "Identity"),
    ("L2Squared", "L2Squared", "Difference"),
]


@pytest.mark.parametrize("variant", ["one-sample", "two-sample"])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("parts", PARTS, ids="-".join)
@pytest.mark.parametrize("loss", catalogue.LOSSES)
def test_the_violation_is_known_exactly(loss: str, parts: tuple[str, str, str], batch: int, variant: str) -> None:
    """T1: F x~ - z~ = (lambda_0 - lambda_{t+1}) / (rho n), and y = -lambda."""
    instance = catalogue.instance(loss, *parts)
    for mode in ("paper", "tight"):
        result = spdpeg.solve(
            instance.problem(), "spdpeg", mode=mode, variant=variant, batch_size=batch, max_iterations=300
        )
        state = result.state
        expected = state.vectors["y"] / (state.numbers["rho"] * 300)
        found = instance.F @ result.x - result.z
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(instance.F @ result.x).max()))


def test_the_violation_with_growing_weights() -> None:
    """T1 by parts, for the weights of spdpeg-sc2."""
    instance = catalogue.instance(r1="L2Squared")
    problem, state = instance.problem(), None
    duals = []
    for _ in range(40):
        result = spdpeg.solve(problem, "spdpeg-sc2", mode="paper", max_iterations=1, state=state)
        state = result.state
        duals.append(-state.vectors["y"].copy())
    t = 39
    weighted = np.sum(duals[:-1], axis=0) - (t + 3) * duals[-1]
    expected = 2 * weighted / (state.numbers["rho"] * (t + 1) * (t + 6))
    np.testing.assert_allclose(instance.F @ result.x - result.z, expected, rtol=0, atol=1e-12)


class Random:
    """A small problem whose constants are known: logistic loss in a box, r2 a weighted Euclidean norm."""

    def __init__(self, seed: int, ridge: float) -> None:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(5, 40)), int(rng.integers(2, 8))
        self.X = rng.standard_normal((n, d)) * rng.uniform(0.1, 3.0)
        y = np.where(rng.standard_normal(n) + self.X[:, 0] > 0, 1.0, -1.0)
        y[:2] = -1.0, 1.0
        self.half, self.weight = rng.uniform(0.2, 2.0), 10 ** rng.uniform(-3, 0)
        self.rho = 10 ** rng.uniform(-2, 1)
        F: Any = operators.FirstDifference() if seed % 2 else rng.standard_normal((d + 1, d))
        self.problem = spdpeg.Problem(
            self.X,
            y,
            loss=losses.Logistic(),
            r1=penalties.L2Squared(ridge) if ridge else penalties.L1(1e-3),
            r2=penalties.GroupL2(self.weight),
            F=F,
            domain=penalties.Box(-self.half, self.half),
        )
        self.diameter = 2 * self.half * math.sqrt(d)
        self.sigma = math.sqrt((self.X**2).sum(axis=1).mean())  # slopes lie between -1 and 1
        self.norm_F = math.sqrt(self.problem.F.squared_norm)
        self.common = {"sigma": self.sigma, "rho": self.rho, "dual_radius": self.weight}

    def measured(self, solver: str, iterations: int, **options: Any) -> list[spdpeg.Result]:
        settings: dict[str, Any] = {"rho": self.rho, "mode": "tight", "record_every": 1e6} | options
        return [
            spdpeg.solve(self.problem, solver, max_iterations=iterations, seed=seed, **settings) for seed in range(4)
        ]

    def base(self, result: spdpeg.Result) -> float:
        return float(result.state.numbers["step_base"])


@pytest.mark.parametrize("block", range(10))
def test_bounds_hold_on_random_problems(block: int) -> None:
    """T1, T2 and T3 in 200 random problems, 20 in each block."""
    for seed in range(20 * block, 20 * block + 20):
        strong = seed % 4 >= 2
        case = Random(seed, 0.3 if strong else 0.0)
        best = spdpeg.solve(case.problem, tol=1e-8).certificate
        assert best is not None
        for iterations in (10, 300):
            t = iterations - 1
            _check_violation(case, t)
            for solver in ("spdpeg-sc1", "spdpeg-sc2") if strong else ("spdpeg", "spdpeg one-sample"):
                _check_objective(case, solver, t, best.primal)


def _check_violation(case: Random, t: int) -> None:
    terms = {"rho": case.rho, "dual_radius": case.weight, "norm_F": case.norm_F, "diameter": case.diameter}
    for result in case.measured("spdpeg", t + 1):
        assert result.violation <= theory.violation(t, **terms)


def _check_objective(case: Random, solver: str, t: int, optimum: float) -> None:
    name, _, variant = solver.partition(" ")
    results = case.measured(name, t + 1, variant=variant or None)
    rule = results[0].state.numbers
    error = np.mean([case.problem.objective(result.x) for result in results]) - optimum
    terms: dict[str, Any] = {"base": case.base(results[0]), **case.common}
    if name == "spdpeg":
        terms |= {"diameter": case.diameter, "kappa": rule["step_kappa"]}
        bound = (theory.objective_one_sample if variant else theory.objective_convex)(t, **terms)
    else:
        terms |= {"mu": 0.6, "distance": case.diameter}
        if name == "spdpeg-sc2":
            terms |= {"diameter": case.diameter, "norm_F": case.norm_F}
            bound = theory.objective_strongly_convex_weighted(t, **terms)
        else:
            bound = theory.objective_strongly_convex(t, **terms)
    assert error <= bound


@pytest.mark.parametrize(
    ("bound", "rate"),
    [
        (theory.objective_convex, lambda t: 1 / math.sqrt(t)),
        (theory.objective_one_sample, lambda t: 1 / math.sqrt(t)),
        (theory.objective_strongly_convex, lambda t: math.log(t) / t),
        (theory.objective_strongly_convex_weighted, lambda t: 1 / t),
        (theory.violation, lambda t: 1 / t),
        (theory.weighted_violation, lambda t: 1 / t),
    ],
    ids=lambda item: getattr(item, "__name__", "rate"),
)
def test_bounds_fall_at_their_rate(bound: Any, rate: Any) -> None:
    known = {"base": 3.0, "diameter": 4.0, "sigma": 0.5, "rho": 0.4, "dual_radius": 1.5, "mu": 0.2, "distance": 2.0}
    known |= {"norm_F": 2.0}
    terms = {name: known[name] for name in bound.__kwdefaults__ or () if name in known}
    terms |= {name: known[name] for name in bound.__annotations__ if name in known}
    far, further = 10**150, 10**153
    assert bound(further, **terms) / bound(far, **terms) == pytest.approx(rate(further) / rate(far), rel=1e-2)
