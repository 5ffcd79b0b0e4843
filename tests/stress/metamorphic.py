"""The same problem told in another way: units, orders, repetitions, storage. The answer must be the same."""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators
from spdpeg.errors import FarFromOptimalWarning, SpdpegError

from . import designs, generator
from .cases import Case
from .fuzz import NO_GAP, refusal, where
from .objective import at_zero, evaluate
from .outcome import Outcome, Verdict
from .rescaling import by_column, multiplied, reordered, stretched

_TRIES = 200

Back = Callable[[np.ndarray], np.ndarray]


@dataclass
class Retold:
    """The other problem, and how coefficients and intercept of it become those of the first."""

    case: Case
    back: Back = lambda x: x
    shrink: float = 1.0
    """Its intercept times this is the first one's."""
    times: float = 1.0
    """Its objective is this many times the first one's."""


Telling = Callable[[Case, np.random.Generator], "Retold | tuple[Retold, Case] | None"]
"""May change the first problem too."""


def _plain(case: Case, **changes: Any) -> Case:
    """The case with some things changed, its data given as an array."""
    changed = replace(case, **changes)
    return replace(changed, given=changed.X, F=changed.matrix if "matrix" in changes else changed.F)


def units(case: Case, rng: np.random.Generator) -> Retold | None:
    """s X with r(s v): x becomes x / s."""
    s = _factor(rng, 9)
    r1, r2, domain = (stretched(r, s) for r in (case.r1, case.r2, case.domain))
    if NotImplemented in (r1, r2, domain):
        return None
    return Retold(_plain(case, X=case.X * s, r1=r1, r2=r2, domain=domain), lambda x: s * x)


def columns(case: Case, rng: np.random.Generator) -> Retold | None:
    """Each column in a unit of its own."""
    s = 10.0 ** rng.uniform(-6, 6, case.X.shape[1])
    r1, domain = by_column(case.r1, s), by_column(case.domain, s)
    if NotImplemented in (r1, domain):
        return None
    return Retold(_plain(case, X=case.X * s, r1=r1, domain=domain, matrix=case.matrix * s), lambda x: s * x)


def labels(case: Case, rng: np.random.Generator) -> Retold | None:
    """Labels in another unit: x becomes s x, and the objective s or s^2 times what it was."""
    name = type(case.loss).__name__
    if name not in ("Squared", "Huber", "Quantile"):
        return None
    s = _factor(rng, 6)
    k = s if name == "Quantile" else s * s
    r1, r2, domain = (stretched(r, 1 / s) for r in (case.r1, case.r2, case.domain))
    if NotImplemented in (r1, r2, domain):
        return None
    loss = losses.Huber(case.loss.delta * s) if name == "Huber" else case.loss
    other = _plain(
        case,
        labels=case.labels * s,
        y=case.labels * s,
        loss=loss,
        r1=multiplied(r1, k),
        r2=multiplied(r2, k),
        domain=domain,
    )
    return Retold(other, lambda x: x / s, 1 / s, k)


def rows(case: Case, rng: np.random.Generator) -> Retold | None:
    """Rows in another order."""
    order = rng.permutation(len(case.labels))
    return Retold(_select(case, order))


def column_order(case: Case, rng: np.random.Generator) -> Retold | None:
    """Columns in another order."""
    order = rng.permutation(case.X.shape[1])
    r1, domain = reordered(case.r1, order), reordered(case.domain, order)
    if NotImplemented in (r1, domain):
        return None
    other = _plain(case, X=case.X[:, order], matrix=case.matrix[:, order], r1=r1, domain=domain)
    return Retold(other, lambda x: x[np.argsort(order)])


def repetitions(case: Case, rng: np.random.Generator) -> tuple[Retold, Case] | None:
    """Weight k as k copies of a row."""
    counts = rng.integers(1, 4, len(case.labels))
    first = _plain(case, weights=counts.astype(float))
    repeated = replace(_select(first, np.repeat(np.arange(len(counts)), counts)), weights=None)
    return Retold(repeated), first


def absent(case: Case, rng: np.random.Generator) -> tuple[Retold, Case] | None:
    """Rows of weight 0 left out."""
    n = len(case.labels)
    kept = np.flatnonzero(rng.random(n) < 0.7)
    if kept.size < 2 or np.unique(case.labels[kept]).size < 2:
        return None
    weights = np.zeros(n)
    weights[kept] = 1.0
    return Retold(replace(_select(case, kept), weights=None)), _plain(case, weights=weights)


def split(case: Case, rng: np.random.Generator) -> Retold | None:
    """Each row as two rows that share its weight."""
    n = len(case.labels)
    weights = np.ones(n) if case.weights is None else case.weights
    part = rng.random(n)
    twice = replace(
        _select(case, np.tile(np.arange(n), 2)), weights=np.concatenate([part * weights, (1 - part) * weights])
    )
    return Retold(twice)


def storage(case: Case, rng: np.random.Generator) -> tuple[Retold, Case] | None:
    """The same numbers in another form."""
    X = case.X.astype(np.float32).astype(float) if rng.random() < 0.3 else case.X
    if not np.all(np.isfinite(X)):
        return None
    kinds = tuple(kind for kind in designs.STORAGES if kind not in ("integers",))
    given, held, kind = designs.stored(rng, X, kinds)
    first = _plain(case, X=held)
    return Retold(replace(first, given=given, kinds={**case.kinds, "storage": kind})), first


def weight_units(case: Case, rng: np.random.Generator) -> tuple[Retold, Case] | None:
    """All weights times one number."""
    weights = rng.random(len(case.labels)) + 0.01
    first = _plain(case, weights=weights)
    return Retold(replace(first, weights=weights * 10.0 ** rng.uniform(-250, 250))), first


def structure(case: Case, rng: np.random.Generator) -> Retold | None:
    """F as a matrix, dense or sparse, instead of an operator."""
    if case.r2 is None:
        return None
    matrix = case.matrix if rng.random() < 0.5 else sp.csc_array(case.matrix)
    return Retold(replace(case, F=operators.Matrix(matrix)))


def structure_rows(case: Case, rng: np.random.Generator) -> Retold | None:
    """Rows of F in other units and another order."""
    if case.r2 is None or len(case.matrix) == 0:
        return None
    s = 10.0 ** rng.uniform(-4, 4, len(case.matrix))
    order = rng.permutation(len(case.matrix))
    scaled = by_column(case.r2, 1 / s)
    r2 = NotImplemented if scaled is NotImplemented else reordered(scaled, order)
    if r2 is NotImplemented:
        return None
    return Retold(_plain(case, matrix=(case.matrix * s[:, None])[order], r2=r2))


def intercept_units(case: Case, rng: np.random.Generator) -> Retold | None:
    """The column of the intercept in another unit."""
    if not case.intercept:
        return None
    return Retold(replace(case, intercept=_factor(rng, 3)))


TELLINGS: tuple[Telling, ...] = (
    units,
    columns,
    labels,
    rows,
    column_order,
    repetitions,
    absent,
    split,
    storage,
    weight_units,
    structure,
    structure_rows,
    intercept_units,
)


def _factor(rng: np.random.Generator, decades: float) -> float:
    """A power of 2, or of 10 by any exponent."""
    exponent = float(rng.uniform(-decades, decades))
    return float(2.0 ** round(exponent * math.log2(10.0))) if rng.random() < 0.5 else float(10.0**exponent)


def _select(case: Case, index: np.ndarray) -> Case:
    weights = None if case.weights is None else case.weights[index]
    y = np.asarray(case.y)[index]
    return _plain(case, X=case.X[index], y=y, labels=case.labels[index], weights=weights)


def draw(seed: int) -> tuple[Telling, Case, Retold]:
    """A problem, told twice."""
    rng = np.random.default_rng([3, seed])
    telling = TELLINGS[int(rng.integers(len(TELLINGS)))]
    for _ in range(_TRIES):
        case = generator.problem(int(rng.integers(1 << 31)))
        if case.loss is None:
            continue
        case = replace(case, given=case.X, seed=seed, start=None, passes=None)
        told = telling(case, rng)
        if isinstance(told, tuple):
            told, case = told
        if told is not None:
            return telling, case, told
    raise AssertionError(f"no problem can be told as {telling.__name__}")


def run(seed: int) -> Outcome:
    """Solve both and compare."""
    telling, case, told = draw(seed)
    kinds = {**case.kinds, "telling": telling.__name__, "tol": f"{case.tol:g}"}
    outcome = Outcome(seed, Verdict.PASSED, case=f"{telling.__name__} {case}", kinds=kinds)
    begun = time.perf_counter()
    answers = [_answer(version, case.tol) for version in (case, told.case)]
    outcome.seconds = (time.perf_counter() - begun) / 2
    outcome.verdict, outcome.reason = _compared(case, told, answers)
    return outcome


Answer = tuple[str, str, np.ndarray | None, float]
"""What happened, in words, coefficients and intercept."""


def _answer(case: Case, tol: float) -> Answer:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FarFromOptimalWarning)
            problem = case.problem()
            result = spdpeg.solve(problem, tol=tol)
            x, intercept = problem.split(result.x)
    except SpdpegError as error:
        return refusal(error)[0].name, str(error), None, 0.0
    except Exception as error:
        return "RAW", where(error), None, 0.0
    met = result.certificate.met
    text = f"[{met}] {' '.join(str(result).split())}"
    return result.status.name if met is None else "MET", text, x, intercept


def _compared(case: Case, told: Retold, answers: list[Answer]) -> tuple[Verdict, str]:
    (first, text, x, c), (second, other, there, level) = answers
    if "RAW" in (first, second):
        return Verdict.RAW, text if first == "RAW" else other
    if first != second:
        return Verdict.CHANGED, f"{first} became {second}: {text} // {other}"
    if x is None or there is None:
        return (Verdict.REFUSED if first == "REFUSED" else Verdict.DIVERGED), text
    if first != "MET":
        told_so = first in ("INFEASIBLE", "NO_MINIMUM")
        return (Verdict.INFEASIBLE if told_so else Verdict.UNFINISHED), text
    here, beyond = evaluate(case, x, c), evaluate(case, told.back(there), told.shrink * level)
    off = abs(here.objective - beyond.objective)
    size = max(abs(here.objective), abs(beyond.objective))
    if off > case.tol * size + 2 * NO_GAP * at_zero(case) + here.rounding + beyond.rounding:
        wrong = Verdict.FALSE_RESIDUAL if "[residual]" in text + other else Verdict.FALSE_CLAIM
        return wrong, f"{here.objective:.12g} and {beyond.objective:.12g}, relative {off / size:.2g}"
    return Verdict.PASSED, ""
