"""Graphs kept on disk: one .npz file each, without pickle, named after what it was computed from."""

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_FORMAT = 1


def key(X: Any, shares: np.ndarray, parameters: dict[str, Any]) -> str:
    """A name that changes with any entry of X (dense or sparse by columns), weight of a row and parameter."""
    digest = hashlib.sha256(json.dumps([_FORMAT, X.shape, parameters], sort_keys=True).encode())
    for array in (shares, X.data, X.indices, X.indptr) if sp.issparse(X) else (shares, X):
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def load(path: Path) -> dict[str, np.ndarray] | None:
    """The arrays in the file; None if there is none or it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zlib.error, zipfile.BadZipFile):
        return None


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write the arrays; the file appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
