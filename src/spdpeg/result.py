"""The result of a run."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from . import pages, plots
from .certificate import Certificate
from .errors import InputError
from .state import State


class Status(Enum):
    """Why a run ended; the value is the sentence to show.

    See Also
    --------
    Result : Has one.

    Examples
    --------
    >>> from spdpeg import Status
    >>> print(Status.TOLERANCE)
    the tolerance is met
    """

    TOLERANCE = "the tolerance is met"
    CONDITIONS = "the optimality conditions hold to the tolerance; no bound proves it"
    MAX_PASSES = "the budget of passes is used up"
    MAX_ITERATIONS = "the budget of iterations is used up"
    MAX_SECONDS = "the budget of seconds is used up"
    STREAM_ENDED = "the stream ended"
    EXHAUSTED = "no further step improves the objective; the certificate says how far it is from optimal"
    INFEASIBLE = "no point satisfies all constraints"
    NO_MINIMUM = "the loss falls towards its infimum only as x grows without end; add a penalty or widen the tolerance"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted from the keyboard; the result is that of the last finished step"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, certificate: Certificate) -> "Status":
        """The status of a run that met its tolerance: by a bound, or by the residual alone."""
        return cls.CONDITIONS if certificate.met == "residual" else cls.TOLERANCE


@dataclass
class History:
    """The history of a run; arrays of equal length.

    `seconds` counts the method alone: neither compilation nor the evaluation of what is recorded here.

    See Also
    --------
    Result : Has one.

    Examples
    --------
    >>> import spdpeg
    >>> from spdpeg import losses, penalties
    >>> X, y, _ = spdpeg.datasets.piecewise_constant(100, 10)
    >>> problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(0.01))
    >>> history = spdpeg.solve(problem, "spdpeg", max_passes=3).history
    >>> bool(history.objective[-1] < history.objective[0])
    True
    """

    passes: np.ndarray
    iterations: np.ndarray
    seconds: np.ndarray
    objective: np.ndarray
    violation: np.ndarray

    def __len__(self) -> int:
        return int(self.passes.size)

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each record.

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=spdpeg.losses.Squared())
        >>> spdpeg.solve(problem).history.to_frame().columns.tolist()
        ['passes', 'iterations', 'seconds', 'objective', 'violation']
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError("pandas is not installed. Run: pip install pandas.") from None
        return pd.DataFrame(vars(self))


class Stage(NamedTuple):
    """One method's part of a run."""

    method: str
    iterations: int
    passes: float
    seconds: float
    reason: str
    """Why this method: asked for, or chosen by the planner."""

    def __str__(self) -> str:
        return f"{self.method}: {self.iterations} steps, {self.passes:.3g} reads; {self.reason}"


@dataclass
class Result:
    """Solution and account of a run; printed, it says which methods ran and why.

    Attributes
    ----------
    x : array
        What the method's theory says to output, usually a weighted average of iterates.
    x_last : array
        The last iterate.
    z : array
        The method's own estimate of Fx.
    dual : array
        Multiplier of Fx = z (lambda in the paper): -dual is a subgradient of r2 at the optimum.
    slopes : array or None
        Slopes of the loss, one for each row, where the method keeps them: the dual variables of the rows.
    objective : float
        E[l] + r1 + r2(F .) at x. For a stream, E[l] is the mean over the chunk at hand; if r2 can be infinite, it is
        evaluated at z; `violation` is the rest.
    violation : float
        |F x - z|.
    iterations, passes, seconds
        Totals, including what a resumed state had done before. One pass is N row reads.
    compile_seconds : float
        Spent in this call on compiling or loading compiled code; not part of `seconds`.
    certificate : Certificate or None
        Lower bound, duality gap and optimality residual at x, and which of them met `tol`; None for a stream.
    status : Status
    history : History
    state : State
        Pass it to `solve` to go on, or save it.
    solver : str
        The name that was asked for, such as "auto".
    stages : list of Stage
        What ran: method, iterations, passes, seconds and reason of each stage, one after the other.

    See Also
    --------
    solve : Returns one.
    History, Certificate, State : Parts of it.

    Examples
    --------
    >>> import spdpeg
    >>> from spdpeg import losses, penalties
    >>> X, y, _ = spdpeg.datasets.piecewise_constant(100, 10, task="regression")
    >>> result = spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.L1(0.1)))
    >>> result.x.shape, result.status.name, [stage.method for stage in result.stages]
    ((10,), 'TOLERANCE', ['one-read'])
    """

    x: np.ndarray
    x_last: np.ndarray
    z: np.ndarray
    dual: np.ndarray
    slopes: np.ndarray | None = field(repr=False)
    objective: float
    violation: float
    iterations: int
    passes: float
    seconds: float
    compile_seconds: float
    status: Status
    certificate: Certificate | None
    history: History = field(repr=False)
    state: State = field(repr=False)
    solver: str
    stages: list[Stage]

    @property
    def ran(self) -> str:
        """The name asked for and, where the planner chose, what ran: "auto (prox-newton)", say."""
        methods = ", ".join(stage.method for stage in self.stages)
        return self.solver if methods == self.solver else f"{self.solver} ({methods})"

    def plot(self) -> Any:
        """Draw objective, gap and violation against passes and seconds. Needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return plots.run(self)

    def __repr__(self) -> str:
        gap = "" if self.certificate is None else f"relative gap={self.certificate.rel_gap:.2g}, "
        return (
            f"Result(objective={self.objective:.6g}, {gap}violation={self.violation:.2g}, passes={self.passes:.4g}, "
            f"iterations={self.iterations}, seconds={self.seconds:.3g}: {self.status})"
        )

    def __str__(self) -> str:
        known = "no certificate" if self.certificate is None else str(self.certificate)
        effort = f"{self.passes:.4g} passes over the data in {self.seconds:.3g} s"
        lines = [f"objective {self.objective:.6g}: {known}", f"{effort}; {self.status}", *map(str, self.stages)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        known = "no certificate" if self.certificate is None else str(self.certificate)
        facts = {
            "objective": self.objective,
            "non-zero coordinates": f"{np.count_nonzero(self.x):,} of {self.x.size:,}",
            "passes over the data": self.passes,
            "seconds": self.seconds,
            "ended because": str(self.status),
            **{f"ran: {stage.method}": stage.reason for stage in self.stages},
        }
        return pages.notebook.card(known, facts)


class Run(NamedTuple):
    """Solution and account of a run other than one of `solve`, by the names of `Result`."""

    x: np.ndarray
    dual: np.ndarray
    objective: float
    certificate: Certificate
    history: History
    passes: float
    status: Status


def uninterrupted(result: Result) -> Result:
    """The result, unless Ctrl-C ended the run: a model would hide that."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result
