"""A long stream of generated rows through `partial_fit`: memory, speed, and accuracy beside the batch fit of a part.

    python benchmarks/partial_fit.py --rows 50_000_000

Labels follow a logistic model with piecewise constant coefficients. Memory is the largest resident set of the process
so far, read after each tenth of the stream. The batch fit takes the first million rows; both models are scored on rows
that neither has seen.
"""

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np

from common import Verdicts, show, show_setting
from spdpeg.estimators import FusedLogisticRegression

CHUNK, FEATURES = 100_000, 20
BATCH = 1_000_000
TRUTH = np.repeat([1.0, 0.0, -1.0, 0.5], 5)


def chunk(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels 0 and 1, the same for the same seed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((CHUNK, FEATURES), dtype=np.float32).astype(np.float64)
    return X, (rng.logistic(size=CHUNK) < X @ TRUTH - 0.5).astype(int)


def peak() -> float:
    """Megabytes of this process that were in memory at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stream(model: FusedLogisticRegression, rows: int) -> Iterator[tuple[int, float]]:
    """Learn chunk by chunk; after each tenth, the rows so far and the seconds of `partial_fit`."""
    seconds, chunks = 0.0, rows // CHUNK
    for i in range(chunks):
        X, y = chunk(i)
        begun = time.perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        seconds += time.perf_counter() - begun
        if (i + 1) % max(chunks // 10, 1) == 0:
            yield (i + 1) * CHUNK, seconds


def main() -> None:
    """Run and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000)
    rows = parser.parse_args().rows
    show_setting()
    held_out = chunk(2**40)
    online = FusedLogisticRegression(1e-4, 1e-4, random_state=0)
    table, memory = [], []
    for seen, seconds in stream(online, rows):
        accuracy = online.score(*held_out)
        memory.append(peak())
        table.append([f"{seen:,}", f"{memory[-1]:.0f}", f"{1e6 * seconds / seen:.2f}", f"{accuracy:.4f}"])
    show("Stream", ["rows", "peak MB", "us per row", "accuracy"], table)
    parts = [chunk(i) for i in range(min(rows, BATCH) // CHUNK)]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    batch = FusedLogisticRegression(1e-4, 1e-4, random_state=0).fit(X, y)
    print(f"Batch fit of {len(y):,} rows: accuracy {batch.score(*held_out):.4f}\n")
    verdicts = Verdicts()
    verdicts.at_most("peak memory from a tenth of the stream to its end: growth in MB", 10.0, memory[-1] - memory[0])
    behind = batch.score(*held_out) - online.score(*held_out)
    verdicts.at_most("accuracy of the batch fit minus the stream's", 1e-3, behind)
    verdicts.show()


if __name__ == "__main__":
    main()
