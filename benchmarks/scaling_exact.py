"""How the cost of a step of the exact methods grows with rows, columns, entries and pieces, over two decades each.

    python benchmarks/scaling_exact.py [method ...] [--repeats 3]

Each line is a run of three steps from x = 0 at most on generated data, on one thread: processor seconds and reads of a
step, the least of the repeats. What does not grow with the size weighs most at the start of a range and makes slopes
flatter; that they are not steeper than 1.1 times the power that `about.cost` states is what is judged. Where pieces are
not what grows their number follows from the data, and is shown.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded
os.environ["NUMBA_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import Verdicts, random_rows, show, show_setting, slope
from spdpeg import losses, operators, penalties

STEPS = 3
MARGIN = 1.1
"""Times the stated power."""


class Range(NamedTuple):
    """What grows, by how much, and the power of it that the cost may have."""

    method: str
    what: str
    sizes: tuple[int, ...]
    power: float
    problem: Callable[[int], spdpeg.Problem]


def labels(X: Any, squared: bool = False) -> np.ndarray:
    """Of a truth of 20 pieces, with noise."""
    rng = np.random.default_rng(1)
    d = X.shape[1]
    truth = np.repeat(rng.standard_normal(20), -(-d // 20))[:d]
    score = np.asarray(X @ truth).ravel()
    score = score / max(float(score.std()), 1e-12) + 0.3 * rng.standard_normal(score.size)
    return score if squared else np.where(score > np.median(score), 1.0, -1.0)


def dense(n: int, d: int) -> np.ndarray:
    """Independent entries."""
    return np.random.default_rng(0).standard_normal((n, d))


def sparse(n: int, d: int, entries: int) -> sp.csr_array:
    """Rows of norm 1 with random signs."""
    X = random_rows(n, d, entries)
    X.data *= np.where(np.random.default_rng(2).random(X.nnz) < 0.5, 1.0, -1.0)
    return X


def fused(X: Any, F: Any = None, squared: bool = False, part: float = 0.1) -> spdpeg.Problem:
    """l1 and an l1 norm of differences at a part of the largest slope at 0."""
    y = labels(X, squared)
    weight = part * float(np.abs(X.T @ (y if squared else 0.5 * y)).max()) / y.size
    loss = losses.Squared() if squared else losses.Logistic()
    r = penalties.L1(weight)
    return spdpeg.Problem(X, y, loss=loss, r1=r, r2=r, F=F or operators.FirstDifference())


def graph(d: int, degree: int = 4) -> operators.GraphDifference:
    """A random graph."""
    rng = np.random.default_rng(3)
    first = rng.integers(d, size=d * degree // 2)
    second = (first + rng.integers(1, d, size=first.size)) % d
    return operators.GraphDifference(np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0))


def ridged(X: Any, F: Any) -> spdpeg.Problem:
    """A ridge and an l1 norm of differences, as in the paper's graph-guided problem."""
    r1, r2 = penalties.L2Squared(1e-2), penalties.L1(1e-4)
    return spdpeg.Problem(X, labels(X), loss=losses.Logistic(), r1=r1, r2=r2, F=F)


def in_pieces(pieces: int) -> spdpeg.Problem:
    """A chain of 20,000 columns whose solution has about so many pieces, whatever the penalties would leave: columns
    that belong together are equal, and weights are small."""
    n, d = 2_000, 20_000
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((n, pieces)), d // pieces, axis=1) / np.sqrt(d // pieces)
    y = np.where(X @ np.repeat(rng.standard_normal(pieces), d // pieces) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    r = penalties.L1(1e-4)
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=r, r2=r, F=operators.FirstDifference())


def ranges() -> Iterator[Range]:
    """All of them, method by method."""
    tall, wide = (3_000, 10_000, 30_000, 100_000, 300_000), (20, 60, 200, 600, 2_000)
    long = (10_000, 30_000, 100_000, 300_000, 1_000_000)
    per_row = (4, 12, 40, 120, 400)
    yield Range("prox-newton", "N", tall, 1.0, lambda n: fused(dense(n, 60)))
    yield Range("prox-newton", "d, 4000 rows: N d^2 + d^3", wide, 3.0, lambda d: fused(dense(4_000, d)))
    yield Range("prox-newton", "entries of a row: their square", per_row, 2.0, lambda k: fused(sparse(20_000, 400, k)))
    yield Range("one-read", "N", tall, 1.0, lambda n: fused(dense(n, 60), squared=True))
    yield Range("one-read", "d, 4000 rows: N d^2 + d^3", wide, 3.0, lambda d: fused(dense(4_000, d), squared=True))
    for name, F in (("chain", operators.FirstDifference), ("graph", None)):
        of = partial(_structure, F)
        more = (3_000, 10_000, 30_000, 100_000, 300_000)
        yield Range("working-set", f"N, {name}", more, 1.0, lambda n, of=of: fused(sparse(n, 20_000, 20), of(20_000)))
        yield Range("working-set", f"d, {name}", long, 1.0, lambda d, of=of: fused(sparse(2_000, d, 20), of(d)))
        yield Range(
            "working-set", f"entries of a row, {name}", per_row, 1.0,
            lambda k, of=of: fused(sparse(2_000, 20_000, k), of(20_000)),
        )  # fmt: skip
    yield Range("working-set", "pieces k: N k^2 + k^3", (4, 12, 40, 120, 400), 3.0, in_pieces)
    yield Range("prox-lbfgs", "N", (1_000, 3_000, 10_000, 30_000, 100_000), 1.0, _ridged_rows)
    yield Range("prox-lbfgs", "d and F", long, 1.0, lambda d: ridged(sparse(2_000, d, 20), graph(d)))
    yield Range(
        "prox-lbfgs", "entries of a row", per_row, 1.0, lambda k: ridged(sparse(2_000, 20_000, k), graph(20_000))
    )


def _structure(F: Any, d: int) -> Any:
    return graph(d) if F is None else F()


def _ridged_rows(n: int) -> spdpeg.Problem:
    return ridged(sparse(n, 20_000, 20), graph(20_000))


def measured(method: str, problem: Callable[[], spdpeg.Problem], repeats: int) -> tuple[float, float, int]:
    """Processor seconds of a step, reads of a step, and pieces of the last point."""
    best, reads, pieces = float("inf"), 0.0, 0
    for _ in range(repeats):
        fresh = problem()
        fresh.view.sums  # noqa: B018 - columns of the rows are made before the clock starts
        begun = time.process_time()
        result = spdpeg.solve(fresh, method, tol=None, max_iterations=STEPS)
        taken = time.process_time() - begun
        steps = max(result.state.iterations, 1)
        best, reads = min(best, taken / steps), result.passes / steps
        pieces = int(np.count_nonzero(np.diff(result.x))) + 1
    return best, reads, pieces


def main() -> None:
    """Measure the methods that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="method")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    show_setting()
    verdicts, rows = Verdicts(), []
    for grown in ranges():
        if options.methods and grown.method not in options.methods:
            continue
        measured(grown.method, partial(grown.problem, grown.sizes[0]), 1)  # compiles
        times = []
        for size in grown.sizes:
            seconds, reads, pieces = measured(grown.method, partial(grown.problem, size), options.repeats)
            times.append(seconds)
            rows.append([grown.method, grown.what, size, f"{1e3 * seconds:.4g}", f"{reads:.3g}", pieces])
            print(*rows[-1], flush=True)
        what = f"{grown.method}: slope of the seconds of a step in {grown.what}"
        verdicts.at_most(what, MARGIN * grown.power, slope(grown.sizes, times))
    show("A step", ("method", "what grows", "size", "ms", "reads", "pieces"), rows)
    verdicts.show()


if __name__ == "__main__":
    main()
