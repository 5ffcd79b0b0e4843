"""The linear program against a conic solver, its certificate, its exact zeros and its refusals."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.errors import InputError, UnsupportedError
from support import catalogue, conic

LOSSES = {"hinge": losses.Hinge(), "quantile": losses.Quantile(0.3)}
SHAPES = ["FirstDifference-L1", "GraphDifference-L1Weighted", "DenseMatrix-L1", "None-None"]


def instance_of(loss: str, r1: str, shape: str, weighted: bool) -> Any:
    operator, r2 = shape.split("-")
    made = catalogue.instance("Logistic" if loss == "hinge" else "Squared", r1, r2, operator, weighted)
    return made.with_(loss=LOSSES[loss])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("r1", ["L1", "L1Weighted", "None"])
@pytest.mark.parametrize("loss", LOSSES)
def test_reaches_the_optimum_of_a_conic_solver(loss: str, r1: str, shape: str, weighted: bool, intercept: bool) -> None:
    instance = instance_of(loss, r1, shape, weighted)
    problem = instance.problem(intercept=intercept)
    if intercept:
        instance = instance.beside_intercept(problem.bias)
    optimal = instance.objective(conic.solve(instance).x)
    result = spdpeg.solve(problem, "lp")
    assert instance.objective(result.x) == pytest.approx(optimal, rel=1e-7, abs=1e-9)
    assert result.certificate is not None
    assert result.certificate.met is not None
    if result.certificate.met == "relative gap":
        assert result.certificate.dual <= optimal * (1.0 + 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_copies(loss: str) -> None:
    instance = instance_of(loss, "L1", "FirstDifference-L1", False)
    counts = np.arange(catalogue.N) % 3
    weighted = spdpeg.solve(instance.with_(weights=counts.astype(float)).problem(intercept=True))
    copies = instance.with_(X=np.repeat(instance.X, counts, axis=0), labels=np.repeat(instance.labels, counts))
    repeated = spdpeg.solve(copies.problem(intercept=True))
    np.testing.assert_allclose(weighted.x, repeated.x, atol=1e-9)


def test_pieces_and_zeros_are_exact() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    truth = np.repeat([0.0, 2.0, -1.0], 10)
    problem = spdpeg.Problem(
        X, X @ truth > 0.0, losses.Hinge(), penalties.L1(0.01), penalties.L1(0.05), operators.FirstDifference()
    )
    x = spdpeg.solve(problem).x
    assert np.count_nonzero(np.diff(x)) < 15
    assert np.all((np.abs(x) > 1e-6) | (x == 0.0))


def test_slopes_are_those_of_the_rows() -> None:
    problem = instance_of("hinge", "L1", "FirstDifference-L1", True).problem(intercept=True)
    result = spdpeg.solve(problem)
    labels, margins = (
        problem.view.rows.block.labels,
        problem.view.rows.source.rows.values.reshape(-1, catalogue.D) @ result.x[:-1],
    )
    margins += problem.bias * result.x[-1]
    assert result.slopes is not None
    counted = problem.view.rows.block.weights > 0.0
    short = counted & (labels * margins < 1.0 - 1e-6)
    np.testing.assert_allclose(result.slopes[short], -labels[short], atol=1e-9)
    np.testing.assert_allclose(result.slopes[labels * margins > 1.0 + 1e-6], 0.0, atol=1e-9)


def test_an_optimum_of_zero_is_certified() -> None:
    """A hinge loss that vanishes with no penalty to pay, and a regression on zeros."""
    X = np.array([[1.0, 0.0], [-1.0, 0.5], [2.0, 1.0]])
    nothing = spdpeg.solve(spdpeg.Problem(X, [1, 0, 1], losses.Hinge(), penalties.L1([0.0, 1.0])))
    assert nothing.objective == pytest.approx(0.0, abs=1e-12)
    assert nothing.certificate is not None
    assert nothing.certificate.met is not None
    zeros = spdpeg.solve(spdpeg.Problem(X, np.zeros(3), losses.Squared(), penalties.L1(0.1)))
    assert zeros.certificate is not None
    assert (zeros.objective, zeros.certificate.met) == (0.0, "relative gap")


def test_refuses_what_is_not_linear() -> None:
    with pytest.raises(UnsupportedError, match="two straight lines"):
        spdpeg.solve(catalogue.instance().problem(), "lp")
    ridge = catalogue.instance(r1="L2Squared").with_(loss=losses.Hinge()).problem()
    with pytest.raises(UnsupportedError, match="L2Squared"):
        spdpeg.solve(ridge, "lp")
    assert spdpeg.solve(ridge, max_passes=2).stages[0].method == "interior-point"


def test_slopes_of_another_length_are_refused() -> None:
    problem = catalogue.instance_for("lp").problem()
    result = spdpeg.solve(problem)
    with pytest.raises(InputError, match="53 rows"):
        problem.certificate(result.x, result.dual, np.zeros(3))
