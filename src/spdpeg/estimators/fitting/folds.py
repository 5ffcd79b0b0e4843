"""Folds under the squared loss: from one read of all rows, the moments of each fold and of the rows outside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.blocks import pick
from ...engine import auto
from ...exact.one_read import OneRead
from ...sums.moments import Moments, near_means
from .plan import plan

_SURE = 1e-9
"""Relative error of a score up to which the rows held out need not be read for it."""


class FoldMoments:
    """Second moments of the rows held out, fold by fold, and of all others.

    Parameters
    ----------
    held : list of Moments
        Those of the rows that each fold holds out; each row is in one fold.
    """

    def __init__(self, held: Sequence[Moments]) -> None:
        self._held = held
        self._total = sum(held[1:], start=held[0])

    @classmethod
    def of(
        cls, model: Any, data: tuple[Any, ...], folds: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> "FoldMoments | None":
        """The moments of all folds, by one read; None for another loss or method, or folds that are no partition."""
        problems = plan(model, *data).problems
        if model.solver != "auto" or len(problems) != 1 or not problems[0].view.rows.in_memory:
            return None
        view = problems[0].view
        if view.moments.is_signal or view.moments.shifted_signal is not None:
            return None
        if not isinstance(auto.plan(view, model.tol)[0].method, OneRead):
            return None
        block = view.rows.block
        rows = [_numbers(test) for _, test in folds]
        every = np.arange(block.labels.size)  # fewer than were given if rows of weight 0 were dropped
        parted = np.array_equal(np.sort(np.concatenate(rows)), every) and all(
            np.array_equal(np.sort(np.concatenate([_numbers(train), _numbers(test)])), every) for train, test in folds
        )
        if not parted:
            return None
        place = near_means(block)
        return cls([Moments.of(pick(block, test), place) for test in rows])

    def others(self, fold: int) -> Moments:
        """The moments of all rows but those that a fold holds out."""
        return self._total - self._held[fold]

    def score(self, fold: int, model: Any) -> float | None:
        """Minus the mean squared error of a fitted model on the rows held out; None where too few digits are left."""
        loss, x = self._held[fold].loss(1.0), np.append(model.coef_, model.intercept_)
        value = loss.value(x)
        return -2.0 * value if loss.error(x) <= _SURE * value else None


def _numbers(rows: np.ndarray) -> np.ndarray:
    return np.flatnonzero(rows) if rows.dtype == bool else rows
