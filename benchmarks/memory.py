"""How much memory a solve needs beyond the data, and whether data larger than the memory allowed are solved.

Each measurement is a process of its own, so that its peak is its own. F is a chain, so its rows are as many as the
coordinates: "a dozen vectors of length d and rows of F" is read as at most 12 kept from step to step, and at most 24, a
dozen of each length, at the peak, where the result and the evaluation of the objective come on top.

The limit. RLIMIT_DATA, enforced by the kernel, caps what a process can allocate: heap and private writable maps. It
does not count read-only maps of files: their pages are copies of the file, which the kernel drops whenever memory is
short and keeps while there is plenty (the column "mapped file, resident"). RLIMIT_AS would count the map itself and
forbid it; RLIMIT_RSS is ignored by Linux. So this shows that the process allocates little, not how fast it is when the
pages have to come from the disk again and again. The limit is set after `import spdpeg` and before anything else, to
what the interpreter holds by then plus 300 MB. That it bites is checked: reading the same file into memory must fail.
"""

import json
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import DataSet, Verdicts, fused_logistic, load, random_rows, show, show_setting
from spdpeg.data import open_csr, open_dense, write_csr, write_dense

ALLOWED = 300 * 2**20
DENSE = (400_000, 500)
SPARSE = (1_350_000, 1_000, 100)
CHUNK = 20_000
PASSES = 2


def truth(d: int) -> np.ndarray:
    """A piecewise constant coefficient vector."""
    return np.repeat(np.random.default_rng(0).standard_normal(-(-d // 50)), 50)[:d]


def chunks(n: int) -> Iterator[int]:
    """How many rows each chunk has."""
    return (min(CHUNK, n - start) for start in range(0, n, CHUNK))


def dense_chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """A dense data set, chunk by chunk."""
    n, d = DENSE
    rng = np.random.default_rng(1)
    for rows in chunks(n):
        X = rng.standard_normal((rows, d)) / np.sqrt(d)
        yield X, np.where(X @ truth(d) > 0, 1.0, -1.0)


def sparse_chunks() -> Iterator[tuple[sp.csr_array, np.ndarray]]:
    """A sparse data set, chunk by chunk."""
    n, d, entries = SPARSE
    rng = np.random.default_rng(1)
    for number, rows in enumerate(chunks(n)):
        X = random_rows(rows, d, entries, seed=number)
        X.data[:] = rng.uniform(-1.0, 1.0, X.nnz)
        yield X, np.where(X @ truth(d) > 0, 1.0, -1.0)


def status(field: str) -> int:
    """Bytes of a line of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def solve_from_disk(directory: str) -> dict[str, Any]:
    """Solve under the limit; report the objective, the peak of allocated memory and what reading it all in would do."""
    before = status("VmData")
    resource.setrlimit(resource.RLIMIT_DATA, (before + ALLOWED, before + ALLOWED))
    X, y = (open_csr if (Path(directory) / "indptr.npy").exists() else open_dense)(directory)
    result = spdpeg.solve(fused_logistic(X, y), "spdpeg", max_passes=PASSES)
    peak = status("VmData") - before
    largest = max(Path(directory).glob("*.npy"), key=lambda path: path.stat().st_size)
    try:
        np.load(largest)
        refused = False
    except MemoryError:
        refused = True
    return {
        "objective": result.history.objective.tolist(),
        "allocated": peak,
        "private": status("RssAnon"),
        "mapped": status("RssFile"),
        "refused": refused,
    }


def solve_in_memory(name: str) -> dict[str, Any]:
    """Solve `name` from memory, with 32- and with 64-bit indices."""
    data = load(name)
    warm = random_rows(10, data.X.shape[1], 5)
    spdpeg.solve(fused_logistic(warm, np.where(np.arange(10) < 5, 1.0, -1.0)), "spdpeg", max_passes=1)
    report = {"32": measured(data)}
    data.X.indices, data.X.indptr = data.X.indices.astype(np.int64), data.X.indptr.astype(np.int64)
    report["64"] = measured(data)
    return report


def measured(data: DataSet) -> dict[str, Any]:
    """Allocations of building and solving, in vectors of length d, and whether the arrays of X are used as they are."""
    tracemalloc.start()
    problem = fused_logistic(data.X, data.y)
    built = tracemalloc.get_traced_memory()[1]
    result = spdpeg.solve(problem, "spdpeg", max_passes=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    vector = 8 * data.X.shape[1]
    rows = problem.view.rows.block.rows
    pairs = ((rows.values, data.X.data), (rows.indices, data.X.indices), (rows.indptr, data.X.indptr))
    return {
        "problem": built / vector,
        "peak": peak / vector,
        "state": sum(v.nbytes for v in result.state.vectors.values()) / vector,
        "shared": all(np.shares_memory(mine, given) for mine, given in pairs),
    }


def in_new_process(task: Callable[[str], dict[str, Any]], argument: str) -> dict[str, Any]:
    """The report of a task run by a new interpreter."""
    command = [sys.executable, __file__, task.__name__, argument]
    report: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report


def main() -> None:
    """Measure in memory, then from disk."""
    classic = load("classic")
    show_setting([classic])
    verdicts = Verdicts()
    report = in_new_process(solve_in_memory, "classic")
    show(
        "classic shape, chain F: memory beyond the data, in vectors of length d",
        ("indices", "the problem", "the solver's state", "peak of problem and solve", "arrays of X shared"),
        [(f"{bits} bit", r["problem"], r["state"], r["peak"], str(r["shared"])) for bits, r in report.items()],
    )
    verdicts.at_most("vectors the method keeps", 12, max(r["state"] for r in report.values()))
    verdicts.at_most("vectors at the peak, result included", 24, max(r["peak"] for r in report.values()))
    verdicts.at_most("arrays of a CSR input that were copied", 0, sum(not r["shared"] for r in report.values()))

    rows = []
    for name, write, parts in (("dense", write_dense, dense_chunks()), ("CSR", write_csr, sparse_chunks())):
        with tempfile.TemporaryDirectory() as place:
            write(place, parts)
            size = sum(path.stat().st_size for path in Path(place).glob("*.npy"))
            disk = in_new_process(solve_from_disk, place)
        objective = disk["objective"]
        rows.append(
            (
                name, size / 2**20, disk["allocated"] / 2**20, disk["private"] / 2**20, disk["mapped"] / 2**20,
                "yes" if disk["refused"] else "no", " ".join(f"{value:.4f}" for value in objective),
            )
        )  # fmt: skip
        verdicts.at_least(f"{name}: data / memory allowed", 5, size / ALLOWED)
        verdicts.at_least(f"{name}: reading it into memory is refused", 1, float(disk["refused"]))
        verdicts.at_most(f"{name}: objective at the end / at the start", 0.99, objective[-1] / objective[0])
    show(
        f"From disk, {ALLOWED / 2**20:.0f} MB allowed beyond the interpreter, {PASSES} passes (megabytes)",
        (
            "data",
            "on disk",
            "allocated at the end",
            "private, resident",
            "mapped file, resident",
            "reading it in refused",
            "objective",
        ),
        rows,
    )
    verdicts.show()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        tasks = {task.__name__: task for task in (solve_from_disk, solve_in_memory)}
        print(json.dumps(tasks[sys.argv[1]](sys.argv[2])))
    else:
        main()
