"""CSV: columns separated by commas, semicolons or tabs, one of them the target; with or without a header.

Blocks of plain lines are read by compiled code, several at a time. What is written in any other way (quotes, missing
numbers, text that is not ASCII) goes through NumPy's parser, which finds what is wrong and where.
"""

import csv
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from ..errors import InputError
from ..kernels.decimals import LABEL, LABEL_BYTES, LEFT_OUT, powers, read_table
from . import parallel
from .columns import MOST_CATEGORIES, Columns, Roles, assembled, indicators, roles
from .source import NumberedLines, Source
from .table import Table, checked, labels

_FEW = 3
"""Whole numbers that rise above numbers with a point are names of columns from so many on."""

_ENTRIES = 1 << 24
"""Entries of a chunk with columns of text, which may become many columns."""

MISSING = {"", "?", "na", "n/a", "null", "none"}
"""What stands for a missing number; `nan` is a number to Python."""


class Layout(NamedTuple):
    """How the lines of a file are to be read."""

    delimiter: str
    width: int
    roles: Roles
    names: list[str] | None
    """Names of all columns."""


@dataclass
class Part:
    """Rows of a table without text but for the labels, and the numbers of their lines."""

    X: np.ndarray
    y: np.ndarray | None
    """Labels, if all are numbers beyond doubt."""
    texts: Sequence[str] | np.ndarray
    """Labels as they are written; none if there are no labels."""
    lines: np.ndarray

    def __len__(self) -> int:
        """Rows."""
        return self.lines.size

    def cut(self, rows: slice) -> Self:
        """Some of them."""
        y = None if self.y is None else self.y[rows]
        return type(self)(self.X[rows], y, self.texts[rows], self.lines[rows])

    def labels(self) -> np.ndarray:
        """Numbers if all of them are and stay apart as such, text otherwise."""
        return labels(_as_texts(self.texts)) if self.y is None else self.y

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"line {self.lines[row]}"


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole file."""
    layout = layout_of(source, n_features, requested)
    if layout.roles.categories:
        table = _parse(source, layout, None, n_features)
    else:
        parts = list(parallel.parsed(source, partial(_block, layout)))
        table = _table(source.name, layout, _joined(parts), n_features) if parts else None
    if table is None:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    return table


def stream(source: Source, rows_per_chunk: int, n_features: int | None, requested: Columns) -> Iterator[Table]:
    """Chunks of the file."""
    layout = layout_of(source, n_features, requested)
    if layout.roles.categories:
        width = len(layout.roles.features) + sum(len(levels or ()) for levels in layout.roles.categories.values())
        rows = max(1, min(rows_per_chunk, _ENTRIES // width))
        while (table := _parse(source, layout, rows, n_features)) is not None:
            yield table
        return
    for part in parallel.of_length(parallel.parsed(source, partial(_block, layout)), rows_per_chunk, _joined):
        yield _table(source.name, layout, part, n_features)


def categories(source: Source, rows_per_chunk: int, requested: Columns) -> dict[str, list[str]]:
    """Those of the columns of text whose categories are not listed: the texts that occur, sorted."""
    layout = layout_of(source, None, requested)
    found: dict[int, set[str]] = {k: set() for k, levels in layout.roles.categories.items() if levels is None}
    names = layout.names or []
    while (rows := _fields(source, layout, rows_per_chunk)) is not None:
        for k, levels in found.items():
            levels.update(rows[1][k])
            if len(levels) > MOST_CATEGORIES:
                raise InputError(
                    f"{source.name} has more than {MOST_CATEGORIES} texts in column {names[k]!r}. Leave it out, or "
                    "encode it as numbers."
                )
    return {names[k]: sorted(levels) for k, levels in found.items()}


def layout_of(source: Source, n_features: int | None, requested: Columns) -> Layout:
    """The layout, from the first lines; they are put back, except for a header."""
    lines = list(source.rows(2))
    numbered = list(zip(source.numbers, lines, strict=True))
    if not numbered:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    for number, line in reversed(numbered[1:]):
        source.give_back(number, line)
    text = decoded(source, numbered[0][1], numbered[0][0])
    delimiter = delimiter_of(text)
    fields = fields_of(source, text, delimiter, numbered[0][0])
    layout = Layout(delimiter, len(fields), roles(source.name, requested, fields, n_features), None)
    first = [fields[k] for k in layout.roles.features]
    if not first:
        raise InputError(f"{source.name} has only the column of the labels. Features must stand beside it.")
    second = numbered[1] if len(numbered) > 1 else None
    below = [] if second is None else fields_of(source, decoded(source, second[1], second[0]), delimiter, second[0])
    named = isinstance(requested.target, str) or any(isinstance(name, str) for name in requested.drop)
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


# ------------------------------------------------------------------------------------------------------- plain blocks


def _block(layout: Layout, name: str, first: int, block: bytes) -> Part:
    """The rows of some lines, of which the first has this number."""
    ended = block if block.endswith(b"\n") else block + b"\n"
    target, features, _ = layout.roles
    places = np.full(layout.width, LEFT_OUT)
    places[features] = np.arange(len(features))
    if target is not None:
        places[target] = LABEL
    rows = ended.count(b"\n")
    bits, lines, y = np.empty((rows, len(features)), np.uint64), np.empty(rows, np.int64), np.empty(rows, np.uint64)
    texts = np.zeros((0 if target is None else rows, LABEL_BYTES), dtype=np.uint8)
    left, text = np.empty((parallel.MOST_LEFT, 3), dtype=np.int64), np.frombuffer(ended, dtype=np.uint8)
    delimiter, spare = ord(layout.delimiter), np.empty(1, np.uint64)
    n = int(read_table(text, powers(), spare, delimiter, places, bits, y, texts, lines, left))
    if n < 0:
        return _line_by_line(layout, name, first, block)
    X = bits[:n].view(np.float64)
    for start, stop, entry in left[1 : left[0, 0] + 1]:
        X.flat[entry] = float(ended[start:stop])
    numbers = y[:n].view(np.float64) if left[0, 1] else None
    return Part(X, numbers, texts[:n].view(f"S{LABEL_BYTES}").ravel(), lines[:n] + first)


def _line_by_line(layout: Layout, name: str, first: int, block: bytes) -> Part:
    """The same by NumPy's parser."""
    source = NumberedLines(name, first, block)
    numbers, texts = _fields(source, layout, None) or (np.empty((0, layout.width)), {})
    labels = [] if layout.roles.target is None else texts.get(layout.roles.target, [])
    return Part(numbers[:, layout.roles.features], None, labels, np.array(source.numbers, dtype=np.int64))


def _joined(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    numbers = [part.y for part in parts if part.y is not None]
    y = np.concatenate(numbers) if len(numbers) == len(parts) else None
    texts: Sequence[str] | np.ndarray
    if y is None:
        texts = [text for part in parts for text in _as_texts(part.texts)]
    else:
        texts = np.concatenate([part.texts for part in parts])
    return Part(np.concatenate([part.X for part in parts]), y, texts, np.concatenate([part.lines for part in parts]))


def _as_texts(texts: Sequence[str] | np.ndarray) -> Sequence[str]:
    return texts.astype(str).tolist() if isinstance(texts, np.ndarray) else texts


def _table(name: str, layout: Layout, part: Part, n_features: int | None) -> Table:
    names = None if layout.names is None else [layout.names[k] for k in layout.roles.features]
    y = None if layout.roles.target is None else part.labels()
    return checked(name, part.X, y, n_features, names, part.place)


# ------------------------------------------------------------------------------------------------------- line by line


def _parse(source: Source, layout: Layout, limit: int | None, n_features: int | None) -> Table | None:
    """The next `limit` rows of a table with columns of text, None at the end of the file."""
    found = _fields(source, layout, limit)
    if found is None:
        return None
    numbers, texts = found
    target, features, categories = layout.roles
    encoded = {
        k: indicators(source.name, layout.names[k] if layout.names else str(k), texts[k], levels, source.place)
        for k, levels in categories.items()
    }
    X, names = assembled(features, lambda k: numbers[:, k], encoded, layout.names)
    y = None if target is None else labels(texts[target])
    return checked(source.name, X, y, n_features, names, source.place)


def _fields(source: NumberedLines, layout: Layout, limit: int | None) -> tuple[np.ndarray, dict[int, list[str]]] | None:
    """Numbers of the next `limit` rows, and columns of text; None at the end of the file."""
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
    if target is not None and "" in texts[target]:
        place = source.place(texts[target].index(""))
        raise InputError(f"{source.name}, {place}: the label is missing. Drop the line.")
    return numbers, texts


def _complaint(source: NumberedLines, layout: Layout, error: str) -> InputError:
    """The error message for a line that could not be read."""
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
    """The character that separates the columns."""
    return max(",;\t", key=line.count)


def fields_of(source: NumberedLines, line: str, delimiter: str, number: int) -> list[str]:
    """The fields of the line with this number."""
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]
        raise InputError(
            f"{source.name}, line {number}: this is no line of a table ({reason}). Repair or drop the line."
        ) from None


def decoded(source: NumberedLines, line: bytes, number: int | None = None) -> str:
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
