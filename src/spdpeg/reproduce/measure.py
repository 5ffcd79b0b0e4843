"""The pieces of work of a study: a curve, a choice of parameters, an optimum, the pace. Each depends on a seed only."""

import copy
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import DivergedError, Problem, Result, Status, UnsupportedError
from ..engine import auto, quietly
from ..engine.budgets import Budget
from ..engine.loop import run
from ..engine.recorder import Progress
from ..engine.registry import resolve
from ..engine.stages import single_stage
from ..kernels.row_sums import margins
from .authors import Settings
from .methods import AUTO, Method
from .protocol import FOLDS, Study
from .tuning import Point, walk

_FIRST_ROWS, _FIRST_WORK = 100, 1e4
"""A curve has its first record after the first power of ten of passes that reads so many rows and as many of their
coordinates, or after one pass. A record interrupts the method, and what that costs should not show on the clock.
"""

_TUNING_WORK = 4e7
"""Coordinates that one candidate of a grid may touch: passes alone would let the widest data dwarf all the rest."""

_TUNING_STEPS = 200
"""But at least so many steps."""

OPTIMUM_TOLERANCE = 1e-6

_APART = 1000
"""Seeds of the same round are so far apart, farther than there are rounds."""

COLUMNS = ("passes", "iterations", "seconds", "objective", "test_loss", "score")


class Record(NamedTuple):
    """One point of a curve."""

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

    trace(problem, method.solver, method.settings(task, data, problem, {}), study.seed, study.seconds, keep)
    # The last slice of a run may go beyond its budget; other curves need not.
    return {"passes": records[-1].passes, "seconds": min(records[-1].seconds, study.seconds)}


def optimum(study: Study, task: str, data: str, fold: int) -> dict[str, Any]:
    """The best value of a round with the lower bound that proves it, how its x predicts, and what to hold it against:
    the objective at 0, the score without any feature, and the two terms of the printed L~ with rho = 1.
    """
    problem, test = _split(study, task, data, fold)
    result = _finished(
        quietly(
            problem,
            tol=OPTIMUM_TOLERANCE,
            max_passes=None,
            max_seconds=study.optimum_seconds,
            record_every=5,
            seed=study.seed,
        )
    )
    assert result.certificate is not None
    bound, square = result.certificate.dual, problem.F.squared_norm
    return {
        "solver": result.ran,
        "objective": result.objective,
        "bound": bound if np.isfinite(bound) else None,
        "test_loss": test.view.mean_loss(result.x),
        "score": score(test, result.x),
        "start": problem.objective(np.zeros(problem.n_coordinates)),
        "majority": _blind_score(problem, test),
        "coupling": 8.0 * square,
        "curvature": math.sqrt(8.0 * problem.view.bounds.lipschitz_max**2 + square),
    }


def tune(study: Study, task: str, data: str, method: Method, fold: int) -> dict[str, Any]:
    """Tune a method inside one round: a walk on each of its lattices, and the best of these.

    Candidates are trained on three of the round's four folds and scored by the objective on the next one: loss there
    plus penalties.
    """
    inner = (fold + 1) % FOLDS
    form, source = study.tasks[task], study.data[data]
    problem = form.problem(source, study.training(data, fold, inner))
    held_out = form.problem(source, study.testing(data, inner))
    steps = int(max(_TUNING_STEPS, _TUNING_WORK / _step_cost(method, problem)))

    def score_of(lattice: int, point: Point) -> float:
        chosen = method.settings(task, data, problem, {"lattice": lattice, "point": point})
        try:
            result = quietly(
                problem,
                method.solver,
                max_passes=study.passes,
                max_iterations=steps,
                record_every=2 * study.passes,
                seed=study.seed,
                **chosen.parameters,
            )
        except DivergedError:
            return math.inf
        return held_out.objective(_finished(result).x)

    try:
        walks = [
            walk(partial(score_of, number), len(lattice.factors)) for number, lattice in enumerate(method.lattices)
        ]
    except UnsupportedError as error:
        return {"skipped": str(error)}
    best = min(range(len(walks)), key=lambda number: walks[number].score)
    return {
        "lattice": best,
        "point": walks[best].point,
        "interior": walks[best].interior,
        "candidates": sum(found.candidates for found in walks),
    }


def curve(
    study: Study,
    task: str,
    data: str,
    method: Method,
    run_of: tuple[int, int],
    choice: dict[str, Any],
    least_seconds: float,
) -> dict[str, Any]:
    """One run, given by round and seed: objective on the training rows, loss and score on the others.

    It ends at the first record that has both the passes of the study and `least_seconds`, or with the seconds of the
    study.
    """
    if "skipped" in choice:
        return choice
    fold, seed = run_of
    problem, test = _split(study, task, data, fold)
    rows: list[tuple[float, ...]] = []
    settings, status, ran = method.settings(task, data, problem, choice), "complete", method.solver

    def keep(record: Record) -> bool:
        values = (record.objective, test.view.mean_loss(record.x), score(test, record.x))
        rows.append((record.passes, record.iterations, record.seconds, *values))
        return record.passes >= study.passes and record.seconds >= least_seconds

    try:
        ran = trace(problem, method.solver, settings, study.seed + fold + _APART * seed, study.seconds, keep)
    except DivergedError as error:
        status = f"diverged: {error}"
    except UnsupportedError as error:
        return {"skipped": str(error)}
    columns = zip(*rows, strict=True)
    about = {"parameters": settings.parameters, "numbers": settings.numbers, "status": status, "ran": ran}
    return about | dict(zip(COLUMNS, map(list, columns), strict=True))


def trace(
    problem: Problem,
    solver: str,
    settings: Settings,
    seed: int,
    seconds: float,
    keep: Callable[[Record], bool],
) -> str:
    """Show `keep` the start, then nine records for each power of ten of passes, until it has enough or time is up.

    Set-up is off the clock for every method: its constants, as `solve` measures them before the first step, and what it
    prepares for F, by a step on a copy of the state. The clock counts the processor's time, which other programs on the
    machine hardly change. Returns what ran, as `Result.ran` says it.
    """
    result = quietly(problem, solver, max_passes=0, seed=seed, **settings.parameters)
    keep(Record(0.0, 0, 0.0, result.objective, result.x))
    state = result.state
    state.numbers.update(settings.numbers)
    state.seconds = 0.0
    # The methods are kept, so that what they prepare for a problem is prepared once.
    plan = auto.plan(problem.view) if solver == AUTO else single_stage(resolve(solver, settings.parameters))
    if solver != AUTO:
        run(problem.view, plan, copy.deepcopy(state), Budget(None, 1, None), tol=None, record_every=None, callback=None)
    assert problem.n_samples is not None
    rows = max(_FIRST_ROWS, _FIRST_WORK / problem.n_features)
    power = min(0, math.ceil(math.log10(rows / problem.n_samples)))
    granted = 0.0

    def show(progress: Progress) -> bool:
        return keep(Record(*(getattr(progress, name) for name in Record._fields)))

    while result.status is Status.MAX_PASSES:
        interval, target = 10.0**power, 10.0 ** (power + 1)
        left = max(0.0, seconds - state.seconds)
        budget = Budget(target - granted, None, left, timer=time.thread_time)
        result = _finished(run(problem.view, plan, state, budget, tol=None, record_every=interval, callback=show))
        granted, power = target, power + 1
    return result.ran


def score(test: Problem, x: np.ndarray) -> float:
    """Share of correct predictions, or R^2 for a regression."""
    rows, labels, _ = test.view.rows.block
    predicted = np.empty(labels.size)
    margins(rows, x, predicted)
    if test.loss.binary:
        return float(np.mean((predicted > 0.0) == (labels > 0.0)))
    return 1.0 - float(np.sum((labels - predicted) ** 2) / np.sum((labels - labels.mean()) ** 2))


def _blind_score(problem: Problem, test: Problem) -> float:
    """The score of the most frequent label of the training part, or of its mean label."""
    known, labels = problem.view.rows.block.labels, test.view.rows.block.labels
    if test.loss.binary:
        return float(np.mean((labels > 0.0) == (2 * np.count_nonzero(known > 0.0) > known.size)))
    return 1.0 - float(np.sum((labels - known.mean()) ** 2) / np.sum((labels - labels.mean()) ** 2))


def _split(study: Study, task: str, data: str, fold: int) -> tuple[Problem, Problem]:
    form, source = study.tasks[task], study.data[data]
    return form.problem(source, study.training(data, fold)), form.problem(source, study.testing(data, fold))


def _step_cost(method: Method, problem: Problem) -> float:
    """Coordinates that a step touches; SADMMfull factorises a d x d matrix every tenth step."""
    d = problem.n_features
    return d**3 / 10 if method.solver == "sadmm-full" else d + problem.F.n_outputs


def _finished(result: Result) -> Result:
    """The result, unless Ctrl-C cut it short: half a run must not pass for a whole one."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result
