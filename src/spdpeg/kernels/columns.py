"""The data column by column, dense or sparse, for coordinate descent."""

from typing import NamedTuple

import numpy as np

from .jit import CHUNK, allocating, inner
from .rows import Rows, sparse_dot


class Columns(NamedTuple):
    """The data column by column. Dense: `values` is column after column, `indices` is empty."""

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


@allocating
def columns_of(rows: Rows, width: int, n: int) -> Columns:
    """The same entries column by column; an intercept is the last column."""
    dense = rows.indptr.size == 0
    starts = np.zeros(width + 1, dtype=np.int64)
    if dense:
        for j in range(width + 1):
            starts[j] = j * n
        values, indices = np.empty(n * width), np.empty(0, dtype=np.int32)
        for first in range(0, n, CHUNK):
            for j in range(rows.width):
                for i in range(first, min(first + CHUNK, n)):
                    values[j * n + i] = rows.values[i * rows.width + j]
        if rows.bias != 0.0:
            values[(width - 1) * n :] = rows.bias
        return Columns(values, indices, starts)
    for p in range(rows.indptr[0], rows.indptr[n]):
        starts[rows.indices[p] + 1] += 1
    if rows.bias != 0.0:
        starts[width] = n
    for j in range(width):
        starts[j + 1] += starts[j]
    place = starts[:-1].copy()
    values, indices = np.empty(starts[width]), np.empty(starts[width], dtype=np.int32)
    for i in range(n):
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            at = place[rows.indices[p]]
            place[rows.indices[p]] += 1
            values[at], indices[at] = rows.values[p], i
        if rows.bias != 0.0:
            values[starts[width - 1] + i], indices[starts[width - 1] + i] = rows.bias, i
    return Columns(values, indices, starts)


@inner
def column_dot(columns: Columns, j: int, u: np.ndarray) -> float:
    """Product of a column with a number for each row."""
    if columns.indices.size == 0:
        column, total = columns.values[columns.starts[j] : columns.starts[j + 1]], 0.0
        for i in range(column.size):
            total += column[i] * u[i]
        return total
    return sparse_dot(
        columns.values, columns.indices, np.uint64(columns.starts[j]), np.uint64(columns.starts[j + 1]), u
    )


@inner
def add_column(columns: Columns, j: int, factor: float, out: np.ndarray) -> None:
    """Add a multiple of a column."""
    if columns.indices.size == 0:
        column = columns.values[columns.starts[j] : columns.starts[j + 1]]
        for i in range(column.size):
            out[i] += factor * column[i]
    else:
        for p in range(np.uint64(columns.starts[j]), np.uint64(columns.starts[j + 1])):
            out[np.uint64(columns.indices[p])] += factor * columns.values[p]


@inner
def add_scaled_column(columns: Columns, j: int, factor: float, scale: np.ndarray, out: np.ndarray) -> None:
    """Add a multiple of a column, row by row times `scale`."""
    if columns.indices.size == 0:
        column = columns.values[columns.starts[j] : columns.starts[j + 1]]
        for i in range(column.size):
            out[i] += factor * scale[i] * column[i]
    else:
        for p in range(np.uint64(columns.starts[j]), np.uint64(columns.starts[j + 1])):
            row = np.uint64(columns.indices[p])
            out[row] += factor * scale[row] * columns.values[p]


@inner
def column_square(columns: Columns, j: int, scale: np.ndarray) -> float:
    """Sum of scale a^2 over a column."""
    total = 0.0
    if columns.indices.size == 0:
        column = columns.values[columns.starts[j] : columns.starts[j + 1]]
        for i in range(column.size):
            total += scale[i] * column[i] * column[i]
    else:
        for p in range(np.uint64(columns.starts[j]), np.uint64(columns.starts[j + 1])):
            total += scale[np.uint64(columns.indices[p])] * columns.values[p] * columns.values[p]
    return total
