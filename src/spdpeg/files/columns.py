"""The columns of a table: which are labels, which are left out, and which are text to be encoded."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..parameters import shown, whole_number

MOST_CATEGORIES = 10_000
"""Most categories of a column. More are likely to be names of rows, and each would become a column of X."""


class Columns(NamedTuple):
    """The columns to read from a table, each by position or by name."""

    target: int | str | None = None
    """The labels; None is the last column, or none at all."""
    drop: Sequence[int | str] = ()
    """Columns to leave out."""
    categorical: Mapping[str, Sequence[str] | None] | None = None
    """Text to be encoded, by name: its categories, or None for those that the file holds."""


class Roles(NamedTuple):
    """The columns of a file."""

    target: int | None
    features: list[int]
    """Positions of what becomes X."""
    categories: dict[int, Sequence[str] | None]
    """Categories of the features that are text."""


def roles(name: str, requested: Columns, columns: list[str], n_features: int | None) -> Roles:
    """The role of each column of file `name`; `columns` are their names, or the first row of a file without any."""
    dropped = {position(name, column, columns, "drop") for column in requested.drop}
    wanted = requested.categorical or {}
    encoded = {columns.index(column): levels for column, levels in wanted.items() if column in columns}
    unknown = [column for column, levels in wanted.items() if levels is None and column not in columns]
    if unknown:
        raise InputError(f"{name} has no column {unknown[0]!r}. It has: {', '.join(columns)}.")
    kept = [k for k in range(len(columns)) if k not in dropped]
    target: int | None = None
    if requested.target is not None:
        target = position(name, requested.target, columns, "target")
    elif kept and sum(_width(encoded.get(k, ())) for k in kept) != n_features:
        target = kept[-1]
    features = [k for k in kept if k != target]
    return Roles(target, features, {k: encoded[k] for k in features if k in encoded})


def _width(categories: Sequence[str] | None) -> int:
    """Columns of X that one of a file becomes."""
    return len(categories) if categories else 1


def position(name: str, column: int | str, columns: list[str], role: str) -> int:
    """Position of a column of file `name`, which is given by position or by name."""
    width = len(columns)
    if isinstance(column, str):
        if column not in columns:
            raise InputError(f"{name} has no column {column!r}. It has: {', '.join(columns)}.")
        return columns.index(column)
    if not -width <= whole_number(role, column) < width:
        raise InputError(f"{role} is {column} and {name} has {width} columns. Give a position among them.")
    return column % width


def listed(role: str, columns: Any) -> tuple[int | str, ...]:
    """Positions and names of columns, refused if they are no list of such."""
    if not isinstance(columns, list | tuple) and not (isinstance(columns, np.ndarray) and columns.ndim == 1):
        raise InputError(f"{role} is {shown(columns)}. Give a list of columns, by position or by name.")
    return tuple(column if isinstance(column, str) else whole_number(role, column) for column in columns)


def categories(requested: Any) -> dict[str, Sequence[str] | None]:
    """Columns of text with their categories, None where they are not listed; a list of columns will do."""
    found: dict[Any, Any] = (
        dict(requested) if isinstance(requested, Mapping) else dict.fromkeys(listed("categorical", requested))
    )
    for column, known in found.items():
        if not isinstance(column, str) or not (known is None or _are_texts(known)):
            raise InputError(f"categorical has {shown(column)}: {shown(known)}. Give names and lists of text.")
    return found


def _are_texts(known: Any) -> bool:
    return isinstance(known, list | tuple | np.ndarray) and all(isinstance(text, str) for text in known)


class Indicators(NamedTuple):
    """A column of text as columns of 0 and 1."""

    values: np.ndarray
    names: list[str]


def indicators(
    file: str, name: str, texts: Sequence[str], categories: Sequence[str] | None, place: Callable[[int], str]
) -> Indicators:
    """One column for each category, called name=category; those that are not known are refused."""
    found = np.array([text.strip() for text in texts], dtype=str)
    levels = np.unique(found) if categories is None else np.array(categories, dtype=str)
    codes = found[:, None] == levels[None, :]
    unknown = ~codes.any(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            f"{file} has {str(found[row])!r} in column {name!r} in {place(row)}, which is none of: "
            f"{', '.join(levels)}. Drop the row, or fit the model with rows that have it."
        )
    return Indicators(codes.astype(np.float64), [f"{name}={level}" for level in levels])


def assembled(
    columns: Sequence[int], numbers: Callable[[int], np.ndarray], encoded: Mapping[int, Indicators], names: Any
) -> tuple[np.ndarray, list[str] | None]:
    """X and the names of its columns, text replaced by its indicators; `names` are those of all columns, or None."""
    parts = [encoded[k].values if k in encoded else numbers(k)[:, None] for k in columns]
    if names is None:
        return np.hstack(parts), None
    return np.hstack(parts), [n for k in columns for n in (encoded[k].names if k in encoded else [names[k]])]
