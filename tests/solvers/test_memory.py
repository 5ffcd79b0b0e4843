"""With a sparse F no comparator allocates anything of size d x d, unless its entry in the table says so."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from support.comparators import DETERMINISTIC, ONE_ROW, VARIANTS

N, D = 200, 3000
NUMBER = 8
PER_COORDINATE, PER_ROW = 60, 40
"""Numbers that a method may keep or use for each coordinate, F having about as many outputs, and for each row."""
STORED_POINTS = ("sag-admm inexact", "sag-admm exact")


def problem_of() -> spdpeg.Problem:
    """About as many edges as coordinates."""
    rng = np.random.default_rng(0)
    X = sp.random_array((N, D), density=0.01, random_state=rng, format="csr")
    edges = [(i, i + 1) for i in range(0, D - 1, 2)] + [(i, int(rng.integers(0, i))) for i in range(1, D, 2)]
    return spdpeg.Problem(
        X,
        X.sum(axis=1) > 15.0,
        loss=losses.Logistic(),
        r1=penalties.L2Squared(1e-2),
        r2=penalties.L1(1e-3),
        F=operators.GraphDifference(edges),
    )


def peak(variant: str, problem: spdpeg.Problem) -> int:
    """Bytes on top of what was there, at the worst moment of a short run."""
    name, parameters = VARIANTS[variant]
    options: dict[str, Any] = {
        "max_passes": None,
        "max_iterations": 12,
        "batch_size": 1 if variant in (*ONE_ROW, *DETERMINISTIC) else 3,
    }
    spdpeg.solve(problem, name, **options, **parameters)  # loads what is compiled
    tracemalloc.start()
    try:
        spdpeg.solve(problem, name, **options, **parameters)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "sadmm-full"])
def test_a_few_vectors_are_enough(variant: str) -> None:
    allowed = NUMBER * (PER_COORDINATE * D + PER_ROW * N)
    if variant in STORED_POINTS:
        allowed += NUMBER * N * D
    assert allowed < NUMBER * D * D / 10
    assert peak(variant, problem_of()) < allowed


@pytest.mark.parametrize("variant", STORED_POINTS)
def test_points_are_counted(variant: str) -> None:
    """The measurement sees what is there to be seen."""
    assert peak(variant, problem_of()) > NUMBER * N * D
