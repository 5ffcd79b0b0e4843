"""Everything that changes during a run, as plain numbers and arrays: copied, saved, loaded and resumed bit for bit."""

import copy
import json
import os
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .errors import InputError, StateError
from .files.archive import Archive
from .files.replacing import replacing

_FORMAT = 1


@dataclass
class State:
    """State of a solver between two steps.

    Attributes
    ----------
    solver : str
    parameters : dict
        Solver parameters, batch size included, that the run was started with.
    seed : int
    iterations, rows, batches : int
        Steps done, rows read, batches drawn.
    allowance : float
        Rows that the budgets granted so far allow to read; keeps k + k passes equal to 2k passes.
    seconds : float
    numbers : dict of float
        Constants fixed at the start, such as step sizes.
    vectors : dict of array
        Iterates and averages.
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

    def copy(self) -> "State":
        """An independent copy."""
        return copy.deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one .npz file (no pickle); an existing file is replaced only once the new one is complete."""
        header = {name: value for name, value in vars(self).items() if name != "vectors"}
        header["format"] = _FORMAT
        arrays = {f"vector_{name}": vector for name, vector in self.vectors.items()}
        with replacing(path) as file:
            np.savez(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "State":
        """Read what `save` wrote; what is damaged or incomplete is refused with a StateError."""
        name = os.fspath(path)
        try:
            with open(path, "rb") as file, Archive(file) as archive:
                header = json.loads(str(archive.array("header")))
                vectors = {
                    part.removeprefix("vector_"): archive.array(part)
                    for part in archive.arrays
                    if part.startswith("vector_")
                }
        except (InputError, ValueError, RecursionError) as error:
            raise StateError(f"{name} is not a saved state or is damaged ({error}). Start the run anew.") from None
        if not isinstance(header, dict) or header.pop("format", None) != _FORMAT:
            raise StateError(f"{name} was written in a format this version does not know. Start the run anew.")
        wrong = _first_fault(header, vectors)
        if wrong is not None:
            raise StateError(f"{name} is not a whole state: {wrong}. Start the run anew.")
        return cls(**header, vectors=vectors)


def _first_fault(header: dict[str, Any], vectors: dict[str, np.ndarray]) -> str | None:
    """What of a state is missing, unknown or of the wrong kind; None if it is whole."""
    known = {part.name for part in fields(State)} - {"vectors"}
    if header.keys() != known:
        return f"the parts {', '.join(sorted(header.keys() ^ known))} are missing or unknown"
    if not isinstance(header["solver"], str) or not isinstance(header["parameters"], dict):
        return "the solver is not named"
    counts = [header[name] for name in ("seed", "iterations", "rows", "batches")]
    if not all(type(count) is int and 0 <= count < 2**63 for count in counts):
        return "a count is not a whole number"
    numbers = header["numbers"]
    reals = [header["allowance"], header["seconds"], *(numbers.values() if isinstance(numbers, dict) else [None])]
    if not all(isinstance(real, float | int) and not isinstance(real, bool) for real in reals):
        return "an entry is not a number"
    odd = next((name for name, vector in vectors.items() if vector.dtype.kind not in "biuf"), None)
    return None if odd is None else f"the vector {odd!r} does not hold numbers"
