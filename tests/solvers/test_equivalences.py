"""The identities that let one compiled step serve a whole family of methods, checked on the compiled code."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from support import admm, catalogue
from support.comparators import Run

RNG = np.random.default_rng(12)
SIZE = 12
OPERATORS = ("FirstDifference", "GraphDifference", "DenseMatrix", "None")


@pytest.mark.parametrize("rho", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("name", [name for name in catalogue.PENALTIES if name not in ("None", "Zero")])
def test_moreau_form_of_the_z_and_lambda_steps(name: str, rho: float) -> None:
    """E1: z = prox_{r2/rho}(F x - lambda / rho) makes lambda - rho (F x - z) minus the prox of the conjugate."""
    r2 = catalogue.PENALTIES[name](SIZE)
    for _ in range(5):
        Fx, dual = RNG.standard_normal(SIZE), RNG.standard_normal(SIZE)
        z = admm.prox(r2, Fx - dual / rho, 1.0 / rho)
        np.testing.assert_allclose(
            r2.dual_prox(-dual + rho * Fx, rho), -(dual - rho * (Fx - z)), rtol=0, atol=1e-12 * max(1.0, rho)
        )


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("r1", ["L1", "L2Squared"])
def test_ladmm_is_condat_vu(r1: str, operator: str) -> None:
    """E2, z first: the same x, and LADMM's feasible dual is that of Condat-Vu one step earlier."""
    problem = catalogue.instance(r1=r1, operator=operator).problem()
    x0, rho = 0.3 * RNG.standard_normal(SIZE), 0.2
    options: dict[str, Any] = {"max_passes": None, "rho": rho}
    ladmm = spdpeg.solve(problem, "ladmm", max_iterations=0, x0=x0, **options).state
    dual0 = -problem.r2.dual_prox(rho * problem.F.forward(x0), rho)
    condat_vu = spdpeg.solve(problem, "condat-vu", max_iterations=0, x0=x0, dual0=dual0, **options).state
    for _ in range(8):
        before = -condat_vu.vectors["y"]
        one = spdpeg.solve(problem, "ladmm", max_iterations=1, state=ladmm, **options)
        other = spdpeg.solve(problem, "condat-vu", max_iterations=1, state=condat_vu, **options)
        np.testing.assert_allclose(one.x, other.x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.dual, before, rtol=0, atol=1e-12)
        ladmm, condat_vu = one.state, other.state


@pytest.mark.parametrize("operator", OPERATORS)
def test_opg_admm_extrapolates_the_dual(operator: str) -> None:
    """E2, x first: ADMM with z and lambda is the step along F^T (2 y_t - y_{t-1})."""
    instance = catalogue.instance(operator=operator)
    run = Run("opg-admm", instance, instance.problem(), 30, options={"averaging": "last"})
    F, step, rho = instance.F, run.decreasing(run.coupling), run.rho
    x, y = np.zeros(SIZE), np.zeros(len(F))
    for k in range(run.count):
        before, y = y, admm.conjugate_prox(instance.r2, y + rho * F @ x, rho)
        x = admm.prox(instance.r1, x - step(k) * (run.sampled(k, x) + F.T @ (2 * y - before)), step(k))
    result = spdpeg.solve(
        run.problem, run.name, max_passes=None, max_iterations=run.count, seed=run.seed, **run.parameters
    )
    for found in (result.x, run.trace.last[-1]):
        np.testing.assert_allclose(found, x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.dual, -y, rtol=0, atol=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
def test_spdpeg_with_its_first_gradient_used_twice_is_sgadm(operator: str) -> None:
    """E3: from the same x and lambda, the x of SPDPEG is then that of SGADM; lambda is not."""
    instance = catalogue.instance(operator=operator)
    problem, F = instance.problem(), instance.F
    options: dict[str, Any] = {"max_passes": None, "seed": 3, "averaging": "last"}
    run = Run("sgadm", instance, problem, 1)
    c, rho = run.decreasing(run.known.lipschitz_max + run.coupling)(0), run.rho
    for _ in range(5):
        x, dual = RNG.standard_normal(SIZE), 0.1 * RNG.standard_normal(len(F))
        state = spdpeg.solve(problem, "sgadm", max_iterations=0, x0=x, **options).state
        state.vectors["y"][:] = -dual
        result = spdpeg.solve(problem, "sgadm", max_iterations=1, state=state, **options)

        g = run.sampled(0, x)
        z = admm.prox(instance.r2, F @ x - dual / rho, 1.0 / rho)
        dual_bar = dual - rho * (F @ x - z)
        x_bar = admm.prox(instance.r1, x - c * (g - F.T @ dual), c)
        np.testing.assert_allclose(
            result.x_last, admm.prox(instance.r1, x - c * (g - F.T @ dual_bar), c), rtol=0, atol=1e-12
        )
        assert np.linalg.norm(rho * F @ (x_bar - result.x_last)) > 1e-6
