"""Models with penalties that only have a prox, against interior points and optimality conditions."""

import numpy as np
import pytest

from spdpeg import losses, operators, penalties, solve
from spdpeg.penalties import L1, Nuclear, Penalty, SeparableSum
from spdpeg.problem import Problem
from spdpeg.quadratic import Model, augmented, minimize
from spdpeg.quadratic.augmented import Split

PENALTIES: dict[str, Penalty] = {
    "nuclear": Nuclear(0.3, (3, 4)),
    "tall": Nuclear(0.3, (4, 3)),
    "square": Nuclear(0.5, (2, 2)),
    "l1": L1(np.linspace(0.1, 0.5, 12)),
    "ridge": penalties.L2Squared(0.7),
    "blocks": SeparableSum([Nuclear(0.2, (2, 3)), L1(0.3)], [6, 6]),
    "group": penalties.GroupL2(0.4, [range(6), range(6, 12)]),
}
SIZES = {"square": 4}


@pytest.mark.parametrize("name", PENALTIES)
def test_jacobian_is_the_derivative_of_the_prox(name: str) -> None:
    penalty, size = PENALTIES[name], SIZES.get(name, 12)
    rng = np.random.default_rng(3)
    point, move, reach = rng.normal(size=size), rng.normal(size=size), 1e-6
    change = (penalty.prox(point + reach * move, 0.8) - penalty.prox(point - reach * move, 0.8)) / (2.0 * reach)
    J = penalty.prox_jacobian(point, 0.8)
    np.testing.assert_allclose(J @ move, change, atol=1e-6)
    np.testing.assert_allclose(J, J.T, atol=1e-9)
    assert np.linalg.eigvalsh(J).min() >= -1e-7
    assert np.linalg.eigvalsh(J).max() <= 1.0 + 1e-7


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("seed", range(4))
def test_optimality_conditions_hold_to_all_digits(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    A = scale * rng.normal(size=(15, 12))
    H, b = A.T @ A, A.T @ rng.normal(size=15)
    F = rng.normal(size=(7, 12))
    size = float(np.abs(b).max())
    K = np.vstack([F, np.eye(12), np.eye(12)])
    penalty = SeparableSum([L1(0.05 * size), L1(0.1 * size), Nuclear(0.2 * size, (3, 4))], [7, 12, 12])
    found = augmented.minimize(H, b, Split(K, penalty), np.zeros(12))
    assert found.found
    assert np.linalg.norm(K @ found.x - found.z) <= 1e-11 * np.linalg.norm(found.z)
    assert np.linalg.norm(H @ found.x - b + K.T @ found.y) <= 1e-11 * np.linalg.norm(b)
    # Fenchel and Young: y is a subgradient at z.
    assert penalty.conjugate(found.y) == 0.0
    assert penalty.value(found.z) == pytest.approx(float(found.y @ found.z), rel=1e-10)


def test_agrees_with_interior_points() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 8))
    H, b = A.T @ A, A.T @ rng.normal(size=20)
    form = L1(2.0).conic_form(8)
    exact = minimize(Model(H, b, form)).w
    found = augmented.minimize(H, b, Split(np.eye(8), L1(2.0)), np.zeros(8))
    np.testing.assert_allclose(found.z, exact, atol=1e-9)
    assert np.array_equal(found.z == 0.0, np.abs(exact) < 1e-7)


def test_no_solution_but_zero() -> None:
    found = augmented.minimize(np.eye(4), np.full(4, 0.1), Split(np.eye(4), Nuclear(5.0, (2, 2))), np.ones(4))
    assert found.found
    assert not np.any(found.z)


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Logistic()])
@pytest.mark.parametrize("intercept", [False, True])
def test_low_rank_beside_a_chain_is_proved_to_many_digits(loss: losses.Loss, intercept: bool) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 12))
    target = X @ np.outer([1.0, -1.0, 0.5], [1.0, 0.0, 0.0, 1.0]).ravel() + 0.3 * rng.normal(size=60)
    y = (target > 0.0) if loss.binary else target
    problem = Problem(X, y, loss, Nuclear(0.05, (3, 4)), L1(0.02), operators.FirstDifference(), intercept=intercept)
    result = solve(problem, tol=1e-10)
    assert [stage.method for stage in result.stages] == ["prox-newton"]
    assert result.certificate.rel_gap <= 1e-10
    rank = np.linalg.matrix_rank(problem.split(result.x)[0].reshape(3, 4), tol=1e-9)
    assert 0 < rank < 3


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Quantile(0.3)])
@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
def test_corners_beside_a_nuclear_norm(loss: losses.Loss, size: float) -> None:
    """No curvature anywhere, and no conic form: all terms are split off. Units do not matter."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 12))
    scores = X[:, 0] - X[:, 5] + 0.3 * rng.standard_normal(60)
    y = np.sign(scores) if isinstance(loss, losses.Hinge) else scores
    r1 = penalties.Nuclear(0.15 * size, (3, 4))
    result = solve(Problem(size * X, y, loss=loss, r1=r1, intercept=True), tol=1e-9)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
    assert [stage.method for stage in result.stages] == ["interior-point"]
    # The singular value that so large a weight makes 0 is 0.
    values = np.linalg.svd(result.x[:12].reshape(3, 4), compute_uv=False)
    assert values[2] <= 1e-9 * values[0]
