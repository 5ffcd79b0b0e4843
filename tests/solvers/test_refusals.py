"""Each comparator refuses what it cannot do, naming the part and what to do instead."""

import logging
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, UnsupportedError, losses, operators, penalties
from spdpeg.engine.registry import REGISTRY
from support import catalogue
from support.comparators import BY_SUBGRADIENT, CORNERS, DETERMINISTIC, ONE_ROW, VARIANTS

FINITE_SUM = DETERMINISTIC | {
    "svrg-admm",
    "sag-admm simple",
    "sag-admm inexact",
    "sag-admm exact",
    "sdca-admm",
    "spdhg-cers",
}
COMPARATORS = {name: REGISTRY[name] for name, _ in VARIANTS.values()}
STRONG = [variant for variant in VARIANTS if variant.endswith("strong")]


def solve(variant: str, problem: spdpeg.Problem, **options: Any) -> spdpeg.Result:
    name, parameters = VARIANTS[variant]
    return spdpeg.solve(problem, name, **{"max_passes": 1, **parameters, **options})


def hinge_problem() -> spdpeg.Problem:
    return catalogue.instance(r1="L2Squared").problem(loss=losses.Hinge())


@pytest.mark.parametrize("variant", VARIANTS)
def test_streams(variant: str) -> None:
    instance = catalogue.instance(r1="L2Squared")
    problem = instance.problem(X=catalogue.stream_of(instance), y=None)
    if variant in FINITE_SUM:
        with pytest.raises(
            UnsupportedError, match=r"must read rows again and a stream shows each once\. Use \"spdpeg\""
        ):
            solve(variant, problem)
    else:
        assert solve(variant, problem).iterations == catalogue.N


@pytest.mark.parametrize("variant", VARIANTS)
def test_losses_with_corners(variant: str) -> None:
    if variant in CORNERS:
        assert solve(variant, hinge_problem()).iterations == catalogue.N
    else:
        with pytest.raises(UnsupportedError, match=r"needs a smooth loss and Hinge\(\) is not\. Use \"sdca-admm\""):
            solve(variant, hinge_problem())


@pytest.mark.parametrize("part", ["domain", "indicator", "norm"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_r1_without_a_subgradient(variant: str, part: str) -> None:
    if variant in STRONG and part != "domain":
        pytest.skip("there the missing strong convexity is refused")
    instance = catalogue.instance(r1="L2Squared")
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "domain": ({"domain": penalties.Box(-1, 1)}, r"domain=Box\("),
        "indicator": ({"r1": penalties.NonNegative()}, r"r1=NonNegative\("),
        "norm": ({"r1": penalties.LInf(0.1)}, r"r1=LInf\("),
    }
    changes, named = cases[part]
    problem = instance.problem(**changes)
    if variant in BY_SUBGRADIENT:
        with pytest.raises(
            UnsupportedError, match=rf"takes r1 by a subgradient, which {named}.*Use a solver with a prox"
        ):
            solve(variant, problem)
    else:
        assert np.all(np.isfinite(solve(variant, problem, max_passes=8).x))


@pytest.mark.parametrize("variant", STRONG)
def test_strongly_convex_steps_without_strong_convexity(variant: str) -> None:
    with pytest.raises(
        UnsupportedError, match=r"needs strong convexity in r1\. Add ridge .* or choose regime='convex'"
    ):
        solve(variant, catalogue.instance(r1="L1").problem())


@pytest.mark.parametrize("variant", STRONG)
def test_kappa_has_no_part_in_strongly_convex_steps(variant: str) -> None:
    with pytest.raises(InputError, match=r"kappa belongs to the convex steps\."):
        solve(variant, catalogue.instance(r1="L2Squared").problem(), kappa=1.0)


@pytest.mark.parametrize("variant", sorted(ONE_ROW))
def test_one_row_at_a_time(variant: str) -> None:
    with pytest.raises(InputError, match=r"batch_size is 5\. Set it to 1"):
        solve(variant, catalogue.instance().problem(), batch_size=5)


def wide_problem(n: int, d: int) -> spdpeg.Problem:
    X = sp.random_array((n, d), density=min(1.0, 3 / d), random_state=np.random.default_rng(0), format="csr")
    return spdpeg.Problem(
        X, np.arange(n) % 2, loss=losses.Logistic(), r1=penalties.L1(1e-3), r2=penalties.L1(1e-3),
        F=operators.FirstDifference(),
    )  # fmt: skip


def test_full_metric_of_many_coordinates() -> None:
    with pytest.raises(UnsupportedError, match=r"d = 501 would take .* GB .*\. Use \"sadmm-diag\""):
        solve("sadmm-full", wide_problem(10, 501))
    assert solve("sadmm-full", wide_problem(10, 500)).iterations == 10


@pytest.mark.parametrize("variant", ["sag-admm inexact", "sag-admm exact"])
def test_a_point_per_row_that_takes_too_much(variant: str, caplog: pytest.LogCaptureFixture) -> None:
    """2 GiB is the limit; below it the log says how much before it is taken."""
    with pytest.raises(UnsupportedError, match=r"keeps a point per row, 2\.2 GiB here\. Use variant='simple'"):
        solve(variant, wide_problem(3000, 100_000))
    with caplog.at_level(logging.INFO, logger="spdpeg"):
        solve(variant, wide_problem(64, 1 << 11))
    assert "allocating 1.0 MiB for the stored points" in caplog.text


def test_newton_needs_a_loss() -> None:
    problem = spdpeg.Problem(None, r1=penalties.L1(0.1), r2=penalties.Hinge([1.0, -1.0]), F=np.eye(2))
    with pytest.raises(UnsupportedError, match=r"needs a loss\. Use \"condat-vu\""):
        solve("admm-newton", problem)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v not in STRONG and v != "admm-newton"])
def test_problems_without_a_loss(variant: str) -> None:
    """An exact support vector machine through r2 and F: no rows, no Lipschitz constant, no noise to scale by."""
    X, y = catalogue.rows(), catalogue.labels_for(losses.Hinge(), catalogue.rows())
    problem = spdpeg.Problem(None, r1=penalties.L2Squared(0.1), r2=penalties.Hinge(y, weight=1 / len(y)), F=X)
    result = solve(variant, problem, max_passes=400)
    assert problem.objective(result.x) < 0.9 * problem.objective(np.zeros(catalogue.D))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        *(
            (name, {"rho": 0.0}, r"rho is 0\.0\. It must be a positive number")
            for name, solver in COMPARATORS.items()
            if "rho" in solver.parameter_names()
        ),
        ("sgadm", {"regime": "concave"}, r"regime is 'concave'\. Choose one of convex, strongly-convex"),
        ("sadmm", {"regime": "concave"}, r"regime is 'concave'\. Choose one of convex, strongly-convex"),
        ("sag-admm", {"variant": "fast"}, r"variant is 'fast'\. Choose one of simple, inexact, exact"),
        ("egadm", {"variant": "fast"}, r"variant is 'fast'\. Choose one of prox, original"),
        ("egadm", {"variant": "original", "rho": 1.0}, r"has a single step and no rho\. Leave rho out"),
        ("condat-vu", {"relaxation": 1.5}, r"relaxation is 1\.5\. It must be at least 1 and below 1\.5"),
        ("condat-vu", {"relaxation": 0.9}, r"relaxation is 0\.9\. It must be at least 1"),
        ("spdhg-cers", {"probability": 1.0}, r"probability is 1\.0\. It must lie strictly between 0 and 1"),
        ("spdhg-cers", {"gamma": -1.0}, r"gamma is -1\.0\. It must be a positive number"),
        ("sdca-admm", {"gamma": 0.0}, r"gamma is 0\.0\. It must be a positive number"),
        ("svrg-admm", {"eta": 0.0}, r"eta is 0\.0\. It must be a positive number"),
        ("sadmm-diag", {"eta": np.nan}, r"eta is nan\. It must be a positive number"),
        ("pd3o", {"step": np.inf}, r"step is inf\. It must be a positive number"),
        ("admm-newton", {"accuracy": 0.0}, r"accuracy is 0\.0\. It must be a positive number"),
        *(
            (name, {"averaging": "none"}, r"averaging is 'none'\. Choose one of uniform, linear, increasing, last")
            for name, solver in COMPARATORS.items()
            if "averaging" in solver.parameter_names()
        ),
        *(
            (name, {"sampling": "random"}, r"sampling is 'random'\. Choose one of auto, independent")
            for name, solver in COMPARATORS.items()
            if "sampling" in solver.parameter_names()
        ),
    ],
)
def test_parameters_out_of_range(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        spdpeg.solve(catalogue.instance(r1="L2Squared").problem(), name, max_passes=1, **parameters)


@pytest.mark.parametrize("variant", VARIANTS)
def test_refusals_can_be_foreseen(variant: str) -> None:
    """The table of solvers says what each needs."""
    needs = REGISTRY[VARIANTS[variant][0]].about.needs
    assert ("smooth loss" in needs) == (variant not in CORNERS)
    assert ("stream" in needs) == (variant not in FINITE_SUM)
    assert ("r1 with a subgradient" in needs) == (variant in BY_SUBGRADIENT)
    assert ("batch_size 1" in needs) == (variant in ONE_ROW)


@pytest.mark.parametrize("variant", sorted(DETERMINISTIC))
def test_a_batch_has_no_part_in_full_gradients(variant: str) -> None:
    with pytest.raises(InputError, match=r"batch_size is 5, but .* reads all rows at every step\. Leave it out\."):
        solve(variant, catalogue.instance().problem(), batch_size=5)
