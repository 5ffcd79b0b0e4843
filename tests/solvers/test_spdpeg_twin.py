"""The compiled SPDPEG follows the slow twin iterate by iterate, whatever the terms and wherever the rows come from."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg.solvers import sampling
from support import catalogue, designs, twin
from support.instances import Instance

REGIMES = ("spdpeg", "spdpeg-sc1", "spdpeg-sc2")
CHECKPOINTS = (1, 2, 9, 45)
MU = 0.05

CASES = designs.pairwise(
    {
        "regime": REGIMES,
        "mode": ("paper", "tight"),
        "loss": tuple(catalogue.LOSSES),
        "r1": (*catalogue.PENALTIES, *catalogue.DOMAINS),
        "r2": tuple(catalogue.PENALTIES),
        "operator": tuple(catalogue.OPERATORS),
        "source": (*catalogue.SOURCES, "stream", "stream_sparse"),
        "batch": ("1", "7"),
        "weights": ("plain", "weighted"),
    }
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.values()))
def test_kernel_follows_twin(case: dict[str, str], tmp_path: Path) -> None:
    regime, batch = case["regime"], int(case["batch"])
    instance = catalogue.instance(case["loss"], case["r1"], case["r2"], case["operator"], case["weights"] == "weighted")
    instance, arguments = deliver(instance, case["source"], tmp_path)
    streamed = case["source"].startswith("stream")
    mu_loss = 0.0 if regime == "spdpeg" else MU

    problem = instance.problem(**arguments)
    on_disk = case["source"].startswith("memmap")
    batches = stream_batches(batch) if streamed else sampled_batches("auto", batch, on_disk)
    head = slice(0, catalogue.CHUNK) if streamed else slice(None)
    known = twin.measure(instance, head, problem.view.bounds.lipschitz, problem.F.squared_norm, mu_loss)
    if case["mode"] == "paper":
        step, rho = twin.paper_steps(regime, known)
    else:
        step, rho = twin.tight_steps(
            regime, known, batch, None if streamed else catalogue.N, catalogue.D, instance.loss.bounded_slope
        )
    trace = twin.run(instance, regime, step, rho, batches)

    for count in CHECKPOINTS:
        if streamed:  # a stream is consumed: each run reads it from the beginning
            _, arguments = deliver(instance, case["source"], tmp_path)
            problem = instance.problem(**arguments)
        result = spdpeg.solve(
            problem,
            regime,
            mode=case["mode"],
            batch_size=batch,
            mu_loss=mu_loss,
            max_passes=None,
            max_iterations=count,
            seed=3,
        )
        assert_follows(result, trace, count)


@pytest.mark.parametrize("name", ["independent", "reshuffled", "blocks"])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("regime", REGIMES)
def test_every_sampling(regime: str, batch: int, name: str) -> None:
    instance = catalogue.instance(r1="L2Squared")
    known = twin.measure(instance, slice(None), 0.0, instance.problem().F.squared_norm, 0.0)
    step, rho = twin.paper_steps(regime, known)
    trace = twin.run(instance, regime, step, rho, sampled_batches(name, batch, False))
    result = spdpeg.solve(
        instance.problem(),
        regime,
        mode="paper",
        batch_size=batch,
        sampling=name,
        max_passes=None,
        max_iterations=CHECKPOINTS[-1],
        seed=3,
    )
    assert_follows(result, trace, CHECKPOINTS[-1])


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("regime", REGIMES)
def test_one_sample_takes_both_gradients_at_x(regime: str, batch: int) -> None:
    """What the authors' published code runs: one batch a step, its gradient at x used twice."""
    instance = catalogue.instance(r1="L2Squared")
    known = twin.measure(instance, slice(None), 0.0, instance.problem().F.squared_norm, 0.0)
    step, rho = twin.paper_steps(regime, known)
    batches = sampled_batches("auto", batch, False)[: CHECKPOINTS[-1]]
    trace = twin.run_one_sample(instance, regime, step, rho, batches)
    result = spdpeg.solve(
        instance.problem(),
        regime,
        mode="paper",
        variant="one-sample",
        batch_size=batch,
        max_passes=None,
        max_iterations=CHECKPOINTS[-1],
        seed=3,
    )
    assert_follows(result, trace, CHECKPOINTS[-1])
    assert result.state.rows == CHECKPOINTS[-1] * batch


def test_start_away_from_zero() -> None:
    instance = catalogue.instance()
    x0 = np.linspace(-1.0, 1.0, catalogue.D)
    known = twin.measure(instance, slice(None), 0.0, instance.problem().F.squared_norm, 0.0)
    step, rho = twin.paper_steps("spdpeg", known)
    trace = twin.run(instance, "spdpeg", step, rho, sampled_batches("auto", 1, False), x0)
    result = spdpeg.solve(instance.problem(), "spdpeg", mode="paper", x0=x0, max_iterations=45, seed=3)
    assert_follows(result, trace, 45)


def test_given_constants_replace_the_chosen_ones() -> None:
    instance = catalogue.instance()
    squared_norm = instance.problem().F.squared_norm
    rho, kappa, lipschitz, scale = 0.3, 0.7, 5.0, 0.5
    s = rho * squared_norm
    L_tilde = max(4 * s, 2 * lipschitz + s)
    trace = twin.run(
        instance,
        "spdpeg",
        lambda k: scale / (kappa * np.sqrt(k + 1) + L_tilde),
        rho,
        sampled_batches("auto", 1, False),
    )
    result = spdpeg.solve(
        instance.problem(),
        "spdpeg",
        rho=rho,
        kappa=kappa,
        lipschitz=lipschitz,
        scale=scale,
        max_passes=None,
        max_iterations=45,
        seed=3,
    )
    assert_follows(result, trace, 45)


def test_every_public_term_is_in_the_design() -> None:
    """A new term without a twin, or without a case, fails here."""
    seen = {
        kind: {type(term).__name__ for term in terms}
        for kind, terms in {
            "losses": [make() for make in catalogue.LOSSES.values()],
            "penalties": [make(12) for make in catalogue.PENALTIES.values()],
            "operators": [
                spdpeg.operators.as_operator(make())
                for name, (make, _) in catalogue.OPERATORS.items()
                if name != "None"
            ],
        }.items()
    }
    # As losses the first two have no gradient to follow, and the others none that is Lipschitz.
    refused = {"Hinge", "Quantile", "Poisson", "Gamma"}
    apart = {"losses": {"Loss", "Zero"} | refused, "penalties": {"Penalty"}, "operators": {"Operator", "Empty"}}
    for kind, names in seen.items():
        public = {name for name in getattr(spdpeg, kind).__all__ if name[0].isupper()}
        assert public - apart[kind] <= names


def deliver(instance: Instance, source: str, folder: Path) -> tuple[Instance, dict[str, Any]]:
    """The instance whose rows are exactly those delivered, and the arguments that deliver them."""
    if source.startswith("stream"):
        chunks = catalogue.stream_of(instance, source == "stream_sparse")
        return instance, {"X": chunks, "y": None, "sample_weight": None}
    X = catalogue.SOURCES[source](instance.X, folder)
    if source == "integers":
        instance = instance.with_(X=np.asarray(X, dtype=float))
    return instance, {"X": X}


def sampled_batches(name: str, batch: int, on_disk: bool) -> list[np.ndarray]:
    sampler = sampling.make(name, catalogue.N, batch, 3, on_disk)
    return list(sampler.draw(0, 2 * CHECKPOINTS[-1]).reshape(-1, batch))


def stream_batches(batch: int) -> list[np.ndarray]:
    """Rows in order of arrival; what is left at the end of a traversal waits for the next one."""
    rows = 2 * CHECKPOINTS[-1] * batch
    return list(np.resize(np.arange(catalogue.N), rows).reshape(-1, batch))


def assert_follows(result: Any, trace: twin.Trace, count: int) -> None:
    assert result.iterations == count
    for name, expected in {
        "x_last": trace.x[count - 1],
        "x": trace.average(trace.x_bar, count),
        "z": trace.average(trace.z, count),
        "dual": trace.average(trace.dual_bar, count),
    }.items():
        scale = np.max(np.abs(expected), initial=1e-3)
        np.testing.assert_allclose(getattr(result, name), expected, rtol=0, atol=1e-10 * scale, err_msg=name)
