"""CSV: columns separated by commas, semicolons or tabs, one of them the target; with or without a header."""

import csv
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .columns import Columns, Roles, assembled, indicators, roles
from .source import Source
from .table import Table, checked, labels

_FEW = 3
"""Whole numbers that rise above numbers with a point are names of columns from so many on."""

MISSING = {"", "?", "na", "n/a", "null", "none"}
"""What stands for a missing number; `nan` is a number to Python."""


class Layout(NamedTuple):
    """How the lines of a file are to be read."""

    delimiter: str
    width: int
    roles: Roles
    names: list[str] | None
    """Of all columns."""


def read(source: Source, n_features: int | None, asked: Columns) -> Table:
    """The whole file."""
    table = _parse(source, layout_of(source, n_features, asked), None, n_features)
    if table is None:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    return table


def stream(source: Source, rows_per_chunk: int, n_features: int | None, asked: Columns) -> Iterator[Table]:
    """Chunks of the file."""
    layout = layout_of(source, n_features, asked)
    while (table := _parse(source, layout, rows_per_chunk, n_features)) is not None:
        yield table


def layout_of(source: Source, n_features: int | None, asked: Columns) -> Layout:
    """What the first lines say; they are given back, but for a header."""
    lines = list(source.rows(2))
    numbered = list(zip(source.numbers, lines, strict=True))
    if not numbered:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    for number, line in reversed(numbered[1:]):
        source.give_back(number, line)
    text = decoded(source, numbered[0][1], numbered[0][0])
    delimiter = delimiter_of(text)
    fields = fields_of(source, text, delimiter, numbered[0][0])
    layout = Layout(delimiter, len(fields), roles(source.name, asked, fields, n_features), None)
    first = [fields[k] for k in layout.roles.features]
    if not first:
        raise InputError(f"{source.name} has only the column of the labels. Features must stand beside it.")
    second = numbered[1] if len(numbered) > 1 else None
    below = [] if second is None else fields_of(source, decoded(source, second[1], second[0]), delimiter, second[0])
    named = isinstance(asked.target, str) or any(isinstance(name, str) for name in asked.drop)
    if not (named or layout.roles.categories or _is_header(layout, fields, below)):
        source.give_back(*numbered[0])
        return layout
    if "" in first:
        raise InputError(
            f"{source.name} has a column without a name in its header, as pandas writes for the index. "
            "Write the file without it (index=False) or name the column."
        )
    return layout._replace(names=fields)


def _is_header(layout: Layout, fields: list[str], below: list[str]) -> bool:
    """Whether the first line holds names, which may be numbers: years, wavelengths, 0, 1, 2, ..."""
    target, features = layout.roles.target, layout.roles.features
    first = [fields[k] for k in features]
    # pandas calls columns without names 0, 1, 2, ...
    if first == [str(k) for k in range(len(first))] or any(map(_is_name, first)):
        return True
    if len(below) != layout.width or not all(map(is_number, first)):
        return False
    if target is not None and _is_name(fields[target]) and is_number(below[target]):
        return True
    rising = all(map(str.isdigit, first)) and all(a < b for a, b in itertools.pairwise(map(int, first)))
    return rising and len(first) >= _FEW and all("." in below[k] for k in features)


def _parse(source: Source, layout: Layout, limit: int | None, n_features: int | None) -> Table | None:
    """The next `limit` rows, None at the end of the file."""
    target, features, categories = layout.roles
    texts: dict[int, list[str]] = {column: [] for column in [*categories, *([] if target is None else [target])]}

    def keep(column: int) -> Callable[[str], float]:
        def kept(text: str) -> float:
            if column in texts:
                texts[column].append(text.strip())
            return 0.0

        return kept

    lines = (decoded(source, line) for line in source.rows(limit))
    first = next(lines, None)
    if first is None:
        return None
    try:
        numbers = np.loadtxt(
            itertools.chain([first], lines),
            delimiter=layout.delimiter,
            comments=None,
            quotechar='"',
            converters={k: keep(k) for k in range(layout.width) if k in texts or k not in features},
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
    told = [] if target is None else texts[target]
    if "" in told:
        raise InputError(f"{source.name}, {source.place(told.index(''))}: the label is missing. Drop the line.")
    encoded = {
        k: indicators(source.name, layout.names[k] if layout.names else str(k), texts[k], levels, source.place)
        for k, levels in categories.items()
    }
    X, names = assembled(features, lambda k: numbers[:, k], encoded, layout.names)
    return checked(source.name, X, None if target is None else labels(told), n_features, names, source.place)


def _complaint(source: Source, layout: Layout, error: str) -> InputError:
    """What is wrong with the line that could not be read."""
    fields = fields_of(source, decoded(source, source.last), layout.delimiter, source.numbers[-1])
    if len(fields) != layout.width:
        error = f"{len(fields)} columns where {layout.width} are expected"
    advice = "Repair or drop the line"
    for column in layout.roles.features if len(fields) == layout.width else []:
        if column not in layout.roles.categories and not is_number(fields[column]):
            name = "" if layout.names is None else f" ({layout.names[column]})"
            found = repr(fields[column]) if fields[column] else "nothing"
            error = f"column {column + 1}{name} holds {found} where a number is expected"
            if _is_name(fields[column]):
                called = column if layout.names is None else layout.names[column]
                advice = (
                    f"If that is the label, use --target {called}; if the column is text, use --drop {called} or "
                    f"--categorical {called}; else repair the line"
                )
            break
    return InputError(f"{source.name}, {source.place(-1)}: {error}. {advice}.")


def delimiter_of(line: str) -> str:
    """What separates the columns."""
    return max(",;\t", key=line.count)


def fields_of(source: Source, line: str, delimiter: str, number: int) -> list[str]:
    """What stands between the delimiters of a line, which has that number."""
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]
        raise InputError(
            f"{source.name}, line {number}: this is no line of a table ({reason}). Repair or drop the line."
        ) from None


def decoded(source: Source, line: bytes, number: int | None = None) -> str:
    """A line as text; by default it is the last one that was read."""
    try:
        return line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        place = source.place(-1) if number is None else f"line {number}"
        raise InputError(f"{source.name}, {place}: this is not UTF-8 text. Save the file as UTF-8.") from None


def is_number(text: str) -> bool:
    """Whether a field holds a number, be it infinite or NaN."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_name(text: str) -> bool:
    return not is_number(text) and text.lower() not in MISSING
