"""What a data file holds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError


class Table(tuple[Any, np.ndarray | None]):
    """The pair (X, y) of a file.

    Attributes
    ----------
    X : array or CSR matrix
    y : array or None
    names : list of str or None
        Of the columns of X.
    """

    names: list[str] | None

    def __new__(cls, X: Any, y: np.ndarray | None, names: list[str] | None = None) -> "Table":
        table = super().__new__(cls, (X, y))
        table.names = names
        return table

    @property
    def X(self) -> Any:
        """Rows."""
        return self[0]

    @property
    def y(self) -> np.ndarray | None:
        """Labels, None if the file has none."""
        return self[1]


def checked(
    name: str,
    X: Any,
    y: Any,
    n_features: int | None,
    names: list[str] | None = None,
    place: Callable[[int], str] = "row {}".format,
) -> Table:
    """The table of file `name`, refused if a number is missing or sizes do not fit; `place` tells where a row is."""
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if X.dtype.kind not in "biuf":
        raise InputError(f"{name} has an X of type {X.dtype}. It must hold real numbers.")
    X = X.astype(np.float64, copy=False)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"{name} has an X of shape {X.shape}. At least one row and one column are needed.")
    if n_features is not None and X.shape[1] != n_features:
        raise InputError(
            f"{name} has {X.shape[1]} columns beside the labels where {n_features} are expected. "
            "Check that it belongs to the same data."
        )
    row = _first_not_finite(X)
    if row is not None:
        raise InputError(f"{name} has a NaN or infinite entry in {place(row)}. Impute it or drop the row.")
    if y is None:
        return Table(X, None, names)
    y = np.asarray(y).reshape(-1)
    if y.size != X.shape[0]:
        hint = " Transpose X." if y.size == X.shape[1] else " Each row needs one label."
        raise InputError(f"{name} has {X.shape[0]} rows and {y.size} labels.{hint}")
    if y.dtype.kind in "biuf":
        y = y.astype(np.float64, copy=False)
        if not np.isfinite(y).all():
            bad = place(int(np.argmin(np.isfinite(y))))
            raise InputError(f"{name} has a label that is NaN or infinite in {bad}. Repair it or drop the row.")
    return Table(X, y, names)


def labels(texts: Sequence[str]) -> np.ndarray:
    """Numbers if all of them are, text otherwise."""
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=str)


def target_column(name: str, target: int | str | None, columns: list[str], n_features: int | None) -> int | None:
    """Position of the labels among the columns of file `name`; None if all columns are features."""
    width = len(columns)
    if target is None:
        return None if width == n_features else width - 1
    if isinstance(target, str):
        if target not in columns:
            raise InputError(f"{name} has no column {target!r}. It has: {', '.join(columns)}.")
        return columns.index(target)
    if not -width <= target < width:
        raise InputError(f"target is {target} and {name} has {width} columns. Give a position among them.")
    return target % width


def _first_not_finite(X: Any) -> int | None:
    """Number of the first row with an entry that is NaN or infinite."""
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
