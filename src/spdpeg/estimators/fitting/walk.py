"""From weight to weight: fits that begin where their neighbours ended."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...engine import quietly
from ...engine.auto import continuation
from ...exact.signal import is_chain, solve_chain
from ...problem import Problem
from ...result import Run, uninterrupted
from ...sampled_newton.neighbours import Neighbour, extrapolate
from ...sums import threads
from ...sums.moments import Moments
from ..inputs import translated_errors
from .flow import Solution, fit, keep
from .plan import Plan, Settings, Start, penalties, plan

Place = tuple[int, int]
"""Indices of lam1 and lam2."""
Ends = list[Any]
"""Where a fit ended: a `Start` for each class fitted jointly, or a `Neighbour` for each target fitted on its own."""
Fitted = tuple[list[Solution], Ends]


def walk(
    estimator: Any,
    lam1: np.ndarray,
    lam2: np.ndarray,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    offset: Any = None,
    moments: Moments | None = None,
    details: bool = True,
) -> Iterator[tuple[tuple[int, int], Any]]:
    """Fit at all pairs of weights.

    The order is back and forth along lam2, so that each fit has fitted neighbours. Where fits are faster several at a
    time, several values of lam1 advance together, each a step behind the one before. With three fitted neighbours a fit
    begins at their extrapolation, beside + above - corner, which is far closer to the solution than any of them. The
    input is checked once, and a graph that is learned from the data is learned once.

    Parameters
    ----------
    estimator : estimator
        With the parameters lam1, lam2 or both.
    lam1, lam2 : arrays
        A weight that the estimator does not have is ignored.
    X, y, sample_weight, offset
        As in `fit`.
    moments : Moments, optional
        Second moments of the rows, where they are known: a squared loss then reads nothing.
    details : bool, default=True
        False leaves out what predictions do not need, which costs as much as a quick fit: see `keep`.

    Yields
    ------
    (int, int), estimator
        The indices of a pair, and the model fitted there: the same object each time.
    """
    names = {"lam1", "lam2"} & estimator.get_params(deep=False).keys()
    # Positive weights first, so that F is made whatever the grids hold.
    with translated_errors():  # parameters that cannot be copied, such as a generator
        model = clone(estimator).set_params(verbose=False, **dict.fromkeys(names, 1.0))
    whole = plan(model, X, y, sample_weight, offset)
    if moments is not None:
        whole.problems[0].view.moments.adopt(moments)
    fitter = JointFits() if whole.joint is not None else SeparateFits(whole)
    known: dict[Place, Ends] = {}
    for places, forth in _order(lam1.size, lam2.size, fitter.together):
        near = [_near(known, i, j, forth) for i, j in places]
        plans = []
        for i, j in places:
            _set_weights(model, names, lam1[i], lam2[j])
            plans.append(whole.under(*penalties(model, whole.data.X.shape[1])))
        with threads.using(whole.settings.n_jobs):
            found = fitter.fit(plans, near)
        for (i, j), here, (solutions, ends) in zip(places, plans, found, strict=True):
            known[i, j] = ends
            known.pop((i - 1, j - forth), None)  # needed no more: a fit holds as many numbers as there are rows
            _set_weights(model, names, lam1[i], lam2[j])
            keep(model, here, solutions, details)
            yield (i, j), model


def _set_weights(model: Any, names: set[str], lam1: float, lam2: float) -> None:
    for name, weight in (("lam1", lam1), ("lam2", lam2)):
        if name in names:
            setattr(model, name, float(weight))


def _order(rows: int, columns: int, together: int) -> Iterator[tuple[list[Place], int]]:
    """The places of a grid, in groups that need none of themselves, and whether they go forth (1) or back (-1).

    So many rows are walked along at once, each a place behind the one above it.
    """
    for strip, first in enumerate(range(0, rows, together)):
        forth = -1 if strip % 2 else 1
        last = min(first + together, rows) - 1
        for ahead in range(columns + last - first):
            behind = ((i, ahead - (i - first)) for i in range(first, last + 1))
            places = [(i, j if forth > 0 else columns - 1 - j) for i, j in behind if 0 <= j < columns]
            yield places, forth


def _near(known: dict[Place, Ends], i: int, j: int, forth: int) -> list[Ends]:
    """The start of a fit: extrapolated from three fits if there are three, else the nearest, else none."""
    places = (i, j - forth), (i - 1, j), (i - 1, j - forth)
    ends = [known[place] for place in places if place in known]
    whole = len(ends) == 3 and len({end[0].dual.shape for end in ends}) == 1
    return ends if whole else ends[:1]


class JointFits:
    """Fits of a model that solves for all classes at once."""

    together = 1

    def fit(self, plans: list[Plan], near: list[list[Ends]]) -> list[Fitted]:
        """Begin each at a combination of fits."""
        return [self._fit(*known) for known in zip(plans, near, strict=True)]

    def _fit(self, here: Plan, near: list[Ends]) -> Fitted:
        if near:
            of_class = zip(*near, strict=True)
            here = replace(here, starts=[Start(*map(extrapolate, zip(*ends, strict=True))) for ends in of_class])
        [solution] = solutions = fit(here)
        coef, intercept = solution.problem.split(solution.result.x)
        classes = zip(coef, np.atleast_1d(intercept), solution.result.dual, strict=True)
        return solutions, [Start(*values) for values in classes]


class SeparateFits:
    """Fits of a model with a problem of its own for each target."""

    def __init__(self, whole: Plan) -> None:
        self._free = whole.settings.solver == "auto" and whole.settings.max_passes >= 1.0
        self._continuations = [continuation(problem.view) if self._free else None for problem in whole.problems]
        self.together = max([way.together for way in self._continuations if way is not None], default=1)

    def fit(self, plans: list[Plan], near: list[list[Ends]]) -> list[Fitted]:
        """Begin each at a combination of fits."""
        targets = range(len(self._continuations))
        by_target = [self._solve(k, plans, [[ends[k] for ends in beside] for beside in near]) for k in targets]
        return [
            ([solution for solution, _ in of_plan], [place for _, place in of_plan])
            for of_plan in zip(*by_target, strict=True)
        ]

    def _solve(self, k: int, plans: list[Plan], near: list[list[Neighbour]]) -> list[tuple[Solution, Neighbour]]:
        """The k-th problem of each plan, and where it ended."""
        way, settings = self._continuations[k], plans[0].settings
        problems = [here.problems[k] for here in plans]
        found: Sequence[tuple[Run, Neighbour] | None] = [None] * len(plans)
        if way is not None and all(near):
            found = way.solve([problem.view for problem in problems], near, settings.tol, settings.max_passes)
        return [
            self._solve_one(problem, way is not None, settings, beside)
            if known is None
            else (Solution(problem, known[0]), known[1])
            for problem, beside, known in zip(problems, near, found, strict=True)
        ]

    def _solve_one(
        self, problem: Problem, rows: bool, settings: Settings, near: list[Neighbour]
    ) -> tuple[Solution, Neighbour]:
        """A problem by `solve`, and where it ended, with the margins of the rows if `rows` says so."""
        if self._free and is_chain(problem.view):
            run = solve_chain(problem.view, settings.tol)
            if run is not None:
                return Solution(problem, run), Neighbour.alone(run.x, run.dual)
        result = uninterrupted(quietly(problem, **settings._asdict(), **_start(problem, near)))
        place = Neighbour.read(problem.view, result.x, result.dual) if rows else Neighbour.alone(result.x, result.dual)
        return Solution(problem, result), place


def _start(problem: Problem, near: list[Neighbour]) -> dict[str, Any]:
    if not near:
        return {}
    dual = extrapolate([place.dual for place in near])
    # That of a fit without r2 has another size.
    return {"x0": extrapolate([place.x for place in near]), "dual0": dual if dual.size == problem.F.n_outputs else None}
