"""From weight to weight: fits that begin where their neighbours ended."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..certificate import look
from ..engine import solve
from ..estimators.base import Prepared, Runs
from ..newton.continuation import Continuation, Place, plane, suits
from ..problem import Problem
from ..result import uninterrupted


class Step(NamedTuple):
    """Where a fit ended: coefficients, intercepts and multipliers, and the places of its problems."""

    coef: np.ndarray
    intercept: Any
    dual: np.ndarray
    places: list[Place]


Neighbours = list[Step]
"""Fits to begin at: none, one, or the three beside, above and at the corner, whose plane is meant."""


def walk(
    estimator: Any, lam1: np.ndarray, lam2: np.ndarray, X: Any, y: Any, sample_weight: Any = None
) -> Iterator[tuple[tuple[int, int], Any]]:
    """Fit at all pairs of weights; yields the indices of each pair and the model, the same one each time.

    The way goes to and fro along lam2, so that each fit has fitted neighbours. Where there are three of them it begins
    at their plane, beside + above - corner, which is far closer to the solution than any of them. Input is checked, the
    data are measured, and a graph that is learned from them is learned once.
    """
    names = estimator.get_params(deep=False)
    model = clone(estimator).set_params(warm_start=True, verbose=False)
    data = model._prepared(X, y, sample_weight)
    fitter = Separate(model, data) if model._separate(data) else Together(model, data)
    above: dict[int, Step] = {}
    for i in range(lam1.size):
        row: dict[int, Step] = {}
        back = 1 if i % 2 else -1
        for j in range(lam2.size)[::-back]:
            for name, value in (("lam1", lam1[i]), ("lam2", lam2[j])):
                if name in names:
                    setattr(model, name, float(value))
            corner = above.pop(j + back, None)  # needed no more: a fit holds as many numbers as there are rows
            row[j] = fitter.fit(_near(row.get(j + back), above.get(j), corner))
            yield (i, j), model
        above = row


def _near(beside: Step | None, above: Step | None, corner: Step | None) -> Neighbours:
    """What to begin with: a plane if it can be had, else the nearest fit, else nothing."""
    known = [step for step in (beside, above, corner) if step is not None]
    whole = len(known) == 3 and len({step.dual.shape for step in known}) == 1
    return known if whole else known[:1]


class Together:
    """Fits of a model that solves for all classes at once."""

    def __init__(self, model: Any, data: Prepared) -> None:
        self._model, self._data = model, data

    def fit(self, near: Neighbours) -> Step:
        """Begin at a combination of fits."""
        model = self._model
        if near:
            model.coef_, model.intercept_, dual = (plane(parts) for parts in list(zip(*near, strict=True))[:3])
            model.dual_ = list(dual)
        model._set(model._solve(self._data))
        return Step(model.coef_, model.intercept_, np.asarray(model.dual_), [])


class Separate:
    """Fits of a model with a problem of its own for each target."""

    def __init__(self, model: Any, data: Prepared) -> None:
        for name in {"lam1", "lam2"} & model.get_params(deep=False).keys():
            setattr(model, name, 1.0)
        self._problems = model._problems(data)
        self._model, self._F, self._settings = model, model.F_, model._settings()
        quick = model.solver == "auto" and all(map(suits, self._problems))
        self._continuations = [Continuation(problem) for problem in self._problems] if quick else []

    def fit(self, near: Neighbours) -> Step:
        """Begin at a combination of fits."""
        model = self._model
        r1, r2 = model._penalties(self._problems[0].n_features)
        model.F_ = None if r2 is None else self._F
        runs: Runs = []
        places = []
        for k, problem in enumerate(self._problems):
            same = problem.with_penalties(r1, r2, model.F_)
            run, place = self._solve(k, same, [step.places[k] for step in near])
            runs.append((same, run))
            places.append(place)
        model._set(model._finished(runs))
        return Step(model.coef_, model.intercept_, np.asarray(model.dual_), places)

    def _solve(self, k: int, problem: Problem, near: list[Place]) -> tuple[Any, Place]:
        """The k-th problem, and where it ended."""
        if near and self._continuations:
            found = self._continuations[k].solve(problem, near, self._settings["tol"], self._settings["max_passes"])
            if found is not None:
                return found
        x0, dual0 = (
            (plane([place.x for place in near]), plane([place.dual for place in near])) if near else (None, None)
        )
        if dual0 is not None and dual0.size != problem.F.n_outputs:
            dual0 = None  # of a fit without r2
        result = uninterrupted(solve(problem, **self._settings, x0=x0, dual0=dual0))
        margins = look(problem, result.x).margins if self._continuations else np.empty(0)
        return result, Place(result.x, margins, result.dual)
