"""Sparse and low-rank models: the same solutions as the dense method, by bands, orderings and Schur complements."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.quadratic import LowRank, Model, minimization, minimize
from spdpeg.quadratic.linear_algebra import Assembly, NotPositive, pairs_of
from support.quadratic import random_model


def differences(n: int, order: int) -> sp.csr_array:
    D = sp.eye_array(n, format="csr")
    for _ in range(order):
        D = D[1:] - D[:-1]
    return sp.csr_array(D)


def agree(first: Model, second: Model, tol: float = 1e-7) -> None:
    a, b = minimize(first), minimize(second)
    assert a.status == b.status == "optimal"
    assert a.value == pytest.approx(b.value, rel=1e-9)
    assert a.w == pytest.approx(b.w, abs=tol)
    assert np.abs(a.residual).max() < 1e-10


def test_random_models_as_sparse_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimization, "_FEW", 0)
    for seed in range(100):
        model = random_model(seed)
        dense, sparse = minimize(model), minimize(Model(sp.csr_array(model.H), model.b, model.form))
        assert (dense.status == "infeasible") == (sparse.status == "infeasible")
        if dense.status != "infeasible":
            apart = dense.gap + sparse.gap + 1e-11 * (1.0 + abs(dense.value))
            assert sparse.value == pytest.approx(dense.value, rel=0.0, abs=apart), seed
            assert sparse.gap <= 1e-6 * (1e-2 + abs(dense.value))
            assert np.abs(sparse.residual).max() < 1e-9 * (1.0 + np.abs(model.right()).max()), seed


@pytest.mark.parametrize("order", [1, 2])
def test_trend_filters(order: int) -> None:
    n = 300
    rng = np.random.default_rng(order)
    y = np.sin(np.linspace(0.0, 6.0, n)) + 0.1 * rng.standard_normal(n)
    form = pen.L1(2.0).conic_form(n - order).after(differences(n, order))
    agree(Model(np.eye(n), y, form), Model(sp.eye_array(n, format="csr"), y, form))


def test_a_grid() -> None:
    s = 12
    rng = np.random.default_rng(0)
    F = sp.vstack([sp.kron(sp.eye_array(s), differences(s, 1)), sp.kron(differences(s, 1), sp.eye_array(s))])
    form = pen.L1(0.3).conic_form(F.shape[0]).after(F) + pen.L1(0.1).conic_form(s * s)
    y = rng.standard_normal(s * s)
    agree(Model(np.eye(s * s), y, form), Model(sp.eye_array(s * s, format="csr"), y, form))


def test_long_rows_large_groups_and_few_rows_of_H() -> None:
    n = 150
    rng = np.random.default_rng(0)
    V = rng.standard_normal((6, n)) / np.sqrt(n)
    low = LowRank(rng.uniform(1.0, 2.0, n), V, np.array([2.0, 1.0, 3.0, -0.4, -0.2, 1.0]))
    H = np.diag(low.base) + V.T @ (low.signs[:, None] * V)
    long = sp.random_array((4, n), density=0.4, random_state=rng)
    form = (
        pen.L1(0.3).conic_form(4).after(long)
        + pen.FusedL1(0.1, 0.2).conic_form(n)
        + pen.GroupL2(0.2, groups=np.repeat([0, 1, 2], 50)).conic_form(n)
    )
    b = rng.standard_normal(n)
    dense, sparse = minimize(Model(H, b, form)), minimize(Model(low, b, form))
    assert sparse.value == pytest.approx(dense.value, rel=1e-8)
    assert sparse.w == pytest.approx(dense.w, abs=1e-3)
    agree(Model(H, b, pen.L1(0.3).conic_form(4).after(long)), Model(low, b, pen.L1(0.3).conic_form(4).after(long)))


@pytest.mark.parametrize("pattern", ["chain", "shuffled chain", "random"])
def test_factors(pattern: str) -> None:
    n = 200
    rng = np.random.default_rng(1)
    K = differences(n, 2)
    if pattern != "chain":
        K = sp.csr_array(K[:, rng.permutation(n)])
    if pattern == "random":
        K = sp.csr_array(sp.random_array((400, n), density=0.05, random_state=rng))
    assembly = Assembly(sp.eye_array(n, format="csr"), pairs_of(K))
    assert (assembly.width >= 0) == (pattern != "random")
    x = rng.standard_normal(n)
    for _ in range(3):
        weight = rng.random(K.shape[0])
        whole = np.eye(n) * 1.5 + (K.T @ sp.diags_array(weight) @ K).toarray()
        assert assembly.factor(weight, 0.5, 0.0)(whole @ x) == pytest.approx(x, abs=1e-11)
    with pytest.raises(NotPositive):
        assembly.factor(-np.ones(K.shape[0]), 0.0, 0.0)
