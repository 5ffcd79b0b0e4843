"""The theorems' bounds: shape, rate, and that they hold on a problem whose constants are known."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties, theory
from support import conic, formulas
from support.instances import Instance

COMMON = {"base": 3.0, "sigma": 0.5, "rho": 0.4, "dual_norm": 1.5}
BOUNDS: dict[str, Callable[[int], float]] = {
    "convex": lambda t: theory.convex(t, diameter=4.0, kappa=0.7, **COMMON),
    "strongly_convex": lambda t: theory.strongly_convex(t, mu=0.2, distance=2.0, **COMMON),
    "strongly_convex_weighted": lambda t: theory.strongly_convex_weighted(
        t, mu=0.2, diameter=4.0, distance=2.0, dual_bound=3.0, **COMMON
    ),
}
RATES: dict[str, Callable[[int], float]] = {
    "convex": lambda t: 1 / math.sqrt(t),
    "strongly_convex": lambda t: math.log(t) / t,
    "strongly_convex_weighted": lambda t: 1 / t,
}


@pytest.mark.parametrize("name", BOUNDS)
def test_decreases(name: str) -> None:
    values = [BOUNDS[name](t) for t in (0, 1, 2, 5, 10, 100, 10_000, 10**8)]
    assert np.all(np.diff(values) < 0)
    assert values[-1] > 0


@pytest.mark.parametrize("name", BOUNDS)
def test_decreases_at_the_rate_of_the_theorem(name: str) -> None:
    t = 10**150  # so far out that only the leading term is left
    measured = math.log(BOUNDS[name](1000 * t) / BOUNDS[name](t))
    expected = math.log(RATES[name](1000 * t) / RATES[name](t))
    assert measured == pytest.approx(expected, abs=1e-3)


def test_the_papers_kappa_is_one() -> None:
    """With kappa = 1 the second term is (D^2 + 32 sigma^2) / (2 sqrt(t+1)), the corrected constant of Theorem 1."""
    noise = theory.convex(99, base=0.0, diameter=3.0, sigma=2.0, rho=math.inf, dual_norm=0.0)
    assert noise == pytest.approx((9 + 32 * 4) / (2 * 10))


RADIUS, RIDGE = 2.0, 0.5
SOLVERS = ("spdpeg", "spdpeg-sc1", "spdpeg-sc2")
ITERATIONS = (100, 1000, 10_000)


@pytest.fixture(scope="module")
def known() -> tuple[Instance, conic.Optimum]:
    """Ridge and fused logistic regression on a ball: diameter, noise, optimum and multiplier are all at hand."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    instance = Instance(
        X,
        np.where(X[:, 0] + 0.3 * rng.standard_normal(60) > 0, 1.0, -1.0),
        losses.Logistic(),
        r1=penalties.L2Squared(RIDGE),
        r2=penalties.L1(0.05),
        operator=operators.FirstDifference(),
        matrix=np.diff(np.eye(8), axis=0),
        domain=penalties.L2Ball(RADIUS),
    )
    return instance, conic.solve(instance)


@pytest.mark.parametrize("solver", SOLVERS)
def test_dominates_the_measured_error(solver: str, known: tuple[Instance, conic.Optimum]) -> None:
    """E[l + r1 + r2(z)] - P* and the stated multiple of |F E x - E z| over 20 seeds, steps as printed."""
    instance, best = known
    problem = instance.problem()
    sigma = 0.5 * math.sqrt((instance.X**2).sum(axis=1).mean())  # each row's slope is within 1/2 of any mean slope
    s, L = problem.F.squared_norm, problem.view.bounds.lipschitz_max
    mu = 0.0 if solver == "spdpeg" else RIDGE
    common = {
        "base": max(8 * s, math.sqrt(8 * L**2 + s)) + mu,
        "sigma": 2 * sigma,
        "rho": 1.0,
        "dual_norm": float(np.linalg.norm(best.dual)),
    }
    distance = float(np.linalg.norm(best.x))
    bound_of: dict[str, Callable[[int], float]] = {
        "spdpeg": lambda t: theory.convex(t, diameter=2 * RADIUS, **common),
        "spdpeg-sc1": lambda t: theory.strongly_convex(t, mu=mu, distance=distance, **common),
        "spdpeg-sc2": lambda t: theory.strongly_convex_weighted(
            t, mu=mu, diameter=2 * RADIUS, distance=distance, dual_bound=1.0, **common
        ),
    }
    bound = bound_of[solver]
    for iterations in ITERATIONS:
        results = [
            spdpeg.solve(
                problem, solver, mode="paper", max_passes=None, max_iterations=iterations, record_every=1e3, seed=seed
            )
            for seed in range(20)
        ]
        error = abs(np.mean([_split_objective(instance, r.x, r.z) for r in results]) - best.objective)
        gap = np.linalg.norm(np.mean([instance.F @ r.x - r.z for r in results], axis=0))
        assert max(np.linalg.norm(r.dual) for r in results) <= 1.0
        limit = bound(iterations - 1)
        assert error <= limit
        norm = common["dual_norm"]
        assert (1.0 if solver == "spdpeg-sc2" else math.sqrt(2.0) * (norm + 1.0) - norm) * gap <= limit


def _split_objective(instance: Instance, x: np.ndarray, z: np.ndarray) -> float:
    smooth = formulas.loss_value(instance.loss, instance.X @ x, instance.labels).mean()
    return float(smooth + formulas.value(instance.r1, x) + formulas.value(instance.r2, z))


def _saga_moments(t: float, n: int) -> np.ndarray:
    """E[M (x) M] of one coordinate of SAGA on n orthogonal rows, (x, stored value), step t / L."""
    p = 1.0 / n
    chosen = np.array([[1.0 - t, t * (1.0 - p)], [1.0, 0.0]])
    other = np.array([[1.0, -t * p], [0.0, 1.0]])
    return p * np.kron(chosen, chosen) + (1.0 - p) * np.kron(other, other)


@pytest.mark.parametrize("n", [2, 4, 30, 1000])
def test_saga_diverges_beyond_the_limit_of_t4(n: int) -> None:
    r = 1.0 - 1.0 / n
    limit = (math.sqrt((1 + r) ** 2 + 8 * r * (1 + r)) - (1 + r)) / (2 * r * (1 + r))
    for t, diverges in ((0.99 * limit, False), (1.01 * limit, True), (1.5 * limit, True)):
        assert (np.max(np.abs(np.linalg.eigvals(_saga_moments(t, n)))) > 1.0) == diverges
    # From x = a = 1 the moments themselves grow, not only some that no run meets.
    grown = np.linalg.matrix_power(_saga_moments(1.5 * limit, n), 40 * n) @ np.ones(4)
    assert grown[0] > 1e3
    assert limit > (math.sqrt(5.0) - 1.0) / 2.0 > 0.5


def test_the_moments_of_t4_are_those_of_saga_itself() -> None:
    """Every path of three steps on three orthogonal rows, with SAGA written out for vectors."""
    n, t, steps = 3, 0.8, 3
    total = 0.0
    for path in itertools.product(range(n), repeat=steps):
        x, table = np.ones(n), np.eye(n)  # row i is e_i; its stored gradient that of 0.5 x_i^2 at the start
        for i in path:
            row = np.eye(n)[i]
            gradient = row * x[i] - table[i] + table.mean(axis=0)
            table[i] = row * x[i]
            x = x - t * gradient
        total += x[0] ** 2 / n**steps
    expected = (np.linalg.matrix_power(_saga_moments(t, n), steps) @ np.ones(4))[0]
    assert total == pytest.approx(expected, rel=1e-12)
