"""The same problems in memory, in threads, from a disk and on a cluster: the same objective and coefficients."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import data, losses, operators, penalties
from spdpeg.sums import blocks, tasks
from spdpeg.sums.cluster import ClusterSums

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

ROWS, COLUMNS = 300, 7

LOSSES = {"logistic": losses.Logistic(), "squared": losses.Squared(), "huber": losses.Huber(0.5)}
STRUCTURES = {
    "chain": {"r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": operators.FirstDifference()},
    "graph": {"r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": operators.GraphDifference([(0, 3), (2, 6)])},
    "trend": {"r2": penalties.L1(0.02), "F": operators.Difference(2)},
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.Client(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


def made() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    return X, X[:, 0] + 0.3 + 0.5 * rng.standard_normal(ROWS), rng.random(ROWS) + 0.1


def cut(array: np.ndarray) -> Any:
    return da.from_array(array, chunks=(70, *array.shape[1:]))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights-and-intercept"])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("loss", LOSSES)
def test_memory_threads_disk_and_cluster_agree(
    loss: str, structure: str, weighted: bool, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 400)
    X, y, w = made()
    labels = np.where(y > 0.0, 1.0, -1.0) if LOSSES[loss].binary else y
    options: dict[str, Any] = {**STRUCTURES[structure], "loss": LOSSES[loss], "intercept": weighted}
    data.write_dense(tmp_path, [(X, labels)])
    weights = w if weighted else None
    memory = spdpeg.Problem(X, labels, sample_weight=weights, **options)
    problems = {
        "threads": memory,
        "disk": spdpeg.Problem(data.open_rows(tmp_path), sample_weight=weights, **options),
        "cluster": spdpeg.Problem(cut(X), cut(labels), sample_weight=cut(w) if weighted else None, **options),
    }
    # As far as rounding lets each of them come: a gap of 1e-12 leaves more of the coefficients open than 1e-10.
    tol = 1e-15
    known = spdpeg.solve(memory, tol=tol, max_passes=20)
    for name, problem in problems.items():
        found = spdpeg.solve(problem, tol=tol, max_passes=20, n_jobs=2 if name == "threads" else None)
        assert found.certificate is not None
        assert found.certificate.gap <= 1e-10 * abs(found.objective), name
        assert found.objective == pytest.approx(known.objective, rel=1e-10), name
        for one, other in zip(problem.split(found.x), memory.split(known.x), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), atol=1e-10, err_msg=name)


KILLED: dict[str, Callable[..., Any]] = {
    "evaluation": tasks.at,
    "curvature": tasks.ahead,
    "certificate": tasks.conjugate_at,
}
"""What is asked of the partitions when a worker dies."""


def test_a_worker_that_dies_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = made()
    options: dict[str, Any] = {**STRUCTURES["chain"], "loss": losses.Logistic(), "intercept": True}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20}),
        distributed.LocalCluster(
            n_workers=1 + len(KILLED), threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as workers,
        distributed.Client(workers) as client,
    ):
        problem = spdpeg.Problem(cut(X), cut(y > 0.0), **options)

        def answer() -> list[Any]:
            """A solution, and the bound from the slopes at it, which reads what stays with the rows."""
            found = spdpeg.solve(problem, tol=1e-8)
            return [*found.x, problem.certificate(found.x, found.dual).dual]

        known = answer()
        honest = ClusterSums._each
        for moment, task in KILLED.items():
            # Whether and when dask replaces a worker is its own affair: there is one for each kill, and one more.
            client.wait_for_workers(1, timeout=120)
            victims = list(client.run(os.getpid, on_error="ignore").values())[:1]

            def deadly(
                self: ClusterSums, asked: Any, *rest: Any, task: Any = task, victims: list[int] = victims
            ) -> Any:
                found = honest(self, asked, *rest)
                if asked is task and victims:
                    os.kill(victims.pop(), signal.SIGKILL)
                return found

            monkeypatch.setattr(ClusterSums, "_each", deadly)
            again = answer()
            monkeypatch.setattr(ClusterSums, "_each", honest)
            assert not victims, f"nobody was killed during {moment}"
            np.testing.assert_array_equal(again, known, err_msg=moment)
