"""Rows of the data matrix A, dense or CSR, one at a time; `row_sums` adds them up.

Both layouts share one record, hence one compiled version of every kernel: a dense row is a slice of `values` and has no
`indices`. float32 values are widened on reading, never copied. Columns are read as unsigned numbers: Numba would test
signed ones for counting from the end.
"""

from typing import NamedTuple

import numpy as np

from .jit import inner, kernel, prefetch, strict
from .lanes import LANES, column, filled, load, set_column, store

_EXPECTED = 64
"""Entries fetched ahead; the processor recognises the rest of a long row by itself."""


_AHEAD = 8
"""Rows that are fetched ahead where they lie far apart."""


class Rows(NamedTuple):
    """N rows of `width` numbers. Dense: `values` is A row after row, `indptr` is empty. CSR: the usual three arrays.

    A `bias` other than 0 stands for one more column, the last, with this number in every row: an intercept costs no
    copy of the data.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    width: int
    bias: float = 0.0


@inner
def count(rows: Rows) -> int:
    """Number of rows."""
    if rows.indptr.size == 0:
        return rows.values.size // rows.width
    return rows.indptr.size - 1


@inner
def row_dot(rows: Rows, i: int, x: np.ndarray) -> float:
    """<a_i, x>."""
    total = 0.0
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            total += row[j] * x[j]
    else:
        total = sparse_dot(rows.values, rows.indices, np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1]), x)
    if rows.bias != 0.0:
        total += rows.bias * x[rows.width]
    return total


@strict
def sparse_dot(values: np.ndarray, indices: np.ndarray, start: np.uint64, stop: np.uint64, x: np.ndarray) -> float:
    """Four sums side by side: faster than the gather instructions that LLVM would make of one."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    k = start
    while k + four <= stop:
        a += values[k] * x[np.uint64(indices[k])]
        b += values[k + one] * x[np.uint64(indices[k + one])]
        c += values[k + two] * x[np.uint64(indices[k + two])]
        d += values[k + three] * x[np.uint64(indices[k + three])]
        k += four
    while k < stop:
        a += values[k] * x[np.uint64(indices[k])]
        k += one
    return (a + b) + (c + d)


@strict
def row_dots(
    rows: Rows, i: int, points: np.ndarray, moves: np.ndarray, to: int, margins: np.ndarray, moved: np.ndarray
) -> None:
    """margins[k, to] = <a_i, x_k> for LANES points x_k, whose j-th coordinates are next to each other; so for moves."""
    step, total, other = np.uint64(LANES), filled(0.0), filled(0.0)
    if rows.indptr.size == 0:
        start = np.uint64(i * rows.width)
        for j in range(np.uint64(rows.width)):
            value, place = np.float64(rows.values[start + j]), step * j
            total += value * load(points, place)
            other += value * load(moves, place)
    else:
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            value, place = np.float64(rows.values[p]), step * np.uint64(rows.indices[p])
            total += value * load(points, place)
            other += value * load(moves, place)
    if rows.bias != 0.0:
        place = step * np.uint64(rows.width)
        total += rows.bias * load(points, place)
        other += rows.bias * load(moves, place)
    set_column(total, margins, np.uint64(to))
    set_column(other, moved, np.uint64(to))


@strict
def add_row_to_each(rows: Rows, i: int, scale: float, factors: np.ndarray, at: int, out: np.ndarray) -> None:
    """Add scale * factors[k, at] a_i to each of LANES vectors, whose j-th entries are next to each other."""
    step, own = np.uint64(LANES), scale * column(factors, np.uint64(at))
    if rows.indptr.size == 0:
        start = np.uint64(i * rows.width)
        for j in range(np.uint64(rows.width)):
            place = step * j
            store(load(out, place) + np.float64(rows.values[start + j]) * own, out, place)
    else:
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            place = step * np.uint64(rows.indices[p])
            store(load(out, place) + np.float64(rows.values[p]) * own, out, place)
    if rows.bias != 0.0:
        place = step * np.uint64(rows.width)
        store(load(out, place) + rows.bias * own, out, place)


@inner
def add_row(rows: Rows, i: int, factor: float, out: np.ndarray) -> None:
    """out += factor * a_i."""
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            out[j] += factor * row[j]
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            out[np.uint64(rows.indices[k])] += factor * rows.values[k]
    if rows.bias != 0.0:
        out[rows.width] += factor * rows.bias


@inner
def add_row_twice(rows: Rows, i: int, factor: float, out: np.ndarray, other: float, to_other: np.ndarray) -> None:
    """out += factor * a_i and to_other += other * a_i."""
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            out[j] += factor * row[j]
            to_other[j] += other * row[j]
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            column, value = np.uint64(rows.indices[k]), rows.values[k]
            out[column] += factor * value
            to_other[column] += other * value
    if rows.bias != 0.0:
        out[rows.width] += factor * rows.bias
        to_other[rows.width] += other * rows.bias


@inner
def add_scaled_row(rows: Rows, i: int, factor: float, scale: np.ndarray, out: np.ndarray) -> None:
    """out += factor * scale * a_i, coordinate by coordinate."""
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            out[j] += factor * scale[j] * row[j]
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            column = np.uint64(rows.indices[k])
            out[column] += factor * scale[column] * rows.values[k]
    if rows.bias != 0.0:
        out[rows.width] += factor * scale[rows.width] * rows.bias


@inner
def row_square(rows: Rows, i: int) -> float:
    """||a_i||^2 (the rows of a CSR source have no repeated column)."""
    total = rows.bias * rows.bias
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            total += np.float64(row[j]) * np.float64(row[j])
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            total += np.float64(rows.values[k]) * np.float64(rows.values[k])
    return total


@inner
def scaled_square(rows: Rows, i: int, scale: np.ndarray) -> float:
    """sum_j scale_j a_ij^2."""
    total = 0.0
    if rows.indptr.size == 0:
        for j in range(rows.width):
            total += scale[j] * np.float64(rows.values[i * rows.width + j]) ** 2
    else:
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += scale[rows.indices[k]] * np.float64(rows.values[k]) ** 2
    if rows.bias != 0.0:
        total += scale[rows.width] * rows.bias**2
    return total


@inner
def count_entries(rows: Rows, i: int, sums: np.ndarray, squares: np.ndarray, counts: np.ndarray) -> None:
    """sums_j += a_ij, squares_j += a_ij^2, and counts_j += 1 where that is not 0, without the intercept's column."""
    if rows.indptr.size == 0:
        for j in range(rows.width):
            value = np.float64(rows.values[i * rows.width + j])
            sums[j] += value
            squares[j] += value * value
            counts[j] += 1.0 if value != 0.0 else 0.0
    else:
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            value, column = np.float64(rows.values[k]), rows.indices[k]
            sums[column] += value
            squares[column] += value * value
            counts[column] += 1.0 if value != 0.0 else 0.0


@inner
def count_shrunk(
    rows: Rows,
    i: int,
    factor: float,
    centre: np.ndarray,
    sums: np.ndarray,
    squares: np.ndarray,
    counts: np.ndarray,
    lost: np.ndarray,
) -> None:
    """The same of v = c + factor (a_i - c), and lost_j += factor (a_ij - c_j)^2 - (v_j - c_j)^2.

    A centre c without entries is 0.
    """
    rest = 1.0 - factor
    if centre.size:
        for j in range(rows.width):
            sums[j] += rest * centre[j]
            squares[j] += (rest * centre[j]) ** 2
            lost[j] += factor * rest * centre[j] ** 2
    if rows.indptr.size == 0:
        for j in range(rows.width):
            add_shrunk(np.float64(rows.values[i * rows.width + j]), j, factor, centre, sums, squares, counts, lost)
    else:
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            value, column = np.float64(rows.values[k]), rows.indices[k]
            add_shrunk(value, column, factor, centre, sums, squares, counts, lost)


@inner
def add_shrunk(
    value: float,
    column: int,
    factor: float,
    centre: np.ndarray,
    sums: np.ndarray,
    squares: np.ndarray,
    counts: np.ndarray,
    lost: np.ndarray,
) -> None:
    """What an entry of a row adds to `count_shrunk`, 0 in its place having been counted."""
    middle = centre[column] if centre.size else 0.0
    sums[column] += factor * value
    squares[column] += factor * value * (factor * value + 2.0 * (1.0 - factor) * middle)
    counts[column] += 1.0 if value != 0.0 else 0.0
    lost[column] += factor * (1.0 - factor) * value * (value - 2.0 * middle)


@inner
def expect_row(rows: Rows, i: int) -> None:
    """Row i will be read soon: fetch it while other work goes on. Random rows cost more to wait for than to use."""
    if rows.indptr.size == 0:
        start, stop = i * rows.width, (i + 1) * rows.width
    else:
        start, stop = rows.indptr[i], rows.indptr[i + 1]
        for k in range(start, min(stop, start + _EXPECTED), 16):
            prefetch(rows.indices, k)
    for k in range(start, min(stop, start + _EXPECTED), 8):
        prefetch(rows.values, k)


@inner
def weight_of(weights: np.ndarray, i: int) -> float:
    """Weight of row i; an empty vector stands for weight 1 everywhere."""
    return weights[i] if weights.size else 1.0


@kernel
def copy_sparse_rows(rows: Rows, places: np.ndarray, out: Rows) -> None:
    """Copy the entries of rows at these places; the pointers of `out` are set."""
    for k in range(places.size):
        if k + _AHEAD < places.size:
            expect_row(rows, places[k + _AHEAD])
        start, to = rows.indptr[places[k]], out.indptr[k]
        for p in range(out.indptr[k + 1] - to):
            out.values[to + p] = rows.values[start + p]
            out.indices[to + p] = rows.indices[start + p]
