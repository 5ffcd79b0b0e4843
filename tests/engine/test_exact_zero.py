"""Where x = 0 is the solution it is 0 to the last bit; and what an earlier stage found is not lost by a later one."""

from typing import Any

import numpy as np
import pytest

from spdpeg import Problem, losses, operators, penalties, solve
from spdpeg.certificate import null_model
from spdpeg.errors import DivergedError
from spdpeg.result import Status
from spdpeg.solvers.vr_spdpeg import VRSPDPEG

GROUPS = np.repeat(np.arange(4), 3)


def data(loss: Any) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 12))
    y = X[:, 0] - X[:, 5] + 0.3 * rng.standard_normal(40)
    return X, np.sign(y) if loss.binary else y


@pytest.mark.parametrize("intercept", [False, True], ids=["bare", "intercept"])
@pytest.mark.parametrize("factor", [1.0, 1.5])
@pytest.mark.parametrize("kind", ["L1", "GroupL2", "LInf", "Nuclear"])
@pytest.mark.parametrize("name", ["Squared", "Logistic", "Huber", "SquaredHinge"])
def test_zero_at_the_largest_weight(name: str, kind: str, factor: float, intercept: bool) -> None:
    loss = getattr(losses, name)()
    X, y = data(loss)
    bare = Problem(X, y, loss, intercept=intercept)
    g = bare.view.sums.evaluate(null_model(bare.view)).gradient[:12]
    largest, penalty = {
        "L1": (np.abs(g).max(), penalties.L1),
        "GroupL2": (max(np.linalg.norm(g[k == GROUPS]) for k in range(4)), lambda w: penalties.GroupL2(w, GROUPS)),
        "LInf": (np.abs(g).sum(), penalties.LInf),
        "Nuclear": (np.linalg.norm(g.reshape(3, 4), 2), lambda w: penalties.Nuclear(w, (3, 4))),
    }[kind]
    problem = Problem(X, y, loss, penalty(factor * float(largest)), intercept=intercept)
    result = solve(problem, tol=1e-6)
    assert not np.any(problem.split(result.x)[0])
    assert result.certificate is not None
    assert result.certificate.met is not None


def test_cones_that_meet_in_0() -> None:
    """Only x = 0 has F x >= 0 here, and no point is strictly inside."""
    loss = losses.Huber(0.1)
    X, y = data(loss)
    F = np.random.default_rng(4).standard_normal((40, 12))
    problem = Problem(X, y, loss, r2=penalties.NonNegative(), F=operators.Matrix(F), intercept=True)
    result = solve(problem, tol=1e-8)
    assert result.status is Status.TOLERANCE
    assert not np.any(problem.split(result.x)[0])


def test_stage_that_diverges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends where the stage before it had come to."""
    loss = losses.Logistic()
    X, y = data(loss)
    problem = Problem(X, y, loss, penalties.L1(0.01))
    best = solve(problem, "prox-newton", tol=1e-10)

    def diverges(*_: Any) -> int:
        raise DivergedError("too long a step")

    monkeypatch.setattr(VRSPDPEG, "advance", diverges)
    result = solve(problem, tol=1e-16)  # more than anybody can prove
    assert [stage.method for stage in result.stages][-2:] == ["prox-newton", "vr-spdpeg"]
    assert result.status is Status.EXHAUSTED
    assert result.objective == pytest.approx(best.objective, rel=1e-12)
