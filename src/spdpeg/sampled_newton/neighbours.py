"""Solutions of problems that differ in their penalties only, from which the next one is extrapolated."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Certificate
from ..result import History, Run, Status
from ..sums import evaluated_rows
from ..view import View


class Neighbour(NamedTuple):
    """A solution: x, its margins, the slopes there, the multipliers of F x in the sign of results, and the gradient.

    What nobody goes on from is empty: margins or slopes, and where rows have no part in it the gradient too.
    """

    x: np.ndarray
    margins: np.ndarray
    slopes: np.ndarray
    dual: np.ndarray
    gradient: np.ndarray

    @classmethod
    def alone(cls, x: np.ndarray, dual: np.ndarray) -> "Neighbour":
        """A solution without what belongs to the rows."""
        return cls(x, np.empty(0), np.empty(0), dual, np.empty(0))

    @classmethod
    def read(cls, problem: View, x: np.ndarray, dual: np.ndarray) -> "Neighbour":
        """A solution of a problem in memory; one read."""
        found = evaluated_rows(problem.sums, x)
        slopes = problem.loss.derivative(found.margins, problem.rows.labels)
        return cls(x, found.margins, slopes, dual, found.gradient)


def extrapolate(ends: Sequence[Any]) -> Any:
    """beside + above - corner, of the ends of three neighbours; the end of the first if there are fewer."""
    return ends[0] + ends[1] - ends[2] if len(ends) == 3 else ends[0]


class Record(NamedTuple):
    """The account of a step."""

    passes: float
    step: int
    seconds: float
    objective: float
    violation: float = 0.0


def account(x: np.ndarray, dual: np.ndarray, certificate: Certificate, records: list[Record]) -> Run:
    """The outcome of some steps."""
    history = History(*(np.array(column) for column in zip(*records, strict=True)))
    return Run(x, dual, certificate.primal, certificate, history, records[-1].passes, Status.of(certificate))
