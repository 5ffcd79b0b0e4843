"""Bad input by the thousand, with `pytest -m stress`."""

import pytest

from stress import abuse, pool
from stress.outcome import DEFECTS, listed


@pytest.mark.stress
def test_in_full() -> None:
    assert listed(pool.run(abuse.run, range(10_000, 15_000), 2), DEFECTS) == []
