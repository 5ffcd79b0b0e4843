"""LIBSVM text: `label index:value index:value ...`, zeros left out.

Blocks of lines are read by compiled code, several at a time. What is written in any other way (names of classes,
queries, numbers that are none) goes through scikit-learn's parser, line by line, which finds what is wrong and where.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.decimals import powers, read_libsvm
from . import limits, parallel
from .columns import Columns
from .source import Source
from .table import Table, checked

_DIGITS = 15
"""Whole numbers with that many digits are held exactly."""


@dataclass
class Parsed:
    """Rows with indices as they are written, their labels, and the numbers of their lines."""

    X: Any
    y: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        """Rows."""
        return self.y.size

    def cut(self, rows: slice) -> Self:
        """Some of the rows."""
        return type(self)(self.X[rows], self.y[rows], self.lines[rows])

    def place(self, row: int) -> str:
        """Position of a row in the file."""
        return f"line {self.lines[row]}"


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole file. Indices count from 1, or from 0 if a 0 occurs, as scikit-learn writes them."""
    parts = list(parallel.parsed(source, _block))
    if not parts:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    whole = _joined(parts)
    return _table(source, whole, n_features, first=_first_index(whole.X))


def stream(source: Source, rows_per_chunk: int, n_features: int | None, requested: Columns) -> Iterator[Table]:
    """Chunks; the first one decides whether indices count from 0 or 1 and, without `n_features`, how many there are."""
    first = None
    for part in parallel.of_length(parallel.parsed(source, _block), rows_per_chunk, _joined):
        if first is None:
            first = _first_index(part.X)
        chunk = _table(source, part, n_features, first)
        n_features = chunk.X.shape[1]
        yield chunk


def _block(name: str, first: int, block: bytes) -> Parsed:
    """The rows of some lines, of which the first has this number."""
    ended = block if block.endswith(b"\n") else block + b"\n"
    rows, entries = ended.count(b"\n"), ended.count(b":")
    labels, lines = np.empty(rows, dtype=np.uint64), np.empty(rows, dtype=np.int64)
    indptr, indices, values = np.zeros(rows + 1, np.int64), np.empty(entries, np.int32), np.empty(entries, np.uint64)
    left = np.empty((parallel.MOST_LEFT, 3), dtype=np.int64)
    text = np.frombuffer(ended, dtype=np.uint8)
    n = int(read_libsvm(text, powers(), np.empty(1, np.uint64), labels, indptr, indices, values, lines, left))
    if n < 0:
        return _line_by_line(name, first, block)
    numbers = values.view(np.float64)
    for start, stop, entry in left[1 : left[0, 0] + 1]:
        numbers[entry] = float(ended[start:stop])
    used, width = int(indptr[n]), int(indices[: indptr[n]].max(initial=0)) + 1
    X = sp.csr_array((numbers[:used], indices[:used], indptr[: n + 1]), shape=(n, width))
    return Parsed(X, labels[:n].view(np.float64), lines[:n] + first)


def _joined(parts: list[Parsed]) -> Parsed:
    if len(parts) == 1:
        return parts[0]
    width = max(part.X.shape[1] for part in parts)
    for part in parts:
        part.X.resize(part.X.shape[0], width)
    y, lines = (np.concatenate(column) for column in zip(*((part.y, part.lines) for part in parts), strict=True))
    return Parsed(sp.vstack([part.X for part in parts], format="csr"), y, lines)


# ------------------------------------------------------------------------------------------------------- line by line


class _Feed:
    """Lines for scikit-learn's parser, which asks for a `read` but only iterates."""

    def __init__(self, first: int, block: bytes) -> None:
        self._block, self._first = block, first
        self.lines: list[int] = []
        self.last = b""

    def read(self) -> bytes:
        return b"".join(self)

    def __iter__(self) -> Iterator[bytes]:
        for number, line in enumerate(self._block.splitlines(keepends=True), start=self._first):
            content = line.lstrip()
            if not content or content.startswith(b"#"):
                continue
            self.last = line
            self.lines.append(number)
            # Python, and so the parser, reads 1_000 as a number; no file means that.
            if b"_" in line and b"_" in line.partition(b"#")[0]:
                raise ValueError
            if line[_DIGITS : _DIGITS + 1].strip() and _merges(line):
                raise ValueError
            yield line


def _merges(line: bytes) -> bool:
    """Whether the label is a whole number that float64 does not hold."""
    label = line.split(None, 1)[0].decode("utf-8", "replace")
    return label.lstrip("+-").isdecimal() and int(label) != int(float(label))


def _line_by_line(name: str, first: int, block: bytes) -> Parsed:
    """The same by scikit-learn's parser."""
    # Here, since scikit-learn takes longer to import than all the rest.
    from sklearn.datasets import load_svmlight_file

    feed = _Feed(first, block)
    try:
        X, y = load_svmlight_file(feed, zero_based=True)
    except (ValueError, OverflowError):
        cut = "" if feed.last.endswith(b"\n") else " The line has no end, so the file may be truncated."
        raise InputError(
            f"{name}, line {feed.lines[-1]}: {_complaint(feed.last)}. Repair or drop the line.{cut}"
        ) from None
    return Parsed(sp.csr_array(X), y, np.array(feed.lines, dtype=np.int64))


def _complaint(line: bytes) -> str:
    """The error message for a line that could not be parsed."""
    label, *entries = line.decode("utf-8", "replace").partition("#")[0].split() or [""]
    if _is(float, label) and _merges(line):
        return f"the label {label} is a whole number that float64 does not hold exactly"
    if not _is(float, label):
        return f"the label {label!r} is not a number"
    before = -1
    for entry in entries[1:] if entries[:1] and entries[0].startswith("qid:") else entries:
        index, _, value = entry.partition(":")
        if not (_is(int, index) and _is(float, value)):
            return f"{entry!r} is not index:value"
        if 0 <= int(index) <= before:
            return f"index {index} follows index {before}, and indices must increase"
        before = int(index)
    return "an index is negative or too large"


def _is(kind: type, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return "_" not in text


def _first_index(X: Any) -> int:
    """0 if it occurs, else 1."""
    return min(1, int(X.indices.min(initial=1)))


def _table(source: Source, part: Parsed, n_features: int | None, first: int) -> Table:
    X, y = part.X, part.y
    indices = X.indices - first
    if indices.min(initial=0) < 0:
        raise InputError(
            f"{source.name}, {_place_of(part, indices < 0)}: index 0, where the lines before counted from 1. "
            "Make all indices count from 1."
        )
    width = int(indices.max(initial=0)) + 1
    if n_features is not None and width > n_features:
        raise InputError(
            f"{source.name}, {_place_of(part, indices >= n_features)}: more than {n_features} features. "
            f"Pass n_features of at least {width}, or check that the file belongs to the same data."
        )
    shape = (y.size, width if n_features is None else n_features)
    rows = sp.csr_array((X.data, indices, X.indptr), shape=shape)
    return checked(source.name, rows, y, None, place=part.place, limit=limits.expanded(source.size))


def _place_of(part: Parsed, entries: np.ndarray) -> str:
    """Where the first of the marked entries stands."""
    return part.place(int(np.searchsorted(part.X.indptr, int(np.argmax(entries)), side="right")) - 1)
