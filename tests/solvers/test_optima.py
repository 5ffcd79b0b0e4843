"""Optima of an independent conic solver: fixed points of the methods without noise, within reach of all of them."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, penalties
from support import admm, catalogue, conic
from support.comparators import CORNERS, VARIANTS
from support.instances import Instance

NOISELESS = (
    "ladmm", "condat-vu", "pd3o", "egadm prox", "egadm original", "admm-newton", "svrg-admm", "sag-admm simple",
    "sag-admm inexact", "sag-admm exact", "sdca-admm", "spdhg-cers",
)  # fmt: skip
CASES = [
    ("Logistic", "L1", "L1", "FirstDifference"),
    ("Squared", "HuberL1", "L1", "GraphDifference"),
    ("Squared", "L2Squared", "Quantile", "DenseMatrix"),
    ("Logistic", "ElasticNet", "L1", "Identity"),
    ("Hinge", "L2Squared", "L1", "FirstDifference"),
]
GROUPS = ("Logistic", "GroupL2", "LInf", "DenseMatrix")
"""The conic solver finds its value, but not its x, to the last digits."""
name_of = "-".join

PASSES = 300
MORE_PASSES = {"admm-newton": 3000}
WITHIN = {
    **dict.fromkeys(("sgadm", "opg-admm", "spdhg", "sadmm", "optimal-sadmm", "sadmm-diag", "sadmm-full"), 5e-3),
    **dict.fromkeys(("sgadm strong", "opg-admm strong", "spdhg strong", "sadmm strong", "optimal-sadmm strong"), 1e-3),
    "rda-admm": 6e-3,
    "online-admm": 2e-2,
    "svrg-admm": 1e-7,
    **dict.fromkeys(("sag-admm simple", "sag-admm inexact"), 1e-9),
    "sag-admm exact": 1e-9,
    **dict.fromkeys(("sdca-admm", "spdhg-cers"), 1e-7),
    **dict.fromkeys(("ladmm", "condat-vu", "pd3o"), 1e-9),
    "admm-newton": 1e-7,
    "egadm prox": 1e-2,
    "egadm original": 0.1,
}
"""Distance of the output's objective from the optimum after so many passes."""
LAST_WITHIN = {"egadm prox": 1e-4, "egadm original": 3e-2, "admm-newton": 1e-6}
"""The same for the last iterate, where it is not the output and is without noise."""


@cache
def optimum(case: tuple[str, ...], weighted: bool = False) -> tuple[Instance, conic.Optimum, np.ndarray]:
    """Problem, optimum and a slope of each row's loss there (weights included)."""
    if case[0] != "Hinge":
        instance, best = conic.optimum(*case, weighted=weighted)
        slopes = instance.scaled_weights * admm.slope(instance.loss, instance.X @ best.x, instance.labels)
        return instance, best, slopes
    instance = catalogue.instance("Logistic", case[1], case[2], case[3]).with_(loss=losses.Hinge())
    best = conic.solve(through_margins(instance))
    m, n = len(instance.F), len(instance.X)
    return instance, best._replace(dual=best.dual[:m]), -n * best.dual[m:]


def through_margins(instance: Instance) -> Instance:
    """The hinge loss as a penalty on the margins X x, beside r2 on F x; no rows are left but an empty one."""
    F, X = instance.F, instance.X
    hinge = penalties.Hinge(instance.labels, weight=1.0 / len(X))
    return Instance(
        np.zeros((1, X.shape[1])),
        np.zeros(1),
        losses.Squared(),
        r1=instance.r1,
        r2=penalties.SeparableSum([instance.r2, hinge], [len(F), len(X)]),
        matrix=np.vstack([F, X]),
    )


def objective(instance: Instance, x: np.ndarray) -> float:
    """Written out, whatever the loss."""
    hinge = isinstance(instance.loss, losses.Hinge)
    return through_margins(instance).objective(x) if hinge else instance.objective(x)


def settle(
    vectors: dict[str, np.ndarray], instance: Instance, best: conic.Optimum, slopes: np.ndarray, c: float
) -> None:
    """Fill a state with what a method that has converged would keep: duals, tables, points and sums."""
    x, y, F = best.x, -best.dual, instance.F
    gradient = instance.X.T @ slopes / len(slopes)
    stacked = len(vectors["y"]) > len(y)
    # 0 = gradient + F^T y + (a subgradient of r1), and the identity block of a stacked dual is that subgradient.
    vectors["y"][:] = np.concatenate([y, -(gradient + F.T @ y)]) if stacked else y
    Kx = np.concatenate([F @ x, x]) if stacked else F @ x
    filled = {
        "z": Kx,
        "z_average": Kx,
        "table": slopes,
        "u": slopes,
        "mean": gradient,
        "points": x,
        "point_mean": x,
        "q": x - c * (gradient + F.T @ y),
        "back": F.T @ y,
        # sdca-admm keeps K^T y and spdhg-cers the whole sum.
        "adjoint": -gradient if stacked else gradient + F.T @ y,
    }
    for name in filled.keys() & vectors.keys():
        vectors[name][:] = filled[name]


def solve(variant: str, problem: spdpeg.Problem, **options: Any) -> spdpeg.Result:
    name, parameters = VARIANTS[variant]
    return spdpeg.solve(problem, name, **parameters, **options)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("variant", NOISELESS)
def test_the_optimum_is_a_fixed_point(variant: str, case: tuple[str, ...], weighted: bool) -> None:
    if case[0] == "Hinge" and (variant not in CORNERS or weighted):
        pytest.skip("for losses with corners, and without weights")
    instance, best, slopes = optimum(case, weighted)
    problem = instance.problem()
    steps: dict[str, Any] = {"max_passes": None, "record_every": 1e9}
    state = solve(variant, problem, max_iterations=0, x0=best.x, **steps).state
    settle(state.vectors, instance, best, slopes, 1.0 / state.numbers["step_base"])
    result = solve(variant, problem, max_iterations=150, state=state, **steps)
    for name, found, expected in (
        ("x", result.x, best.x),
        ("x_last", result.x_last, best.x),
        ("dual", result.dual, best.dual),
        ("z", result.z, instance.F @ best.x),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("case", [*CASES, GROUPS], ids=name_of)
@pytest.mark.parametrize("variant", VARIANTS)
def test_reaches_the_optimum(variant: str, case: tuple[str, ...]) -> None:
    if case[0] == "Hinge" and variant not in CORNERS:
        pytest.skip("the loss is not smooth")
    if variant.endswith("strong") and case[1] not in ("L2Squared", "ElasticNet"):
        pytest.skip("r1 is not strongly convex")
    instance, best, _ = optimum(case)
    result = solve(variant, instance.problem(), max_passes=MORE_PASSES.get(variant, PASSES), record_every=1e9)
    assert -1e-9 < objective(instance, result.x) - best.objective < WITHIN[variant]
    assert objective(instance, result.x_last) - best.objective < LAST_WITHIN.get(variant, 2 * WITHIN[variant])
    assert np.linalg.norm(instance.F @ result.x - result.z) == pytest.approx(result.violation, abs=1e-12)
