"""NumPy's .npz: a sparse matrix as SciPy saves it, or an array X; labels under y."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from . import limits
from .archive import Archive
from .columns import Columns
from .source import Source
from .table import Table, checked


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole archive."""
    try:
        with Archive(source.binary()) as archive:
            names = archive.arrays
            y = archive.array("y") if "y" in names else None
            X = archive.array("X") if "X" in names else sparse(archive) if "format" in names else None
    except InputError as error:
        raise InputError(f"{source.name} is damaged or cannot be used: {_sentence(error)}") from None
    if X is None:
        raise InputError(
            f"{source.name} holds {', '.join(names) or 'nothing'}, but neither an array X nor a sparse matrix. "
            "Save it with numpy.savez(path, X=X, y=y)."
        )
    return checked(source.name, X, y, n_features, limit=limits.expanded(source.size))


def sparse(archive: Archive) -> Any:
    """The matrix that scipy.sparse.save_npz wrote, not converted and not yet checked."""
    names = archive.array("format").ravel()[:1].tolist()
    format = names[0].decode("ascii", "replace") if names and isinstance(names[0], bytes) else "".join(map(str, names))
    shape = archive.array("shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise InputError("the shape of the sparse matrix is no pair of sizes")
    size = int(shape[0]), int(shape[1])
    try:
        if format in ("csr", "csc", "bsr"):
            made = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[format]
            return made((archive.array("data"), _whole(archive, "indices"), _whole(archive, "indptr")), shape=size)
        if format == "coo":
            places = _whole(archive, "row"), _whole(archive, "col")
            return sp.coo_array((archive.array("data"), places), shape=size)
        if format == "dia":
            return sp.dia_array((archive.array("data"), _whole(archive, "offsets")), shape=size)
    except InputError:
        raise
    # Each of SciPy's constructors has its own complaints about arrays that do not fit together.
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise InputError(f"the arrays of the sparse matrix do not fit together ({error})") from None
    raise InputError(f"the format of the sparse matrix is {format!r}, which is unknown")


def _whole(archive: Archive, name: str) -> np.ndarray:
    """An array of indices, which SciPy would round if they were none."""
    found = archive.array(name)
    if found.dtype.kind not in "iu":
        raise InputError(f"{name} of the sparse matrix holds {found.dtype} numbers, not whole ones")
    return found


def _sentence(error: InputError) -> str:
    """The complaint with what to do, if it does not tell that itself."""
    message = str(error)
    return message if message.endswith(".") else f"{message}. Write it again with numpy.savez."
