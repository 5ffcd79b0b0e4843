"""A start from a sample in memory, where reading is what costs: the first steps of Newton's method need few rows.

A sample knows the solution up to a part of about coordinates / rows. Steps beyond that would fit what is by chance in
it, rare columns above all, and lead to margins at which a logistic loss has no curvature left; so they end early.
"""

import math

import numpy as np

from ..kernels.jit import as_reals
from ..sums import LocalSums, Sums
from ..sums.sample_size import sample_size
from ..view import View
from .newton import Newton

_MOST_STEPS = 15
_ENOUGH = 1e-2
"""Relative decrease of the model at which the sample has told what it knows."""

_CALLS, _FACTORISATIONS = 2e6, 0.05
"""What a model costs, counted in additions to scattered numbers: the calls, and a part of d^3."""


def sampled_start(problem: View, newton: Newton, x: np.ndarray) -> tuple[np.ndarray, int]:
    """A point near the minimum of the objective on a sample of the rows, and the number of rows that were read."""
    sums, d = problem.sums, x.size
    wanted = sample_size(sums.n_rows, d)
    # Newton's first step minimises a squared loss from anywhere.
    if not wanted or problem.loss.quadratic or not _pays(sums, d):
        return x, 0
    sample = sums.sample(wanted)
    if sample is None:
        return x, 0
    block, read = sample
    if block.weights.size:
        if not float(block.weights.sum()) > 0.0:
            return x, read
        block = block._replace(weights=as_reals(block.weights * (block.labels.size / float(block.weights.sum()))))
    if problem.loss.binary and np.ptp(block.labels) == 0.0:
        return x, read  # one class only has its minimum at infinity
    newton = newton.on_sample(LocalSums.of(block, problem.loss))
    at = newton.start(x.copy())
    for _ in range(_MOST_STEPS):
        at, _, _ = newton.step(at, _ENOUGH)
        if at.exhausted or at.infeasible or at.foretold <= _ENOUGH * abs(at.value):
            break
    found = not at.infeasible and math.isfinite(at.value) and bool(np.all(np.isfinite(at.x)))
    return (at.x, read) if found else (x, read)


def _pays(sums: Sums, d: int) -> bool:
    """Whether a read of all rows, outer products included, costs more than a model."""
    entries = sums.n_entries / sums.n_rows
    return not sums.resident or sums.n_entries * (4.0 + 0.5 * entries) >= _CALLS + _FACTORISATIONS * d**3
