"""The registry: instances of every penalty, each with the same function written in the language of a conic solver."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from spdpeg import penalties as pen
from spdpeg.penalties.composite import Constrained

SIZE = 6
WEIGHTS = np.array([0.5, 1.0, 0.0, 2.0, 0.3, 0.0])
POSITIVE = np.array([0.5, 1.0, 0.25, 2.0, 0.3, 0.7])
LABELS = np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
TARGETS = np.array([0.0, 1.5, -2.0, 0.5, 0.5, -0.1])

Model = Callable[[cp.Variable], tuple[Any, list[Any]]]


class Case:
    """A penalty and its independent model: (finite part, constraints) as cvxpy expressions of w."""

    def __init__(self, name: str, penalty: pen.Penalty, model: Model) -> None:
        self.name = name
        self.penalty = penalty
        self.model = model

    def value(self, v: np.ndarray) -> float:
        """r(v) by the model."""
        w = cp.Variable(SIZE, value=v)
        finite, constraints = self.model(w)
        outside = any(np.max(c.violation()) > 1e-9 for c in constraints)
        return np.inf if outside else float(cp.Constant(finite).value if np.isscalar(finite) else finite.value)

    @cached_property
    def _prox_problem(self) -> tuple[cp.Problem, cp.Parameter, cp.Parameter]:
        w, v, step = cp.Variable(SIZE), cp.Parameter(SIZE), cp.Parameter(nonneg=True)
        finite, constraints = self.model(w)
        return cp.Problem(cp.Minimize(step * finite + cp.sum_squares(w - v) / 2), constraints), v, step

    def least(self, v: np.ndarray, step: float) -> float:
        """The smallest step * r(w) + |w - v|^2 / 2 that a conic solver finds."""
        problem, point, scale = self._prox_problem
        point.value, scale.value = v, step
        solve(problem)
        return float(problem.value)

    @cached_property
    def _sup_problem(self) -> tuple[cp.Problem, cp.Parameter]:
        w, u = cp.Variable(SIZE), cp.Parameter(SIZE)
        finite, constraints = self.model(w)
        return cp.Problem(cp.Maximize(u @ w - finite), constraints), u

    def conjugate(self, u: np.ndarray) -> float:
        """The supremum by a conic solver; infinite where it says unbounded."""
        problem, slope = self._sup_problem
        slope.value = u
        solve(problem)
        return float(problem.value)


def solve(problem: cp.Problem) -> None:
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)


def l1(weight: Any) -> Model:
    return lambda w: (cp.sum(cp.multiply(weight, cp.abs(w))), [])


def ridge(weight: Any) -> Model:
    return lambda w: (cp.sum(cp.multiply(weight, cp.square(w))) / 2, [])


def fused(l1: float, l2: Any) -> Model:
    return lambda w: (l1 * cp.norm1(w) + cp.sum(cp.multiply(l2, cp.abs(cp.diff(w)))), [])


def groups(weights: list[float], members: list[list[int]]) -> Model:
    return lambda w: (sum(a * cp.norm(w[g], 2) for a, g in zip(weights, members, strict=True)), [])


def nuclear(weight: float, shape: tuple[int, int]) -> Model:
    return lambda w: (weight * cp.normNuc(cp.reshape(w, shape, order="C")), [])


def huber(weight: Any, delta: float) -> Model:
    return lambda w: (cp.sum(cp.multiply(weight, cp.huber(w, delta))) / (2 * delta), [])


def box(lower: Any, upper: Any) -> Model:
    lower, upper = np.broadcast_to(lower, SIZE), np.broadcast_to(upper, SIZE)
    low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))

    def model(w: cp.Variable) -> tuple[Any, list[Any]]:
        constraints = [w[low] >= lower[low]] if low.size else []
        return 0.0, constraints + ([w[high] <= upper[high]] if high.size else [])

    return model


def hinge(weight: Any) -> Model:
    return lambda w: (cp.sum(cp.multiply(weight, cp.pos(1 - cp.multiply(LABELS, w)))), [])


def quantile(level: float, weight: Any) -> Model:
    def model(w: cp.Variable) -> tuple[Any, list[Any]]:
        pinball = level * cp.pos(TARGETS - w) + (1 - level) * cp.neg(TARGETS - w)
        return cp.sum(cp.multiply(weight, pinball)), []

    return model


def both(first: Model, second: Model) -> Model:
    return lambda w: tuple(a + b for a, b in zip(first(w), second(w), strict=True))  # type: ignore[return-value]


def within(norm: int, radius: float) -> Model:
    return lambda w: (0.0, [cp.norm(w, norm) <= radius])


def simplex(total: float) -> Model:
    return lambda w: (0.0, [w >= 0, cp.sum(w) == total])


def blocks(*parts: tuple[Model, int]) -> Model:
    def model(w: cp.Variable) -> tuple[Any, list[Any]]:
        start, finite, constraints = 0, 0.0, []
        for part, size in parts:
            value, added = part(w[start : start + size])
            finite, constraints, start = finite + value, constraints + added, start + size
        return finite, constraints

    return model


UPPER = np.array([1.0, np.inf, 2.0, 0.5, np.inf, 3.0])
LOWER = np.array([-1.0, 0.0, -np.inf, 0.5, -np.inf, 0.0])

CASES = [
    Case("zero", pen.Zero(), lambda w: (0.0, [])),
    Case("l1", pen.L1(0.7), l1(0.7)),
    Case("l1-weights", pen.L1(WEIGHTS), l1(WEIGHTS)),
    Case("ridge", pen.L2Squared(0.7), ridge(0.7)),
    Case("ridge-weights", pen.L2Squared(WEIGHTS), ridge(WEIGHTS)),
    Case("ridge-positive", pen.L2Squared(POSITIVE), ridge(POSITIVE)),
    Case("net", pen.ElasticNet(0.7, 0.4), both(l1(0.7), ridge(0.4))),
    Case("net-weights", pen.ElasticNet(WEIGHTS, WEIGHTS[::-1]), both(l1(WEIGHTS), ridge(WEIGHTS[::-1]))),
    Case("net-l1-only", pen.ElasticNet(POSITIVE, 0.0), l1(POSITIVE)),
    Case("fused", pen.FusedL1(0.7, 0.4), fused(0.7, 0.4)),
    Case("fused-weights", pen.FusedL1(0.3, WEIGHTS[:-1]), fused(0.3, WEIGHTS[:-1])),
    Case("fused-jumps-only", pen.FusedL1(0.0, POSITIVE[:-1]), fused(0.0, POSITIVE[:-1])),
    Case("group-all", pen.GroupL2(0.7), groups([0.7], [list(range(SIZE))])),
    Case("group-block", pen.GroupL2([0.7, 0.0, 2], groups=2), groups([0.7, 0, 2], [[0, 1], [2, 3], [4, 5]])),
    Case("group-label", pen.GroupL2([1, 0.5], groups=[7, -1, 3, 7, 7, 3]), groups([1, 0.5], [[2, 5], [0, 3, 4]])),
    Case("group-list", pen.GroupL2(0.7, groups=[[4, 0], [2], [1, 3]]), groups([0.7] * 3, [[4, 0], [2], [1, 3]])),
    Case("nuclear-wide", pen.Nuclear(0.7, (2, 3)), nuclear(0.7, (2, 3))),
    Case("nuclear-tall", pen.Nuclear(0.7, (3, 2)), nuclear(0.7, (3, 2))),
    Case("linf", pen.LInf(0.7), lambda w: (0.7 * cp.norm(w, "inf"), [])),
    Case("huber", pen.HuberL1(0.7, 0.5), huber(0.7, 0.5)),
    Case("huber-weights", pen.HuberL1(WEIGHTS, 2.0), huber(WEIGHTS, 2.0)),
    Case("box", pen.Box(-0.5, 1.5), box(-0.5, 1.5)),
    Case("box-bounds", pen.Box(LOWER, UPPER), box(LOWER, UPPER)),
    Case("box-mixed", pen.Box(-1.0, POSITIVE), box(-1.0, POSITIVE)),
    Case("positive", pen.NonNegative(), box(0.0, np.inf)),
    Case("ball-l2", pen.L2Ball(1.5), within(2, 1.5)),
    Case("ball-l1", pen.L1Ball(1.5), within(1, 1.5)),
    Case("simplex", pen.Simplex(), simplex(1.0)),
    Case("simplex-total", pen.Simplex(2.5), simplex(2.5)),
    Case("hinge", pen.Hinge(LABELS), hinge(1.0)),
    Case("hinge-weights", pen.Hinge(LABELS, WEIGHTS), hinge(WEIGHTS)),
    Case("quantile", pen.Quantile(TARGETS, 0.8, 1 / SIZE), quantile(0.8, 1 / SIZE)),
    Case("quantile-weights", pen.Quantile(TARGETS, weight=WEIGHTS), quantile(0.5, WEIGHTS)),
    Case(
        "sum-mixed",
        pen.SeparableSum([pen.L1(0.3), pen.L2Ball(0.5), pen.GroupL2(0.6, groups=1)], [2, 3, 1]),
        blocks((l1(0.3), 2), (within(2, 0.5), 3), (groups([0.6], [[0]]), 1)),
    ),
    Case(
        "sum-sets",
        pen.SeparableSum([pen.Simplex(), pen.L1Ball(0.8)], [2, 4]),
        blocks((simplex(1.0), 2), (within(1, 0.8), 4)),
    ),
    Case("sum-net", pen.SeparableSum([pen.L1(0.3), pen.L2Squared(0.5)], [2, 4]), blocks((l1(0.3), 2), (ridge(0.5), 4))),
    Case("sum-norms", pen.SeparableSum([pen.L1(0.3), pen.LInf(0.5)], [2, 4]),
         blocks((l1(0.3), 2), (lambda w: (0.5 * cp.norm(w, "inf"), []), 4))),
    Case("l1-in-ball", Constrained(pen.L1(WEIGHTS), pen.L2Ball(1.5)), both(l1(WEIGHTS), within(2, 1.5))),
    Case("ridge-in-simplex", Constrained(pen.L2Squared(0.7), pen.Simplex()), both(ridge(0.7), simplex(1.0))),
    Case("box-in-box", Constrained(pen.NonNegative(), pen.Box(-1, 2)), box(0.0, 2.0)),
]  # fmt: skip


@pytest.fixture(scope="session", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    """Each entry of the registry in turn."""
    return request.param


@pytest.fixture(scope="session", params=[c for c in CASES if c.penalty.separable], ids=lambda case: case.name)
def separable(request: pytest.FixtureRequest) -> pen.Penalty:
    """Each separable penalty in turn."""
    return request.param.penalty


@pytest.fixture(scope="session", params=[c for c in CASES if c.penalty.indicator], ids=lambda case: case.name)
def convex_set(request: pytest.FixtureRequest) -> pen.Penalty:
    """Each set in turn."""
    return request.param.penalty


@pytest.fixture(scope="session")
def registry() -> list[Case]:
    return CASES


@pytest.fixture
def draws() -> list[tuple[np.ndarray, float]]:
    """Points and steps over several sizes, the same in every run."""
    rng = np.random.default_rng(7)
    return [(scale * rng.standard_normal(SIZE), step) for scale in (0.3, 2.0, 20.0) for step in (0.1, 1.0, 5.0)]
