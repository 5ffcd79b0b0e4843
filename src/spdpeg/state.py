"""Everything that changes during a run, as plain numbers and arrays: copied, saved, loaded and resumed bit for bit."""

import copy
import json
import os
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .errors import StateError

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
        target = Path(path)
        header = {name: value for name, value in vars(self).items() if name not in ("vectors",)}
        header["format"] = _FORMAT
        arrays = {f"vector_{name}": vector for name, vector in self.vectors.items()}
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez(stream, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "State":
        """Read what `save` wrote."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                vectors = {name[7:]: archive[name] for name in archive.files if name.startswith("vector_")}
        except FileNotFoundError:
            raise
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise StateError(
                f"{os.fspath(path)} is not a saved state or is damaged ({error}). Start the run anew."
            ) from None
        if header.pop("format", None) != _FORMAT:
            raise StateError(
                f"{os.fspath(path)} was written in a format this version does not know. Start the run anew."
            )
        try:
            return cls(**header, vectors=vectors)
        except TypeError as error:
            raise StateError(f"{os.fspath(path)} lacks parts of a state ({error}). Start the run anew.") from None
