"""Non-smooth losses as one conic program: the second step, with more digits, never loses what the first one found."""

from dataclasses import replace

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, penalties
from spdpeg.quadratic import minimize
from spdpeg.result import Status


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_eleven_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 4)) * np.array([6e-3, 1e-6, 3e4, 3e5])
    y = rng.standard_t(2.0, 100)
    problem = spdpeg.Problem(X, y, loss=losses.Quantile(0.9), r1=penalties.LInf(25.0), intercept=True)
    assert spdpeg.solve(problem, "interior-point", tol=1e-6).status is Status.TOLERANCE


def test_digits_that_fail_leave_the_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(model, digits=16):  # type: ignore[no-untyped-def]
        found = minimize(model)
        return replace(found, w=np.full(found.w.size, 1e9), status="inaccurate") if digits > 16 else found

    monkeypatch.setattr("spdpeg.exact.interior_point.minimize", failing)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    problem = spdpeg.Problem(X, y, loss=losses.Quantile(0.3), r1=penalties.L1(0.01))
    result = spdpeg.solve(problem, "interior-point", tol=1e-16)
    assert result.certificate is not None
    assert result.certificate.rel_gap <= 1e-10


def test_bounds_next_to_the_largest_number() -> None:
    y = np.random.default_rng(0).standard_normal(5)
    problem = spdpeg.Problem(np.zeros((5, 3)), y, loss=losses.Quantile(0.3), r1=penalties.Box(-1.7e300, 1.7e300))
    assert spdpeg.solve(problem, "interior-point").status is Status.TOLERANCE
