"""Two gigabytes on a disk, solved by a process that may not hold half of one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spdpeg import data

pytestmark = pytest.mark.stress

ROWS, COLUMNS, CHUNK = 5_000_000, 100, 100_000
LIMIT = 1 << 29
"""Bytes of memory of its own that the process may hold; mapped files do not count."""

SOLVE = f"""
import json, resource, sys
import spdpeg
from spdpeg import data, losses, operators, penalties

resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))
terms = dict(r1=penalties.L1(1e-3), r2=penalties.L1(5e-3), F=operators.FirstDifference())
problem = spdpeg.Problem(data.open_rows(sys.argv[1]), loss=losses.Logistic(), **terms)
result = spdpeg.solve(problem, tol=1e-4)
print(json.dumps([result.certificate.met, result.certificate.rel_gap, result.passes]))
"""


def chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    truth = np.repeat([0.4, -0.2, 0.0, 0.1], COLUMNS // 4)
    for _ in range(ROWS // CHUNK):
        X = rng.standard_normal((CHUNK, COLUMNS), dtype=np.float32)
        yield X, np.where(X @ truth + rng.logistic(size=CHUNK) > 0.0, 1.0, -1.0)


def test_two_gigabytes_in_half_of_one(tmp_path: Path) -> None:
    data.write_dense(tmp_path, chunks)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) > 3.5 * LIMIT
    done: Any = subprocess.run(
        [sys.executable, "-c", SOLVE, str(tmp_path)], capture_output=True, text=True, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    met, gap, passes = json.loads(done.stdout)
    assert met is not None
    assert gap <= 1e-4
    assert passes <= 7.0
