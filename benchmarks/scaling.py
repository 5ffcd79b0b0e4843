"""How the cost grows with the number of rows N, the dimension d and the entries of F.

Each size grows over two decades, twice: once with everything the step touches inside the processor's second-level
cache, once with most of it outside every cache. A range that starts inside and ends outside would show the speed of
memory rather than the cost of the method, so no line is fitted across the two. Inside, what does not grow weighs most
at the start of the range and makes the line flatter than 1.

Steps are those of the compiled kernel, in batches of one row; rows are visited in random order. The largest dimension
needs 10 GB of memory; the whole takes about four minutes.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import spdpeg
from common import (
    Verdicts,
    fused_logistic,
    graph_guided_logistic,
    interleaved,
    new_state,
    random_rows,
    seconds,
    show,
    show_setting,
    slope,
    stepper,
)
from spdpeg import operators

REPEATS = 5
MEASURED_SECONDS = 0.1


class Range(NamedTuple):
    """What grows, where, and by how much."""

    what: str
    place: str
    sizes: tuple[int, ...]
    unit: str
    problem: Callable[[int], spdpeg.Problem]


def labels(n: int) -> np.ndarray:
    """Half -1, half +1."""
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def with_rows(n: int) -> spdpeg.Problem:
    """n rows of 10 entries among 200 columns, chain F."""
    return fused_logistic(random_rows(n, 200, 10), labels(n))


def with_dimension(d: int) -> spdpeg.Problem:
    """100 rows of 10 entries among d columns, chain F."""
    return fused_logistic(random_rows(100, d, 10), labels(100))


def with_edges(edges: int) -> spdpeg.Problem:
    """100 rows of 10 entries among 100 columns, and a graph of random edges (two entries of F each) over them."""
    rng = np.random.default_rng(0)
    first = rng.integers(100, size=edges)
    second = (first + rng.integers(1, 100, size=edges)) % 100
    F = operators.GraphDifference(np.column_stack([first, second]))
    return graph_guided_logistic(random_rows(100, 100, 10), labels(100), F)


RANGES = (
    Range("N", "inside the caches", (60, 200, 600, 2_000, 6_000), "pass", with_rows),
    Range("N", "outside", (200_000, 600_000, 2_000_000, 6_000_000, 20_000_000), "pass", with_rows),
    Range("d", "inside the caches", (100, 300, 1_000, 3_000, 10_000), "step", with_dimension),
    Range("d", "outside", (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000), "step", with_dimension),
    Range("edges", "inside the caches", (100, 300, 1_000, 3_000, 10_000), "step", with_edges),
    Range("edges", "outside", (200_000, 600_000, 2_000_000, 6_000_000, 20_000_000), "step", with_edges),
)


def timer(problem: spdpeg.Problem, unit: str) -> Callable[[], float]:
    """A function that measures the seconds of one pass or of one step."""
    assert problem.n_samples is not None
    step = stepper(problem, new_state(problem))
    rows = problem.n_samples if unit == "pass" else 2
    rng = np.random.default_rng(0)
    times = 1
    while True:
        run = partial(step, rng.integers(problem.n_samples, size=times * rows))
        run()
        if seconds(run) >= MEASURED_SECONDS:
            return lambda: seconds(run) / times
        times *= 2


def measure(grown: Range, verdicts: Verdicts) -> list[tuple[str, str, int, str, float]]:
    """Time each size and judge the slope. Small problems take turns; large ones would not fit in memory together."""
    if grown.place == "outside":
        times = [interleaved({"": timer(grown.problem(size), grown.unit)}, REPEATS)[""] for size in grown.sizes]
    else:
        medians = interleaved({str(size): timer(grown.problem(size), grown.unit) for size in grown.sizes}, REPEATS)
        times = list(medians.values())
    verdicts.at_most(f"slope of time per {grown.unit} in {grown.what}, {grown.place}", 1.1, slope(grown.sizes, times))
    return [
        (grown.what, grown.place, size, f"{1e6 * t:.4g} us per {grown.unit}", 1e9 * t / size)
        for size, t in zip(grown.sizes, times, strict=True)
    ]


def main() -> None:
    """Measure the six ranges."""
    show_setting()
    verdicts = Verdicts()
    rows = [row for grown in RANGES for row in measure(grown, verdicts)]
    show("Time against size (generated data)", ("what grows", "where", "size", "time", "ns per unit of size"), rows)
    verdicts.show()


if __name__ == "__main__":
    main()
