"""How a method is run: with a callback, or with growing budgets.

Every method is prepared first: data in the form it likes, imports, a model compiled to a cone program. What it does
after that is timed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from peer_cases import Case

BUSY = 5.0
"""Wall seconds that a machine with other work may need for one of the processor's."""
LEVELS = (1e-2, 1e-3, 1e-4, 1e-6)
"""Relative suboptimality."""
ENDLESS = 10**9


class Watch(Protocol):
    """Takes an x; raises once it has seen enough."""

    def __call__(self, x: np.ndarray) -> None:
        """Score x."""


class Found(NamedTuple):
    """An x for each scale of a case."""

    xs: list[np.ndarray]
    seconds: float | None = None
    """Where our own clock would be wrong."""
    reads: float | None = None
    """Where they are counted."""
    proved: float = 0.0
    """No smaller level counts as reached."""


@dataclass(frozen=True)
class Traced:
    """Shows a watch where it is, step by step."""

    run: Callable[[Watch], Any]
    compiles: bool = False
    """Whether a run may take its time because it is the first of its kind."""


@dataclass(frozen=True)
class Budgeted:
    """Runs from the start with one of `budgets`: powers of 2 and what lies between, or the tolerances given."""

    run: Callable[[Any], Found]
    tolerances: tuple[float, ...] = ()
    compiles: bool = False


def tolerances(largest: int = 10) -> tuple[float, ...]:
    """From 1e-1 on, a digit at a time."""
    return tuple(10.0**-digits for digits in range(1, largest + 1))


@dataclass(frozen=True)
class Method:
    """How it is prepared, with the seconds it may take; what a case needs to be; and what has to be installed."""

    prepare: Callable[[Case, float], Traced | Budgeted]
    takes: Callable[[Case], bool]
    package: str


def warm(case: Case, solve: Callable[[Case, Any, np.ndarray], np.ndarray]) -> Callable[[Any], Found]:
    """A run by `solve(problem, budget, start)` that starts each problem of a path at the solution of the one before."""

    def run(budget: Any) -> Found:
        xs = [np.zeros(case.X.shape[1])]
        for point in case.points():
            xs.append(solve(point, budget, xs[-1]))
        return Found(xs[1:])

    return run


def columns(X: Any) -> Any:
    """For packages that read column by column; 32-bit indices, since some take longer ones and go wrong."""
    if not sp.issparse(X):
        return np.asfortranarray(X)
    if X.nnz > 0.5 * X.shape[0] * X.shape[1]:
        return np.asfortranarray(X.toarray())
    short = sp.csc_matrix(X)
    short.sort_indices()
    return short


def rows(X: Any) -> Any:
    """For packages that know SciPy's matrices and not its arrays."""
    return sp.csr_matrix(X) if sp.issparse(X) else X


def norm_square(F: Any) -> float:
    """Of the largest singular value."""
    largest = import_module("scipy.sparse.linalg").svds(
        sp.csr_matrix(F, dtype=float), k=1, return_singular_vectors=False
    )
    return float(largest[0]) ** 2
