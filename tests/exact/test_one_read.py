"""The squared loss in one read: optima of a conic solver, bounds that hold, and reads that are counted."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import Status, losses, operators, penalties
from support import catalogue, conic

TOL = 1e-6

SHAPES = [
    *(("L1", "L1", "FirstDifference"), ("None", "L1", "Difference"), ("L2Squared", "GroupL2", "GridDifference")),
    *(("ElasticNet", "LInf", "DenseMatrix"), ("GroupL2", "HuberL1", "Stack"), ("NonNegative", "None", "None")),
    *(("L2Ball", "L1", "GraphDifference"), ("L1inBox", "None", "None")),
]


def methods(result: spdpeg.Result) -> list[str]:
    return [stage.method for stage in result.stages]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_the_optimum_in_one_read(shape: tuple[str, str, str], intercept: bool) -> None:
    instance = catalogue.instance("Squared", *shape, weighted=intercept)
    problem = instance.problem(intercept=intercept)
    result = spdpeg.solve(problem, tol=TOL)
    if problem.bias:
        instance = instance.beside_intercept(problem.bias)
    optimal = instance.objective(conic.solve(instance).x)
    assert (methods(result), result.status, result.passes) == (["one-read"], Status.TOLERANCE, 1.0)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
    assert result.certificate.dual <= optimal * (1 + 1e-9)
    assert result.certificate.rel_gap <= 1e-8
    assert instance.objective(result.x) <= optimal * (1 + 1e-8)


@pytest.mark.parametrize("wide", [False, True])
def test_the_bound_holds_without_curvature(wide: bool) -> None:
    """Twice the same column, or more columns than rows: the moments are singular."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((10, 25) if wide else (40, 6))
    X[:, 1] = X[:, 0]
    y = X[:, 0] + 0.1 * rng.standard_normal(len(X))
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.L1(0.01))
    result = spdpeg.solve(problem, "one-read", tol=TOL)
    reference = spdpeg.solve(problem, "prox-newton", tol=1e-10)
    assert (result.status, result.passes) == (Status.TOLERANCE, 1.0)
    assert result.certificate is not None
    assert result.certificate.dual <= reference.objective * (1 + 1e-10)


def test_labels_that_are_fitted_take_a_second_read() -> None:
    """Digits that the moments have lost are read again, and the certificate is of the rows."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 4)) + 1e3
    y = X @ np.arange(1.0, 5.0) + 1e-7 * rng.standard_normal(50)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.L1(1e-18))
    result = spdpeg.solve(problem, tol=TOL)
    assert result.passes > 1.0
    assert result.certificate is not None
    assert not result.certificate.defective


def test_other_weights_read_nothing() -> None:
    problem = catalogue.instance("Squared", "L1", "L1", "FirstDifference").problem(intercept=True)
    first = spdpeg.solve(problem, tol=TOL)
    heavier = problem.with_penalties(penalties.L1(0.1), penalties.L1(0.2), operators.FirstDifference())
    second = spdpeg.solve(heavier, tol=TOL, x0=first.x)
    assert (first.passes, second.passes, second.status) == (1.0, 0.0, Status.TOLERANCE)
    again = spdpeg.solve(heavier, "prox-newton", tol=1e-10)
    assert second.objective == pytest.approx(again.objective, rel=1e-8)
    assert second.objective == pytest.approx(heavier.objective(second.x), rel=1e-12)


class TestSignal:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("l1", [0.0, 1e-3])
    def test_a_chain_is_its_prox(self, kind: Any, l1: float) -> None:
        y = np.repeat([0.0, 2.0, -1.0], 40) + 0.3 * np.random.default_rng(0).standard_normal(120)
        r1 = penalties.L1(l1) if l1 else None
        problem = spdpeg.Problem(
            kind(2.0 * np.eye(120)),
            y,
            loss=losses.Squared(),
            r1=r1,
            r2=penalties.L1(0.01),
            F=operators.FirstDifference(),
        )
        result = spdpeg.solve(problem, tol=TOL)
        expected = penalties.FusedL1(l1, 0.01).prox(y / 2.0, 120.0 / 4.0)
        np.testing.assert_allclose(result.x, expected, atol=1e-14)
        assert (methods(result), result.passes) == (["one-read"], 1.0)
        assert result.certificate is not None
        assert 0.0 <= result.certificate.rel_gap <= 1e-10
        assert problem.certificate(result.x, result.dual).rel_gap <= TOL

    @pytest.mark.parametrize("order", [1, 2, 3])
    def test_trends_and_missing_points(self, order: int) -> None:
        t = np.linspace(0.0, 1.0, 300)
        y = np.sin(9.0 * t) + 0.1 * np.random.default_rng(1).standard_normal(300)
        weights = np.ones(300)
        weights[100:110] = 0.0
        problem = spdpeg.Problem(
            sp.eye_array(300, format="csr"), y, loss=losses.Squared(), r2=penalties.L1(10.0 ** (order - 2)),
            F=operators.Difference(order + 1), sample_weight=weights,
        )  # fmt: skip
        result = spdpeg.solve(problem, tol=TOL)
        assert (methods(result), result.passes, result.status) == (["one-read"], 1.0, Status.TOLERANCE)
        assert result.certificate is not None
        assert result.certificate.met == "relative gap"
        dense = spdpeg.solve(problem, "prox-newton", tol=TOL)
        assert result.certificate.dual <= dense.objective
        assert result.objective <= dense.objective * (1 + TOL)

    def test_an_image(self) -> None:
        image = np.zeros((12, 12))
        image[3:8, 4:9] = 1.0
        y = (image + 0.2 * np.random.default_rng(2).standard_normal((12, 12))).ravel()
        pairs = np.arange(264) // 2
        for r2 in (penalties.L1(1e-3), penalties.GroupL2(1e-3, pairs)):
            problem = spdpeg.Problem(np.eye(144), y, loss=losses.Squared(), r2=r2, F=operators.GridDifference((12, 12)))
            result = spdpeg.solve(problem, tol=TOL)
            assert (methods(result), result.passes, result.status) == (["one-read"], 1.0, Status.TOLERANCE)
            assert result.certificate is not None
            assert 0.0 <= result.certificate.rel_gap <= TOL


def test_what_it_refuses() -> None:
    instance = catalogue.instance()
    with pytest.raises(spdpeg.UnsupportedError, match="squared loss alone"):
        spdpeg.solve(instance.problem(), "one-read")
    with pytest.raises(spdpeg.UnsupportedError, match="broken lines"):
        spdpeg.solve(catalogue.instance("Squared", "Nuclear").problem(), "one-read")
    wide = spdpeg.Problem(np.ones((2, 3001)), [0.0, 1.0], loss=losses.Squared(), r1=penalties.L1(0.1))
    with pytest.raises(spdpeg.UnsupportedError, match="order 3001"):
        spdpeg.solve(wide, "one-read")


def test_no_point_meets_the_constraints() -> None:
    problem = spdpeg.Problem(
        np.eye(2), [1.0, 2.0], loss=losses.Squared(), r1=penalties.Box(2.0, 3.0), r2=penalties.Box(0.0, 1.0),
        F=operators.Identity(),
    )  # fmt: skip
    assert spdpeg.solve(problem, tol=TOL).status is Status.INFEASIBLE


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_a_chain_whose_values_count_differently_is_exact(l1: float) -> None:
    """X is diagonal, with entries of 0 too: the values of a signal that are held out."""
    rng = np.random.default_rng(4)
    y = np.repeat([0.0, 2.0, -1.0], 20) + 0.3 * rng.standard_normal(60)
    entries = rng.uniform(0.5, 2.0, 60) * (rng.random(60) < 0.8)
    r1 = penalties.L1(l1) if l1 else None
    problem = spdpeg.Problem(
        sp.diags_array(entries, format="csr"),
        entries * y,
        loss=losses.Squared(),
        r1=r1,
        r2=penalties.L1(0.02),
        F=operators.FirstDifference(),
    )
    result = spdpeg.solve(problem, tol=1e-10)
    assert result.certificate is not None
    assert (methods(result), result.certificate.met) == (["one-read"], "relative gap")
    found = spdpeg.denoise(y, 60 * 0.02, 60 * l1, weights=entries**2)
    seen = entries > 0.0
    np.testing.assert_allclose(result.x[seen], found.x[seen], atol=1e-12)
    assert 60 * result.objective == pytest.approx(found.objective, rel=1e-10)
