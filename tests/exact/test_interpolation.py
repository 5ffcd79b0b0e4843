"""Directions without penalties, as many as the rows: each row has its least loss, after one system of equations."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.exact.interpolation import free_pieces

N, D = 50, 1600
LOSSES = [losses.Squared(), losses.SquaredHinge(), losses.SmoothedHinge(0.5), losses.Huber(1.0)]


def structures(rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    sparse = sp.random_array((30, D), density=4.0 / D, rng=rng, format="csr")
    edges = [(2 * j, 2 * j + 1) for j in range(D // 2 - 60)]
    return {
        "none": {},
        "sparse rows": {"r2": penalties.L1(0.1), "F": operators.Matrix(sparse)},
        "graph of many parts": {"r2": penalties.L1(0.1), "F": operators.GraphDifference(edges)},
        "l1 of some": {"r1": penalties.L1(np.where(np.arange(D) < D // 2, 0.1, 0.0))},
    }


def rows(seed: int, dense: bool) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < (1.0 if dense else 0.1))
    return X if dense else sp.csr_array(X)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("kind", structures(np.random.default_rng(0)))
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_three_reads_prove_that_the_optimum_is_0(loss: Any, kind: str, dense: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = rows(2, dense), rng.standard_normal(N)
    y = np.sign(y) if loss.binary else y
    given = spdpeg.Problem(X, y, loss, intercept=dense, **structures(rng)[kind])
    result = spdpeg.solve(given, tol=1e-8)
    assert [stage.method for stage in result.stages] == ["working-set"]
    assert result.passes <= 3
    assert result.certificate.met == "gap"
    assert result.objective <= 1e-20
    assert given.objective(result.x) == pytest.approx(0.0, abs=1e-20)


def test_penalties_of_all_columns_or_many_rows_have_no_such_point() -> None:
    X, y = rows(5, False), np.random.default_rng(5).standard_normal(N)
    assert free_pieces(spdpeg.Problem(X, y, losses.Squared(), r1=penalties.L1(0.1)).view) is None
    assert free_pieces(spdpeg.Problem(X, y, losses.Squared(), r1=penalties.L2Squared(0.1)).view) is None
    assert free_pieces(spdpeg.Problem(X, np.sign(y), losses.Logistic()).view) is None
    assert free_pieces(spdpeg.Problem(X[:, : N // 2], y, losses.Squared()).view) is None
