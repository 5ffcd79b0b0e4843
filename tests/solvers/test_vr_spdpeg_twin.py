"""VR-SPDPEG follows its slow twin iterate by iterate: schemes, estimators, terms, weights, batches and layouts."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from support import catalogue, designs
from support.variance_reduced import Twin

FACTORS: dict[str, tuple[str, ...]] = {
    "scheme": ("condat-vu", "pd3o", "extragradient"),
    "estimator": ("saga", "l-svrg", "svrg"),
    "loss": ("Logistic", "Squared", "Huber"),
    "r1": ("L1Weighted", "L2Squared", "ElasticNet", "HuberL1", "GroupL2", "Box", "None"),
    "shape": ("FirstDifference-L1", "GraphDifference-L1Weighted", "DenseMatrix-GroupL2", "Stack-HuberL1", "None-None"),
    "weighted": ("no", "yes"),
    "columns": ("alike", "uneven"),
    "start": ("zero", "chosen"),
    "batch": ("1", "5"),
    "layout": ("dense", "csr"),
    "sampling": ("auto", "importance", "hybrid", "reshuffled"),
}
LAZY = FACTORS | {"scheme": ("condat-vu",), "dual_every": ("2", "7")}
CHAIN = FACTORS | {
    "scheme": ("joint-prox",),
    "r1": ("L1", "None"),
    "shape": ("FirstDifference-L1", "FirstDifference-L1Weighted", "None-None"),
}
CASES = [
    pytest.param(case, id="-".join(case.values()))
    for factors in (FACTORS, LAZY, CHAIN)
    for case in designs.pairwise(factors)
]


def follow(twin: Twin, checkpoints: list[int]) -> None:
    """Run the solver from checkpoint to checkpoint beside its twin."""
    state, expected = None, twin.outputs()
    for count in checkpoints:
        result = spdpeg.solve(
            twin.problem,
            "vr-spdpeg",
            scheme=twin.scheme,
            estimator=twin.estimator,
            sampling=twin.sampling,
            dual_every=twin.dual_every,
            batch_size=twin.batch,
            seed=twin.seed,
            x0=twin.x0 if state is None else None,
            state=state,
            max_iterations=count - (state.iterations if state else 0),
        )
        state = result.state
        assert result.iterations == count
        for name, value in expected[count - 1]._asdict().items():
            scale = np.max(np.abs(value), initial=1e-3)
            atol = 1e-9 * scale
            np.testing.assert_allclose(getattr(result, name), value, rtol=0, atol=atol, err_msg=f"{name} at {count}")


@pytest.mark.parametrize("case", CASES)
def test_follows_twin(case: dict[str, str]) -> None:
    operator, r2 = case["shape"].split("-")
    instance = catalogue.instance(case["loss"], case["r1"], r2, operator, case["weighted"] == "yes")
    if case["columns"] == "uneven":
        instance = instance.with_(X=instance.X * 2.0 ** (np.arange(catalogue.D) % 4 - 2))
    problem = instance.problem(X=sp.csr_array(instance.X) if case["layout"] == "csr" else instance.X)
    batch = int(case["batch"])
    whole = -(-catalogue.N // batch)
    x0 = 0.2 * np.random.default_rng(8).standard_normal(catalogue.D) * (case["start"] == "chosen")
    checkpoints = [1, whole, whole + 1, 2 * whole + 1, 4 * whole]
    every = int(case["dual_every"]) if "dual_every" in case else None
    twin = Twin(
        instance, problem, case["scheme"], case["estimator"], batch, 3, x0, checkpoints[-1], case["sampling"], every
    )
    follow(twin, checkpoints)


def test_the_cases_differ_in_what_they_are_meant_to() -> None:
    """Rows drawn by length or not, columns scaled or not, duals that wait by themselves or not."""
    twins = [
        Twin(instance, instance.problem(), "condat-vu", "saga", 1, 3, np.zeros(catalogue.D), 1)
        for instance in (
            catalogue.instance(),
            catalogue.instance(r2="L1", operator="Stack"),
            catalogue.instance().with_(X=catalogue.rows() * 2.0 ** (np.arange(catalogue.D) % 4 - 2)),
        )
    ]
    assert [twin.method.probabilities is None for twin in twins] == [False, False, False]
    assert [twin.method.dual_every for twin in twins] == [1, 2, 1]
    assert [bool(np.ptp(twin.metric)) for twin in twins] == [False, False, True]


@pytest.mark.parametrize("scheme", FACTORS["scheme"])
def test_the_table_is_computed_anew_after_fifty_passes(scheme: str) -> None:
    instance = catalogue.instance("Squared", "L2Squared", "L1", "FirstDifference")
    whole = -(-catalogue.N // 20)
    count = 51 * whole + 2
    follow(Twin(instance, instance.problem(), scheme, "saga", 20, 3, np.zeros(catalogue.D), count), [51 * whole, count])
