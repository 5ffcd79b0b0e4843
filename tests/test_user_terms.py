"""Terms that a user defines, here in a test, work like those of the package."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.certificate import kkt_residual
from spdpeg.kernels import jit
from spdpeg.penalties.base import Packed
from support import catalogue
from support.conic import cp


class LogCosh(losses.Loss):
    """log cosh(t - b)."""

    bounded_slope = True

    @property
    def curvature(self) -> float:
        return 1.0

    @jit.scalar
    @staticmethod
    def kernel_value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        r = abs(t - b)
        return r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)  # type: ignore[no-any-return]

    @jit.scalar
    @staticmethod
    def kernel_derivative(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return np.tanh(t - b)  # type: ignore[no-any-return]


class Leaning(penalties.Penalty):
    """Sum of up * max(v, 0) + down * max(-v, 0)."""

    separable = True
    homogeneous = True

    def __init__(self, up: float, down: float) -> None:
        self.up = up
        self.down = down

    def value(self, v: np.ndarray) -> float:
        return float(np.sum(np.maximum(self.up * v, -self.down * v)))

    def pack(self, size: int) -> Packed:
        return Packed(np.array([self.up, self.down]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        up, down = step * reals[0], step * reals[1]
        for j in range(point.size):
            out[j] = point[j] - min(max(point[j], -down), up)


class Ring(operators.Operator):
    """Differences around a circle."""

    @property
    def n_outputs(self) -> int:
        return self.n_inputs

    @property
    def squared_norm(self) -> float:
        return 4.0

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return jit.NO_REALS, jit.NONE

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(out.size):
            out[j] = vector[(j + 1) % vector.size] - vector[j]

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(out.size):
            out[j] = vector[j - 1] - vector[j]


RING = np.roll(np.eye(catalogue.D), 1, axis=1) - np.eye(catalogue.D)
X = catalogue.rows()
Y = X[:, :3].sum(axis=1) + 0.3 * np.random.default_rng(3).standard_normal(catalogue.N)


@pytest.fixture(scope="module")
def best() -> Any:
    x = cp.Variable(catalogue.D)
    residual = X @ x - Y
    loss = cp.sum(cp.logistic(2 * residual) - residual) / catalogue.N - np.log(2)
    lean = cp.sum(0.02 * cp.pos(x) + 0.05 * cp.neg(x)) + cp.sum(0.01 * cp.pos(RING @ x) + 0.03 * cp.neg(RING @ x))
    problem = cp.Problem(cp.Minimize(loss + lean))
    problem.solve(solver=cp.CLARABEL)
    return x.value, problem.value


def make_problem(X: Any = X) -> spdpeg.Problem:
    return spdpeg.Problem(X, Y, loss=LogCosh(), r1=Leaning(0.02, 0.05), r2=Leaning(0.01, 0.03), F=Ring())


def test_objective(best: Any) -> None:
    assert make_problem().objective(best[0]) == pytest.approx(best[1], abs=1e-7)


def test_solve(best: Any) -> None:
    result = spdpeg.solve(make_problem(), "spdpeg", max_passes=4000, record_every=4000)
    assert -1e-7 < make_problem().objective(result.x) - best[1] < 5e-3


def test_solve_without_noise(best: Any) -> None:
    problem = make_problem()
    result = spdpeg.solve(
        problem, "spdpeg", batch_size=catalogue.N, kappa=0.0, max_passes=None, max_iterations=20_000, record_every=1e5
    )
    np.testing.assert_allclose(result.x_last, best[0], atol=1e-4)
    assert kkt_residual(problem.view, result.x_last, -result.state.vectors["y"]) < 1e-6


def test_ring_is_what_it_says() -> None:
    ring, v = Ring().bind(catalogue.D), np.arange(catalogue.D) ** 2.0
    np.testing.assert_allclose(ring.forward(v), RING @ v)
    np.testing.assert_allclose(ring.adjoint(v), RING.T @ v)


def test_inside_other_terms() -> None:
    """A user's penalty in a separable sum, on a box, and a user's operator in a stack."""
    d = catalogue.D
    problem = spdpeg.Problem(
        X,
        Y,
        loss=losses.Squared(),
        r1=Leaning(0.02, 0.05),
        r2=penalties.SeparableSum([Leaning(0.01, 0.03), penalties.L1(0.01)], [d, d - 1]),
        F=operators.Stack(Ring(), operators.FirstDifference()),
        domain=penalties.Box(-0.5, 0.5),
    )
    x = np.linspace(-0.5, 0.5, d)
    lean = np.maximum(0.01 * RING @ x, -0.03 * RING @ x).sum() + 0.01 * np.abs(np.diff(x)).sum()
    expected = 0.5 * np.mean((X @ x - Y) ** 2) + np.maximum(0.02 * x, -0.05 * x).sum() + lean
    assert problem.objective(x) == pytest.approx(expected, rel=1e-12)
    result = spdpeg.solve(problem, max_passes=50)
    assert np.all(np.abs(result.x) <= 0.5)
    assert result.objective < problem.objective(np.zeros(d))
