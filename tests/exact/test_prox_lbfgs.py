"""Quasi-Newton steps with exact penalties: the matrix, the eliminated coordinates, optima and reads."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import Status, datasets, losses, operators, penalties
from spdpeg.engine import auto
from spdpeg.exact.secants import Secants
from support import catalogue, conic

TOL = 1e-6


def test_the_compact_form_is_bfgs_pair_by_pair() -> None:
    rng = np.random.default_rng(0)
    half = rng.standard_normal((9, 9))
    curvature = half @ half.T + np.eye(9)
    moves = rng.standard_normal((4, 9))
    changes, scale, units = moves @ curvature, 1.7, rng.uniform(0.1, 2.0, 9)
    B = np.diag(scale * units)
    for s, y in zip(moves, changes, strict=True):
        B = B - np.outer(B @ s, s @ B) / (s @ B @ s) + np.outer(y, y) / (y @ s)
    products = np.stack([(moves * units) @ moves.T, moves @ changes.T, changes @ changes.T])
    secants = Secants(moves, changes, products, scale, units)
    rows, D = secants.columns(np.arange(9)), rng.uniform(1.0, 2.0, 9)
    np.testing.assert_allclose(np.diag(scale * units) - rows @ np.linalg.solve(secants.middle, rows.T), B, atol=1e-10)
    np.testing.assert_allclose(secants.squares(D), (rows.T / D) @ rows, atol=1e-10)
    np.testing.assert_allclose(secants.times(D), rows.T @ D, atol=1e-10)
    np.testing.assert_allclose(secants.adjoint(D[:8]), rows @ D[:8], atol=1e-10)
    found = secants.orthogonal()
    np.testing.assert_allclose(np.diag(found.base) + found.V.T @ (found.signs[:, None] * found.V), B, atol=1e-10)
    same = Secants(moves, changes, np.stack([moves @ moves.T, *products[1:]]), scale, 1.0)
    rows, D = same.columns(np.arange(9)), np.where(np.arange(9) == 8, 1.7, 2.3)  # an intercept has no ridge
    np.testing.assert_allclose(same.squares(D), (rows.T / D) @ rows, atol=1e-10)
    np.testing.assert_allclose(same.squares(2.3), (rows.T / 2.3) @ rows, atol=1e-10)
    np.testing.assert_allclose(same.times(D), rows.T @ D, atol=1e-10)
    np.testing.assert_allclose(same.adjoint(D[:8]), rows @ D[:8], atol=1e-10)
    none = Secants(moves[:0], changes[:0], np.zeros((3, 0, 0)), scale, units)
    assert none.orthogonal().signs.size == 0
    assert none.squares(D).shape == (0, 0)


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.SmoothedHinge(0.5)], ids=lambda loss: type(loss).__name__)
def test_few_reads_where_few_columns_hold_most_of_the_rows(loss: losses.Loss) -> None:
    """Counts of words, of which the first come in every row; and a loss that is a line for all rows at 0."""
    rng = np.random.default_rng(3)
    n, d, words = 900, 3100, 60
    chances = 1.0 / np.arange(1, d + 1)
    drawn = rng.choice(d, n * words, p=chances / chances.sum())
    X = sp.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), drawn)), shape=(n, d))
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.power(2).sum(axis=1))) @ X)
    y = np.where(X @ rng.standard_normal(d) + 0.05 * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    edges = [(int(rng.integers(0, j)), j) for j in range(1, d)]
    F = operators.GraphDifference(edges)
    problem = spdpeg.Problem(X, y, loss, r1=penalties.L2Squared(1e-3), r2=penalties.L1(1e-4), F=F)
    result = spdpeg.solve(problem, tol=TOL)
    assert [stage.method for stage in result.stages] == ["prox-lbfgs"]
    assert result.status is Status.TOLERANCE
    assert result.passes <= 40


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "shape", [("L2Squared", "L1", "GraphDifference"), ("ElasticNet", "L1", "Stack"), ("L2Squared", "None", "None")],
    ids="-".join,
)  # fmt: skip
def test_the_optimum(shape: tuple[str, str, str], intercept: bool) -> None:
    instance = catalogue.instance("Logistic", *shape)
    problem = instance.problem(intercept=intercept)
    result = spdpeg.solve(problem, "prox-lbfgs", tol=TOL)
    if problem.bias:
        instance = instance.beside_intercept(problem.bias)
    optimal = instance.objective(conic.solve(instance).x)
    assert result.status is Status.TOLERANCE
    assert result.certificate is not None
    assert result.certificate.dual <= optimal * (1 + 1e-9)
    assert result.objective <= optimal * (1 + TOL)


def wide() -> spdpeg.Problem:
    """Of 800 coordinates, 200 occur in F: pairs, single entries and a row of many."""
    rng = np.random.default_rng(1)
    X, y, _ = datasets.piecewise_constant(60, 800, seed=1)
    pairs = sp.csr_array(operators.GraphDifference([(i, i + 1) for i in range(80)]).bind(800).matrix())
    single = sp.csr_array((np.ones(100), (np.arange(100), np.arange(90, 190))), shape=(100, 800))
    long = sp.csr_array((rng.standard_normal(40), (np.zeros(40, int), np.arange(160, 200))), shape=(1, 800))
    F = sp.vstack([pairs, single, long], format="csr")
    return spdpeg.Problem(
        X / np.sqrt(800), y, loss=losses.Logistic(), r1=penalties.L2Squared(1e-2), r2=penalties.L1(1e-3), F=F
    )


def test_few_reads_where_few_columns_occur_in_F(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "_LARGE_MATRIX", 700)
    problem = wide()
    result = spdpeg.solve(problem, tol=TOL)
    assert [stage.method for stage in result.stages] == ["prox-lbfgs"]
    assert result.passes <= 8
    assert result.certificate is not None
    assert 0.0 <= result.certificate.rel_gap <= TOL
    reference = spdpeg.solve(problem, "prox-newton", tol=1e-9)
    assert result.certificate.dual <= reference.objective * (1 + 1e-10)
    assert result.objective <= reference.objective * (1 + TOL)
    vanish = np.flatnonzero(reference.x[90:160] == 0.0)
    assert vanish.size
    assert np.all(result.x[90:160][vanish] == 0.0)


def test_units_of_the_rows_do_not_matter() -> None:
    """The first model is as curved as some rows say, whatever they are measured in."""
    problem = wide()
    rows, labels = problem.view.rows.block.rows, problem.view.rows.labels
    X, F = rows.values.reshape(60, 800), problem.F.matrix()
    reads = []
    for unit in (1e-3, 1.0, 1e3):
        r1, r2 = penalties.L2Squared(1e-2 * unit**2), penalties.L1(1e-3 * unit)
        other = spdpeg.Problem(unit * X, labels, loss=losses.Logistic(), r1=r1, r2=r2, F=F)
        reads.append(spdpeg.solve(other, "prox-lbfgs", tol=TOL).passes)
    assert max(reads) == min(reads) <= 8


def test_rows_without_curvature_at_the_start() -> None:
    """Where no row of the sample is curved, the first model still has a scale."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((300, 40)), 1e3 * np.sign(rng.standard_normal(300))
    r1, r2 = penalties.L2Squared(1e-3), penalties.L1(1e-3)
    problem = spdpeg.Problem(X, y, loss=losses.Huber(0.1), r1=r1, r2=r2, F=np.eye(40))
    result = spdpeg.solve(problem, "prox-lbfgs", tol=TOL)
    assert result.status is Status.TOLERANCE


def test_the_steps_of_a_sample_are_forgotten() -> None:
    """They are noise beside many others; and the room for pairs grows, so that a run goes on with more of it."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((600, 90)) * np.geomspace(1.0, 30.0, 90)
    problem = spdpeg.Problem(
        X, np.sign(rng.standard_normal(600)), losses.Logistic(), r1=penalties.L2Squared(1e-5), r2=penalties.L1(1e-5),
        F=operators.FirstDifference(),
    )  # fmt: skip
    few = spdpeg.solve(problem, "prox-lbfgs", max_iterations=3, tol=0)
    assert few.state.numbers["sampled"] == 2
    assert few.state.numbers["pairs"] == 5
    on = spdpeg.solve(problem, "prox-lbfgs", max_iterations=47, tol=0, state=few.state)
    assert on.state.numbers["sampled"] == 0
    assert on.state.numbers["pairs"] == len(on.state.vectors["moves"]) == 40
    again = spdpeg.solve(problem, "prox-lbfgs", max_iterations=50, tol=0)
    np.testing.assert_array_equal(again.x, on.x)
    np.testing.assert_array_equal(again.state.vectors["changes"], on.state.vectors["changes"])
    damaged = on.state.copy()
    damaged.vectors["moves"] = damaged.vectors["moves"][:8]
    with pytest.raises(spdpeg.StateError, match="do not fit each other"):
        spdpeg.solve(problem, "prox-lbfgs", max_iterations=1, state=damaged)


def test_what_it_refuses() -> None:
    with pytest.raises(spdpeg.UnsupportedError, match="takes a ridge beside"):
        spdpeg.solve(catalogue.instance(r1="L1").problem(), "prox-lbfgs")
