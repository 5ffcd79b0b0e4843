"""From weight to weight: fits that begin where their neighbours ended."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...engine import quietly
from ...engine.auto import continuation
from ...exact.signal import is_chain, solve_chain
from ...problem import Problem
from ...result import uninterrupted
from ...sampled_newton.neighbours import Neighbour, extrapolate
from ...sums import threads
from ...sums.moments import Moments
from ..inputs import translated_errors
from .flow import Solution, fit, keep
from .plan import Plan, Start, penalties, plan

Ends = list[Any]
"""Where a fit ended: a `Start` for each class fitted jointly, or a `Neighbour` for each target fitted on its own."""


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

    The order is to and fro along lam2, so that each fit has fitted neighbours. Where there are three of them, a fit
    begins at their extrapolation, beside + above - corner, which is far closer to the solution than any of them. The
    input is checked once, and a graph that is learned from the data is learned once.

    Parameters
    ----------
    estimator : estimator
        With the parameters lam1, lam2 or both.
    lam1, lam2 : arrays
        A weight that the estimator does not have is passed over.
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
    above: dict[int, Ends] = {}
    for i in range(lam1.size):
        row: dict[int, Ends] = {}
        back = 1 if i % 2 else -1
        for j in range(lam2.size)[::-back]:
            weights = {"lam1": float(lam1[i]), "lam2": float(lam2[j])}
            for name in names:
                setattr(model, name, weights[name])
            corner = above.pop(j + back, None)  # needed no more: a fit holds as many numbers as there are rows
            here = whole.under(*penalties(model, whole.data.X.shape[1]))
            with threads.using(whole.settings.n_jobs):
                solutions, row[j] = fitter.fit(here, _near(row.get(j + back), above.get(j), corner))
            keep(model, here, solutions, details)
            yield (i, j), model
        above = row


def _near(beside: Ends | None, above: Ends | None, corner: Ends | None) -> list[Ends]:
    """The start of a fit: extrapolated from three fits if there are three, else the nearest, else none."""
    known = [ends for ends in (beside, above, corner) if ends is not None]
    whole = len(known) == 3 and len({ends[0].dual.shape for ends in known}) == 1
    return known if whole else known[:1]


class JointFits:
    """Fits of a model that solves for all classes at once."""

    def fit(self, here: Plan, near: list[Ends]) -> tuple[list[Solution], Ends]:
        """Begin at a combination of fits."""
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

    def fit(self, here: Plan, near: list[Ends]) -> tuple[list[Solution], Ends]:
        """Begin at a combination of fits."""
        found = [self._solve(k, here, [ends[k] for ends in near]) for k in range(len(here.problems))]
        return [solution for solution, _ in found], [place for _, place in found]

    def _solve(self, k: int, here: Plan, near: list[Neighbour]) -> tuple[Solution, Neighbour]:
        """The k-th problem, and where it ended."""
        problem, settings = here.problems[k], here.settings
        way = self._continuations[k]
        if near and way is not None:
            found = way.solve(problem.view, near, settings.tol, settings.max_passes)
            if found is not None:
                return Solution(problem, found[0]), found[1]
        if self._free and is_chain(problem.view):
            run = solve_chain(problem.view, settings.tol)
            if run is not None:
                return Solution(problem, run), Neighbour.alone(run.x, run.dual)
        result = uninterrupted(quietly(problem, **settings._asdict(), **_start(problem, near)))
        if way is None:
            return Solution(problem, result), Neighbour.alone(result.x, result.dual)
        return Solution(problem, result), Neighbour.read(problem.view, result.x, result.dual)


def _start(problem: Problem, near: list[Neighbour]) -> dict[str, Any]:
    if not near:
        return {}
    dual = extrapolate([place.dual for place in near])
    # That of a fit without r2 has another size.
    return {"x0": extrapolate([place.x for place in near]), "dual0": dual if dual.size == problem.F.n_outputs else None}
