"""Solvers against optima of an independent conic solver, scored by an independent objective."""

import json
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.certificate import kkt_residual
from support import catalogue, conic
from support.instances import Instance

CASES = [
    ("Logistic", "L1", "L1", "FirstDifference"),
    ("Logistic", "L2Squared", "None", "None"),
    ("Logistic", "GroupL2", "Quantile", "DenseMatrix"),
    ("Logistic", "L1inL2Ball", "Nuclear", "Identity"),
    ("Logistic", "NoneinSimplex", "L1Weighted", "FirstDifference"),
    ("Squared", "L1", "L1", "GraphDifference"),
    ("Squared", "FusedL1", "L1", "DenseMatrix"),
    ("Squared", "NonNegative", "HuberL1", "Stack"),
    ("Squared", "L2Squared", "Box", "Identity"),
    ("Huber", "ElasticNet", "L1", "Difference"),
    ("Huber", "HuberL1", "Hinge", "DenseMatrix"),
    ("SquaredHinge", "L1inBox", "GroupL2", "GridDifference"),
    ("SquaredHinge", "LInf", "ElasticNet", "FirstDifference"),
    ("SmoothedHinge", "L2Squared", "LInf", "DenseMatrix"),
]
EVERYWHERE_FINITE = [case for case in CASES if case[2] != "Box"]
STRONGLY_CONVEX = [case for case in CASES if case[1] in ("L2Squared", "ElasticNet")]
name_of = "-".join

PASSES = 4000
SUBOPTIMALITY = {"spdpeg": 1e-2, "spdpeg-sc1": 2e-3, "spdpeg-sc2": 2e-3}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES, ids=name_of)
class TestOptimum:
    def test_residual_vanishes_there_and_only_there(self, case: tuple[str, ...], weighted: bool) -> None:
        instance, best = conic.optimum(*case, weighted=weighted)
        problem = instance.problem()
        assert kkt_residual(problem.view, best.x, best.dual) < 5e-6
        assert kkt_residual(problem.view, best.x + 0.01, best.dual) > 1e-3
        if instance.F.shape[0]:
            assert kkt_residual(problem.view, best.x, 1.1 * best.dual + 1e-3) > 1e-4

    def test_objectives_agree(self, case: tuple[str, ...], weighted: bool) -> None:
        instance, best = conic.optimum(*case, weighted=weighted)
        assert instance.objective(best.x) == pytest.approx(best.objective, abs=1e-9)
        problem = instance.problem()
        for x in (best.x, best.x / 2, np.linspace(-1, 1, catalogue.D), np.zeros(catalogue.D)):
            assert problem.objective(x) == pytest.approx(instance.objective(x), rel=1e-12)
            np.testing.assert_allclose(problem.gradient(x), instance.gradient(x), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("solver", "case"),
    [("spdpeg", case) for case in EVERYWHERE_FINITE]
    + [
        (solver, case)
        for solver in ("spdpeg-sc1", "spdpeg-sc2")
        for case in STRONGLY_CONVEX
        if case in EVERYWHERE_FINITE
    ],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_reaches_the_optimum(solver: str, case: tuple[str, ...]) -> None:
    instance, best = conic.optimum(*case)
    result = spdpeg.solve(instance.problem(), solver, max_passes=PASSES, record_every=PASSES)
    assert -1e-9 < instance.objective(result.x) - best.objective < SUBOPTIMALITY[solver]
    assert np.linalg.norm(instance.F @ result.x - result.z) == pytest.approx(result.violation, abs=1e-12)


@pytest.mark.parametrize("solver", SUBOPTIMALITY)
def test_reaches_the_optimum_on_a_set_behind_F(solver: str) -> None:
    """Outside the set the objective is infinite, so the distance to the solution is measured instead."""
    instance, best = conic.optimum("Squared", "L2Squared", "Box", "Identity")
    result = spdpeg.solve(instance.problem(), solver, max_passes=PASSES, record_every=PASSES)
    assert np.linalg.norm(result.x - best.x) < 0.1 * np.linalg.norm(best.x)
    assert result.violation < 0.01


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_whole_batches_and_constant_steps_converge_to_the_optimum(case: tuple[str, ...]) -> None:
    """Without noise the method converges to the solution itself, far beyond what the noisy one reaches."""
    instance, best = conic.optimum(*case)
    steps = 20_000
    result = spdpeg.solve(
        instance.problem(),
        "spdpeg",
        batch_size=catalogue.N,
        kappa=0.0,
        max_passes=None,
        max_iterations=steps,
        record_every=2 * steps,
    )
    assert instance.objective(np.asarray(result.x_last)) - best.objective < 1e-6
    np.testing.assert_allclose(result.x_last, best.x, atol=1e-3)


@pytest.mark.parametrize("solver", SUBOPTIMALITY)
@pytest.mark.parametrize("case", STRONGLY_CONVEX, ids=name_of)
def test_the_optimum_is_a_fixed_point(solver: str, case: tuple[str, ...]) -> None:
    instance, best = conic.optimum(*case)
    problem = instance.problem()
    # With steps by the theory; the default finds its steps on the way, and shows its start where nothing is better.
    options: dict[str, Any] = {"mode": "tight", "batch_size": catalogue.N, "max_passes": None}
    state = spdpeg.solve(problem, solver, max_iterations=0, x0=best.x, **options).state
    state.vectors["y"][:] = -best.dual
    result = spdpeg.solve(problem, solver, max_iterations=50, state=state, **options)
    np.testing.assert_allclose(result.x_last, best.x, atol=1e-7)
    np.testing.assert_allclose(result.dual, best.dual, atol=1e-7)
    np.testing.assert_allclose(result.z, instance.F @ best.x, atol=1e-7)


@pytest.mark.skipif("SPDPEG_DATA_DIR" not in os.environ, reason="needs the data sets: set SPDPEG_DATA_DIR")
@pytest.mark.parametrize("name", ["splice", "svmguide3"])
def test_published_optima(name: str) -> None:
    """The fused logistic regression of the paper, as our Problem states it, has the optimum stored with the data."""
    folder = Path(os.environ["SPDPEG_DATA_DIR"])
    stored = json.loads((folder / "optima.json").read_text())["optima"][f"{name}/flr"]
    with lzma.open(folder / f"{name}.xz") as file:
        X, y = load_svmlight_file(file)
    instance = Instance(
        X.toarray(),
        y,
        losses.Logistic(),
        r1=penalties.L1(5e-4),
        r2=penalties.L1(5e-3),
        operator=operators.FirstDifference(),
        matrix=np.diff(np.eye(X.shape[1]), axis=0),
    )
    best = conic.solve(instance)
    assert instance.problem(X=X).objective(best.x) == pytest.approx(stored["objective"], rel=1e-6)
    assert kkt_residual(instance.problem(X=X).view, best.x, best.dual) < 1e-5
