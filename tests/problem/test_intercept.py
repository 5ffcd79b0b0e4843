"""An intercept is a column that no penalty, set or operator sees, without the column."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, UnsupportedError, losses, operators, penalties
from spdpeg.engine.registry import REGISTRY
from support import catalogue, conic, designs
from support.instances import Instance

N, D = catalogue.N, catalogue.D
POINT = np.linspace(-1.0, 1.0, D + 1)

PARTS = designs.pairwise(
    {
        "loss": tuple(catalogue.LOSSES),
        "r1": (*catalogue.PENALTIES, *catalogue.DOMAINS),
        "r2": ("None", "L1", "L1Weighted", "GroupL2", "HuberL1", "LInf", "ElasticNet", "Nuclear", "Quantile"),
        "operator": tuple(catalogue.OPERATORS),
        "weighted": ("no", "yes"),
        "layout": ("dense", "csr"),
    }
)


@pytest.mark.parametrize("case", PARTS, ids=lambda case: "-".join(case.values()))
def test_is_the_problem_with_the_column_written_out(case: dict[str, str]) -> None:
    """Objective, gradient and F, for every kind of term."""
    instance = catalogue.instance(
        case["loss"], case["r1"], case["r2"], case["operator"], weighted=case["weighted"] == "yes"
    )
    written_out = instance.beside_intercept(2.5)
    X = sp.csr_array(instance.X) if case["layout"] == "csr" else instance.X
    problem = instance.problem(X=X, intercept=2.5)
    assert (problem.n_features, problem.n_coordinates, problem.bias) == (D, D + 1, 2.5)
    inside = np.append(conic_point(instance), 0.7)
    for x in (POINT, np.zeros(D + 1), inside):
        assert problem.objective(x) == pytest.approx(written_out.objective(x), rel=1e-12)
        np.testing.assert_allclose(problem.gradient(x), written_out.gradient(x), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(problem.F.matrix().toarray(), written_out.F, atol=1e-15)
    moved = inside + 3.0 * np.eye(D + 1)[-1]
    assert problem.view.penalty.value(moved) == pytest.approx(problem.view.penalty.value(inside), rel=1e-15)


def conic_point(instance: Instance) -> np.ndarray:
    """A point of the domain."""
    if instance.domain is not None:
        return instance.domain.prox(np.linspace(-0.2, 0.3, D))
    return np.linspace(-0.2, 0.3, D) if instance.r1 is None else instance.r1.prox(np.linspace(-0.2, 0.3, D))


def graph_instance(r1: Any) -> Instance:
    """Its F has the same norm, to the last bit, on D coordinates and beside a D-th."""
    rows = [np.eye(D)[i] - np.eye(D)[j] for i, j in catalogue.EDGES]
    F = operators.GraphDifference(catalogue.EDGES)
    return catalogue.instance(r2="L1", operator="GraphDifference").with_(r1=r1, operator=F, matrix=np.array(rows))


class TestEqualsAColumnOfOnes:
    """With a weight of 0."""

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("solver", REGISTRY)
    def test_step_by_step(self, solver: str, sparse: bool) -> None:
        kind = penalties.L2Squared if solver == "prox-lbfgs" else penalties.L1
        instance = graph_instance(kind(0.01))
        if solver in ("lp", "interior-point"):
            instance = instance.with_(loss=losses.Hinge())
        if solver == "one-read":
            instance = instance.with_(loss=losses.Squared())
        if solver == "sparsa":
            instance = catalogue.instance(r2="None", operator="None").with_(r1=kind(0.01))
        column = np.hstack([instance.X, np.ones((N, 1))])
        weight = kind(np.append(np.full(D, 0.01), 0.0))
        layout: Any = sp.csr_array if sparse else np.asarray
        beside, within = (
            instance.problem(X=layout(instance.X), intercept=1.0),
            instance.problem(X=layout(column), r1=weight),
        )
        x0 = np.zeros(D + 1) if solver == "admm-newton" else POINT
        options: dict[str, Any] = {
            "max_iterations": 3 if REGISTRY[solver].about.deterministic else 120,
            "seed": 4,
            "x0": x0,
        }
        if solver == "vr-spdpeg":
            options |= {"batch_size": 2, "dual_every": 1}
        if solver == "spdpeg":
            options["mode"] = "tight"  # the default gives the intercept's column a size of its own
        if solver == "sparsa":
            options["max_iterations"] = 500  # it has one here too, so that only the ends are equal
        if solver in ("spdpeg-sc1", "spdpeg-sc2"):
            with pytest.raises(UnsupportedError, match="neither r1 nor mu_loss brings any"):
                spdpeg.solve(beside, solver, **options)
            return
        one, other = (spdpeg.solve(problem, solver, **options) for problem in (beside, within))
        for name in ("x", "x_last", "z", "dual"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-9, err_msg=name)
        assert not np.array_equal(one.x_last, x0)

    def test_constants(self) -> None:
        instance = graph_instance(penalties.L1(0.01))
        column = np.hstack([instance.X, np.ones((N, 1))])
        beside, within = instance.problem(intercept=1.0), instance.problem(X=column, r1=penalties.L1(np.zeros(D + 1)))
        assert beside.view.rows.statistics == pytest.approx(within.view.rows.statistics, rel=1e-14)
        assert beside.view.bounds.lipschitz == pytest.approx(within.view.bounds.lipschitz, rel=1e-9)
        assert beside.view.bounds.lipschitz_max == pytest.approx(within.view.bounds.lipschitz_max, rel=1e-14)
        assert beside.F.norm == within.F.norm

    def test_certificate(self) -> None:
        instance = graph_instance(penalties.L1(0.01))
        column = np.hstack([instance.X, np.ones((N, 1))])
        beside, within = (
            instance.problem(intercept=1.0),
            instance.problem(X=column, r1=penalties.L1(np.append(np.full(D, 0.01), 0.0))),
        )
        result = spdpeg.solve(beside, tol=1e-6)
        one, other = (problem.certificate(result.x, result.dual, result.slopes) for problem in (beside, within))
        assert one.rel_gap <= 1e-6
        assert (one.primal, one.dual) == pytest.approx((other.primal, other.dual), rel=1e-9)


class TestBias:
    def test_is_as_long_as_the_rows(self) -> None:
        instance = catalogue.instance(weighted=True)
        problem = instance.problem(intercept=True)
        lengths = instance.scaled_weights * (instance.X**2).sum(axis=1)
        assert problem.bias == pytest.approx(np.sqrt(lengths.mean()), rel=1e-12)
        assert problem.view.rows.statistics.mean_square == pytest.approx(2 * lengths.mean(), rel=1e-12)

    @pytest.mark.parametrize("units", [1e-10, 1e-2, 64.0, 1e5])
    def test_runs_do_not_depend_on_the_units_of_the_data(self, units: float) -> None:
        """Coefficients are those of X over the units, with the same intercept after the same steps."""
        instance = catalogue.instance("Squared", "L2Squared", "None", "None")
        other = instance.with_(X=units * instance.X, r1=penalties.L2Squared(0.05 * units**2))
        one, scaled = (case.problem(intercept=True) for case in (instance, other))
        options: dict[str, Any] = {"max_iterations": 400, "seed": 2}
        (x, b), (x_scaled, b_scaled) = (
            problem.split(spdpeg.solve(problem, "vr-spdpeg", **options).x) for problem in (one, scaled)
        )
        np.testing.assert_allclose(units * x_scaled, x, rtol=1e-6, atol=1e-9)
        assert b_scaled == pytest.approx(b, rel=1e-6)

    def test_of_empty_rows_is_one(self) -> None:
        problem = spdpeg.Problem(np.zeros((5, 3)), np.arange(5.0), loss=losses.Squared(), intercept=True)
        assert problem.bias == 1.0
        # The objective is 1 there and has curvature 1: a gap of 1e-8 leaves room for this much.
        assert problem.split(spdpeg.solve(problem, tol=1e-8).x)[1] == pytest.approx(2.0, abs=1.5e-4)

    @pytest.mark.parametrize("value", [0.0, 0, -1.0, float("nan"), float("inf"), "yes", None, [1.0]])
    def test_nonsense_is_refused(self, value: Any) -> None:
        with pytest.raises(InputError, match=r"intercept is .*\. Give True, False or the positive number"):
            catalogue.instance().problem(intercept=value)

    @pytest.mark.parametrize("value", [np.True_, np.False_, np.int64(3), np.float32(0.5)])
    def test_kinds_of_numbers(self, value: Any) -> None:
        one, other = (catalogue.instance().problem(intercept=kind) for kind in (value, value.item()))
        assert (one.bias, one.n_coordinates) == (other.bias, other.n_coordinates)


class TestSplitAndJoin:
    @pytest.mark.parametrize("intercept", [False, True, 1.0, 7.5])
    def test_undo_each_other(self, intercept: bool | float) -> None:
        problem = catalogue.instance().problem(intercept=intercept)
        x = POINT[: problem.n_coordinates]
        coefficients, offset = problem.split(x)
        assert coefficients.shape == (D,)
        assert (offset != 0.0) == bool(intercept)
        np.testing.assert_allclose(problem.join(coefficients, offset), x, rtol=1e-15)

    def test_predictions_are_those_of_the_margins(self) -> None:
        instance = catalogue.instance("Squared")
        problem = instance.problem(intercept=True)
        coefficients, offset = problem.split(POINT)
        loss = 0.5 * np.mean((instance.X @ coefficients + offset - instance.labels) ** 2)
        assert problem.view.mean_loss(POINT) == pytest.approx(loss, rel=1e-12)

    def test_copies(self) -> None:
        problem = catalogue.instance().problem()
        x = np.zeros(D)
        problem.split(x)[0][:] = 1.0
        problem.join(x)[:] = 1.0
        assert np.all(x == 0.0)

    def test_wrong_lengths_are_refused(self) -> None:
        problem = catalogue.instance().problem(intercept=True)
        with pytest.raises(InputError, match=r"x has shape \(12,\)\. The problem has 13 coordinates"):
            problem.split(np.zeros(D))
        with pytest.raises(InputError, match=r"x has shape \(14,\)"):
            problem.join(np.zeros(D + 1), 1.0)

    def test_join_without_an_intercept_takes_none(self) -> None:
        with pytest.raises(InputError, match="intercept"):
            catalogue.instance().problem().join(np.zeros(D), 1.0)


class TestData:
    @pytest.mark.parametrize("source", [name for name in catalogue.SOURCES if name != "integers"])
    def test_every_kind(self, source: str, tmp_path: Path) -> None:
        instance = catalogue.instance(weighted=True)
        there = instance.problem(X=catalogue.SOURCES[source](instance.X, tmp_path), intercept=True)
        here = instance.problem(intercept=True)
        assert there.bias == pytest.approx(here.bias, rel=1e-12)
        assert there.objective(POINT) == pytest.approx(here.objective(POINT), rel=1e-12)
        np.testing.assert_allclose(there.gradient(POINT), here.gradient(POINT), rtol=1e-10, atol=1e-14)
        options: dict[str, Any] = {"max_iterations": 200, "sampling": "independent"}
        one, other = (spdpeg.solve(problem, "spdpeg", **options) for problem in (here, there))
        np.testing.assert_allclose(other.x, one.x, rtol=1e-8, atol=1e-12)

    @pytest.mark.parametrize("sparse", [False, True])
    def test_stream(self, sparse: bool) -> None:
        """As if every chunk had brought the column."""
        instance = catalogue.instance("Squared")
        rows = [np.eye(D, D + 1)[j + 1] - np.eye(D, D + 1)[j] for j in range(D - 1)]
        column = instance.with_(
            X=np.hstack([instance.X, np.full((N, 1), 2.0)]), r1=penalties.L1(0.01 * (np.arange(D + 1) < D))
        )
        beside = instance.problem(X=catalogue.stream_of(instance, sparse), y=None, intercept=2.0)
        within = column.problem(X=catalogue.stream_of(column, sparse), y=None, F=np.array(rows))
        options: dict[str, Any] = {"max_passes": 3, "rho": 0.1, "lipschitz": 20.0, "kappa": 1.0, "mu_loss": 0.0}
        one, other = (spdpeg.solve(problem, "spdpeg", **options) for problem in (beside, within))
        assert one.x.shape == (D + 1,)
        np.testing.assert_allclose(one.x, other.x, rtol=1e-3, atol=1e-4)
        assert beside.split(one.x)[1] != 0.0

    def test_a_stream_chooses_its_bias_by_the_first_chunk(self) -> None:
        instance = catalogue.instance()
        problem = instance.problem(X=catalogue.stream_of(instance), y=None, intercept=True)
        first = (instance.X[: catalogue.CHUNK] ** 2).sum(axis=1)
        assert problem.bias == pytest.approx(np.sqrt(first.mean()), rel=1e-12)


@pytest.mark.parametrize("solver", ["vr-spdpeg", "sampled-newton", "prox-newton"])
def test_shifting_the_labels_shifts_the_intercept(solver: str) -> None:
    instance = catalogue.instance("Squared", "L2Squared", "L1", "FirstDifference")
    (x, b), (shifted, c) = (
        problem.split(spdpeg.solve(problem, solver, tol=1e-9).x)
        for problem in (instance.problem(y=instance.labels + by, intercept=True) for by in (0.0, 5.0))
    )
    assert c - b == pytest.approx(5.0, abs=1e-3)
    np.testing.assert_allclose(shifted, x, atol=1e-3)


def test_reaches_the_conic_optimum_with_an_unpenalised_intercept() -> None:
    instance = catalogue.instance()
    problem = instance.problem(intercept=True)
    written_out = instance.beside_intercept(problem.bias)
    best = conic.solve(written_out)
    result = spdpeg.solve(problem, tol=1e-8)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"
    assert abs(written_out.objective(result.x) - written_out.objective(best.x)) < 1e-8
