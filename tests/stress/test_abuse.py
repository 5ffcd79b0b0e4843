"""Bad input: some in the ordinary tests, by the thousand with `pytest -m stress`."""

import pytest

from stress import abuse, pool
from stress.outcome import DEFECTS, listed


def test_some() -> None:
    assert listed(pool.run(abuse.run, range(300)), DEFECTS) == []


@pytest.mark.stress
def test_in_full() -> None:
    assert listed(pool.run(abuse.run, range(10_000, 15_000), 2), DEFECTS) == []
