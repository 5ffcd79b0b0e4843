"""Intervals for differences, ranks over data sets, and spreads over seeds."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .protocol import FOLDS

LEVEL = 0.05
"""Intervals hold the true difference in all but this share of the cases."""


Numbers = Sequence[float] | np.ndarray


class Difference(NamedTuple):
    """A mean difference and its interval; NaN bounds with a single round."""

    mean: float
    low: float
    high: float


def difference(a: Numbers, b: Numbers, comparisons: int = 1) -> Difference:
    """a - b over the rounds, with the interval of the corrected resampled t-test (Nadeau, Bengio 2003).

    Training parts of different rounds share rows, and the plain interval would take them for independent. With several
    comparisons (Bonferroni) all of their intervals hold together.
    """
    from scipy.stats import t

    differences = np.subtract(a, b)
    mean = float(np.mean(differences))
    if differences.size < 2:
        return Difference(mean, math.nan, math.nan)
    variance = float(np.var(differences, ddof=1)) * (1.0 / differences.size + 1.0 / (FOLDS - 1))
    half = float(t.ppf(1.0 - LEVEL / (2 * comparisons), differences.size - 1)) * math.sqrt(variance)
    return Difference(mean, mean - half, mean + half)


class Ranks(NamedTuple):
    """Average ranks over data sets (1 is best), the test that all are equal, and when two of them differ."""

    average: dict[str, float]
    p: float
    """Friedman's test."""
    critical: float
    """Nemenyi: average ranks that are farther apart than this differ."""
    sets: int


def ranks(scores: Mapping[str, Sequence[float]], lower_is_better: bool) -> Ranks | None:
    """Mean ranks of methods by one score per data set; None where Friedman's test needs more methods or sets."""
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    methods, sets = len(scores), len(next(iter(scores.values()), ()))
    if methods < 3 or sets < 3:
        return None
    table = np.array(list(scores.values()))
    placed = rankdata(table if lower_is_better else -table, axis=0)
    p = 1.0 if np.ptp(placed) == 0.0 else float(friedmanchisquare(*table).pvalue)
    quantile = float(studentized_range.ppf(1.0 - LEVEL, methods, math.inf)) / math.sqrt(2.0)
    critical = quantile * math.sqrt(methods * (methods + 1) / (6.0 * sets))
    return Ranks(dict(zip(scores, placed.mean(axis=1).tolist(), strict=True)), p, critical, sets)


class Spread(NamedTuple):
    """A variance pooled over rounds, each with its own mean, and its degrees of freedom."""

    variance: float
    freedom: int


def spread(rounds: Sequence[Sequence[float]]) -> Spread:
    """Over the seeds of each round."""
    squares = sum(float(np.sum((np.asarray(values) - np.mean(values)) ** 2)) for values in rounds)
    freedom = sum(len(values) - 1 for values in rounds)
    return Spread(squares / freedom if freedom else math.nan, freedom)


def is_larger(one: Spread, other: Spread, comparisons: int = 1) -> bool:
    """Whether a variance is larger by more than chance (F-test, Bonferroni)."""
    from scipy.stats import f

    if other.variance == 0.0:
        return one.variance > 0.0
    return float(f.sf(one.variance / other.variance, one.freedom, other.freedom)) < LEVEL / comparisons
