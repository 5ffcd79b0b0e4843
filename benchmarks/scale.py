"""Threads, and rows on a disk: speed of two threads, true reads beside counted ones, a cold read beside a plain one.

    python benchmarks/scale.py                      # 10^6 rows; some minutes, 3 GB of memory, 1 GB of disk
    python benchmarks/scale.py --rows 100000        # a quick look
    python benchmarks/scale.py --disk 100000000     # the large one: 40 GB of disk, removed afterwards

Rows on the disk are evicted from the page cache before every read, so that each of them is a true one.
"""

import argparse
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import Verdicts, fused_logistic, random_rows, show
from spdpeg import data
from spdpeg.data.disk import is_set
from spdpeg.kernels.rows import Rows
from spdpeg.sums import blocks
from spdpeg.sums.threads import using

_CHUNK = 1 << 18

_TURNS = 5


def dense_rows(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a model with ten pieces; entries are uniform, which is the fastest to draw."""
    rng = np.random.default_rng(seed)
    X = np.frombuffer(rng.bytes(2 * n * d), dtype=np.int16).astype(np.float32).reshape(n, d)
    X *= np.float32(np.sqrt(3.0) / 2**15)  # variance 1
    truth = np.repeat(np.random.default_rng(1).standard_normal(10), -(-d // 10))[:d] / np.sqrt(d)
    return X, np.where(X @ truth.astype(np.float32) + rng.logistic(size=n) > 0, 1.0, -1.0)


def sparse_rows(n: int, d: int, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """The same with one entry in a hundred, in random columns."""
    rng = np.random.default_rng(seed)
    X = random_rows(n, d, d // 100)
    X.indices[:] = rng.permuted(np.arange(d, dtype=X.indices.dtype))[X.indices]
    truth = np.repeat(np.random.default_rng(1).standard_normal(10), -(-d // 10))[:d]
    return X, np.where(3.0 * (X @ truth) + rng.logistic(size=n) > 0, 1.0, -1.0)


def threads(rows: int, verdicts: Verdicts) -> None:
    """Two threads beside one."""
    cases = {"dense, 200 columns": dense_rows(rows, 200, 0), "sparse, 1000 columns, 1 %": sparse_rows(rows, 1000, 0)}
    table = []
    for name, (X, y) in cases.items():
        problem = fused_logistic(X, y)
        same = {spdpeg.solve(problem, tol=1e-6, n_jobs=n).x.tobytes() for n in (1, 2)}
        turns = [[solved(problem, n) for n in (1, 2)] for _ in range(_TURNS)]
        (wall, work), (wall_two, work_two) = np.min(turns, axis=0)
        seconds = [f"{value:.2f}" for value in (wall, wall_two, wall / wall_two, work, work_two, work / work_two)]
        table.append([name, *seconds, len(same) == 1])
        verdicts.at_least(f"{name}: one thread / two, seconds on a quiet machine", 1.7, wall / wall_two)
        verdicts.at_least(f"{name}: one thread / two, processor seconds of the busiest thread", 1.7, work / work_two)
    header = ["case", "1 thread, s", "2 threads, s", "ratio", "1 thread, busiest", "2 threads, busiest", "ratio"]
    show(f"{rows:,} rows, solved to 1e-6, best of {_TURNS}", [*header, "same bits"], table)


def solved(problem: spdpeg.Problem, n_jobs: int) -> tuple[float, float]:
    """Seconds to 1e-6; and the processor seconds of the busiest thread, which other programs change less.

    That is the calling thread, which works on blocks like the others, unless these have done more than their share.
    """
    begun, worked, alone = time.perf_counter(), time.process_time(), time.thread_time()
    spdpeg.solve(problem, tol=1e-6, n_jobs=n_jobs)
    wall, work, own = time.perf_counter() - begun, time.process_time() - worked, time.thread_time() - alone
    return wall, max(own, (work - own) / max(n_jobs - 1, 1))


def disk(rows: int, directory: Path, verdicts: Verdicts) -> None:
    """Reads of a cold memory map, which is written first unless it is there; those that make the problem count too."""
    if not is_set(directory):
        data.write_dense(directory, lambda: (dense_rows(min(_CHUNK, rows - k), 100, k) for k in range(0, rows, _CHUNK)))
    source, labels = data.open_dense(directory)
    rows, path = source.n_samples, directory / "values.npy"
    size = path.stat().st_size
    honest = blocks.Mapped.blocks

    def cold(self: blocks.Mapped) -> Iterator[Rows]:
        evict(source, path)
        yield from honest(self)

    blocks.Mapped.blocks = cold  # type: ignore[method-assign]
    try:
        plain = min(plain_read(source, path) for _ in range(1 if size > 1e10 else 3))
        evict(source, path)
        before, worked = delivered(), time.process_time()
        with Peak() as peak:
            problem = fused_logistic(source, labels)
            result = spdpeg.solve(problem, tol=1e-4, n_jobs=2, progress=True)
        read, worked = (delivered() - before) / size, time.process_time() - worked
        begun = time.perf_counter()
        with using(2):
            problem.view.sums.evaluate(np.ones(problem.n_coordinates))
        look = time.perf_counter() - begun
    finally:
        blocks.Mapped.blocks = honest  # type: ignore[method-assign]
    show(
        f"{rows:,} x 100 float32 on disk, {size / 1e9:.2f} GB, solved to 1e-4, relative gap "
        f"{result.certificate.rel_gap:.1e}",
        ["passes", "true reads", "plain read, s", "one evaluation, s", "seconds", "CPU seconds", "anonymous GB"],
        [
            [
                f"{result.passes:.2f}",
                f"{read:.2f}",
                f"{plain:.2f}",
                f"{look:.2f}",
                f"{result.seconds:.1f}",
                f"{worked:.1f}",
                f"{peak.bytes / 1e9:.2f}",
            ]
        ],
    )
    verdicts.at_most("true reads to 1e-4", 7.0, read)
    verdicts.at_most("true reads / passes", 1.1, read / result.passes)
    verdicts.at_least("plain read / one evaluation, both cold", 0.8, plain / look)
    verdicts.at_most("anonymous memory, GB", 2.0, peak.bytes / 1e9)


class Peak:
    """The most anonymous memory that this process has had inside a `with` statement, looked at every tenth of a second.

    Pages of a memory map are the system's to drop, and do not count.
    """

    bytes = 0

    def __enter__(self) -> "Peak":
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            lines = Path("/proc/self/status").read_text().splitlines()
            now = 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])
            self.bytes = max(self.bytes, now)


def plain_read(source: Any, path: Path) -> float:
    """Seconds that one sequential read of a cold file takes."""
    evict(source, path)
    begun = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
    return time.perf_counter() - begun


def evict(source: Any, path: Path) -> None:
    """Drop the file from the page cache; what is mapped must be let go first."""
    base = source.rows.values
    while not isinstance(base, mmap.mmap):
        base = base.base
    base.madvise(mmap.MADV_DONTNEED)
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def delivered() -> int:
    """Bytes that disks delivered to this process."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="in memory")
    parser.add_argument("--disk", type=int, help="rows on disk (default: as many)")
    parser.add_argument("--directory", type=Path, help="for them, kept; used again if it is there")
    parser.add_argument("--only", choices=("threads", "disk"))
    options = parser.parse_args()
    verdicts = Verdicts()
    if options.only != "disk":
        threads(options.rows, verdicts)
    if options.only != "threads":
        with tempfile.TemporaryDirectory() as temporary:
            disk(options.disk or options.rows, options.directory or Path(temporary), verdicts)
    verdicts.show()


if __name__ == "__main__":
    main()
