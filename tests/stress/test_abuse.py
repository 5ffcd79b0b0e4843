"""Bad input by the hundred in the ordinary tests, by the thousand with `pytest -m stress`."""

import pytest

from stress import abuse, pool
from stress.outcome import DEFECTS


@pytest.mark.stress
def test_in_full() -> None:
    outcomes = pool.run(abuse.run, range(10_000, 15_000), 2)
    assert [f"{o.case}: {o.verdict}, {o.reason}" for o in outcomes if o.verdict in DEFECTS] == []
