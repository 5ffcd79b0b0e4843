"""The planner: `solve(problem, tol=...)` reaches the optimum, whatever the problem is made of, and says what ran."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import Status, datasets, losses, operators, penalties
from spdpeg.engine import auto
from support import catalogue, conic, designs
from support.instances import Instance

TOL = 1e-6

CASES = designs.pairwise(
    {
        "loss": tuple(catalogue.LOSSES),
        "r1": (
            *("None", "L1", "L1Weighted", "L2Squared", "L2SquaredWeighted", "ElasticNet", "GroupL2", "LInf", "FusedL1"),
            *("HuberL1", "Nuclear", "Box", "NonNegative", "L2Ball", "Simplex", "L1inBox", "L2SquaredinL1Ball"),
        ),
        "shape": (
            *("None-None", "L1-FirstDifference", "L1Weighted-FirstDifference", "L1-GraphDifference", "L1-Difference"),
            *("GroupL2-GridDifference", "LInf-DenseMatrix", "HuberL1-Stack", "ElasticNet-Repeated", "Nuclear-Identity"),
        ),
        "weighted": ("no", "yes"),
        "intercept": ("no", "yes"),
    }
)
WITHOUT_OPTIMUM = [case for case in CASES if (case["r1"], case["shape"]) == ("None", "None-None")]
"""Separable rows, and nothing that keeps x from growing: a case has an optimum only by luck."""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case not in WITHOUT_OPTIMUM], ids=lambda case: "-".join(case.values())
)
def test_reaches_the_optimum_of_a_conic_solver(case: dict[str, str]) -> None:
    instance = catalogue.instance(
        case["loss"], case["r1"], *case["shape"].split("-"), weighted=case["weighted"] == "yes"
    )
    problem = instance.problem(intercept=case["intercept"] == "yes")
    if problem.bias:
        instance = instance.beside_intercept(problem.bias)
    optimal = instance.objective(conic.solve(instance).x)
    result = spdpeg.solve(problem, tol=TOL)
    certificate = result.certificate
    assert certificate is not None
    assert (result.status, certificate.met is None) == (Status.TOLERANCE, False)
    excess = (instance.objective(result.x) - optimal) / optimal
    assert excess < TOL if certificate.met == "relative gap" else excess < 10 * TOL
    if certificate.met == "relative gap":
        assert certificate.rel_gap >= excess - 1e-9


def test_the_defaults() -> None:
    """A tolerance of 1e-6 and the method that fits the data."""
    instance = catalogue.instance()
    result = spdpeg.solve(instance.problem())
    assert (result.solver, methods(result), result.status) == ("auto", ["prox-newton"], Status.TOLERANCE)
    assert result.certificate is not None
    assert result.certificate.rel_gap <= 1e-6
    stream = instance.problem(X=catalogue.stream_of(instance), y=None)
    assert methods(spdpeg.solve(stream)) == ["spdpeg"]
    for r1 in (penalties.L1(0.02), penalties.L2Squared(0.1)):
        assert methods(spdpeg.solve(instance.problem(loss=losses.Hinge(), r1=r1), tol=TOL)) == ["interior-point"]
    matrix = instance.problem(loss=losses.Hinge(), r1=penalties.Nuclear(0.05, (4, 3)))
    small = spdpeg.solve(matrix, tol=TOL)
    assert (methods(small), small.status) == (["interior-point"], Status.TOLERANCE)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 12))
    large = spdpeg.Problem(X, np.sign(X[:, 0]), loss=losses.Hinge(), r1=penalties.Nuclear(0.05, (4, 3)))
    assert methods(spdpeg.solve(large, max_passes=1)) == ["spdhg-cers"]


@pytest.mark.parametrize(
    ("F", "rows", "method"),
    [("graph", 450, "prox-lbfgs"), ("graph", 60, "working-set"), ("chain", 450, "working-set")],
)
def test_a_ridge_beside_many_differences(F: str, rows: int, method: str) -> None:
    """Pieces of a chain are found at once; those of a graph cost more than the reads that a ridge makes few, unless few
    rows leave few pieces."""
    rng = np.random.default_rng(0)
    d = 1600
    X = sp.random_array((rows, d), density=0.02, rng=rng, format="csr")
    edges = [(i, int(j)) for i, j in enumerate(rng.integers(0, d, d)) if i != j]
    problem = spdpeg.Problem(
        X, np.sign(rng.standard_normal(rows)), loss=losses.Logistic(), r1=penalties.L2Squared(0.01),
        r2=penalties.L1(1e-3), F=operators.GraphDifference(edges) if F == "graph" else operators.FirstDifference(),
    )  # fmt: skip
    result = spdpeg.solve(problem, tol=TOL)
    assert methods(result)[0] == method
    assert result.status is Status.TOLERANCE


@pytest.mark.parametrize("contradictory", [False, True])
@pytest.mark.parametrize(("d", "method"), [(1600, "prox-newton"), (3200, "sparsa")])
def test_no_penalties(d: int, method: str, contradictory: bool) -> None:
    """As many columns as rows fit all of them, unless two rows are equal and their labels are not."""
    rng = np.random.default_rng(0)
    X = sp.random_array((400, d), density=0.02, rng=rng, format="csr")
    y = np.sign(X @ rng.standard_normal(d))
    if contradictory:
        X, y = sp.csr_array(sp.vstack([X, X[:1]], format="csr")), np.append(y, -y[0])
    problem = spdpeg.Problem(X, y, loss=losses.SquaredHinge())
    result = spdpeg.solve(problem, tol=TOL)
    assert methods(result) == (["working-set", method] if contradictory else ["working-set"])
    assert result.status is Status.TOLERANCE
    at_zero = problem.objective(np.zeros(d))  # all rows have the same loss there, and the best that two of them can do
    assert problem.objective(result.x) <= (2.0 * (1.0 + TOL) / 401 if contradictory else 1e-12) * at_zero


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("penalty", "methods"),
    [
        (penalties.L1(0.05), ["working-set"]),
        (penalties.GroupL2(0.1, 5), ["working-set"]),
        (penalties.GroupL2(1e-5, 5), ["working-set", "prox-newton"]),
    ],
    ids=["l1", "groups", "weak groups"],
)
def test_columns_alone(penalty: penalties.Penalty, methods: list[str], intercept: bool) -> None:
    """Few columns in use: descent on them. Once many are, a matrix of all."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((600, 150)) + rng.standard_normal((600, 1))
    y = np.where(X[:, :5].sum(axis=1) + 4.0 * rng.standard_normal(600) > 0.0, 1.0, -1.0)
    problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalty, intercept=intercept)
    result = spdpeg.solve(problem, tol=1e-8)
    assert [stage.method for stage in result.stages] == methods
    assert result.status is Status.TOLERANCE
    expected = spdpeg.solve(problem, "prox-newton", tol=1e-10)
    assert result.certificate is not None
    assert result.certificate.dual <= expected.objective * (1 + 1e-12)
    assert result.objective <= expected.objective * (1 + 1e-8)
    tall = spdpeg.Problem(X[:, :20], y, loss=losses.Logistic(), r1=penalty, intercept=intercept)
    assert spdpeg.solve(tall, tol=TOL).stages[0].method == "prox-newton"


def test_the_result_says_what_ran() -> None:
    result = spdpeg.solve(catalogue.instance().problem(), tol=1e-3)
    (stage,) = result.stages
    assert (stage.method, stage.iterations, stage.passes) == ("prox-newton", result.iterations, result.passes)
    assert stage.seconds == pytest.approx(result.seconds, rel=1e-6)
    assert result.ran == "auto (prox-newton)"
    last = str(result).splitlines()[-1]
    assert last == f"prox-newton: {stage.iterations} steps, {stage.passes:.3g} reads; {stage.reason}"
    assert stage.reason.startswith("chosen because ")
    named = spdpeg.solve(catalogue.instance().problem(), "prox-newton", tol=1e-3)
    assert (named.solver, named.ran, named.stages[0].reason) == ("prox-newton", "prox-newton", "asked for")
    np.testing.assert_array_equal(named.x, result.x)
    assert result.state.solver == "auto"


def test_what_belongs_to_a_named_solver_is_refused() -> None:
    problem = catalogue.instance().problem()
    with pytest.raises(spdpeg.InputError, match=r"auto has no parameter 'scheme'.*Name the solver"):
        spdpeg.solve(problem, scheme="pd3o")
    with pytest.raises(spdpeg.InputError, match=r"batch_size is 5, but auto plans with prox-newton and vr-spdpeg"):
        spdpeg.solve(problem, batch_size=5)


@pytest.mark.usefixtures("nothing_is_small")
def test_a_batch_size_for_several_methods_is_refused() -> None:
    with pytest.raises(spdpeg.InputError, match=r"auto plans with vr-spdpeg and sampled-newton.*name a solver\."):
        spdpeg.solve(slow_problem(SHAPES["chain"]), batch_size=2)


class TestWide:
    """Far more columns than rows."""

    @pytest.mark.parametrize(("sparse", "intercept"), [(False, False), (True, True)])
    def test_a_hundred_rows_on_a_chain_of_20_000(self, sparse: bool, intercept: bool) -> None:
        X, y, _ = datasets.piecewise_constant(100, 20_000, seed=0)
        problem = spdpeg.Problem(
            sp.csr_array(X) if sparse else X,
            y,
            loss=losses.Logistic(),
            r1=penalties.L1(5e-4),
            r2=penalties.L1(5e-3),
            F=operators.FirstDifference(),
            intercept=intercept,
        )
        result = spdpeg.solve(problem, tol=TOL)
        assert result.status is Status.TOLERANCE
        x, offset = problem.split(result.x)
        margins = X @ x + offset
        value = np.logaddexp(0.0, -y * margins).mean() + 5e-4 * np.abs(x).sum() + 5e-3 * np.abs(np.diff(x)).sum()
        assert problem.certificate(result.x, result.dual).primal == pytest.approx(value, rel=1e-12)
        assert value - result.certificate.dual <= TOL * value  # type: ignore[union-attr]

    @pytest.mark.parametrize("r1", ["L1", "L2Squared"])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_against_a_conic_solver(self, r1: str, intercept: bool) -> None:
        """By the model of all coordinates; r1 and r2 with and without one prox together."""
        d = 600
        X, y, _ = datasets.piecewise_constant(30, d, seed=1)
        matrix = sp.diags_array([-np.ones(d), np.ones(d - 1)], offsets=[0, 1], shape=(d - 1, d)).tocsr()
        instance = Instance(
            X, y, losses.Logistic(), r1=catalogue.PENALTIES[r1](d), r2=penalties.L1(0.02), matrix=matrix
        )
        problem = instance.problem(F=operators.FirstDifference(), intercept=intercept)
        if intercept:
            column = sp.csr_array((d - 1, 1))
            instance = instance.with_(matrix=np.zeros((d - 1, d))).beside_intercept(problem.bias)
            instance = instance.with_(matrix=sp.hstack([matrix, column]).tocsr())
        result = spdpeg.solve(problem, "prox-newton", tol=1e-8)
        assert result.status is Status.TOLERANCE
        optimal = instance.objective(conic.solve(instance).x)
        assert abs(instance.objective(result.x) / optimal - 1.0) < 1e-7


def slow_problem(F: Any) -> spdpeg.Problem:
    """Ill-conditioned rows: first-order steps crawl, and Newton's do not pay at the start, small as they are."""
    rng = np.random.default_rng(0)
    n, d = 100, 60
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    X = rng.standard_normal((n, d)) @ left * np.logspace(0, -2, d) @ right
    labels = np.sign(10.0 * X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n))
    return spdpeg.Problem(X, labels, loss=losses.Logistic(), r1=penalties.L1(1e-4), r2=penalties.L1(1e-4), F=F)


SHAPES = {
    "chain": operators.FirstDifference(),
    "graph": operators.GraphDifference([(i, (i + 7) % 60) for i in range(60)]),
}
REDUCED, NEWTON, EXACT = "vr-spdpeg", "sampled-newton", "prox-newton"


def methods(result: spdpeg.Result) -> list[str]:
    """Those that ran."""
    return [stage.method for stage in result.stages]


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cost model choose in small problems too, between stochastic steps and sampled Newton steps."""
    monkeypatch.setattr(auto, "_exact", lambda problem: None)
    monkeypatch.setattr(auto, "_SMALL", 0.0)


def test_small_problems_depend_on_the_objective_alone() -> None:
    """Not on the order of the rows: weights and copies, and all seeds, lead to the same bits but for rounding."""
    instance = catalogue.instance()
    counts = 1 + np.arange(catalogue.N) % 3
    weighted = instance.with_(weights=counts.astype(float)).problem(intercept=True)
    copies = instance.with_(X=np.repeat(instance.X, counts, axis=0), labels=np.repeat(instance.labels, counts))
    results = [spdpeg.solve(weighted, tol=1e-3, seed=1), spdpeg.solve(copies.problem(intercept=True), tol=1e-3, seed=2)]
    np.testing.assert_allclose(results[0].x, results[1].x, rtol=0, atol=1e-10)
    assert methods(results[0]) == [EXACT]


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("shape", SHAPES)
class TestStages:
    def test_newton_when_the_run_stalls(self, shape: str) -> None:
        problem = slow_problem(SHAPES[shape])
        seen = [methods(spdpeg.solve(problem, tol=TOL, max_passes=passes)) for passes in (0.5, 3, 20)]
        assert seen == [[REDUCED], [REDUCED], [REDUCED, NEWTON]]
        result = spdpeg.solve(problem, tol=TOL)
        alone = spdpeg.solve(problem, "vr-spdpeg", tol=TOL)
        assert (result.status, methods(result), methods(alone)) == (Status.TOLERANCE, [REDUCED, NEWTON], [REDUCED])
        assert result.passes < alone.passes / 5

    def test_newton_without_a_tolerance(self, shape: str) -> None:
        """The run looks at certificates of its own accord."""
        problem = slow_problem(SHAPES[shape])
        result = spdpeg.solve(problem, max_passes=40)
        assert methods(result) == [REDUCED, NEWTON]
        assert result.certificate is not None
        assert result.certificate.rel_gap < TOL

    def test_named_methods_stay_what_they_are(self, shape: str) -> None:
        problem = slow_problem(SHAPES[shape])
        first = spdpeg.solve(problem, NEWTON, max_passes=1)
        chosen = spdpeg.solve(problem, NEWTON, x0=first.x, max_iterations=1)
        assert (methods(first), methods(chosen)) == ([NEWTON], [NEWTON])
        assert spdpeg.solve(problem, NEWTON, tol=1e-8).status is Status.TOLERANCE
        assert methods(spdpeg.solve(problem, "vr-spdpeg", max_passes=40)) == [REDUCED]

    def test_the_account_adds_up(self, shape: str) -> None:
        result = spdpeg.solve(slow_problem(SHAPES[shape]), tol=TOL)
        assert sum(stage.iterations for stage in result.stages) == result.iterations
        assert sum(stage.passes for stage in result.stages) == pytest.approx(result.passes)
        assert sum(stage.seconds for stage in result.stages) == pytest.approx(result.seconds)
        assert all(stage.iterations > 0 for stage in result.stages)

    def test_another_plan_is_refused(self, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
        problem = slow_problem(SHAPES[shape])
        state = spdpeg.solve(problem, max_passes=3).state
        monkeypatch.setattr(auto, "_SMALL", 2e8)
        with pytest.raises(spdpeg.StateError, match=r"went through the stages \['vr-spdpeg'\], and the plan"):
            spdpeg.solve(problem, max_passes=3, state=state)

    @pytest.mark.parametrize("tol", [None, 1e-13])
    @pytest.mark.parametrize("cuts", [(0.5, 23.5), (4, 8, 12), (12, 12), (1, 1, 1, 1, 1, 1, 1, 1, 16)], ids=str)
    def test_k_and_k_passes_are_2k_passes(self, shape: str, tol: float | None, cuts: tuple[float, ...]) -> None:
        """In every stage, with the certificates of the whole run and through a file."""
        problem = slow_problem(SHAPES[shape])
        whole = spdpeg.solve(problem, tol=tol, max_passes=24)
        state = None
        for passes in cuts:
            result = spdpeg.solve(problem, tol=tol, max_passes=passes, state=state)
            state = result.state
        assert methods(whole) == [REDUCED, NEWTON]
        self._assert_same(whole, result)

    @pytest.mark.parametrize("tol", [None, 1e-13])
    def test_any_cut_in_iterations(self, shape: str, tol: float | None) -> None:
        problem = slow_problem(SHAPES[shape])
        whole = spdpeg.solve(problem, tol=tol, max_iterations=180)
        first = spdpeg.solve(problem, tol=tol, max_iterations=1)
        state, last = first.state, []
        for steps in (20, 5, 30, 44, 50, 0, 27, 3):
            result = spdpeg.solve(problem, tol=tol, max_iterations=steps, state=state)
            state = result.state
            last.append(methods(result)[-1])
        assert set(last) == {REDUCED, NEWTON}
        assert not first.state.numbers["reduced"]
        self._assert_same(whole, result)

    @pytest.mark.parametrize("tol", [None, TOL])
    def test_same_seed_same_bits(self, shape: str, tol: float | None) -> None:
        problem = slow_problem(SHAPES[shape])
        runs = [spdpeg.solve(problem, tol=tol, max_passes=30, seed=seed) for seed in (3, 3, 4)]
        self._assert_same(runs[0], runs[1])
        assert not np.array_equal(runs[0].x, runs[2].x)

    def _assert_same(self, one: spdpeg.Result, other: spdpeg.Result) -> None:
        assert (one.iterations, one.state.rows, one.passes) == (other.iterations, other.state.rows, other.passes)
        for name in ("x", "x_last", "z", "dual"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert one.state.vectors.keys() == other.state.vectors.keys()
        for name, vector in one.state.vectors.items():
            np.testing.assert_array_equal(vector, other.state.vectors[name], err_msg=name)


class TestWarmStart:
    def test_from_the_solution_nothing_is_left_to_do(self) -> None:
        problem = catalogue.instance().problem()
        first = spdpeg.solve(problem, tol=1e-13)
        again = spdpeg.solve(problem, tol=1e-6, x0=first.x, dual0=first.dual)
        assert again.status is Status.TOLERANCE
        assert (again.iterations, again.passes) == (0, 1.0)
        np.testing.assert_array_equal(again.x, first.x)

    @pytest.mark.parametrize("operator", ["FirstDifference", "GraphDifference"])
    def test_rows_without_weight(self, operator: str) -> None:
        """They are never drawn, from a chosen start neither."""
        instance = catalogue.instance("Squared", "L2Squared", "L1", operator, weighted=True)
        x0 = np.linspace(-0.2, 0.2, catalogue.D)
        for sampling in ("importance", "hybrid"):
            result = spdpeg.solve(instance.problem(), "vr-spdpeg", sampling=sampling, batch_size=1, x0=x0, tol=TOL)
            assert result.status is Status.TOLERANCE

    @pytest.mark.parametrize("dual", [np.zeros(3), np.full(catalogue.D - 1, np.nan), np.zeros((catalogue.D - 1, 1))])
    def test_nonsense_is_refused(self, dual: np.ndarray) -> None:
        with pytest.raises(spdpeg.InputError, match=r"dual0 has shape .*\. It must be 11 finite numbers"):
            spdpeg.solve(catalogue.instance().problem(), dual0=dual)
