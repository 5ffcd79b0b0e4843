"""Workers of a cluster that are killed: the solve ends with the same bits, or with a sentence."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.stress

KILLS = 5
"""For each of four seeds."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 40}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def made() -> spdpeg.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    y = X @ np.repeat([1.0, -0.5], 10) + rng.standard_normal(2000) > 0.0
    dX, dy = da.from_array(X, chunks=(250, 20)), da.from_array(y, chunks=250)
    terms = {"r1": penalties.L1(0.005), "r2": penalties.L1(0.01), "F": operators.FirstDifference()}
    return spdpeg.Problem(dX, dy, loss=losses.Logistic(), intercept=True, **terms)


@pytest.mark.parametrize("seed", range(4))
def test_killed_workers_change_no_bit(client: Any, seed: int) -> None:
    problem = made()
    known = spdpeg.solve(problem, tol=1e-8).x
    rng = np.random.default_rng(seed)
    for _ in range(KILLS):
        client.cluster.scale(2)  # one that was slow to come back may have been given up
        client.wait_for_workers(2, timeout=240)
        # One that was killed a moment ago may still be listed.
        victim = int(rng.choice(list(client.run(os.getpid, on_error="ignore").values())))
        timer = threading.Timer(float(rng.uniform(0.0, 0.6)), os.kill, (victim, signal.SIGKILL))
        timer.start()
        found = spdpeg.solve(problem, tol=1e-8).x
        timer.join()
        assert np.array_equal(found, known)


def test_without_any_worker_a_sentence_ends_it(client: Any) -> None:
    problem = made()
    client.cluster.scale(0)
    with (
        dask.config.set({"spdpeg.time-limit": "3s"}),
        pytest.raises(spdpeg.ClusterError, match=r"No progress for 3 seconds, partition\(s\) 0, .*, 0 worker"),
    ):
        spdpeg.solve(problem, tol=1e-8)
