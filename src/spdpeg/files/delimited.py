"""CSV: columns separated by commas, semicolons or tabs, one of them the target; with or without a header."""

import csv
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .source import Source
from .table import Table, checked, labels, target_column

_FEW = 3
"""Whole numbers that rise above numbers with a point are names of columns from so many on."""

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
    """What the first lines say; they are given back, but for a header."""
    lines = list(source.rows(2))
    numbered = list(zip(source.numbers, lines, strict=True))
    if not numbered:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    for number, line in reversed(numbered[1:]):
        source.give_back(number, line)
    text = _decoded(source, numbered[0][1], numbered[0][0])
    delimiter = max(",;\t", key=text.count)
    fields = _fields(source, text, delimiter, numbered[0][0])
    layout = _Layout(delimiter, len(fields), target_column(source.name, target, fields, n_features), None)
    first = [fields[k] for k in layout.features]
    if not first:
        raise InputError(f"{source.name} has only the column of the labels. Features must stand beside it.")
    second = numbered[1] if len(numbered) > 1 else None
    below = [] if second is None else _fields(source, _decoded(source, second[1], second[0]), delimiter, second[0])
    if not (isinstance(target, str) or _is_header(layout, fields, below)):
        source.give_back(*numbered[0])
        return layout
    if "" in first:
        raise InputError(
            f"{source.name} has a column without a name in its header, as pandas writes for the index. "
            "Write the file without it (index=False) or name the column."
        )
    return layout._replace(names=first)


def _is_header(layout: _Layout, fields: list[str], below: list[str]) -> bool:
    """Whether the first line holds names, which may be numbers: years, wavelengths, 0, 1, 2, ..."""
    first = [fields[k] for k in layout.features]
    # pandas calls columns without names 0, 1, 2, ...
    if first == [str(k) for k in range(len(first))] or any(map(_is_name, first)):
        return True
    if len(below) != layout.width or not all(map(_is_number, first)):
        return False
    if layout.target is not None and _is_name(fields[layout.target]) and _is_number(below[layout.target]):
        return True
    rising = all(map(str.isdigit, first)) and all(a < b for a, b in itertools.pairwise(map(int, first)))
    return rising and len(first) >= _FEW and all("." in below[k] for k in layout.features)


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
    # Of lines that end in the midst of a quote NumPy complains in other ways than of numbers.
    except (ValueError, OverflowError, csv.Error) as error:
        raise _complaint(source, layout, str(error)) from None
    if numbers.shape != (len(source.numbers), layout.width):
        raise _complaint(source, layout, "")
    if "" in texts:
        raise InputError(f"{source.name}, {source.place(texts.index(''))}: the label is missing. Drop the line.")
    X = numbers if layout.target is None else np.delete(numbers, layout.target, axis=1)
    y = None if layout.target is None else labels(texts)
    return checked(source.name, X, y, n_features, layout.names, source.place)


def _complaint(source: Source, layout: _Layout, error: str) -> InputError:
    """What is wrong with the line that could not be read."""
    fields = _fields(source, _decoded(source, source.last), layout.delimiter, source.numbers[-1])
    if len(fields) != layout.width:
        error = f"{len(fields)} columns where {layout.width} are expected"
    for number, column in enumerate(layout.features if len(fields) == layout.width else []):
        if not _is_number(fields[column]):
            name = "" if layout.names is None else f" ({layout.names[number]})"
            found = repr(fields[column]) if fields[column] else "nothing"
            error = f"column {column + 1}{name} holds {found} where a number is expected"
            break
    return InputError(f"{source.name}, {source.place(-1)}: {error}. Repair or drop the line.")


def _fields(source: Source, line: str, delimiter: str, number: int) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]
        raise InputError(
            f"{source.name}, line {number}: this is no line of a table ({reason}). Repair or drop the line."
        ) from None


def _decoded(source: Source, line: bytes, number: int | None = None) -> str:
    try:
        return line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        place = source.place(-1) if number is None else f"line {number}"
        raise InputError(f"{source.name}, {place}: this is not UTF-8 text. Save the file as UTF-8.") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_name(text: str) -> bool:
    return not _is_number(text) and text.lower() not in _MISSING
