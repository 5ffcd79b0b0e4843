"""Random problems against CVXPY with Clarabel and an objective of our own."""

import contextlib
import math
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import spdpeg
from spdpeg.errors import DivergedError, FarFromOptimalWarning, InputError, SpdpegError, UnsupportedError

from . import conic, generator
from .cases import Case
from .objective import Value, at_zero, evaluate
from .outcome import Outcome, Verdict, gravest

BOUND_SLACK = 1e-12
"""Relative to the objective: what rounding may add to a bound."""
NO_GAP = 1e-12
"""Times the objective at x = 0: what counts as no gap, as the documentation has it for an optimum of 0."""
INSIDE = 1e-7
"""Relative: a point that violates a set by more does not solve the problem."""
CERTAIN = 1e-10
"""Relative: a point that violates no set by more shows that the sets have points in common."""
ROUNDING = 64 * np.finfo(float).eps
"""Relative to the terms of a constraint: no number in double precision need be nearer to it."""
SAME_VALUE = 1e-9
"""Relative: the value that is reported is the objective."""


def run(seed: int, solver: str = "auto", passes: float | None = None) -> Outcome:
    """Solve the problem with this number and judge the answer.

    "every" takes the solvers in turn.
    """
    case = generator.problem(seed)
    if passes is not None:
        case = replace(case, passes=passes)
    if solver == "every":
        names = [row["name"] for row in spdpeg.list_solvers()]
        solver = names[seed % len(names)]
    begun = time.process_time()
    kinds = {**case.kinds, "tol": f"{case.tol:g}", "solver": solver}
    outcome = Outcome(seed, Verdict.PASSED, case=f"{solver} {case}", kinds=kinds)
    try:
        with _strict():
            problem = case.problem()
            result = spdpeg.solve(problem, solver, **case.settings())
            outcome.seconds = max(time.process_time() - begun - result.compile_seconds, 0.0)
            x, intercept = problem.split(result.x)
    except SpdpegError as error:
        outcome.verdict, outcome.reason = refusal(error)
        return outcome
    except Exception as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
        return outcome
    found = judge(case, x, intercept, result.certificate, result.status.name, partial(_probed, problem, result, seed))
    if found:
        (outcome.verdict, outcome.reason), *outcome.others = gravest(found)
    return outcome


@contextlib.contextmanager
def _strict() -> Any:
    """Warnings are errors, as in the tests; but for the one that says that a run did not finish."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FarFromOptimalWarning)
        yield


def refusal(error: SpdpegError) -> tuple[Verdict, str]:
    """The verdict on an error that the package raises on purpose."""
    text = str(error)
    if "\n" in text or not text.strip():
        return Verdict.RAW, f"the message of {type(error).__name__} is not one line: {text!r}"
    if isinstance(error, InputError | UnsupportedError):
        return Verdict.REFUSED, text
    return (Verdict.DIVERGED if isinstance(error, DivergedError) else Verdict.RAW), text


def where(error: BaseException) -> str:
    """An exception and the lines of the package that it came from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "tests/stress/" not in frame.filename]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames[-3:]]
    return f"{type(error).__name__}: {str(error).splitlines()[:1]} at {' < '.join(reversed(places))}"


def _probed(problem: Any, result: Any, seed: int) -> list[float]:
    """Bounds that the package gives at other points than the solution."""
    rng = np.random.default_rng([8, seed])
    bounds = []
    for size in (1e-6, 1e-2, 1.0):
        x = result.x * (1 + size * rng.standard_normal(result.x.size))
        dual = result.dual + size * (1 + np.abs(result.dual)) * rng.standard_normal(result.dual.size)
        bounds.append(problem.certificate(x, dual, result.slopes).dual)
    return bounds


def judge(
    case: Case,
    x: np.ndarray,
    intercept: float,
    certificate: Any,
    status: str,
    bounds: Callable[[], list[float]] = list,
) -> list[tuple[Verdict, str]]:
    """Everything that is wrong with an answer; `bounds` are further ones that must lie below the optimum."""
    claims = certificate.met is not None or status in ("TOLERANCE", "CONDITIONS")
    if not np.all(np.isfinite(x)) or not math.isfinite(intercept):
        return [(Verdict.FALSE_CLAIM if claims else Verdict.RAW, "x is not finite")]
    own = evaluate(case, x, intercept)
    reference = conic.solve(case, (x, intercept))
    if status in ("INFEASIBLE", "NO_MINIMUM"):
        wrong = _denied(case, status, reference)
        return [(Verdict.FALSE_INFEASIBLE, wrong)] if wrong else [(Verdict.INFEASIBLE, status)]
    found = []
    upper = reference.upper
    if own.violation == 0.0:
        upper = min(upper, own.objective + own.own_rounding)
    slack = BOUND_SLACK * abs(upper) + 8 * np.finfo(float).eps * evaluate(case, np.zeros(x.size)).objective
    try:
        with _strict():
            lower = {certificate.dual: "", **dict.fromkeys(bounds(), " at another point")}
    except Exception as error:
        return [(Verdict.RAW, f"certificate at another point: {where(error)}")]
    for bound, place in lower.items():
        if bound > upper + slack and not reference.infeasible:
            over = (bound - upper) / max(abs(upper), 1e-300)
            found.append((Verdict.FALSE_BOUND, f"bound {bound:.12g} over {upper:.12g}, relative {over:.2g}{place}"))
    if not claims and case.passes is None:
        reason = "infeasible, not told so" if reference.infeasible else _remains(case, own, upper, certificate)
        return [*found, (Verdict.UNFINISHED, f"{status}: {reason}")]
    if claims:
        found += _false_claims(case, own, upper, certificate, reference.infeasible)
    return found


def _denied(case: Case, status: str, reference: conic.Reference) -> str:
    """Why it is wrong to say that there is no solution; nothing if it is right, or may be."""
    if status == "INFEASIBLE":
        inside = reference.violation <= CERTAIN and not reference.infeasible and reference.x is not None
        # Where entries are huge, what is little beside them may be much beside a bound.
        inside = inside and conic.rows_hold(case, reference.x, ROUNDING)
        return f"a point of objective {reference.upper:.6g} satisfies all constraints" if inside else ""
    names = {type(term).__name__ for term in (case.loss, case.r1, case.r2, case.domain)}
    # A function made of lines and parabolas attains its infimum; one with exponentials or cones need not.
    curved = names & {"Logistic", "Poisson", "Gamma", "GroupL2", "Nuclear", "L2Ball", "SeparableSum"}
    return "" if curved else f"there is a minimum, {reference.upper:.6g}"


def _false_claims(
    case: Case, own: Value, upper: float, certificate: Any, infeasible: bool
) -> list[tuple[Verdict, str]]:
    found = []
    wrong = Verdict.FALSE_RESIDUAL if certificate.met == "residual" else Verdict.FALSE_CLAIM
    if own.violation > INSIDE:
        no = "; there is no feasible point" if infeasible else ""
        found.append((wrong, f"a set is violated by {own.violation:.2g}{no}"))
    elif infeasible and own.violation > ROUNDING:
        found.append((wrong, "there is no feasible point"))
    beyond = own.objective - upper
    allowed = case.tol * abs(own.objective) + NO_GAP * at_zero(case) + own.own_rounding
    if beyond > allowed:
        relative = beyond / max(abs(own.objective), 1e-300)
        times = relative / case.tol
        text = f"by {certificate.met}: {own.objective:.12g} over {upper:.12g}, relative {relative:.2g}, {times:.2g} tol"
        found.append((wrong, text))
    off = abs(certificate.primal - own.objective)
    if own.violation <= INSIDE and not off <= SAME_VALUE * abs(own.objective) + own.rounding:
        found.append((Verdict.WRONG_VALUE, f"reports {certificate.primal:.12g} where x has {own.objective:.12g}"))
    return found


def _remains(case: Case, own: Value, upper: float, certificate: Any) -> str:
    """How far an honest answer is from the optimum, and from a proof."""
    relative = (own.objective - upper) / max(abs(own.objective), 1e-300)
    proof = f"gap {certificate.rel_gap:.2g}" if math.isfinite(certificate.rel_gap) else "no gap"
    return f"{relative:.2g} from the optimum, {proof}, residual {certificate.residual:.2g}, tol {case.tol:g}"
