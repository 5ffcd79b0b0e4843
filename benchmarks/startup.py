"""How long a newcomer waits: the import, the first solve on a new machine, and a solve in every later process.

Every measurement is a new process. The first solve finds an empty directory for compiled code, the later ones find what
it left there. Their times are those of the whole process as its parent sees it, the interpreter's own start included.
Processor seconds tell how much of the wait is work and how much is other programs taking their turn.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from common import Verdicts, show, show_setting

COLD, WARM = 3, 7

IMPORT = """
import time
clock, processor = time.perf_counter(), time.process_time()
import spdpeg
print(time.perf_counter() - clock, time.process_time() - processor)
"""

SOLVE = """
import numpy as np, scipy.sparse as sp, spdpeg
from spdpeg import losses, operators, penalties
X = sp.random_array((2000, 100), density=0.1, format="csr", rng=np.random.default_rng(0))
y = np.where(X @ np.linspace(-1, 1, 100) > 0, 1.0, -1.0)
problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(5e-4), r2=penalties.L1(5e-3),
                         F=operators.FirstDifference())
spdpeg.solve(problem, "spdpeg", max_passes=5)
"""


class Wait(NamedTuple):
    """Seconds by the clock and by the processor, and what the process printed."""

    clock: float
    processor: float
    printed: list[float]


def process(code: str, cache: str) -> Wait:
    """Run `code` in a new interpreter."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    spent, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Wait(spent, processor, [float(word) for word in done.stdout.split()])


def main() -> None:
    """Measure the three waits and a bare interpreter for comparison."""
    show_setting()
    imports, first, later, bare = [], [], [], []
    for _ in range(COLD):
        with tempfile.TemporaryDirectory() as cache:
            first.append(process(SOLVE, cache))
    with tempfile.TemporaryDirectory() as cache:
        process(SOLVE, cache)
        for _ in range(WARM):
            clock, processor = process(IMPORT, cache).printed
            imports.append(Wait(clock, processor, []))
            later.append(process(SOLVE, cache))
            bare.append(process("import numpy, scipy.sparse, numba", cache))
    waits = {
        "import spdpeg": imports,
        "first solve, nothing compiled": first,
        "solve in a later process": later,
        "bare process: import numpy, scipy.sparse, numba": bare,
    }
    medians = {what: statistics.median(wait.clock for wait in values) for what, values in waits.items()}
    show(
        "Seconds",
        ("", "processes", "median", "largest", "median by the processor"),
        [
            (what, len(values), medians[what], max(values).clock, statistics.median(wait.processor for wait in values))
            for what, values in waits.items()
        ],
    )
    verdicts = Verdicts()
    verdicts.at_most("import spdpeg, seconds", 1, medians["import spdpeg"])
    verdicts.at_most("first solve including compilation, seconds", 20, medians["first solve, nothing compiled"])
    verdicts.at_most("solve in a later process including import, seconds", 2, medians["solve in a later process"])
    verdicts.show()


if __name__ == "__main__":
    main()
