"""Proximal Newton against optima of an independent conic solver."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, UnsupportedError, losses, operators, penalties
from support import catalogue, conic, designs
from support.instances import Instance

ITERATIONS = 15

CASES = designs.pairwise(
    {
        "loss": ("Logistic", "Squared", "Huber"),
        "r1": ("L1", "L2Squared", "GroupL2", "Box", "None"),
        "shape": ("L1-FirstDifference", "GroupL2-DenseMatrix", "HuberL1-GraphDifference", "None-None"),
        "weighted": ("no", "yes"),
        "layout": ("dense", "csr", "unsorted"),
    }
)


def unsorted(X: np.ndarray) -> sp.csr_array:
    """The columns of each row in random order."""
    rng = np.random.default_rng(0)
    order = [rng.permutation(np.flatnonzero(row)) for row in X]
    starts = np.concatenate([[0], np.cumsum([len(columns) for columns in order])])
    values = np.concatenate([row[columns] for row, columns in zip(X, order, strict=True)])
    return sp.csr_array((values, np.concatenate(order), starts), shape=X.shape)


LAYOUTS: dict[str, Any] = {"dense": np.asarray, "csr": sp.csr_array, "unsorted": unsorted}


def run(problem: spdpeg.Problem, iterations: int = ITERATIONS, **options: Any) -> spdpeg.Result:
    """That many steps."""
    return spdpeg.solve(problem, "sampled-newton", max_passes=None, max_iterations=iterations, **options)


def excess(instance: Instance, x: np.ndarray) -> float:
    """Distance from the optimal value."""
    return abs(instance.objective(x) - instance.objective(conic.solve(instance).x))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.values()))
def test_reaches_1e_10_in_fifteen_iterations(case: dict[str, str]) -> None:
    instance, best = conic.optimum(
        case["loss"], case["r1"], *case["shape"].split("-"), weighted=case["weighted"] == "yes"
    )
    result = run(instance.problem(X=LAYOUTS[case["layout"]](instance.X)))
    assert result.iterations == ITERATIONS
    assert abs(instance.objective(result.x) - instance.objective(best.x)) < 1e-10


def test_unsorted_columns_are_the_same_problem() -> None:
    instance = catalogue.instance(weighted=True)
    shuffled = unsorted(instance.X)
    assert not shuffled.has_sorted_indices
    one, other = run(instance.problem()), run(instance.problem(X=shuffled))
    assert other.objective == pytest.approx(one.objective, rel=1e-14)
    # Sums in another order end the inner steps elsewhere, within their accuracy.
    np.testing.assert_allclose(other.x, one.x, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared()])
def test_a_single_coordinate(loss: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 1))
    t = X[:, 0] + rng.standard_normal(25)
    labels = np.where(t > 0, 1.0, -1.0) if loss.binary else t
    instance = Instance(X, labels, loss, r1=penalties.L1(0.02), r2=penalties.L1(0.01), operator=operators.Identity())
    assert excess(instance, run(instance.problem()).x) < 1e-10


def test_the_objective_never_rises() -> None:
    instance = catalogue.instance("Logistic", "L1", "L1", "FirstDifference")
    problem = instance.problem(X=30.0 * instance.X)
    result = run(problem, 12, x0=np.linspace(-3, 3, catalogue.D), record_every=1)
    assert len(result.history) > 5
    assert np.all(np.diff(result.history.objective) <= 0)


@pytest.mark.parametrize("rows", [100, 400])
def test_curvature_of_some_rows_still_converges(rows: int) -> None:
    """By cheaper steps, to the same solution."""
    X = catalogue.rows(1200, catalogue.D)
    loss = losses.Logistic()
    instance = catalogue.instance().with_(X=X, labels=catalogue.labels_for(loss, X))
    problem = instance.problem()
    assert excess(instance, run(problem, 60, rows=rows).x) < 1e-10
    assert run(problem, 3, rows=rows).passes < run(problem, 3, rows=1200).passes


@pytest.mark.parametrize("shape", [(2001, 2001), (1000, 20_001)], ids=str)
def test_refuses_what_is_neither_tall_nor_wide(shape: tuple[int, int]) -> None:
    problem = spdpeg.Problem(sp.csr_array(shape), np.arange(shape[0]), loss=losses.Squared(), r1=penalties.L1(0.1))
    with pytest.raises(UnsupportedError, match=rf"d is {shape[1]} and N is {shape[0]}. It takes up to 2000"):
        run(problem)


def test_refuses_corners_and_rows_that_are_not_positive() -> None:
    instance = catalogue.instance()
    with pytest.raises(UnsupportedError):
        run(instance.problem(loss=losses.Hinge()))
    with pytest.raises(InputError, match="rows"):
        run(instance.problem(), rows=0)


def test_a_start_of_ones_own_with_rows_on_a_disk(tmp_path: Path) -> None:
    """A certificate comes before the first step, and its margins are not kept as a vector."""
    case = catalogue.instance()
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=case.X.shape)
    mapped[:] = case.X
    problem = spdpeg.Problem(mapped, case.labels, losses.Logistic(), penalties.L1(0.01))
    result = spdpeg.solve(problem, "sampled-newton", tol=1e-6, x0=np.ones(case.X.shape[1]))
    assert result.status is spdpeg.Status.TOLERANCE
