"""Proximal gradient steps of spectral length: a plain twin, optima, resumed runs, and when the planner takes them."""

import numpy as np
import pytest

import spdpeg
from spdpeg import Status, losses, operators, penalties
from spdpeg.engine import auto
from support import catalogue, conic

TOL = 1e-6


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X @ np.repeat(rng.standard_normal(d // 5), 5) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    return X, y


def fused(X: np.ndarray, y: np.ndarray, lam: float) -> spdpeg.Problem:
    r1, r2, F = penalties.L1(lam), penalties.L1(lam), operators.FirstDifference()
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=r1, r2=r2, F=F)


def twin(X: np.ndarray, y: np.ndarray, lam: float, steps: int) -> np.ndarray:
    """The method as its paper has it, with dense products."""
    n, d = X.shape
    penalty = penalties.FusedL1(lam, lam)

    def at(x: np.ndarray) -> tuple[float, np.ndarray]:
        margins = y * (X @ x)
        return np.logaddexp(0.0, -margins).mean() + penalty.value(x), -X.T @ (y / (1.0 + np.exp(margins))) / n

    x = np.zeros(d)
    value, g = at(x)
    t = g @ g / np.mean(0.25 * (X @ g) ** 2)
    values = [value]
    for k in range(steps):
        while True:
            ahead = penalty.prox(x - t * g, t)
            s = ahead - x
            value, gradient = at(ahead)
            if value <= max(values[-5:]) - 1e-4 * (s @ s) / (2.0 * t):
                break
            t *= 0.5
        v = gradient - g
        t = (s @ s) / (s @ v) if k % 2 == 0 else (s @ v) / (v @ v)
        x, g = ahead, gradient
        values.append(value)
    return x


def test_the_steps_are_those_of_the_paper() -> None:
    X, y = rows(80, 30)
    result = spdpeg.solve(fused(X, y, 1e-2), "sparsa", max_iterations=12)
    np.testing.assert_allclose(result.x, twin(X, y, 1e-2, 12), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        ("L1", "L1", "FirstDifference"),
        ("GroupL2", "None", "None"),
        ("Nuclear", "None", "None"),
        ("Box", "None", "None"),
    ],
    ids="-".join,
)
def test_the_optimum(shape: tuple[str, str, str], intercept: bool) -> None:
    instance = catalogue.instance("Logistic", *shape)
    problem = instance.problem(intercept=intercept)
    result = spdpeg.solve(problem, "sparsa", tol=TOL)
    if problem.bias:
        instance = instance.beside_intercept(problem.bias)
    optimal = instance.objective(conic.solve(instance).x)
    assert result.status is Status.TOLERANCE
    assert result.certificate is not None
    assert result.certificate.dual <= optimal * (1 + 1e-9)
    assert result.objective <= optimal * (1 + TOL)


def test_what_it_refuses() -> None:
    with pytest.raises(spdpeg.UnsupportedError, match="has none in closed form"):
        spdpeg.solve(catalogue.instance("Logistic", "L1", "L1", "GraphDifference").problem(), "sparsa")


def test_takes_over_from_a_working_set_with_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in (("_SMALL_MATRIX", 20), ("_LARGE_MATRIX", 20), ("_MOST_PIECES", 10)):
        monkeypatch.setattr(auto, name, few)
    problem = fused(*rows(300, 100), 1e-4)
    result = spdpeg.solve(problem, tol=TOL)
    assert [stage.method for stage in result.stages] == ["working-set", "sparsa"]
    assert result.status is Status.TOLERANCE
    reference = spdpeg.solve(problem, "prox-newton", tol=1e-9)
    assert result.objective <= reference.objective * (1 + TOL)


def test_an_intercept_takes_hardly_more_reads() -> None:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((300, 400)) < 0.03, np.abs(rng.standard_normal((300, 400))), 0.0)
    y = np.where(X @ rng.standard_normal(400) + 1.0 + rng.standard_normal(300) > 0.0, 1.0, -1.0)
    without, beside = (
        spdpeg.solve(
            spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(1e-3), intercept=intercept), "sparsa", tol=TOL
        )
        for intercept in (False, True)
    )
    assert without.status is beside.status is Status.TOLERANCE
    assert beside.passes <= 2.0 * without.passes
