"""VR-SPDPEG against optima of an independent conic solver, and its steps and batches."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, UnsupportedError, losses, penalties
from spdpeg.certificate import kkt_residual
from spdpeg.result import Status
from spdpeg.solvers.vr_spdpeg import ESTIMATORS, VRSPDPEG
from support import catalogue, conic, designs

PASSES = 2000
"""Within which every case below reaches 1e-10; most need fewer than 200."""

SCHEMES = ("condat-vu", "extragradient", "pd3o")
"""Those that take any problem."""

DESIGNS = (
    {
        "scheme": (*SCHEMES, "auto"),
        "estimator": ESTIMATORS,
        "loss": ("Logistic", "Squared", "Huber"),
        "r1": ("L1", "L2Squared", "GroupL2"),
        "shape": ("L1-FirstDifference", "GroupL2-DenseMatrix", "HuberL1-GraphDifference"),
        "weighted": ("no", "yes"),
    },
    {
        "scheme": ("joint-prox",),
        "estimator": ESTIMATORS,
        "loss": ("Logistic", "Squared", "Huber"),
        "r1": ("L1", "None"),
        "shape": ("L1-FirstDifference", "L1Weighted-FirstDifference"),
        "weighted": ("no", "yes"),
    },
    {
        "scheme": ("joint-prox",),
        "estimator": ESTIMATORS,
        "loss": ("Logistic", "Squared", "Huber"),
        "r1": ("L1", "L2Squared", "ElasticNet"),
        "shape": ("None-None",),
        "weighted": ("no", "yes"),
    },
)
CASES = [case for factors in DESIGNS for case in designs.pairwise(factors)]


def optimum(case: dict[str, str]) -> Any:
    """Instance and optimum of a case."""
    return conic.optimum(case["loss"], case["r1"], *case["shape"].split("-"), weighted=case["weighted"] == "yes")


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.values()))
class TestOptimum:
    def test_reached_to_1e_10(self, case: dict[str, str]) -> None:
        instance, best = optimum(case)
        optimal = instance.objective(best.x)
        result = spdpeg.solve(
            instance.problem(),
            "vr-spdpeg",
            scheme=case["scheme"],
            estimator=case["estimator"],
            max_passes=PASSES,
            tol=0,
            record_every=50,
            callback=lambda progress: instance.objective(progress.x) - optimal < 1e-10,
        )
        assert result.status is Status.CALLBACK
        assert instance.objective(result.x) - optimal > -1e-10

    def test_is_a_fixed_point(self, case: dict[str, str]) -> None:
        """A run that starts from the solution stays there, whatever rows are drawn."""
        instance, best = optimum(case)
        options = {"scheme": case["scheme"], "estimator": case["estimator"]}
        result = spdpeg.solve(
            instance.problem(), "vr-spdpeg", x0=best.x, dual0=best.dual, max_iterations=150, **options
        )
        np.testing.assert_allclose(result.x, best.x, atol=2e-6)
        if case["scheme"] != "joint-prox":  # which reads some dual off x; where x is 0 there are many
            np.testing.assert_allclose(result.dual, best.dual, atol=2e-6)
        assert kkt_residual(instance.problem().view, result.x, result.dual) < 5e-6
        np.testing.assert_allclose(result.z, instance.F @ best.x, atol=2e-6)


def steps(problem: spdpeg.Problem, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Primal and dual steps at the start."""
    vectors = spdpeg.solve(problem, "vr-spdpeg", max_iterations=0, **options).state.vectors
    return vectors["tau"], vectors["sigma"]


class TestSteps:
    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("r1", ["L1", "GroupL2"])
    @pytest.mark.parametrize("r2", ["L1", "LInf"])
    @pytest.mark.parametrize("sampling", ["hybrid", "importance"])
    def test_coupling_is_at_most_one(self, scheme: str, r1: str, r2: str, sampling: str) -> None:
        """|sigma^(1/2) F tau^(1/2)| <= 1, and half its square for the extragradient scheme."""
        rng = np.random.default_rng(0)
        for _ in range(30):
            m, d = rng.integers(2, 12, 2)
            F = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.5) * 10.0 ** rng.uniform(-3, 3, (m, 1))
            F[0] = 0.0
            X = rng.standard_normal((20, d)) * 10.0 ** rng.uniform(-2, 2, d)
            terms = {"r1": catalogue.PENALTIES[r1](d), "r2": catalogue.PENALTIES[r2](m)}
            problem = spdpeg.Problem(X, X[:, 0], loss=losses.Squared(), F=F, **terms)
            tau, sigma = steps(problem, batch_size=int(rng.integers(1, 21)), scheme=scheme, sampling=sampling)
            assert np.all(tau > 0)
            assert np.all(sigma > 0)
            norm = np.linalg.norm(np.sqrt(sigma)[:, None] * F * np.sqrt(tau), 2)
            assert norm**2 <= (0.5 if scheme == "extragradient" else 1.0) * (1 + 1e-12)
            assert r1 == "L1" or np.all(tau == tau[0])
            assert r2 == "L1" or np.all(sigma == sigma[0])

    @pytest.mark.parametrize("sampling", ["hybrid", "importance"])
    @pytest.mark.parametrize("batch", [1, catalogue.N])
    def test_primal_steps_respect_the_loss(self, sampling: str, batch: int) -> None:
        """Half of 1 / L for the L of a batch: of all rows, of the worst, or of the mean if long rows come up more."""
        instance = catalogue.instance()
        squares = (instance.X**2).sum(axis=1)
        worst = squares.mean() if sampling == "importance" else squares.max()
        L = 0.25 * (worst if batch == 1 else np.linalg.norm(instance.X, 2) ** 2 / catalogue.N)
        tau, _ = steps(instance.problem(), batch_size=batch, sampling=sampling)
        assert np.all(tau < 0.51 / L)
        assert np.all(tau > 0.25 / L)

    @pytest.mark.parametrize("sparse", [False, True])
    def test_columns_of_other_units_get_steps_of_their_own(self, sparse: bool) -> None:
        """As long as no single row stands out for it, the steps undo the units."""
        units = 10.0 ** np.linspace(-3, 3, catalogue.D)
        X = np.random.default_rng(0).standard_normal((300, catalogue.D))
        X /= np.sqrt(np.mean(X**2, axis=0))
        one, other = (
            spdpeg.Problem(sp.csr_array(A) if sparse else A, X[:, 0], loss=losses.Squared(), r1=penalties.L1(0.1))
            for A in (X, X * units)
        )
        alike, scaled = (steps(problem, batch_size=1, sampling="hybrid")[0] for problem in (one, other))
        assert np.ptp(alike) == 0.0
        np.testing.assert_allclose(scaled, alike / units**2, rtol=1e-9)

    def test_not_where_a_single_row_would_stand_out(self) -> None:
        X = np.ones((300, 3))
        X[:, 2] = 0.0
        X[0, 2] = 0.3
        problem = spdpeg.Problem(X, X[:, 0], loss=losses.Squared(), r1=penalties.L1(0.1))
        assert np.ptp(steps(problem, batch_size=1)[0]) == 0.0

    def test_without_F_only_the_loss_counts(self) -> None:
        problem = catalogue.instance(r2="None").problem()
        tau, sigma = steps(problem, batch_size=1, sampling="hybrid")
        np.testing.assert_allclose(tau, 0.5 / problem.view.bounds.lipschitz_max)
        assert sigma.size == 0

    def test_a_lazy_dual_takes_shorter_steps(self) -> None:
        problem = catalogue.instance().problem()
        (tau, sigma), (same, shorter) = (steps(problem, dual_every=m) for m in (1, 5))
        np.testing.assert_array_equal(tau, same)
        np.testing.assert_allclose(sigma, 5 * shorter)


class TestBatch:
    @pytest.mark.parametrize("n", [1, 2, 19, 20, 400])
    @pytest.mark.parametrize("d", [1, 5, 300])
    def test_default_lies_between_one_row_and_a_twentieth(self, n: int, d: int) -> None:
        X = np.random.default_rng(0).standard_normal((n, d))
        problem = spdpeg.Problem(X, X[:, 0], loss=losses.Squared(), r1=penalties.L1(0.1), r2=penalties.L1(0.1))
        batch = VRSPDPEG().default_batch(problem.view)
        assert isinstance(batch, int)
        assert 1 <= batch <= max(1, n // 20)

    def test_empty_rows(self) -> None:
        problem = spdpeg.Problem(np.zeros((40, 3)), np.ones(40), loss=losses.Squared(), r1=penalties.L1(0.1))
        assert VRSPDPEG().default_batch(problem.view) == 1
        np.testing.assert_array_equal(spdpeg.solve(problem, "vr-spdpeg", x0=[1.0, -1.0, 2.0], max_passes=20).x, 0.0)

    def test_grows_with_the_dense_part_of_a_step(self) -> None:
        """Sparse rows on many coordinates: a step costs far more than a row."""
        rng = np.random.default_rng(0)
        X = np.zeros((2000, 200))
        X[np.arange(2000), rng.integers(200, size=2000)] = 1.0
        dense, sparse = (
            spdpeg.Problem(rows, X[:, 0], loss=losses.Squared(), r1=penalties.L1(0.1), r2=penalties.L1(0.1))
            for rows in (X, sp.csr_array(X))
        )
        rule = VRSPDPEG()
        assert rule.default_batch(sparse.view) > 10 * rule.default_batch(dense.view)


class TestRefusals:
    @pytest.mark.parametrize("name", ["estimator", "scheme", "sampling"])
    def test_unknown_choice(self, name: str) -> None:
        unknown: dict[str, Any] = {name: "other"}
        with pytest.raises(InputError, match=f"{name} is 'other'"):
            spdpeg.solve(catalogue.instance().problem(), "vr-spdpeg", **unknown)

    @pytest.mark.parametrize(
        "changes",
        [
            {"r1": "L1Weighted"},
            {"r1": "L2Squared"},
            {"r1": "L1inBox"},
            {"r2": "HuberL1"},
            {"operator": "GraphDifference"},
            {"operator": "Difference"},
        ],
        ids=lambda changes: next(iter(changes.values())),
    )
    def test_chain_prox_of_what_has_no_prox_together(self, changes: dict[str, str]) -> None:
        problem = catalogue.instance(**changes).problem()
        with pytest.raises(UnsupportedError, match=r"joint-prox needs r1 = L1 with one weight.*Leave scheme out\."):
            spdpeg.solve(problem, "vr-spdpeg", scheme="joint-prox")

    def test_loss_with_corners(self) -> None:
        instance = catalogue.instance()
        with pytest.raises(UnsupportedError):
            spdpeg.solve(instance.problem(loss=losses.Hinge()), "vr-spdpeg")
