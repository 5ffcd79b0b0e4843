"""Graphs kept on disk: one .npz file each, without pickle, named after what it was computed from."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..files.archive import Archive
from ..files.replacing import replacing

_FORMAT = 1


def key(X: Any, weights: np.ndarray, parameters: dict[str, Any]) -> str:
    """A name that changes with any entry of X (dense or sparse by columns), weight of a row and parameter."""
    digest = hashlib.sha256(json.dumps([_FORMAT, X.shape, parameters], sort_keys=True).encode())
    for array in (weights, X.data, X.indices, X.indptr) if sp.issparse(X) else (weights, X):
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def load(path: Path) -> dict[str, np.ndarray] | None:
    """The arrays in the file; None if there is none or it is damaged."""
    try:
        with path.open("rb") as file, Archive(file) as archive:
            return {name: archive.array(name) for name in archive.arrays}
    except (OSError, InputError):
        return None


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write the arrays; the file appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
