"""Threads, and rows on a disk: speed of two threads, true reads beside counted ones, a cold read beside a plain one.

    python benchmarks/scale.py                      # 10^6 rows; some minutes, 3 GB of memory, 1 GB of disk
    python benchmarks/scale.py --rows 100000        # a quick look
    python benchmarks/scale.py --disk 100000000     # the large one: 40 GB of disk, removed afterwards

Rows on the disk are evicted from the page cache before every read, so that each of them is a true one.
"""

import argparse
import mmap
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import spdpeg
from common import Verdicts, fused_logistic, interleaved, random_rows, seconds, show
from spdpeg import data
from spdpeg.kernels.rows import Rows
from spdpeg.sums import portions

_CHUNK = 1 << 18


def dense_rows(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a model with ten pieces."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    truth = np.repeat(np.random.default_rng(1).standard_normal(10), -(-d // 10))[:d] / np.sqrt(d)
    return X, np.where(X @ truth + rng.logistic(size=n) > 0, 1.0, -1.0)


def threads(rows: int, verdicts: Verdicts) -> None:
    """Two threads beside one."""
    sparse = random_rows(rows, 1000, 10)
    signs = np.where(np.random.default_rng(0).random(rows) > 0.5, 1.0, -1.0)
    cases = {"dense, 200 columns": dense_rows(rows, 200, 0), "sparse, 1000 columns, 1 %": (sparse, signs)}
    table = []
    for name, (X, y) in cases.items():
        problem = fused_logistic(X, y)
        same = {spdpeg.solve(problem, tol=1e-6, n_jobs=n).x.tobytes() for n in (1, 2)}
        times = interleaved({str(n): partial(solved, problem, n) for n in (1, 2)}, 3)
        table.append([name, f"{times['1']:.2f}", f"{times['2']:.2f}", f"{times['1'] / times['2']:.2f}", len(same) == 1])
        verdicts.at_least(f"{name}: one thread / two", 1.7, times["1"] / times["2"])
    show(f"{rows:,} rows, solved to 1e-6", ["case", "1 thread, s", "2 threads, s", "ratio", "same bits"], table)


def solved(problem: spdpeg.Problem, n_jobs: int) -> float:
    """Seconds to 1e-6."""
    return seconds(lambda: spdpeg.solve(problem, tol=1e-6, n_jobs=n_jobs))


def disk(rows: int, verdicts: Verdicts) -> None:
    """Reads of a cold memory map."""
    with tempfile.TemporaryDirectory() as directory:
        data.write_dense(directory, lambda: (dense_rows(min(_CHUNK, rows - k), 100, k) for k in range(0, rows, _CHUNK)))
        source, labels = data.open_dense(directory)
        path = Path(directory, "values.npy")
        size = path.stat().st_size
        problem = fused_logistic(source, labels)
        honest = portions.Mapped.blocks

        def cold(self: portions.Mapped) -> Iterator[Rows]:
            evict(source, path)
            yield from honest(self)

        portions.Mapped.blocks = cold  # type: ignore[method-assign]
        try:
            plain = min(plain_read(source, path) for _ in range(2))
            begun = time.perf_counter()
            problem.sums.evaluate(np.ones(problem.n_coordinates))
            look = time.perf_counter() - begun
            before = delivered()
            result = spdpeg.solve(problem, tol=1e-4, n_jobs=2, progress=True)
            read = (delivered() - before) / size
        finally:
            portions.Mapped.blocks = honest  # type: ignore[method-assign]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        show(
            f"{rows:,} x 100 float32 on disk, {size / 1e9:.2f} GB, solved to 1e-4",
            ["passes", "true reads", "plain read, s", "one evaluation, s", "seconds", "peak GiB, map too"],
            [[result.passes, f"{read:.2f}", f"{plain:.2f}", f"{look:.2f}", f"{result.seconds:.1f}", f"{peak:.2f}"]],
        )
        verdicts.at_most("passes to 1e-4", 7.0, result.passes)
        verdicts.at_most("true reads / passes", 1.1, read / result.passes)
        verdicts.at_least("plain read / one evaluation, both cold", 0.8, plain / look)


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
    options = parser.parse_args()
    verdicts = Verdicts()
    threads(options.rows, verdicts)
    disk(options.disk or options.rows, verdicts)
    verdicts.show()


if __name__ == "__main__":
    main()
