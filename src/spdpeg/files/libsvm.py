"""LIBSVM text: `label index:value index:value ...`, zeros left out."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from . import limits
from .columns import Columns
from .source import Source
from .table import Table, checked

_DIGITS = 15
"""Whole numbers with that many digits are held exactly."""


def read(source: Source, n_features: int | None, asked: Columns) -> Table:
    """The whole file. Indices count from 1, or from 0 if a 0 occurs, as scikit-learn writes them."""
    X, y = _parse(source, None)
    if not y.size:
        raise InputError(f"{source.name} holds no rows. Check what should have written it.")
    return _table(source, X, y, n_features, first=_first_index(X))


def stream(source: Source, rows_per_chunk: int, n_features: int | None, asked: Columns) -> Iterator[Table]:
    """Chunks; the first one decides whether indices count from 0 or 1 and, without `n_features`, how many there are."""
    first = None
    while True:
        X, y = _parse(source, rows_per_chunk)
        if not y.size:
            return
        if first is None:
            first = _first_index(X)
        chunk = _table(source, X, y, n_features, first)
        n_features = chunk.X.shape[1]
        yield chunk


class _Feed:
    """Lines for scikit-learn's parser, which asks for a `read` but only iterates."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def read(self) -> bytes:
        return b"".join(self)

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
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


def _parse(source: Source, limit: int | None) -> tuple[Any, np.ndarray]:
    """Rows with indices as they are written, and labels."""
    # Here, since scikit-learn takes longer to import than all the rest.
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(_Feed(source.rows(limit, comment=b"#")), zero_based=True)
    except InputError:
        raise
    except (ValueError, OverflowError):
        cut = "" if source.last.endswith(b"\n") else " The line has no end, so the file may be truncated."
        raise InputError(
            f"{source.name}, {source.place(-1)}: {_complaint(source.last)}. Repair or drop the line.{cut}"
        ) from None
    return sp.csr_array(X), y


def _complaint(line: bytes) -> str:
    """What is wrong with a line that could not be parsed."""
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


def _table(source: Source, X: Any, y: np.ndarray, n_features: int | None, first: int) -> Table:
    indices = X.indices - first
    if indices.min(initial=0) < 0:
        raise InputError(
            f"{source.name}, {_place_of(source, X, indices < 0)}: index 0, where the lines before counted from 1. "
            "Make all indices count from 1."
        )
    width = int(indices.max(initial=0)) + 1
    if n_features is not None and width > n_features:
        raise InputError(
            f"{source.name}, {_place_of(source, X, indices >= n_features)}: more than {n_features} features. "
            f"Pass n_features of at least {width}, or check that the file belongs to the same data."
        )
    shape = (y.size, width if n_features is None else n_features)
    rows = sp.csr_array((X.data, indices, X.indptr), shape=shape)
    limit = limits.expanded(source.size)
    return checked(source.name, rows, y, None, place=source.place, limit=limit)


def _place_of(source: Source, X: Any, entries: np.ndarray) -> str:
    """Where the first of the marked entries stands."""
    return source.place(int(np.searchsorted(X.indptr, int(np.argmax(entries)), side="right")) - 1)
