"""What the benchmarks share: data, the paper's two problems, interleaved timing, tables and verdicts."""

import bz2
import lzma
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.engine.registry import resolve


class DataSet(NamedTuple):
    """A CSR matrix with labels -1 and +1, and where it came from."""

    name: str
    X: sp.csr_array
    y: np.ndarray
    origin: str


class _Shape(NamedTuple):
    file: str
    rows: int
    columns: int
    entries_per_row: int


SHAPES = {
    "splice": _Shape("splice.xz", 1000, 60, 60),
    "svmguide3": _Shape("svmguide3.xz", 1243, 22, 22),
    "mushrooms": _Shape("mushrooms.xz", 8124, 112, 21),
    "a9a": _Shape("a9a.xz", 32561, 123, 14),
    "w8a": _Shape("w8a.xz", 49749, 300, 12),
    "hitech": _Shape("hitech.npz", 2301, 10080, 144),
    "k1b": _Shape("k1b.npz", 2340, 21819, 129),
    "classic": _Shape("classic.npz", 7094, 41681, 32),
    "ijcnn1": _Shape("ijcnn1.bz2", 49990, 22, 13),
    "20news_100word": _Shape("20news_100word.xz", 16242, 100, 4),
    "covtype.binary": _Shape("covtype.binary.npz", 581012, 54, 12),
}


def data_directory() -> Path | None:
    """Where the real data sets are: SPDPEG_DATA_DIR, if set."""
    value = os.environ.get("SPDPEG_DATA_DIR")
    return Path(value) if value else None


def load(name: str) -> DataSet:
    """The data set `name`, or a generated one of its shape where the file is missing.

    The larger label is positive; of several classes, the most frequent one. Rows of the text sets, which hold raw
    counts, are scaled to unit norm, columns of covtype to variance 1. Indices have 32 bits, which every package takes.
    """
    shape = SHAPES[name]
    directory = data_directory()
    if directory is None or not (directory / shape.file).exists():
        return DataSet(name, *_generate(shape), "generated")
    path = directory / shape.file
    if path.suffix == ".npz":
        X = sp.csr_array(sp.load_npz(path), dtype=float)
        labels = np.load(path)["y"]
        positive = np.bincount(labels).argmax()
        X = _short_indices(X)
        X = unit_columns(X) if shape.rows > shape.columns else unit_rows(X)
        return DataSet(name, X, np.where(labels == positive, 1.0, -1.0), "real")
    from sklearn.datasets import load_svmlight_file

    with (lzma if path.suffix == ".xz" else bz2).open(path) as stream:
        X, labels = load_svmlight_file(stream, n_features=shape.columns)
    return DataSet(name, _short_indices(X), np.where(labels == labels.max(), 1.0, -1.0), "real")


def _short_indices(X: Any) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def unit_rows(X: sp.csr_array) -> sp.csr_array:
    """Rows scaled to Euclidean norm 1; empty rows stay."""
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).reshape(-1))
    scaled = X.copy()
    scaled.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(X.indptr))
    return scaled


def unit_columns(X: sp.csr_array) -> sp.csr_array:
    """Columns divided by their standard deviations, zeros staying zeros."""
    mean = np.asarray(X.mean(axis=0)).reshape(-1)
    deviations = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).reshape(-1) - mean**2)
    scaled = X.copy()
    scaled.data /= np.where(deviations > 0, deviations, 1.0)[X.indices]
    return scaled


def random_rows(n: int, d: int, entries: int, seed: int = 0) -> sp.csr_array:
    """n rows of unit norm with `entries` equal entries each, evenly spread from a random column on."""
    rng = np.random.default_rng(seed)
    spread = np.arange(entries, dtype=np.int32) * max(1, d // entries)
    columns = rng.integers(d, size=(n, 1), dtype=np.int32) + spread
    np.remainder(columns, d, out=columns)
    pointers = np.arange(0, n * entries + 1, entries)
    values = np.full(n * entries, 1.0 / np.sqrt(entries))
    return sp.csr_array((values, columns.reshape(-1), pointers.astype(np.int64)), shape=(n, d))


def _generate(shape: _Shape) -> tuple[sp.csr_array, np.ndarray]:
    X = random_rows(shape.rows, shape.columns, shape.entries_per_row)
    rng = np.random.default_rng(1)
    X.data *= rng.standard_normal(X.nnz)
    truth = np.repeat(rng.standard_normal(-(-shape.columns // 10)), 10)[: shape.columns]
    return _short_indices(X), np.where(X @ truth + 0.1 * rng.standard_normal(shape.rows) > 0, 1.0, -1.0)


FLR = 5e-4, 5e-3
GGRLR = 1e-2, 1e-5
"""The paper's weights of r1 and r2."""


def fused_logistic(X: Any, y: Any) -> spdpeg.Problem:
    """The paper's FLR: mean logistic loss + 5e-4 |x|_1 + 5e-3 |Fx|_1, F a chain."""
    r1, r2 = (penalties.L1(weight) for weight in FLR)
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=r1, r2=r2, F=operators.FirstDifference())


def graph_guided_logistic(X: Any, y: Any, F: Any) -> spdpeg.Problem:
    """The paper's GGRLR: mean logistic loss + (1e-2 / 2) |x|_2^2 + 1e-5 |Fx|_1."""
    ridge, lam2 = GGRLR
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L2Squared(ridge), r2=penalties.L1(lam2), F=F)


def new_state(problem: spdpeg.Problem) -> spdpeg.State:
    """Where Algorithm 1 with tight steps starts with seed 0."""
    numbers, vectors = resolve("spdpeg", {"mode": "tight"}).start(problem.view, 1, np.zeros(problem.n_features))
    return spdpeg.State("spdpeg", {"mode": "tight", "batch_size": 1}, 0, numbers=numbers, vectors=vectors)


def stepper(problem: spdpeg.Problem, state: spdpeg.State) -> Callable[[np.ndarray], Any]:
    """A function that takes one step of Algorithm 1 per two rows named: the compiled kernel without the outer loop."""
    rule, terms = resolve("spdpeg", {"mode": "tight"}), problem.view.terms()
    return lambda order: rule.advance(problem.view, terms, state, problem.view.rows.block, order, order.size // 2)


def modelling() -> Any:
    """CVXPY, imported where it is needed; it re-exports its functions in a way that type checkers cannot follow."""
    import cvxpy

    return cvxpy


def seconds(run: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleaved(runs: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Median of what each run returns; the runs take turns, so that a busy moment of the machine hits all alike."""
    measured: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            measured[name].append(run())
    return {name: statistics.median(values) for name, values in measured.items()}


def slope(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """Of the straight line fitted to log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def show(title: str, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a plain table; numbers with four digits."""
    cells = [[f"{value:.4g}" if isinstance(value, float) else str(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(headers), *cells]) for i in range(len(headers))]
    print(f"\n{title}")
    for line in [list(headers), *cells]:
        first, *rest = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join([first.strip().ljust(widths[0]), *rest]).rstrip())


class Verdicts:
    """Targets and what was measured, printed one line each at the end."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, float, str]] = []

    def at_most(self, what: str, bound: float, measured: float) -> None:
        """Met if measured <= bound."""
        self._add(what, f"<= {bound:g}", measured, measured <= bound)

    def at_least(self, what: str, bound: float, measured: float) -> None:
        """Met if measured >= bound."""
        self._add(what, f">= {bound:g}", measured, measured >= bound)

    def between(self, what: str, low: float, high: float, measured: float) -> None:
        """Met if low <= measured <= high."""
        self._add(what, f"{low:g} .. {high:g}", measured, low <= measured <= high)

    def _add(self, what: str, bound: str, measured: float, met: bool) -> None:
        self._rows.append((what, bound, float(measured), "met" if met else "MISSED"))

    def show(self) -> None:
        """Print them all."""
        show("Targets", ("what", "target", "measured", ""), self._rows)


def show_setting(data: Iterable[DataSet] = ()) -> None:
    """Print versions, the number of processors and which data were used."""
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"Numba {numba.__version__}, {platform.machine()}, {os.cpu_count()} processors"
    )
    for data_set in data:
        n, d = data_set.X.shape
        print(f"{data_set.name}: {data_set.origin} data, {n} x {d}, {data_set.X.nnz} stored entries")
