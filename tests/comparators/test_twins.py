"""Every comparator follows its slow twin iterate by iterate: terms, operators, weights, batches and layouts."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses
from support import catalogue, designs
from support.comparators import BY_SUBGRADIENT, CORNERS, DETERMINISTIC, ONE_ROW, VARIANTS, Output, Run, wide
from support.instances import Instance

CHECKPOINTS = (1, 2, 12, 60)
LOSSES = {**catalogue.LOSSES, "Hinge": losses.Hinge, "Quantile": lambda: losses.Quantile(0.3)}

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
    strong = variant.endswith("strong")
    return {
        "loss": ("Logistic", "Squared", *(("Hinge", "Quantile") if variant in CORNERS else ())),
        "r1": ("L2Squared", "ElasticNet") if strong else ("L1", "L2Squared", "GroupL2", "None"),
        "shape": ("FirstDifference-L1", "GraphDifference-LInf", "DenseMatrix-Quantile", "None-None", "wide"),
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
    """A small problem, or one on more coordinates than the exact x-steps diagonalise."""
    the_loss = LOSSES[loss]()
    if shape == "wide":
        return wide(the_loss, catalogue.PENALTIES[r1](220), weighted)
    operator, r2 = shape.split("-")
    instance = catalogue.instance("Logistic", r1, r2, operator, weighted)
    return instance.with_(loss=the_loss, labels=catalogue.labels_for(the_loss, instance.X))


def options_of(variant: str, kind: str) -> dict[str, Any]:
    """Parameters beside those that choose the variant."""
    # Newton's method of the twin goes to rounding, so the solver's must come close.
    close = {"accuracy": 1e-14} if variant == "admm-newton" else {}
    if kind == "default":
        return close
    given = {**close, **GIVEN[VARIANTS[variant][0]]}
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
        assert_close(result, expected)


def assert_close(result: Any, expected: Output) -> None:
    for name, value in expected._asdict().items():
        scale = np.max(np.abs(value), initial=1e-3)
        np.testing.assert_allclose(getattr(result, name), value, rtol=0, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize(("variant", "case"), CASES)
def test_follows_twin(variant: str, case: dict[str, str]) -> None:
    instance = make_instance(case["loss"], case["r1"], case["shape"], case["weighted"] == "yes")
    problem = instance.problem(X=sp.csr_array(instance.X) if case["layout"] == "csr" else instance.X)
    options = options_of(variant, case["options"])
    x0 = start_at(problem.n_features)
    follow(Run(variant, instance, problem, CHECKPOINTS[-1], int(case["batch"]), 3, x0, options))


@pytest.mark.parametrize("variant", VARIANTS)
def test_follows_twin_from_zero_over_several_passes(variant: str) -> None:
    instance = catalogue.instance(r1="L2Squared")
    follow(Run(variant, instance, instance.problem(), 3 * catalogue.N), (3 * catalogue.N,))


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
    names = {row["name"] for row in spdpeg.solvers()}
    assert names - {name for name, _ in VARIANTS.values()} == {"spdpeg", "spdpeg-sc1", "spdpeg-sc2"}
    assert BY_SUBGRADIENT | CORNERS | DETERMINISTIC | ONE_ROW <= set(VARIANTS)
