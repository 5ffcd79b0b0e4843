"""Far more coordinates than rows: models and whole programs whose linear systems have the order of the rows."""

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.few_rows import FewRows, are_few
from spdpeg.quadratic import LowRank

_N, _D = 40, 1600


def _problem(loss: losses.Loss, r1: penalties.Penalty | None, F: operators.Operator, **others: object):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((_N, _D))
    linear = X @ np.repeat(rng.standard_normal(_D // 20), 20) / np.sqrt(_D)
    y = linear + 0.3 * rng.standard_normal(_N)
    if loss.binary:
        y = np.sign(y)
    elif loss.log_link:
        y = rng.poisson(np.exp(linear)).astype(float)
    return spdpeg.Problem(X, y, loss=loss, r1=r1, r2=penalties.L1(5e-3), F=F, **others)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curvature_is_that_of_all_rows(weighted: bool) -> None:
    weight = np.random.default_rng(2).uniform(0.0, 2.0, _N) if weighted else None
    problem = _problem(losses.Logistic(), None, operators.FirstDifference(), intercept=True, sample_weight=weight).view
    assert are_few(problem.sums)
    x = np.random.default_rng(3).standard_normal(_D + 1)
    dense = problem.sums.at(x, curvature=True, floor=0.1)
    few = FewRows.of(problem.sums.block, problem.loss).at(x, curvature=True, floor=0.1)
    assert isinstance(few.curvature, LowRank)
    np.testing.assert_array_equal(few.gradient, dense.gradient)
    np.testing.assert_allclose(few.curvature @ x, dense.curvature @ x, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose((2.0 * few.curvature).diagonal(), 2.0 * dense.curvature.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("loss", [losses.SquaredHinge(), losses.SmoothedHinge(0.5), losses.Huber(1.0)], ids=repr)
@pytest.mark.parametrize("r1", [None, penalties.L2Squared(1e-3)], ids=["alone", "ridge"])
def test_a_trend_is_proved_in_three_reads(loss: losses.Loss, r1: penalties.Penalty | None) -> None:
    result = spdpeg.solve(_problem(loss, r1, operators.Difference(2), intercept=True), tol=1e-7)
    assert [stage.method for stage in result.stages] == ["interior-point"]
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
    assert result.passes <= 3


@pytest.mark.parametrize("loss", [losses.Poisson(), losses.Logistic()], ids=repr)
def test_models_of_more_pieces_than_rows(loss: losses.Loss) -> None:
    """A trend leaves long runs of coordinates that are neither 0 nor equal."""
    problem = _problem(loss, penalties.L1(5e-4), operators.Difference(2), intercept=True)
    result = spdpeg.solve(problem, "working-set", tol=1e-6)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Quantile(0.3)], ids=repr)
def test_lines_along_a_chain_have_exact_zeros_and_pieces(loss: losses.Loss) -> None:
    problem = _problem(loss, penalties.L1(2e-3), operators.FirstDifference())
    result = spdpeg.solve(problem, tol=1e-7)
    assert [stage.method for stage in result.stages] == ["interior-point"]
    assert result.certificate is not None
    assert result.certificate.rel_gap <= 1e-7
    steps = np.diff(result.x)
    assert np.count_nonzero(result.x) < _D // 2
    assert not np.any((steps != 0.0) & (np.abs(steps) <= 1e-9 * np.abs(result.x).max()))
