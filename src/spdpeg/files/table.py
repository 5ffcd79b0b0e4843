"""The content of a data file."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..sparse import first_not_finite, sound
from . import limits

_ENTRY = 8
"""Bytes of a number."""

_EXACT = 2.0**53
"""The number from which on float64 does not hold all whole numbers."""

_WHOLE = re.compile(r"\s*[+-]?\d+\s*")

_MISSING = ("", "nan", "+nan", "-nan", "na", "n/a", "<na>", "null", "?")
"""Labels that stand for none, beside others that are text."""


class Table(tuple[Any, np.ndarray | None]):
    """The pair (X, y) of a file.

    Attributes
    ----------
    X : array or CSR matrix
    y : array or None
    names : list of str or None
        Of the columns of X.

    See Also
    --------
    read : Returns one.

    Examples
    --------
    >>> from spdpeg.files import Table
    >>> X, y = Table([[1.0], [2.0]], [0.0, 1.0], ["length"])
    >>> y
    [0.0, 1.0]
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
    limit: int | None = None,
) -> Table:
    """The table of file `name`, refused if a number is missing or sizes do not fit.

    `place` says where a row is; `limit` is the number of bytes that a vector as long as a side of X may take.
    """
    X = sound(X, f"X of {name}") if sp.issparse(X) else np.asarray(X)
    if X.dtype.kind not in "biuf":
        raise InputError(f"{name} has an X of type {X.dtype}. It must hold real numbers.")
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"{name} has an X of shape {X.shape}. At least one row and one column are needed.")
    longest = _ENTRY * max(X.shape)
    if limit is not None and longest > limit:
        raise InputError(f"{name} claims an X of shape {X.shape}: {limits.refusal(longest, limit)}")
    X = (sp.csr_array(X) if sp.issparse(X) else X).astype(np.float64, copy=False)
    if n_features is not None and X.shape[1] != n_features:
        raise InputError(
            f"{name} has {X.shape[1]} columns beside the labels where {n_features} are expected. "
            "Check that it belongs to the same data."
        )
    row = first_not_finite(X)
    if row is not None:
        raise InputError(f"{name} has a NaN or infinite entry in {place(row)}. Impute it or drop the row.")
    if y is None:
        return Table(X, None, names)
    y = np.asarray(y).reshape(-1)
    if y.size != X.shape[0]:
        hint = " Transpose X." if y.size == X.shape[1] else " Each row needs one label."
        raise InputError(f"{name} has {X.shape[0]} rows and {y.size} labels.{hint}")
    return Table(X, _checked_labels(name, y, place), names)


def _checked_labels(name: str, y: np.ndarray, place: Callable[[int], str]) -> np.ndarray:
    """Labels as float64 numbers or as text, refused where one is missing or two would become one."""
    if y.dtype.kind in "iu":
        numbers = y.astype(np.float64)
        if np.abs(numbers).max() >= _EXACT and np.unique(numbers).size != np.unique(y).size:
            raise InputError(
                f"{name} has whole numbers beyond 2^53 as labels, which float64 does not tell apart. "
                "Renumber the classes or write them as text."
            )
        return numbers
    if y.dtype.kind in "bf":
        y = y.astype(np.float64, copy=False)
        bad = np.isfinite(y)
        if not bad.all():
            where = place(int(np.argmin(bad)))
            raise InputError(f"{name} has a label that is NaN or infinite in {where}. Repair it or drop the row.")
        return y
    if y.dtype.kind not in "US":
        raise InputError(f"{name} has labels of type {y.dtype}. They must be real numbers or text.")
    texts = np.char.decode(y, "utf-8", "replace") if y.dtype.kind == "S" else y
    missing = np.isin(np.char.lower(np.char.strip(texts)), _MISSING)
    if missing.any():
        row = int(np.argmax(missing))
        raise InputError(f"{name} has the label {str(texts[row])!r} in {place(row)}: it is missing. Drop the row.")
    return texts


def labels(texts: Sequence[str]) -> np.ndarray:
    """Numbers if all of them are and stay apart as such, text otherwise."""
    try:
        # Python reads 1_000 as a number; no file means that.
        if any("_" in text for text in texts):
            raise ValueError
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=str)
    large = np.abs(numbers) >= _EXACT
    if large.any() and all(_WHOLE.fullmatch(text) for text in texts):
        whole = {int(text) for text in texts}
        if len(whole) != np.unique(numbers).size:
            return np.array(texts, dtype=str)
    return numbers
