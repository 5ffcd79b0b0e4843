"""The certificate: a lower bound that never lies, tight where a solver has converged, and what it says about `tol`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spdpeg
from spdpeg import InputError, UnsupportedError, losses, operators, penalties
from spdpeg.certificate import Certificate, certify
from spdpeg.data import Stream
from spdpeg.result import Status
from support import catalogue, conic, formulas
from support.instances import Instance

D = 6
EDGES = [(0, 2), (1, 2), (0, 5), (3, 4)]

SMOOTH: dict[str, Callable[[], Any]] = catalogue.LOSSES
CORNERS: dict[str, Callable[[], Any]] = {"Hinge": losses.Hinge, "Quantile": lambda: losses.Quantile(0.3)}

NORMS: dict[str, Callable[[float, int], Any]] = {
    "L1": lambda c, size: penalties.L1(c),
    "L1Weighted": lambda c, size: penalties.L1(c * (1.0 + np.arange(size) % 3)),
    "GroupL2": lambda c, size: penalties.GroupL2(c, groups=_divisor(size)),
    "LInf": lambda c, size: penalties.LInf(c),
    "Nuclear": lambda c, size: penalties.Nuclear(c, (size // _divisor(size), _divisor(size))),
    "FusedL1": lambda c, size: penalties.FusedL1(c, 2.0 * c),
}
"""Their dual value is finite after scaling."""

ANYWHERE: dict[str, Callable[[float, int], Any]] = {
    "L2Squared": lambda c, size: penalties.L2Squared(c),
    "ElasticNet": lambda c, size: penalties.ElasticNet(c, 0.5 * c),
    "Box": lambda c, size: penalties.Box(-c, np.linspace(0.5 * c, 2.0 * c, size)),
}
"""Their conjugate is finite everywhere."""

OTHERS: dict[str, Callable[[float, int], Any]] = {
    "Zero": lambda c, size: penalties.Zero(),
    "L1Partly": lambda c, size: penalties.L1(np.where(np.arange(size) % 2, c, 0.0)),
    "L2Partly": lambda c, size: penalties.L2Squared(np.where(np.arange(size) % 3, c, 0.0)),
    "FusedAlone": lambda c, size: penalties.FusedL1(0.0, c),
    "HuberL1": lambda c, size: penalties.HuberL1(c, delta=0.1),
    "NonNegative": lambda c, size: penalties.NonNegative(),
}
"""A finite dual value is luck."""

R1 = NORMS | ANYWHERE | OTHERS
R2 = {name: make for name, make in R1.items() if name not in ("Box", "NonNegative")}

OPERATORS: dict[str, tuple[Any, np.ndarray]] = {
    "chain": (operators.FirstDifference(), np.diff(np.eye(D), axis=0)),
    "graph": (operators.GraphDifference(EDGES), np.array([np.eye(D)[i] - np.eye(D)[j] for i, j in EDGES])),
    "identity": (operators.Identity(), np.eye(D)),
}


def _divisor(size: int) -> int:
    return next(n for n in (3, 2, 1) if size % n == 0)


def make_instance(
    loss: str, r1: str, r2: str, operator: str, weighted: bool = False, seed: int = 0, strength: float = 0.02
) -> Instance:
    """A random problem made of the named parts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    X = rng.standard_normal((n, D)) * (rng.random((n, D)) < 0.8)
    the_loss = (SMOOTH | CORNERS)[loss]()
    labels = catalogue.labels_for(the_loss, X, seed)
    if the_loss.binary:
        labels[:2] = -1.0, 1.0
    F, matrix = OPERATORS[operator]
    return Instance(
        X,
        labels,
        the_loss,
        r1=R1[r1](strength, D),
        r2=None if r2 == "None" else R2[r2](strength, len(matrix)),
        operator=F,
        matrix=matrix,
        weights=rng.integers(0, 3, n) + 0.5 * (np.arange(n) < 2) if weighted else None,
    )


def reference(instance: Instance) -> Instance:
    """The same problem as conic solver and formulas know it: a loss with corners becomes r2 of the data."""
    if type(instance.loss).__name__ not in CORNERS:
        return instance
    n, F = len(instance.labels), instance.F
    if isinstance(instance.loss, losses.Hinge):
        loss: Any = penalties.Hinge(instance.labels, weight=1.0 / n)
    else:
        loss = penalties.Quantile(instance.labels, level=instance.loss.level, weight=1.0 / n)
    rest = penalties.Zero() if instance.r2 is None else instance.r2
    return Instance(
        np.zeros((1, instance.X.shape[1])),
        np.zeros(1),
        losses.Squared(),
        r1=instance.r1,
        r2=penalties.SeparableSum([loss, rest], [n, len(F)]),
        matrix=np.vstack([instance.X, F]),
    )


class Bound:
    """An instance, a solution of it, and the check that a certificate does not claim too much."""

    def __init__(self, instance: Instance, intercept: bool | float = False) -> None:
        self.problem = instance.problem(intercept=intercept)
        if intercept:
            instance = instance.beside_intercept(self.problem.bias)
        self.reference = reference(instance)
        best = conic.solve(self.reference)
        # The value at a point of the domain is never below the optimal one, however inexact the conic solver is.
        self.x = best.x if instance.r1.finite else formulas.prox(instance.r1, best.x, 1.0)
        self.dual = best.dual[len(best.dual) - self.problem.F.n_outputs :]
        self.optimal = self.reference.objective(self.x)
        self.slack = 1e-9 * (1.0 + abs(self.optimal))

    def check(self, x: np.ndarray, dual: np.ndarray) -> Certificate:
        certificate = self.problem.certificate(x, dual)
        assert not math.isnan(certificate.dual)
        assert certificate.dual <= self.optimal + self.slack
        value = self.reference.objective(x)
        if math.isfinite(certificate.primal):
            assert certificate.primal == pytest.approx(value, rel=1e-10)
            assert certificate.gap >= value - self.optimal - self.slack
        return certificate


PARTS = {
    "r1": st.sampled_from(sorted(R1)),
    "r2": st.sampled_from(["None", *sorted(R2)]),
    "operator": st.sampled_from(sorted(OPERATORS)),
    "seed": st.integers(0, 2**16),
    "strength": st.floats(1e-3, 0.5),
    "intercept": st.sampled_from([False, True, 1.0]),
}
QUICK = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


class TestNeverBelowTheTruth:
    @given(loss=st.sampled_from(sorted(SMOOTH)), weighted=st.booleans(), **PARTS)
    @QUICK
    def test_smooth_losses(self, seed: int, intercept: bool | float, **parts: Any) -> None:
        self._check(Bound(make_instance(seed=seed, **parts), intercept), seed, "vr-spdpeg")

    @given(
        loss=st.sampled_from(sorted(SMOOTH)),
        weighted=st.booleans(),
        r2=st.sampled_from(["L1", "L1Weighted", "L1Partly"]),
        **{name: PARTS[name] for name in ("seed", "strength", "intercept")},
    )
    @QUICK
    def test_along_a_chain(self, seed: int, intercept: bool | float, **parts: Any) -> None:
        """Where r1 and r2 are one norm, whose dual ball is known exactly."""
        bound = Bound(make_instance(seed=seed, r1="L1", operator="chain", **parts), intercept)
        assert bound.problem.view.penalty.joint is not None
        self._check(bound, seed, "vr-spdpeg")
        # So the bound does not depend on the dual that is handed over.
        duals = (bound.dual, np.zeros_like(bound.dual), 7.0 + bound.dual)
        assert len({bound.check(bound.x, dual).dual for dual in duals}) == 1

    @given(loss=st.sampled_from(sorted(CORNERS)), **PARTS)
    @QUICK
    def test_losses_with_corners(self, seed: int, intercept: bool | float, **parts: Any) -> None:
        self._check(Bound(make_instance(seed=seed, **parts), intercept), seed, "sdca-admm")

    def _check(self, bound: Bound, seed: int, solver: str) -> None:
        rng = np.random.default_rng(seed)
        d, m = bound.x.size, bound.dual.size
        bound.check(bound.x, bound.dual)
        for size in (1e-6, 1e-2, 1.0, 30.0):
            bound.check(bound.x + size * rng.standard_normal(d), bound.dual + size * rng.standard_normal(m))
            bound.check(size * rng.standard_normal(d), size * rng.standard_normal(m))
        result = spdpeg.solve(bound.problem, solver, max_passes=30)
        bound.check(result.x, result.dual)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("r2", ["None", "L1", "GroupL2", "HuberL1"])
@pytest.mark.parametrize("r1", [*NORMS, *ANYWHERE, "L1Partly", "L2Partly"])
@pytest.mark.parametrize("loss", ["Logistic", "Huber"])
def test_finite_and_tight_at_the_output_of_a_solver(loss: str, r1: str, r2: str, intercept: bool) -> None:
    bound = Bound(make_instance(loss, r1, r2, "chain", weighted=True, seed=5), intercept)
    result = spdpeg.solve(bound.problem, "sampled-newton", max_passes=None, max_iterations=20)
    assert bound.check(result.x, result.dual).rel_gap < 1e-6


@pytest.mark.parametrize("tol", [1e-14, 1e-17])
def test_a_tolerance_below_rounding_is_never_met(tol: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4))
    problem = spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(0.01))
    result = spdpeg.solve(problem, tol=tol, max_passes=100)
    assert result.status is not Status.TOLERANCE
    assert result.certificate.met is None
    assert result.certificate.rel_gap < 1e-12


class TestReaches:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("r1", ["L2Squared", "L2Partly"])
    def test_1e_8_on_ridge(self, r1: str, intercept: bool) -> None:
        problem = make_instance("Logistic", r1, "L1", "graph").problem(intercept=intercept)
        result = spdpeg.solve(problem, tol=1e-8, max_passes=2000)
        assert result.status is Status.TOLERANCE
        assert result.certificate is not None
        assert result.certificate.met == "relative gap"
        assert problem.certificate(result.x, result.dual, result.slopes).rel_gap <= 1e-8

    @pytest.mark.parametrize("solver", ["vr-spdpeg", "sampled-newton", "prox-newton", "working-set"])
    def test_1e_6_on_l1_and_fused(self, solver: str) -> None:
        problem = catalogue.instance("Logistic", "L1", "L1", "FirstDifference").problem()
        result = spdpeg.solve(problem, solver, tol=1e-6, max_passes=2000)
        assert result.status is Status.TOLERANCE
        assert problem.certificate(result.x, result.dual, result.slopes).rel_gap <= 1e-6

    def test_a_gap_without_r1_in_many_coordinates(self) -> None:
        """Without r1, and with too many coordinates to settle all of them."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 80))
        chain = operators.Difference(2)
        problem = spdpeg.Problem(X, X[:, 0], loss=losses.Squared(), r2=penalties.L1(0.02), F=chain)
        result = spdpeg.solve(problem, "vr-spdpeg", tol=1e-6, max_passes=2000)
        assert result.status is Status.TOLERANCE
        assert result.certificate is not None
        assert result.certificate.met == "relative gap"
        assert 0.0 <= result.certificate.rel_gap <= 1e-6

    def test_a_gap_along_a_chain_without_r1(self) -> None:
        problem = make_instance("Squared", "Zero", "L1", "chain").problem()
        result = spdpeg.solve(problem, "vr-spdpeg", tol=1e-8, max_passes=2000)
        assert result.certificate is not None
        assert result.certificate.met == "relative gap"

    @pytest.mark.parametrize(
        "domain", ["L1inBox", "L2SquaredinL1Ball", "L1inL2Ball", "L1inL1Ball", "ElasticNetinL2Ball", "NoneinSimplex"]
    )
    def test_1e_8_on_a_set(self, domain: str) -> None:
        problem = catalogue.instance(r1=domain).problem()
        assert spdpeg.solve(problem, "vr-spdpeg", tol=1e-8, max_passes=500).status is Status.TOLERANCE

    def test_nothing_where_the_conjugate_has_no_closed_form(self) -> None:
        instance = catalogue.instance(r1="ElasticNet")
        d = instance.X.shape[1]
        boxes = penalties.SeparableSum([penalties.Box(-0.1, 0.1), penalties.NonNegative()], [2, d - 2])
        problem = instance.problem(r1=penalties.HuberL1(0.01, 0.1), domain=boxes)
        result = spdpeg.solve(problem, "vr-spdpeg", tol=1e-8, max_passes=500)
        assert result.certificate is not None
        assert (result.certificate.dual, result.certificate.met) == (-math.inf, "residual")
        assert result.status is Status.CONDITIONS
        assert "no bound is available because a term has no conjugate in closed form" in str(result)
        assert str(Status.TOLERANCE) not in str(result)

    @pytest.mark.parametrize("r1", ["L1", "L2Squared", "HuberL1"])
    def test_nothing_where_a_user_gives_no_conjugate(self, r1: str) -> None:
        class Own(penalties.Penalty):
            kernel_prox = penalties.L1.kernel_prox

            def value(self, v: np.ndarray) -> float:
                return float(np.sum(np.abs(v)))

            def pack(self, size: int) -> Any:
                return penalties.L1(1.0).pack(size)

        instance = make_instance("Squared", r1, "None", "chain")
        result = spdpeg.solve(instance.problem(r2=Own()), "vr-spdpeg", tol=1e-8, max_passes=500)
        assert result.certificate is not None
        assert (result.certificate.dual, result.certificate.met) == (-math.inf, "residual")


class TestVerdict:
    @pytest.mark.parametrize(
        ("primal", "dual", "residual", "met"),
        [
            (2.0, 1.9, 1.0, "relative gap"),
            (-2.0, -2.1, 1.0, "relative gap"),
            (2.0, 1.0, 1e-9, None),
            (2.0, -math.inf, 0.1, "residual"),
            (2.0, -math.inf, 0.2, None),
            (0.0, -1e-9, 0.2, None),
            (0.0, -1e-9, 0.05, "residual"),
            (math.inf, 1.0, 0.05, None),
            (2.0, 2.1, 0.05, None),
            (2.0, 2.0 + 1e-15, 0.05, "relative gap"),
            (2.0, -math.inf, math.inf, None),
        ],
    )
    def test_what_met_the_tolerance(self, primal: float, dual: float, residual: float, met: str | None) -> None:
        before = Certificate(primal, dual, residual)
        after = before.judged(0.1)
        assert (after.primal, after.dual, after.residual, after.met) == (primal, dual, residual, met)
        assert before.met is None

    def test_gap_and_relative_gap(self) -> None:
        certificate = Certificate(-4.0, -5.0, 0.0)
        assert (certificate.gap, certificate.rel_gap) == (1.0, 0.25)
        assert Certificate(0.0, -1.0, 0.0).rel_gap == math.inf
        assert Certificate(math.inf, 1.0, 0.0).rel_gap == math.inf

    def test_a_better_bound_known_before_is_kept(self) -> None:
        problem = make_instance("Logistic", "L1", "L1", "chain").problem()
        x, dual = np.ones(D), np.zeros(problem.F.n_outputs)
        alone = certify(problem.view, x, dual)
        assert certify(problem.view, x, dual, best=alone.dual + 0.01).dual == alone.dual + 0.01
        assert certify(problem.view, x, dual, best=alone.dual - 0.01) == alone

    def test_the_bound_of_a_run_is_the_best_of_its_records(self) -> None:
        """The output of a noisy run gets worse at times; its certificate does not."""
        problem = make_instance("Logistic", "L1", "L1", "chain").problem()
        seen = []
        bounds = []
        for passes in range(1, 20):
            result = spdpeg.solve(problem, "spdpeg", mode="tight", tol=1e-12, max_passes=passes, record_every=1)
            assert result.certificate is not None
            bounds.append(result.certificate.dual)
            seen.append(problem.certificate(result.x, result.dual).dual)
        better = np.array(bounds) - np.array(seen)
        assert np.all(better >= -1e-14)
        assert np.count_nonzero(better > 1e-6) > 1  # from a certificate before the last


class TestRefusals:
    def test_dual_of_the_wrong_shape(self) -> None:
        problem = make_instance("Logistic", "L1", "L1", "chain").problem()
        for dual in (np.zeros(D), np.zeros((D - 1, 1)), 0.0):
            with pytest.raises(InputError, match=r"dual has shape .* F has 5 rows"):
                problem.certificate(np.zeros(D), dual)

    def test_x_of_the_wrong_shape(self) -> None:
        problem = make_instance("Logistic", "L1", "L1", "chain").problem()
        with pytest.raises(InputError, match="x has shape"):
            problem.certificate(np.zeros(D + 1), np.zeros(D - 1))

    def test_stream(self) -> None:
        instance = make_instance("Squared", "L1", "None", "chain")
        problem = spdpeg.Problem(Stream(lambda: iter([(instance.X, instance.labels)])), loss=losses.Squared())
        with pytest.raises(UnsupportedError, match="stream has no certificate"):
            problem.certificate(np.zeros(D), np.zeros(0))
        assert spdpeg.solve(problem, max_passes=1).certificate is None

    def test_inputs_are_left_alone(self) -> None:
        problem = make_instance("Logistic", "L1", "L1", "chain").problem()
        x, dual = np.full(D, 0.3), np.full(D - 1, 7.0)
        problem.certificate(x, dual)
        assert np.all(x == 0.3)
        assert np.all(dual == 7.0)


def test_a_bound_above_the_objective_is_a_defect() -> None:
    """Beyond rounding no such bound proves anything."""
    wrong = Certificate(1.0, 1.0 + 1e-11, np.nan)
    assert wrong.defective
    assert wrong.judged(1e-3).met is None
    assert "defect" in str(wrong)
    assert not Certificate(1.0, 1.0 + 1e-14, np.nan).defective


def test_a_bound_gives_up_what_cancels_in_it() -> None:
    """Columns that nearly depend on each other have a large x, whose rounding may lift the bound above the optimum."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1)) + 1e-6 * rng.standard_normal((300, 12))
    labels = np.where(rng.random(300) < 0.5, -1.0, 1.0)
    problem = spdpeg.Problem(X, labels, loss=losses.SquaredHinge())
    certificate = spdpeg.solve(problem, tol=1e-12).certificate
    assert certificate is not None
    assert 0.0 <= certificate.gap <= 1e-6 * certificate.primal


def test_conjugate_of_logistic_next_to_0() -> None:
    """At slopes of 1e-9 the bound has as many digits as they have, not those of 1 - p."""
    rng = np.random.default_rng(0)
    p = 1e-9 * rng.random(50)
    labels = np.where(rng.random(50) < 0.5, -1.0, 1.0)
    labels[:2] = -1.0, 1.0
    sums = spdpeg.Problem(rng.standard_normal((50, 2)), labels, losses.Logistic()).view.sums
    exact = p.astype(np.longdouble)
    value = np.mean(exact * np.log(exact) + (1 - exact) * np.log1p(-exact))
    assert sums.conjugate(-labels * p, 1.0) == pytest.approx(float(value), rel=1e-13)


def test_slopes_are_corrected_in_free_directions_alone() -> None:
    """Fewer rows than coordinates: a correction that kept all coordinates would find none."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((8, 30))
    weight = np.where(np.arange(30) < 4, 0.0, 0.05)
    problem = spdpeg.Problem(X, rng.standard_normal(8), losses.Squared(), penalties.L1(weight))
    result = spdpeg.solve(problem, tol=1e-10)
    slopes = problem.view.sums.slopes(problem.view.sums.evaluate(result.x).margins, 0.0, 1.0, 1.0)
    moved = problem.certificate(result.x, result.dual, slopes * (1 + 1e-9 * rng.standard_normal(8)))
    assert moved.rel_gap == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Huber(0.5), losses.Poisson()], ids=repr)
def test_rounding_in_empty_columns_of_a_chain(loss: losses.Loss) -> None:
    """Slopes add up to 0 along a chain but for rounding, part of which falls on columns without entries."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 30)) * (rng.random((20, 30)) < 0.1)
        y = rng.poisson(2.0, 20).astype(float) if isinstance(loss, losses.Poisson) else rng.choice([-1.0, 1.0], 20)
        problem = spdpeg.Problem(X, y, loss=loss, r2=penalties.L1(0.02), F=operators.FirstDifference())
        result = spdpeg.solve(problem, tol=1e-8)
        assert (seed, result.status) == (seed, Status.TOLERANCE)


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Poisson(), losses.Squared()], ids=repr)
def test_columns_that_almost_depend_on_each_other(loss: losses.Loss) -> None:
    """No penalty keeps coefficients of size 1e7 small; a bound must not forget what their rounding is worth."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 1)) + 1e-8 * rng.standard_normal((40, 3))
        y = rng.poisson(2.0, 40).astype(float) if isinstance(loss, losses.Poisson) else rng.choice([-1.0, 1.0], 40)
        result = spdpeg.solve(spdpeg.Problem(X, y, loss=loss), tol=1e-6)
        best = _least_in_the_range_of(X, y, loss)
        assert (seed, result.status) == (seed, Status.TOLERANCE)
        assert result.certificate is not None
        assert result.certificate.dual <= best * (1.0 + 1e-11)
        assert result.objective <= best * (1.0 + 2e-6)


def _least_in_the_range_of(X: np.ndarray, y: np.ndarray, loss: losses.Loss) -> float:
    """The least mean loss at margins in the range of X, by Newton's steps along a basis of extended precision."""
    basis = X.astype(np.longdouble)
    for column in range(X.shape[1]):
        for _ in range(2):
            basis[:, column] -= basis[:, :column] @ (basis[:, :column].T @ basis[:, column])
        basis[:, column] /= np.sqrt(basis[:, column] @ basis[:, column])
    margins = np.zeros(len(y))
    z = np.zeros(X.shape[1])
    for _ in range(30):
        margins = np.asarray(basis @ z, dtype=float)
        curvature = np.asarray(basis.T @ (loss.second_derivative(margins, y)[:, None] * basis), dtype=float)
        z = z - np.linalg.solve(curvature, np.asarray(basis.T @ loss.derivative(margins, y), dtype=float))
    return float(np.mean(loss.value(margins, y)))


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Hinge(), losses.Huber(1.0)], ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_chain_without_l1_on_columns_of_many_sizes(loss: losses.Loss, intercept: bool) -> None:
    """The subgradients of the chain add up to 0; what rounding leaves of that is of the largest column, not of all."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 16)) * 10.0 ** rng.uniform(-3, 3, 16)
    y = np.sign(rng.standard_normal(8))
    problem = spdpeg.Problem(X, y, loss=loss, r1=penalties.FusedL1(0.0, 0.05), intercept=intercept)
    result = spdpeg.solve(problem, tol=1e-8)
    assert result.certificate is not None
    assert result.certificate.met == "relative gap"


@pytest.mark.parametrize("intercept", [False, True])
def test_slopes_beyond_those_of_the_loss_are_cut_off(intercept: bool) -> None:
    """After a long step a model predicts them for some rows, which would leave no bound at all."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 10)), np.where(rng.standard_normal(200) > 0.3, 1.0, -1.0)
    problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(0.02), intercept=intercept)
    best = spdpeg.solve(problem, tol=1e-10)
    x = best.x + 1e-3 * rng.standard_normal(best.x.size)  # slopes at this x have to be scaled
    slopes = losses.Logistic().derivative(np.column_stack([X, np.full(200, problem.bias)])[:, : x.size] @ best.x, y)
    slopes[:3] = -1.01 * y[:3]
    assert np.all(np.isinf(losses.Logistic().conjugate(slopes[:3], y[:3])))
    without, found = problem.certificate(x, np.zeros(0)), problem.certificate(x, np.zeros(0), slopes)
    assert best.certificate.dual - 0.02 * best.objective < found.dual <= best.objective
    assert found.dual >= without.dual
