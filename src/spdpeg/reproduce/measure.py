"""The pieces of work of a study: a curve, the scores of a grid, an optimum, the pace. Each depends on its seed only."""

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import DivergedError, Problem, Result, Status, UnsupportedError, solve
from ..engine import auto
from ..engine.budgets import Budget
from ..engine.loop import run
from ..engine.recorder import Progress
from ..engine.registry import resolve
from ..engine.stages import asked
from ..kernels.rows import margins
from .methods import Method
from .protocol import FOLDS, Study

_FIRST_ROWS, _FIRST_WORK = 100, 1e4
"""A curve has its first record after the first power of ten of passes that reads so many rows and as many of their
coordinates, or after one pass. A record interrupts the method, and what that costs should not show on the clock.
"""

_TUNING_WORK = 4e7
"""Coordinates that one candidate of a grid may touch: passes alone would let the widest data dwarf all the rest."""

_TUNING_STEPS = 500
"""But at least so many steps."""

OPTIMUM_TOLERANCE = 1e-6

COLUMNS = ("passes", "iterations", "seconds", "objective", "test_loss", "score")


class Record(NamedTuple):
    """What a curve is made of."""

    passes: float
    iterations: int
    seconds: float
    objective: float
    x: np.ndarray


def pace(study: Study, task: str, data: str) -> dict[str, Any]:
    """Passes and seconds of the reference: what every method is given at least."""
    problem = study.tasks[task].problem(study.data[data], study.training(data, 0))
    method = study.reference(task)
    records: list[Record] = []

    def keep(record: Record) -> bool:
        records.append(record)
        return record.passes >= study.passes

    trace(problem, method.solver, method.parameters, study.seed, study.seconds, keep)
    # The last slice of a run may go beyond its budget; other curves need not.
    return {"passes": records[-1].passes, "seconds": min(records[-1].seconds, study.seconds)}


def optimum(study: Study, task: str, data: str, fold: int) -> dict[str, Any]:
    """The best value of a round with the lower bound that proves it, and how its x predicts."""
    problem, test = _split(study, task, data, fold)
    result = _finished(
        solve(
            problem,
            tol=OPTIMUM_TOLERANCE,
            max_passes=None,
            max_seconds=5 * study.seconds,
            record_every=5,
            seed=study.seed,
        )
    )
    assert result.certificate is not None
    bound = result.certificate.dual
    return {
        "solver": result.ran,
        "objective": result.objective,
        "bound": bound if np.isfinite(bound) else None,
        "test_loss": test.loss_value(result.x),
        "score": score(test, result.x),
    }


def scores(study: Study, task: str, data: str, method: Method, pair: tuple[int, int]) -> dict[str, Any]:
    """Held-out objective of every candidate, trained on three folds and measured on each of the other two.

    The run without folds a and b, measured on b, belongs to the cross-validation inside round a; measured on a, to that
    inside round b.
    """
    problem = study.tasks[task].problem(study.data[data], study.training(data, *pair))
    held_out = [study.tasks[task].problem(study.data[data], study.testing(data, fold)) for fold in pair]
    steps = max(_TUNING_STEPS, _TUNING_WORK / _step_cost(method, problem))
    found: list[list[float | None]] = []
    try:
        defaults = method.defaults(problem)
    except UnsupportedError as error:
        return {"skipped": str(error)}
    for choice in method.grid:
        try:
            result = solve(
                problem,
                method.solver,
                max_passes=study.passes,
                max_iterations=int(steps),
                record_every=2 * study.passes,
                seed=study.seed,
                **method.candidate(defaults, choice),
            )
        except DivergedError:
            found.append([None, None])
        else:
            found.append([_number(part.objective(_finished(result).x)) for part in held_out])
    return {"scores": found}


def select(scores_of: dict[tuple[int, int], dict[str, Any]], fold: int) -> int | None:
    """The candidate with the least mean over the inner folds of a round; None where the method was skipped."""
    inner = []
    for pair, part in scores_of.items():
        if "skipped" in part:
            return None
        if fold in pair:
            other = 1 - pair.index(fold)
            inner.append([np.inf if score[other] is None else score[other] for score in part["scores"]])
    return int(np.argmin(np.mean(inner, axis=0)))


def pairs(rounds: int) -> list[tuple[int, int]]:
    """The pairs of folds that the inner cross-validations of the rounds leave out."""
    return [pair for pair in itertools.combinations(range(FOLDS), 2) if pair[0] < rounds]


def curve(
    study: Study, task: str, data: str, method: Method, fold: int, choice: dict[str, Any], least_seconds: float
) -> dict[str, Any]:
    """One method on one round: objective on the training rows, loss and score on the others, against passes and time.

    It ends at the first record that has both the passes of the study and `least_seconds`, or with the seconds of the
    study.
    """
    problem, test = _split(study, task, data, fold)
    rows: list[tuple[float, ...]] = []
    parameters, status, ran = method.parameters, "complete", method.solver

    def keep(record: Record) -> bool:
        values = (record.objective, test.loss_value(record.x), score(test, record.x))
        rows.append((record.passes, record.iterations, record.seconds, *values))
        return record.passes >= study.passes and record.seconds >= least_seconds

    try:
        if method.grid:
            parameters = method.candidate(method.defaults(problem), choice)
        ran = trace(problem, method.solver, parameters, study.seed + fold, study.seconds, keep)
    except DivergedError as error:
        status = f"diverged: {error}"
    except UnsupportedError as error:
        return {"skipped": str(error)}
    columns = zip(*rows, strict=True)
    return {"parameters": parameters, "status": status, "ran": ran} | dict(
        zip(COLUMNS, map(list, columns), strict=True)
    )


def trace(
    problem: Problem,
    solver: str,
    parameters: dict[str, Any],
    seed: int,
    seconds: float,
    keep: Callable[[Record], bool],
) -> str:
    """Show `keep` the start, then nine records for each power of ten of passes, until it has enough or time is up.

    Returns what ran, as `Result.ran` says it.
    """
    result = solve(problem, solver, max_passes=0, seed=seed, **parameters)
    keep(Record(0.0, 0, 0.0, result.objective, result.x))
    state = result.state
    plan = auto.plan(problem) if solver == "auto" else asked(resolve(solver, parameters))
    assert problem.n_samples is not None
    rows = max(_FIRST_ROWS, _FIRST_WORK / problem.n_features)
    power = min(0, math.ceil(math.log10(rows / problem.n_samples)))
    granted = 0.0

    def show(progress: Progress) -> bool:
        return keep(Record(*(getattr(progress, name) for name in Record._fields)))

    while result.status is Status.MAX_PASSES:
        interval, target = 10.0**power, 10.0 ** (power + 1)
        budget = Budget(target - granted, None, max(0.0, seconds - state.seconds))
        # The methods are kept, so that what they prepare for a problem is prepared, and timed, once.
        result = _finished(run(problem, plan, state, budget, tol=None, record_every=interval, callback=show))
        granted, power = target, power + 1
    return result.ran


def score(test: Problem, x: np.ndarray) -> float:
    """Share of correct predictions, or R^2 for a regression."""
    rows, labels, _ = test.block
    predicted = np.empty(labels.size)
    margins(rows, x, predicted)
    if test.loss.binary:
        return float(np.mean((predicted > 0.0) == (labels > 0.0)))
    return 1.0 - float(np.sum((labels - predicted) ** 2) / np.sum((labels - labels.mean()) ** 2))


def _split(study: Study, task: str, data: str, fold: int) -> tuple[Problem, Problem]:
    form, source = study.tasks[task], study.data[data]
    return form.problem(source, study.training(data, fold)), form.problem(source, study.testing(data, fold))


def _step_cost(method: Method, problem: Problem) -> float:
    """Coordinates that a step touches; SADMMfull factorises a d x d matrix every tenth step."""
    d = problem.n_features
    return d**3 / 10 if method.solver == "sadmm-full" else d + problem.F.n_outputs


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _finished(result: Result) -> Result:
    """The result, unless Ctrl-C cut it short: half a run must not pass for a whole one."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result
