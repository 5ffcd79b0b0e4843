"""NumPy's .npz: a sparse matrix as SciPy saves it, or an array X; labels under y."""

import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .source import Source
from .table import Table, checked


def read(source: Source, n_features: int | None, target: int | str | None) -> Table:
    """The whole archive."""
    file = source.binary()
    X: Any = None
    try:
        with np.load(file, allow_pickle=False) as archive:
            names = archive.files
            y = archive["y"] if "y" in names else None
            if "X" in names:
                X = archive["X"]
        if "format" in names and X is None:
            file.seek(0)
            X = sp.load_npz(file)
    except (ValueError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{source.name} is damaged or holds objects instead of numbers ({error}). Write it anew with numpy.savez."
        ) from None
    if X is None:
        raise InputError(
            f"{source.name} holds {', '.join(names)}, but neither an array X nor a sparse matrix. "
            "Save it with numpy.savez(path, X=X, y=y)."
        )
    return checked(source.name, X, y, n_features)
