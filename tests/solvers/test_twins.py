"""Every comparator follows its slow twin iterate by iterate: terms, operators, weights, batches and layouts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses
from spdpeg.engine.registry import REGISTRY
from spdpeg.solvers import admm_newton
from support import catalogue, designs
from support.comparators import BY_SUBGRADIENT, CORNERS, DETERMINISTIC, ONE_ROW, VARIANTS, Output, Run, wide
from support.instances import Instance

CHECKPOINTS = (1, 7, 60)
WIDE = 210
LOSSES: dict[str, Callable[[], Any]] = {
    **catalogue.LOSSES,
    "Hinge": losses.Hinge,
    "Quantile": lambda: losses.Quantile(0.3),
}

GIVEN: dict[str, dict[str, Any]] = {
    "sgadm": {"rho": 0.4, "kappa": 0.7, "lipschitz": 5.0, "averaging": "increasing"},
    "opg-admm": {"rho": 0.4, "kappa": 0.7, "averaging": "linear"},
    "spdhg": {"rho": 0.4, "kappa": 0.7, "lipschitz": 5.0, "averaging": "last"},
    "rda-admm": {"rho": 0.4, "kappa": 0.7},
    "sadmm": {"rho": 0.4, "kappa": 0.7, "averaging": "increasing"},
    "optimal-sadmm": {"rho": 0.4, "kappa": 0.7, "averaging": "uniform"},
    "sadmm-diag": {"rho": 0.4, "eta": 0.3, "averaging": "linear"},
    "sadmm-full": {"rho": 0.4, "eta": 0.3, "averaging": "linear"},
    "online-admm": {"rho": 0.4, "kappa": 0.7, "averaging": "linear"},
    "svrg-admm": {"rho": 0.4, "eta": 0.05, "averaging": "uniform"},
    "sag-admm": {"rho": 0.4, "lipschitz": 9.0, "averaging": "uniform"},
    "sdca-admm": {"rho": 0.7, "gamma": 0.25, "averaging": "uniform"},
    "spdhg-cers": {"gamma": 0.3, "probability": 0.2, "averaging": "uniform"},
    "ladmm": {"rho": 0.4, "lipschitz": 9.0, "averaging": "uniform"},
    "condat-vu": {"rho": 0.4, "lipschitz": 9.0, "relaxation": 1.3},
    "pd3o": {"rho": 0.02, "step": 0.1},
    "admm-newton": {"rho": 0.4},
    "egadm": {},
}


def factors(variant: str) -> dict[str, tuple[str, ...]]:
    """What may be combined with this comparator."""
    strong, by_subgradient = variant.endswith("strong"), variant in BY_SUBGRADIENT
    # Steps 1 / (mu k) without a Lipschitz constant, as published, need bounded slopes; and with a norm in r1 they lead
    # back to zero, where the subgradient hangs on rounding errors.
    smooth = (
        ("Logistic", "Huber") if strong and variant.split()[0] not in ("sgadm", "spdhg") else ("Logistic", "Squared")
    )
    ridge = ("L2Squared",) if by_subgradient else ("L2Squared", "ElasticNet")
    return {
        "loss": (*smooth, *(("Hinge", "Quantile") if variant in CORNERS else ())),
        "r1": ridge if strong else ("L1", "L2Squared", "GroupL2", "None"),
        "shape": ("FirstDifference-L1", "GraphDifference-LInf", "DenseMatrix-Quantile", "None-None"),
        "weighted": ("no", "yes"),
        "batch": ("1",) if variant in ONE_ROW | DETERMINISTIC else ("1", "5"),
        "layout": ("dense", "csr"),
        "options": ("default", "given") if variant != "egadm original" else ("default",),
    }


CASES = [
    pytest.param(variant, case, id="-".join([variant, *case.values()]))
    for variant in VARIANTS
    for case in designs.pairwise(factors(variant))
]


def make_instance(loss: str, r1: str, shape: str, weighted: bool) -> Instance:
    """A small problem."""
    operator, r2 = shape.split("-")
    instance = catalogue.instance("Logistic", r1, r2, operator, weighted)
    the_loss = LOSSES[loss]()
    return instance.with_(loss=the_loss, labels=catalogue.labels_for(the_loss, instance.X))


def options_of(variant: str, kind: str) -> dict[str, Any]:
    """Parameters beside those that choose the variant."""
    if kind == "default":
        return {}
    given = dict(GIVEN[VARIANTS[variant][0]])
    if variant.endswith("strong"):
        given.pop("kappa")
    if variant == "egadm prox":
        given["rho"] = 0.4
    return given


def start_at(d: int) -> np.ndarray:
    """Away from zero, where the subgradient of a norm would hang on rounding errors."""
    return np.asarray(0.2 * np.random.default_rng(8).standard_normal(d))


def follow(run: Run, checkpoints: tuple[int, ...] = CHECKPOINTS) -> None:
    """Run the solver from checkpoint to checkpoint beside its twin."""
    state = None
    for count, expected in zip(checkpoints, run.outputs(checkpoints), strict=True):
        result = spdpeg.solve(
            run.problem,
            run.name,
            batch_size=run.batch,
            seed=run.seed,
            x0=run.start if state is None else None,
            state=state,
            max_passes=None,
            max_iterations=count - (state.iterations if state else 0),
            **run.parameters,
        )
        state = result.state
        assert result.iterations == count
        # The root of a matrix that is not yet of full rank turns rounding errors of 1e-16 into 1e-8.
        assert_close(result, expected, run.rho, 1e-6 if run.name == "sadmm-full" else 1e-9)


def assert_close(result: Any, expected: Output, rho: float, accuracy: float) -> None:
    """Up to `accuracy` times the largest entry; a dual is a difference of numbers of the size of rho x."""
    for name, value in expected._asdict().items():
        terms = rho * expected.x_last if name == "dual" else np.zeros(1)
        scale = max(np.max(np.abs(value), initial=1e-3), np.max(np.abs(terms)))
        np.testing.assert_allclose(getattr(result, name), value, rtol=0, atol=accuracy * scale, err_msg=name)


@pytest.mark.parametrize(("variant", "case"), CASES)
def test_follows_twin(variant: str, case: dict[str, str]) -> None:
    instance = make_instance(case["loss"], case["r1"], case["shape"], case["weighted"] == "yes")
    problem = instance.problem(X=sp.csr_array(instance.X) if case["layout"] == "csr" else instance.X)
    options = options_of(variant, case["options"])
    x0 = start_at(problem.n_features)
    follow(Run(variant, instance, problem, CHECKPOINTS[-1], int(case["batch"]), 3, x0, options))


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "admm-newton"])
def test_follows_twin_where_d_is_too_large_to_diagonalise(variant: str, csr: bool) -> None:
    r1 = "L2Squared" if csr or variant.endswith("strong") else "L1"
    instance = wide(LOSSES["Logistic"](), catalogue.PENALTIES[r1](WIDE), weighted=csr, d=WIDE)
    problem = instance.problem(X=sp.csr_array(instance.X) if csr else instance.X)
    batch = 5 if csr and variant not in ONE_ROW | DETERMINISTIC else 1
    follow(Run(variant, instance, problem, 12, batch, 3, start_at(WIDE)), (1, 12))


@pytest.mark.parametrize("variant", VARIANTS)
def test_follows_twin_from_zero_over_several_passes(variant: str) -> None:
    instance = catalogue.instance(r1="L2Squared")
    follow(Run(variant, instance, instance.problem(), 3 * catalogue.N), (3 * catalogue.N,))


def test_newton_by_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admm_newton, "_DENSE", 0)
    for layout in (np.asarray, sp.csr_array):
        instance = catalogue.instance(weighted=True)
        follow(Run("admm-newton", instance, instance.problem(X=layout(instance.X)), 60))


def test_updates_of_F_come_as_often_as_their_probability_says() -> None:
    """p / (1 - p) updates of F on average before each row, and none with probability 1 - p."""
    instance = catalogue.instance()
    for p in (0.2, 0.5, 0.8):
        run = Run("spdhg-cers", instance, instance.problem(), 20_000, options={"probability": p})
        counts = np.array(run.updates_of_F)
        assert np.mean(counts) == pytest.approx(p / (1 - p), rel=0.03)
        assert np.mean(counts == 0) == pytest.approx(1 - p, rel=0.03)


def test_every_comparator_is_here() -> None:
    """A solver added to the registry without a twin fails here."""
    ours = {"spdpeg", "spdpeg-sc1", "spdpeg-sc2", "vr-spdpeg", "sampled-newton", "lp"}
    ours |= {"one-read", "prox-newton", "prox-lbfgs", "working-set", "sparsa", "interior-point"}
    assert set(REGISTRY) - ours == {name for name, _ in VARIANTS.values()}
    assert set(VARIANTS) >= BY_SUBGRADIENT | CORNERS | DETERMINISTIC | ONE_ROW
