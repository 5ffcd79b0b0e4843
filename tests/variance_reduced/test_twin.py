"""VR-SPDPEG follows its slow twin iterate by iterate: schemes, estimators, terms, weights, batches and layouts."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from support import catalogue, designs
from support.variance_reduced import Twin

FACTORS = {
    "scheme": ("condat-vu", "pd3o", "extragradient"),
    "estimator": ("saga", "l-svrg", "svrg"),
    "loss": ("Logistic", "Squared", "Huber"),
    "r1": ("L1Weighted", "L2Squared", "ElasticNet", "HuberL1", "GroupL2", "Box", "None"),
    "shape": ("FirstDifference-L1", "GraphDifference-L1Weighted", "DenseMatrix-GroupL2", "Stack-HuberL1", "None-None"),
    "weighted": ("no", "yes"),
    "batch": ("1", "5"),
    "layout": ("dense", "csr"),
    "sampling": ("settling", "reshuffled"),
}
CHAIN = FACTORS | {
    "scheme": ("chain-prox",),
    "r1": ("L1", "None"),
    "shape": ("FirstDifference-L1", "FirstDifference-L1Weighted", "None-None"),
}
CASES = [
    pytest.param(case, id="-".join(case.values()))
    for factors in (FACTORS, CHAIN)
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
            finish="none",
            sampling=twin.sampling,
            batch_size=twin.batch,
            seed=twin.seed,
            x0=twin.x0 if state is None else None,
            state=state,
            max_passes=None,
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
    problem = instance.problem(X=sp.csr_array(instance.X) if case["layout"] == "csr" else instance.X)
    batch = int(case["batch"])
    whole = -(-catalogue.N // batch)
    x0 = 0.2 * np.random.default_rng(8).standard_normal(catalogue.D)
    checkpoints = [1, whole, whole + 1, 2 * whole + 1, 4 * whole]
    twin = Twin(instance, problem, case["scheme"], case["estimator"], batch, 3, x0, checkpoints[-1], case["sampling"])
    follow(twin, checkpoints)


@pytest.mark.parametrize("scheme", FACTORS["scheme"])
def test_the_table_is_computed_anew_after_fifty_passes(scheme: str) -> None:
    instance = catalogue.instance("Squared", "L2Squared", "L1", "FirstDifference")
    whole = -(-catalogue.N // 20)
    count = 51 * whole + 2
    follow(Twin(instance, instance.problem(), scheme, "saga", 20, 3, np.zeros(catalogue.D), count), [51 * whole, count])
