"""From weight to weight: fits that begin where their neighbours ended."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone


class Place(NamedTuple):
    """Where a fit ended."""

    coef: np.ndarray
    intercept: Any
    dual: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Self:
        """The place of a fitted model."""
        return cls(model.coef_, model.intercept_, np.asarray(model.dual_))

    def put(self, model: Any) -> None:
        """Let the next fit of a model with `warm_start` begin here."""
        dual = list(self.dual) if isinstance(model.dual_, list) else self.dual
        model.coef_, model.intercept_, model.dual_ = self.coef, self.intercept, dual


def walk(
    estimator: Any, lam1: np.ndarray, lam2: np.ndarray, X: Any, y: Any, sample_weight: Any = None
) -> Iterator[tuple[tuple[int, int], Any]]:
    """Fit at all pairs of weights; yields the indices of each pair and the model, the same one each time.

    The way goes to and fro along lam2, so that each fit has fitted neighbours. Where there are three of them it begins
    at their plane, beside + above - corner, which is far closer to the solution than any of them.
    """
    names = estimator.get_params(deep=False)
    model = clone(estimator).set_params(warm_start=True, verbose=False)
    above: dict[int, Place] = {}
    for i in range(lam1.size):
        row: dict[int, Place] = {}
        back = 1 if i % 2 else -1
        for j in range(lam2.size)[::-back]:
            known = (row.get(j + back), above.get(j), above.get(j + back))
            if (start := _plane(*known)) is not None:
                start.put(model)
            weights = {"lam1": float(lam1[i]), "lam2": float(lam2[j])}
            model.set_params(**{name: value for name, value in weights.items() if name in names})
            model.fit(X, y, sample_weight)
            if "structure" in names and model.F_ is not None:
                model.set_params(structure=model.F_)  # a graph that is learned from the data is learned once
            row[j] = Place.of(model)
            yield (i, j), model
        above = row


def _plane(beside: Place | None, above: Place | None, corner: Place | None) -> Place | None:
    """beside + above - corner; None if one is missing, or was fitted without r2 and has no multipliers."""
    if beside is None or above is None or corner is None:
        return None
    if not beside.dual.shape == above.dual.shape == corner.dual.shape:
        return None
    return Place(*(b + a - c for b, a, c in zip(beside, above, corner, strict=True)))
