"""Workers of a cluster that are killed: the solve ends with the same bits, or with a sentence."""

import os
import signal
import threading
import time
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


def alive(client: Any) -> list[int]:
    """The processes of both workers. One that was killed comes back, or is replaced if dask has given it up."""
    for patience in (60.0, 240.0):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            # One that was killed a moment ago may still be listed, and does not answer.
            found = [pid for pid in client.run(os.getpid, on_error="ignore").values() if isinstance(pid, int)]
            if len(found) == 2:
                return found
            time.sleep(0.2)
        client.cluster.scale(0)
        client.cluster.scale(2)
    raise TimeoutError("The workers did not come back.")


@pytest.mark.parametrize("seed", range(4))
def test_killed_workers_change_no_bit(client: Any, seed: int) -> None:
    problem = made()
    known = spdpeg.solve(problem, tol=1e-8).x
    rng = np.random.default_rng(seed)
    for _ in range(KILLS):
        victim = int(rng.choice(alive(client)))
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
