"""Everything that changes during a run, as plain numbers and arrays: copied, saved, loaded and resumed bit for bit."""

import copy
import json
import math
import os
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from .errors import InputError, StateError
from .files.archive import Archive
from .files.replacing import as_path, replacing

_FORMAT = 2

MOST_ROWS = 2**63
"""Rows that a run may count to, and steps."""


@dataclass
class Begun:
    """A stage of a run: the method, why it was taken, and the totals of the run when it began."""

    method: str
    reason: str
    iterations: int = 0
    rows: int = 0
    seconds: float = 0.0


@dataclass
class LoopState:
    """State of the loop between two calls, beside that of the method."""

    stages: list[Begun] = field(default_factory=list)
    """Stages begun so far; the last one is the current one."""
    planned_for: float | None = None
    """The tolerance for which the stages were planned."""
    certify_at: float | None = None
    """Rows at which the next certificate is due; None before the schedule begins."""
    last_gap: float = math.inf
    """Relative gap, or residual, at the last certificate of this stage."""
    gap_at: int = 0
    """Rows that had been read then."""


@dataclass
class State:
    """State of a run between two steps.

    Attributes
    ----------
    solver : str
        The name that was asked for; "auto" for a run whose methods are chosen by the planner.
    parameters : dict
        Solver parameters that differ from their defaults, and the batch size of the current method.
    seed : int
    iterations, rows, batches : int
        Steps done and rows read in all, batches drawn by the current method.
    allowance : float
        Rows that the budgets granted so far allow to read; keeps k + k passes equal to 2k passes.
    seconds : float
    numbers : dict
        Of the current method: constants fixed at its start, such as step sizes, counters and flags.
    vectors : dict of array
        Of the current method: iterates and averages.
    loop : LoopState
        Of the loop: the stages of the run and the schedule of certificates.
    held : dict of array
        Rows of a stream that were read but not used in a step yet.

    See Also
    --------
    solve : Goes on from a state.
    Result : Its `state` is where the run ended.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import losses, penalties
    >>> X, y, _ = spdpeg.datasets.piecewise_constant(100, 10)
    >>> problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(0.01))
    >>> half = spdpeg.solve(problem, "spdpeg", max_passes=2)
    >>> resumed = spdpeg.solve(problem, "spdpeg", state=half.state, max_passes=2)
    >>> bool(np.all(resumed.x == spdpeg.solve(problem, "spdpeg", max_passes=4).x))
    True
    """

    solver: str
    parameters: dict[str, Any]
    seed: int
    iterations: int = 0
    rows: int = 0
    batches: int = 0
    allowance: float = 0.0
    seconds: float = 0.0
    numbers: dict[str, float] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)
    loop: LoopState = field(default_factory=LoopState)
    held: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def batch_size(self) -> int:
        """Rows in each batch of the current method."""
        return int(self.parameters["batch_size"])

    @property
    def steps(self) -> int:
        """Steps done by the current method; `iterations` counts those of the stages before it as well."""
        return self.iterations - (self.loop.stages[-1].iterations if self.loop.stages else 0)

    def copy(self) -> "State":
        """An independent copy.

        Returns
        -------
        State
        """
        loop = replace(self.loop, stages=[replace(stage) for stage in self.loop.stages])
        arrays = ({name: array.copy() for name, array in some.items()} for some in (self.vectors, self.held))
        vectors, held = arrays
        parameters, numbers = copy.deepcopy(self.parameters), dict(self.numbers)
        return replace(self, parameters=parameters, numbers=numbers, vectors=vectors, loop=loop, held=held)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one .npz file (no pickle); an existing file is replaced only once the new one is complete.

        Parameters
        ----------
        path : str or path

        See Also
        --------
        load : Reads it.
        """
        header = {name: value for name, value in vars(self).items() if name not in ("vectors", "held")}
        header["loop"] = asdict(self.loop)
        header["format"] = _FORMAT
        arrays = {f"vector_{name}": vector for name, vector in self.vectors.items()}
        arrays |= {f"held_{name}": array for name, array in self.held.items()}
        with replacing(path) as file:
            np.savez(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "State":
        """Read what `save` wrote; what is damaged or incomplete is refused with a StateError.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        State

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np, spdpeg
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=spdpeg.losses.Squared())
        >>> state = spdpeg.solve(problem, "pd3o", max_iterations=3).state
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     state.save(os.path.join(directory, "run.npz"))
        ...     spdpeg.State.load(os.path.join(directory, "run.npz")).iterations
        3
        """
        name = str(as_path(path))
        try:
            with open(name, "rb") as file, Archive(file) as archive:
                header = json.loads(str(archive.array("header")))
                vectors, held = (
                    {
                        part.removeprefix(prefix): archive.array(part)
                        for part in archive.arrays
                        if part.startswith(prefix)
                    }
                    for prefix in ("vector_", "held_")
                )
        except (InputError, ValueError, RecursionError) as error:
            raise StateError(f"{name} is not a saved state or is damaged ({error}). Start a new run.") from None
        if not isinstance(header, dict) or header.pop("format", None) != _FORMAT:
            raise StateError(f"{name} was written in a format this version does not know. Start a new run.")
        wrong = _first_fault(header, vectors | held)
        if wrong is not None:
            raise StateError(f"{name} is not a whole state: {wrong}. Start a new run.")
        loop = header.pop("loop")
        loop["stages"] = [Begun(**stage) for stage in loop["stages"]]
        return cls(**header, vectors=vectors, loop=LoopState(**loop), held=held)


def _first_fault(header: dict[str, Any], vectors: dict[str, np.ndarray]) -> str | None:
    """The first entry of a state that is missing, unknown or of the wrong kind; None if there is none."""
    known = {part.name for part in fields(State)} - {"vectors", "held"}
    if header.keys() != known:
        return f"the parts {', '.join(sorted(header.keys() ^ known))} are missing or unknown"
    if not isinstance(header["solver"], str) or not isinstance(header["parameters"], dict):
        return "the solver is not named"
    counts = [header[name] for name in ("seed", "iterations", "rows", "batches")]
    if not all(type(count) is int and 0 <= count < MOST_ROWS for count in counts):
        return "a count is not a whole number"
    numbers = header["numbers"]
    reals = [header["allowance"], header["seconds"], *(numbers.values() if isinstance(numbers, dict) else [None])]
    if not all(isinstance(real, float | int) for real in reals):
        return "an entry is not a number"
    if not all(0.0 <= header[name] < MOST_ROWS for name in ("allowance", "seconds")):
        return "it names rows or seconds that no run can have"
    if not _is_loop(header["loop"]):
        return "the account of its stages is damaged"
    odd = next((name for name, vector in vectors.items() if vector.dtype.kind not in "biuf"), None)
    return None if odd is None else f"the vector {odd!r} does not hold numbers"


def _is_loop(loop: Any) -> bool:
    """Whether this is what `LoopState` is saved as."""
    names = {part.name for part in fields(LoopState)}
    if not isinstance(loop, dict) or loop.keys() != names or not isinstance(loop["stages"], list) or not loop["stages"]:
        return False
    reals = [loop["last_gap"], loop["gap_at"], *(loop[name] or 0.0 for name in ("planned_for", "certify_at"))]
    for stage in loop["stages"]:
        if not isinstance(stage, dict) or stage.keys() != {part.name for part in fields(Begun)}:
            return False
        if not isinstance(stage["method"], str) or not isinstance(stage["reason"], str):
            return False
        reals += [stage["iterations"], stage["rows"], stage["seconds"]]
    return all(isinstance(real, float | int) for real in reals)
