"""The suite's own formulas: they agree with the package where both are right, and with each other."""

import numpy as np
import pytest

from spdpeg.errors import SpdpegError
from stress import conic, generator
from stress.objective import evaluate

SEEDS = range(1_000_000, 1_000_150)


def test_objective_of_the_package() -> None:
    """Both objectives agree at a random point: F, weights, labels and storage mean the same to both."""
    compared = 0
    for seed in SEEDS:
        case = generator.problem(seed)
        if case.kinds.get("weights") in ("all tiny", "all huge"):  # at the edge of what floats hold: the fuzz has them
            continue
        try:
            problem = case.problem()
        except SpdpegError:
            continue
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(case.X.shape[1]) / max(1.0, float(np.max(np.abs(case.X), initial=0.0)))
        intercept = float(rng.standard_normal()) if case.intercept else 0.0
        ours, theirs = evaluate(case, x, intercept), problem.objective(problem.join(x, intercept))
        if ours.violation == 0.0:
            assert theirs == pytest.approx(ours.objective, rel=1e-11, abs=ours.rounding), str(case)
        elif ours.violation > 1e-6:
            assert theirs == np.inf, str(case)
        compared += 1
    assert compared > 100


def test_same_seed_same_problem() -> None:
    first, second = generator.problem(7), generator.problem(7)
    assert str(first) == str(second)
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.labels, second.labels)


def test_reference_is_no_better_than_its_own_bound() -> None:
    """The point that is kept satisfies the sets and has the objective that is told."""
    for seed in SEEDS[:10]:
        case = generator.problem(seed)
        best = conic.solve(case)
        if best.x is not None:
            value = evaluate(case, best.x, best.intercept)
            assert value.violation <= 1e-6
            assert value.objective <= best.upper
