"""Kills, interrupts and full disks: some in the ordinary tests, hundreds with `pytest -m stress`."""

import numpy as np
import pytest

from stress import pool, processes
from stress.outcome import Verdict, listed

QUICK = ("kill State.save", "kill save_model", "kill fit", "interrupt solve", "full disk")
"""Scenarios of a second or two each."""


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("seed", range(2))
def test_promise_is_kept(name: str, seed: int) -> None:
    assert processes.SCENARIOS[name](np.random.default_rng(seed)) is None


@pytest.mark.stress
def test_in_full() -> None:
    failed = set(Verdict) - {Verdict.PASSED}
    assert listed(pool.run(processes.run, range(10_000, 10_800), 2, 180.0), failed) == []
