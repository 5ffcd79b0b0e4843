"""Checks of SciPy's sparse matrices, before compiled code, ours or SciPy's, follows their indices blindly."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError


def sound(matrix: Any, name: str = "X") -> Any:
    """The sparse matrix itself, refused unless its arrays fit together and all indices are within its shape.

    Anything that is not sparse is returned as it is.
    """
    if not sp.issparse(matrix):
        return matrix
    check = _CHECKS.get(matrix.format)
    wrong = _kinds(matrix) or (None if check is None else check(matrix))
    if wrong is not None:
        raise InputError(f"{name} is a damaged sparse matrix: {wrong}. Rebuild it.")
    return matrix


def first_not_finite(X: Any) -> int | None:
    """Number of the first row of an array or CSR matrix with a NaN or infinite entry; None if there is none."""
    values = X.data if sp.issparse(X) else X
    # A sum is finite only if its terms are, and costs no array of flags; overflow alone is caught below.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return None
    finite = np.isfinite(values)
    if finite.all():
        return None
    first = int(np.argmin(finite.reshape(-1)))
    if sp.issparse(X):
        return int(np.searchsorted(X.indptr, first, side="right")) - 1
    return first // X.shape[1]


_ARRAYS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "bsr": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
    "dia": ("offsets", "data"),
}


def _kinds(matrix: Any) -> str | None:
    """Arrays that are none, or whose indices are no whole numbers."""
    if matrix.ndim != 2:
        return f"it has shape {matrix.shape}, not two dimensions"
    for part in _ARRAYS.get(matrix.format, ()):
        array = getattr(matrix, part, None)
        if not isinstance(array, np.ndarray):
            return f"its {part} is a {type(array).__name__}"
        if part != "data" and (array.ndim != 1 or array.dtype.kind not in "iu"):
            return f"its {part} is of type {array.dtype} and has {array.ndim} dimension(s)"
    return None


def _compressed(matrix: Any) -> str | None:
    rows, columns = matrix.shape
    stored: tuple[int, ...] = (matrix.data.shape[0],) if matrix.data.ndim else (0,)
    if matrix.format == "bsr":
        if matrix.data.ndim != 3 or 0 in matrix.data.shape[1:]:
            return f"its data has shape {matrix.data.shape}"
        height, width = matrix.data.shape[1:]
        if rows % height or columns % width:
            return f"blocks of {height} x {width} do not fill {rows} x {columns}"
        rows, columns = rows // height, columns // width
    elif matrix.data.ndim != 1:
        return f"its data has {matrix.data.ndim} dimension(s)"
    major, minor = (columns, rows) if matrix.format == "csc" else (rows, columns)
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.size != major + 1:
        return f"indptr has {indptr.size} entries where {major + 1} are needed"
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        return "indptr does not begin at 0 or falls"
    entries = int(indptr[-1])
    if entries > min(indices.size, *stored):
        return f"indptr ends at {entries} where {min(indices.size, *stored)} entries are stored"
    return _range(indices[:entries], minor, "index")


def _triples(matrix: Any) -> str | None:
    if not matrix.row.size == matrix.col.size == matrix.data.size or matrix.data.ndim != 1:
        return f"it has {matrix.row.size} row numbers, {matrix.col.size} column numbers and {matrix.data.size} entries"
    rows, columns = matrix.shape
    return _range(matrix.row, rows, "row number") or _range(matrix.col, columns, "column number")


def _diagonals(matrix: Any) -> str | None:
    if matrix.data.ndim != 2 or matrix.data.shape[0] != matrix.offsets.size:
        return f"it has data of shape {matrix.data.shape} for {matrix.offsets.size} diagonals"
    return "a diagonal occurs twice" if np.unique(matrix.offsets).size != matrix.offsets.size else None


def _lists(matrix: Any) -> str | None:
    rows, columns = matrix.shape
    if matrix.rows.shape != (rows,) or matrix.data.shape != (rows,):
        return f"it has {matrix.rows.size} lists of columns and {matrix.data.size} lists of entries for {rows} rows"
    for number, (places, entries) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(places) != len(entries) or any(not 0 <= place < columns for place in places):
            return f"row {number} has a column number outside 0..{columns - 1}, or not one for each entry"
    return None


def _range(indices: np.ndarray, end: int, name: str) -> str | None:
    if indices.size and (indices.min() < 0 or indices.max() >= end):
        odd = indices[(indices < 0) | (indices >= end)][0]
        return f"the {name} {odd} lies outside 0..{end - 1}"
    return None


_CHECKS = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _compressed,
    "coo": _triples,
    "dia": _diagonals,
    "lil": _lists,
}
