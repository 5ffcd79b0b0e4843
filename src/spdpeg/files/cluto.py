"""CLUTO's .mat: a line with the sizes, then one line per row; the classes in a .rclass file beside it."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, one_line
from . import limits
from .columns import Columns
from .source import Source
from .table import Table, checked, labels


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole matrix: sparse if the first line has three sizes, dense if it has two."""
    header, *lines = source.content().splitlines() or [b""]
    sizes = _sizes(source, header)
    # An empty line is a row of zeros; those after the last row are none.
    rows = [_numbers(source, number, line) for number, line in enumerate(lines[: sizes[0]], start=2)]
    if len(rows) < sizes[0]:
        raise InputError(
            f"{source.name} has {len(rows)} rows where its first line says {sizes[0]}. It is truncated; get it again."
        )
    if any(line.strip() for line in lines[sizes[0] :]):
        raise InputError(
            f"{source.name} has more rows than the {sizes[0]} that its first line says. Correct the first line."
        )
    X = _sparse(source, rows, *sizes) if len(sizes) == 3 else _dense(source, rows, sizes[1])
    limit = limits.expanded(source.size)
    return checked(source.name, X, _classes(source), n_features, place=lambda row: f"line {row + 2}", limit=limit)


def _sizes(source: Source, header: bytes) -> list[int]:
    """Rows, columns and, of a sparse matrix, entries."""
    sizes = _numbers(source, 1, header)
    whole = np.all((sizes >= 0) & (sizes < 2.0**53) & (sizes % 1 == 0))
    if sizes.size not in (2, 3) or not whole or np.any(sizes[:2] == 0):
        raise InputError(
            f"{source.name}, line 1: {one_line(header[:60].decode('utf-8', 'replace'))!r}. A CLUTO matrix begins with "
            "its rows, its columns and, if it is sparse, its entries, all whole numbers."
        )
    return [int(size) for size in sizes]


def _sparse(source: Source, rows: list[np.ndarray], n_rows: int, n_columns: int, n_entries: int) -> Any:
    for number, row in enumerate(rows, start=2):
        columns = row[::2]
        if row.size % 2 or np.any((columns < 1) | (columns > n_columns) | (columns % 1 != 0)):
            raise InputError(
                f"{source.name}, line {number}: this is no list of pairs, a column between 1 and {n_columns} and a "
                "value. Repair the line."
            )
    entries = np.concatenate(rows)
    if entries.size != 2 * n_entries:
        raise InputError(
            f"{source.name} has {entries.size // 2} entries where its first line says {n_entries}. "
            "It is damaged; get it again."
        )
    indptr = np.concatenate([[0], np.cumsum([row.size // 2 for row in rows])])
    return sp.csr_array((entries[1::2], entries[::2].astype(np.int64) - 1, indptr), shape=(n_rows, n_columns))


def _dense(source: Source, rows: list[np.ndarray], n_columns: int) -> np.ndarray:
    for number, row in enumerate(rows, start=2):
        if row.size != n_columns:
            raise InputError(
                f"{source.name}, line {number}: {row.size} numbers where the first line says {n_columns}. "
                "Repair the line."
            )
    return np.array(rows)


def _classes(source: Source) -> np.ndarray | None:
    """Labels from the file beside, None if there is none."""
    beside = None if source.path is None else source.path.with_name(source.path.name + ".rclass")
    if beside is None or not beside.exists():
        return None
    with Source(beside) as file:
        return labels([line.decode("utf-8", "replace").strip() for line in file.rows()])


def _numbers(source: Source, number: int, line: bytes) -> np.ndarray:
    try:
        # Python reads 1_000 as a number; no file means that.
        if b"_" in line:
            raise ValueError
        return np.array(line.split(), dtype=np.float64)
    except ValueError:
        raise InputError(f"{source.name}, line {number}: not all entries are numbers. Repair the line.") from None
