"""The potential of the extragradient scheme falls by at least the gap, in expectation over the row drawn (16.A)."""

from typing import NamedTuple

import numpy as np
import pytest

from spdpeg import losses, penalties
from support import admm, conic, formulas
from support.instances import Instance
from support.variance_reduced import Method, Point

N, D = 30, 6
STATES = 100


class Setting(NamedTuple):
    """A problem, its method with uniform steps, and what the potential is measured from."""

    method: Method
    x: np.ndarray
    gradients: np.ndarray
    optimal: float

    def potential(self, state: Point, dual: np.ndarray) -> float:
        """|x - x*|^2 / (2c) + |y - y0|^2 / (2 rho) + 2 c N sigma^2, sigma^2 the mean squared error of the table."""
        c, rho = self.method.tau[0], self.method.sigma[0]
        errors = np.sum((state.table - self.gradients) ** 2) / N
        distances = np.sum((state.x - self.x) ** 2) / (2 * c) + np.sum((state.y - dual) ** 2) / (2 * rho)
        return float(distances + 2 * c * N * errors)

    def gap(self, x_bar: np.ndarray, z: np.ndarray, dual: np.ndarray) -> float:
        """l(x_bar) + r1(x_bar) + r2(z) + <y0, F x_bar - z> - P*."""
        instance = self.method.instance
        split = instance.objective(x_bar) - formulas.value(instance.r2, instance.F @ x_bar)
        linear = float(dual @ (instance.F @ x_bar - z))
        return split + formulas.value(instance.r2, z) + linear - self.optimal

    def excess(self, state: Point, dual: np.ndarray) -> float:
        """Gap + expected potential afterwards - potential, relative to the potential: at most 0 by the theorem."""
        after = []
        for i in range(N):
            moved = state.copy()
            x_bar, _ = self.method.extragradient(moved, np.array([i]))
            after.append(self.potential(moved, dual))
        before = self.potential(state, dual)
        return (self.gap(x_bar, moved.z, dual) + float(np.mean(after)) - before) / before


def make_setting(loss: str, r1: str, longer: float = 1.0) -> Setting:
    """Steps c = longer / (8 L_max) and c rho |F|^2 = 1/2."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * np.linspace(0.3, 2.0, N)[:, None]
    t = X[:, :2].sum(axis=1) + rng.standard_normal(N)
    instance = Instance(
        X,
        np.where(t > 0, 1.0, -1.0) if loss == "Logistic" else t,
        losses.Logistic() if loss == "Logistic" else losses.Squared(),
        r1=penalties.L1(0.05) if r1 == "L1" else penalties.L2Squared(0.1),
        r2=penalties.L1(0.1),
        matrix=np.diff(np.eye(D), axis=0),
    )
    c = longer / (8 * instance.loss.curvature * np.max(np.sum(X**2, axis=1)))
    rho = 0.5 / (c * np.linalg.norm(instance.F, 2) ** 2)
    best = conic.solve(instance).x
    method = Method(instance, np.full(D, c), np.full(D - 1, rho))
    return Setting(method, best, admm.row_gradients(instance, best, np.arange(N)), instance.objective(best))


def random_state(setting: Setting, rng: np.random.Generator) -> Point:
    """Near and far, the rows of the table seen at points of their own."""
    near, seen = 10.0 ** rng.uniform(-3, 1, 2)
    x = setting.x + near * rng.standard_normal(D)
    y = near * rng.standard_normal(D - 1)
    points = setting.x + seen * rng.standard_normal((N, D))
    every = [admm.row_gradients(setting.method.instance, at, np.array([i]))[0] for i, at in enumerate(points)]
    table = np.array(every)
    return Point(x, y, np.zeros(D - 1), x, table, table.mean(axis=0), x)


def excesses(setting: Setting) -> list[float]:
    """At a hundred random states and random y0."""
    rng = np.random.default_rng(1)
    return [setting.excess(random_state(setting, rng), 0.3 * rng.standard_normal(D - 1)) for _ in range(STATES)]


@pytest.mark.parametrize("r1", ["L1", "L2Squared"])
@pytest.mark.parametrize("loss", ["Logistic", "Squared"])
def test_the_potential_falls_by_the_gap(loss: str, r1: str) -> None:
    assert max(excesses(make_setting(loss, r1))) <= 1e-12


def test_not_with_much_longer_steps() -> None:
    """So the inequality above says something."""
    assert max(excesses(make_setting("Squared", "L1", longer=16.0))) > 1e-3


@pytest.mark.parametrize("loss", ["Logistic", "Squared"])
def test_along_a_run(loss: str) -> None:
    setting = make_setting(loss, "L1")
    rng = np.random.default_rng(2)
    state = random_state(setting, rng)
    for k in range(600):
        if k % 20 == 0:
            assert setting.excess(state, 0.1 * rng.standard_normal(D - 1)) <= 1e-12
        setting.method.extragradient(state, np.array([rng.integers(N)]))
