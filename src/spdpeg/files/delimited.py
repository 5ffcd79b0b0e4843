"""CSV: columns separated by commas, semicolons or tabs, one of them the target; with or without a header."""

import csv
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .source import Source
from .table import Table, checked, labels, target_column

_MISSING = {"", "?", "na", "n/a", "null", "none"}
"""What stands for a missing number; `nan` is a number to Python."""


class _Layout(NamedTuple):
    """How the lines of a file are to be read."""

    delimiter: str
    width: int
    target: int | None
    names: list[str] | None

    @property
    def features(self) -> list[int]:
        """Positions of the columns of X."""
        return [column for column in range(self.width) if column != self.target]


def read(source: Source, n_features: int | None, target: int | str | None) -> Table:
    """The whole file."""
    table = _parse(source, _layout(source, n_features, target), None, n_features)
    if table is None:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    return table


def stream(source: Source, rows_per_chunk: int, n_features: int | None, target: int | str | None) -> Iterator[Table]:
    """Chunks of the file."""
    layout = _layout(source, n_features, target)
    while (table := _parse(source, layout, rows_per_chunk, n_features)) is not None:
        yield table


def _layout(source: Source, n_features: int | None, target: int | str | None) -> _Layout:
    """What the first line says; it is given back if it is no header."""
    text = _decoded(source, next(source.rows(1), b""))
    delimiter = max(",;\t", key=text.count)
    fields = _fields(text, delimiter)
    if not fields:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    layout = _Layout(delimiter, len(fields), target_column(source.name, target, fields, n_features), None)
    first = [fields[k] for k in layout.features]
    if not first:
        raise InputError(f"{source.name} has only the column of the labels. Features must stand beside it.")
    named = isinstance(target, str)
    # pandas calls columns without names 0, 1, 2, ...
    if not (named or first == [str(k) for k in range(len(first))] or any(map(_is_name, first))):
        source.give_back()
        return layout
    if "" in first:
        raise InputError(
            f"{source.name} has a column without a name in its header, as pandas writes for the index. "
            "Write the file without it (index=False) or name the column."
        )
    return layout._replace(names=first)


def _parse(source: Source, layout: _Layout, limit: int | None, n_features: int | None) -> Table | None:
    """The next `limit` rows, None at the end of the file."""
    texts: list[str] = []

    def keep(text: str) -> float:
        texts.append(text.strip())
        return 0.0

    lines = (_decoded(source, line) for line in source.rows(limit))
    first = next(lines, None)
    if first is None:
        return None
    try:
        numbers = np.loadtxt(
            itertools.chain([first], lines),
            delimiter=layout.delimiter,
            comments=None,
            quotechar='"',
            converters=None if layout.target is None else {layout.target: keep},
            encoding=None,
            ndmin=2,
        )
    except InputError:
        raise
    except ValueError as error:
        raise _complaint(source, layout, str(error)) from None
    if numbers.shape[1] != layout.width:
        raise _complaint(source, layout, "")
    if "" in texts:
        raise InputError(f"{source.name}, {source.place(texts.index(''))}: the label is missing. Drop the line.")
    X = numbers if layout.target is None else np.delete(numbers, layout.target, axis=1)
    y = None if layout.target is None else labels(texts)
    return checked(source.name, X, y, n_features, layout.names, source.place)


def _complaint(source: Source, layout: _Layout, error: str) -> InputError:
    """What is wrong with the line that could not be read."""
    fields = _fields(_decoded(source, source.last), layout.delimiter)
    if len(fields) != layout.width:
        error = f"{len(fields)} columns where {layout.width} are expected"
    for number, column in enumerate(layout.features if len(fields) == layout.width else []):
        if not _is_number(fields[column]):
            name = "" if layout.names is None else f" ({layout.names[number]})"
            found = repr(fields[column]) if fields[column] else "nothing"
            error = f"column {column + 1}{name} holds {found} where a number is expected"
            break
    return InputError(f"{source.name}, {source.place(-1)}: {error}. Repair or drop the line.")


def _fields(line: str, delimiter: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [])]


def _decoded(source: Source, line: bytes) -> str:
    try:
        return line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise InputError(
            f"{source.name}, {source.place(-1)}: this is not UTF-8 text. Save the file as UTF-8."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_name(text: str) -> bool:
    return not _is_number(text) and text.lower() not in _MISSING
