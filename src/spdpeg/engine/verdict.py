"""What a run is said to have come to, if it is far from where it should be."""

import functools
import math
import warnings
from collections.abc import Callable
from typing import ParamSpec

from ..certificate import Certificate
from ..errors import FarFromOptimalWarning
from ..result import Result, Status

_FAR = 0.01
"""Part of the objective that is a large gap; a residual that is as large."""

_UNFINISHED = (Status.MAX_PASSES, Status.MAX_SECONDS, Status.MAX_ITERATIONS, Status.EXHAUSTED)

P = ParamSpec("P")


def telling(run: Callable[P, Result]) -> Callable[P, Result]:
    """The same with a warning if the run ended far from optimal."""

    @functools.wraps(run)
    def told(*args: P.args, **kwargs: P.kwargs) -> Result:
        result = run(*args, **kwargs)
        reached = "" if result.certificate is None else _far(result.certificate)
        if reached and result.iterations and result.status in _UNFINISHED:
            warnings.warn(f"{result.ran} ended {reached}: {result.status}. {_advice(result)}", FarFromOptimalWarning, 2)
        return result

    return told


def _far(certificate: Certificate) -> str:
    """In words, how far it is; empty if it is not far, or nobody knows."""
    if certificate.met is not None:
        return ""
    if math.isfinite(certificate.rel_gap):
        return f"up to {100.0 * certificate.rel_gap:.2g} % above the optimum" if certificate.rel_gap > _FAR else ""
    if _FAR < certificate.residual < math.inf:
        return f"with a residual of the optimality conditions of {certificate.residual:.2g}"
    return ""


def _advice(result: Result) -> str:
    if result.status is Status.EXHAUSTED:
        return "Scale the columns of X to similar size, or try another solver."
    if result.solver == "auto":
        return "Raise the budget."
    return 'Raise the budget, or leave the choice of the method to "auto".'
