"""Rows of the data matrix A, dense or CSR, and the sums over them.

Both layouts share one record, hence one compiled version of every kernel: a dense row is a slice of `values` and has no
`indices`. float32 values are widened on reading, never copied. Columns are read as unsigned numbers: Numba would test
signed ones for counting from the end.
"""

from typing import NamedTuple

import numpy as np

from .jit import CHUNK, Term, call_chunk, call_scalar, call_scalar_prox, inner, kernel, prefetch, strict

_EXPECTED = 64
"""Entries fetched ahead; the processor recognises the rest of a long row by itself."""


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
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
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
def count_entries(rows: Rows, i: int, factor: float, squares: np.ndarray, counts: np.ndarray) -> None:
    """squares_j += factor a_ij^2 and counts_j += 1 where a_ij is not 0, without the intercept's column."""
    if rows.indptr.size == 0:
        for j in range(rows.width):
            value = np.float64(rows.values[i * rows.width + j])
            squares[j] += factor * value * value
            counts[j] += 1.0 if value != 0.0 else 0.0
    else:
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            value, column = np.float64(rows.values[k]), rows.indices[k]
            squares[column] += factor * value * value
            counts[column] += 1.0 if value != 0.0 else 0.0


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
def margins(rows: Rows, x: np.ndarray, out: np.ndarray) -> None:
    """out = A x."""
    for i in range(out.size):
        out[i] = row_dot(rows, i, x)


@kernel
def loss_sum(rows: Rows, labels: np.ndarray, weights: np.ndarray, value: Term, x: np.ndarray) -> float:
    """Sum over the rows of weight * phi(<a_i, x>, b_i)."""
    total = 0.0
    for i in range(count(rows)):
        total += weight_of(weights, i) * call_scalar(value, row_dot(rows, i, x), labels[i])
    return total


@kernel
def gradient_sum(
    rows: Rows, labels: np.ndarray, weights: np.ndarray, derivative: Term, x: np.ndarray, out: np.ndarray
) -> None:
    """out = sum over the rows of weight * phi'(<a_i, x>, b_i) a_i."""
    out[:] = 0.0
    for i in range(count(rows)):
        slope = call_scalar(derivative, row_dot(rows, i, x), labels[i])
        add_row(rows, i, weight_of(weights, i) * slope, out)


@kernel
def evaluate(
    rows: Rows,
    labels: np.ndarray,
    weights: np.ndarray,
    read: Term,
    x: np.ndarray,
    known: bool,
    margins: np.ndarray,
    slopes: np.ndarray,
    gradient: np.ndarray,
    positive: np.ndarray,
) -> float:
    """Mean loss at x; fills the margins A x, the gradient of the mean loss, and its part from positive slopes.

    All in one read. Margins, unless they are known, slopes (a spare vector) and products with them take turns over some
    rows at a time, since loops of one kind are faster than one of all kinds.
    """
    total = 0.0
    gradient[:] = 0.0
    positive[:] = 0.0
    for start in range(0, margins.size, CHUNK):
        stop = min(start + CHUNK, margins.size)
        if not known:
            for i in range(start, stop):
                margins[i] = row_dot(rows, i, x)
        total += absorb(rows, labels, weights, read, start, stop, margins, slopes, gradient, positive)
    for j in range(gradient.size):
        gradient[j] += positive[j]
    return total / margins.size


@inner
def absorb(
    rows: Rows,
    labels: np.ndarray,
    weights: np.ndarray,
    read: Term,
    start: int,
    stop: int,
    margins: np.ndarray,
    slopes: np.ndarray,
    negative: np.ndarray,
    positive: np.ndarray,
) -> float:
    """Sum of the losses of some rows; adds their gradients over N to one of two vectors, by the sign of the slope."""
    some = slopes[: stop - start]
    total = call_chunk(read, margins[start:stop], labels[start:stop], weights[start:stop], some)
    up = down = 0.0
    # All rows add to the intercept's entry. Equal numbers, added one by one, round the same way each time, and a lower
    # bound on the objective is only as good as the sum of the slopes: those of a chunk are added up first.
    if rows.bias != 0.0:
        up, down = positive[rows.width], negative[rows.width]
        positive[rows.width] = negative[rows.width] = 0.0
    for i in range(start, stop):
        factor = weight_of(weights, i) * some[i - start] / margins.size
        add_row(rows, i, factor, positive if factor > 0.0 else negative)
    if rows.bias != 0.0:
        positive[rows.width] += up
        negative[rows.width] += down
    return total


@inner
def slopes_at(
    read: Term,
    margins: np.ndarray,
    shift: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> None:
    """phi'(margin_i + shift) for a chunk of rows."""
    for i in range(margins.size):
        spare[i] = margins[i] + shift
    call_chunk(read, spare[: margins.size], labels, weights, slopes[: margins.size])


@kernel
def slope_sum(
    read: Term,
    margins: np.ndarray,
    shift: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Sum of w phi'(margin_i + shift)."""
    total = 0.0
    for start in range(0, margins.size, CHUNK):
        stop = min(start + CHUNK, margins.size)
        slopes_at(read, margins[start:stop], shift, labels[start:stop], weights[start:stop], spare, slopes)
        for i in range(start, stop):
            total += weight_of(weights, i) * slopes[i - start]
    return total


@kernel
def conjugates_at(
    read: Term,
    conjugates: Term,
    margins: np.ndarray,
    shift: float,
    up: float,
    down: float,
    labels: np.ndarray,
    weights: np.ndarray,
    spare: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Sum of w phi*(s phi'(margin_i + shift)), where s is `up` for positive slopes and `down` for others."""
    total = 0.0
    for start in range(0, margins.size, CHUNK):
        stop = min(start + CHUNK, margins.size)
        slopes_at(read, margins[start:stop], shift, labels[start:stop], weights[start:stop], spare, slopes)
        for i in range(stop - start):
            slopes[i] *= up if slopes[i] > 0.0 else down
        some, rest = slopes[: stop - start], spare[: stop - start]
        total += call_chunk(conjugates, some, labels[start:stop], weights[start:stop], rest)
    return total


@kernel
def sum_chunks(term: Term, a: np.ndarray, labels: np.ndarray, weights: np.ndarray, spare: np.ndarray) -> float:
    """Sum of w term(a_i, b_i) over all rows, a chunk at a time."""
    total = 0.0
    for start in range(0, a.size, CHUNK):
        stop = min(start + CHUNK, a.size)
        total += call_chunk(term, a[start:stop], labels[start:stop], weights[start:stop], spare[: stop - start])
    return total


@kernel
def adjoint(rows: Rows, weights: np.ndarray, u: np.ndarray, out: np.ndarray) -> None:
    """out = (1/N) sum over the rows of weight * u_i a_i."""
    out[:] = 0.0
    for i in range(u.size):
        add_row(rows, i, weight_of(weights, i) * u[i] / u.size, out)


@kernel
def columns(rows: Rows, places: np.ndarray, out: np.ndarray) -> None:
    """out[i, k] = entry of row i in column j where places[j] = k; columns with places[j] = -1 are left out."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        if rows.indptr.size == 0:
            for j in range(rows.width):
                if places[j] >= 0:
                    out[i, places[j]] = rows.values[i * rows.width + j]
        else:
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                if places[rows.indices[p]] >= 0:
                    out[i, places[rows.indices[p]]] = rows.values[p]
        if rows.bias != 0.0 and places[rows.width] >= 0:
            out[i, places[rows.width]] = rows.bias


@kernel
def snapshot(
    rows: Rows,
    labels: np.ndarray,
    weights: np.ndarray,
    derivative: Term,
    x: np.ndarray,
    table: np.ndarray,
    mean: np.ndarray,
) -> None:
    """table_i = weight * phi'(<a_i, x>, b_i) and mean = (1/N) sum_i table_i a_i."""
    mean[:] = 0.0
    for i in range(table.size):
        table[i] = weight_of(weights, i) * call_scalar(derivative, row_dot(rows, i, x), labels[i])
        add_row(rows, i, table[i] / table.size, mean)


@kernel
def gram_product(rows: Rows, weights: np.ndarray, stride: int, x: np.ndarray, out: np.ndarray) -> None:
    """out = sum over every `stride`-th row of weight * <a_i, x> a_i."""
    out[:] = 0.0
    for i in range(0, count(rows), stride):
        add_row(rows, i, weight_of(weights, i) * row_dot(rows, i, x), out)


@kernel
def row_statistics(rows: Rows, labels: np.ndarray, weights: np.ndarray, derivative: Term, out: np.ndarray) -> None:
    """out = (max of w|a|^2, sum of w|a|^2, sum of (w phi'(0, b) |a|)^2) over the rows.

    The first entry is NaN if any entry of the data is NaN or infinite: one read of the data serves both purposes.
    """
    largest = 0.0
    total = 0.0
    noise = 0.0
    finite = True
    for i in range(count(rows)):
        square = row_square(rows, i)
        finite = finite and np.isfinite(square)
        w = weight_of(weights, i)
        largest = max(largest, w * square)
        total += w * square
        slope = w * call_scalar(derivative, 0.0, labels[i])
        noise += slope * slope * square
    out[0] = largest if finite else np.nan
    out[1] = total
    out[2] = noise


@kernel
def column_squares(rows: Rows, weights: np.ndarray, out: np.ndarray) -> None:
    """out_j = (1/N) sum over the rows of weight * a_ij^2."""
    out[:] = 0.0
    n = count(rows)
    for i in range(n):
        w = weight_of(weights, i) / n
        if rows.indptr.size == 0:
            for j in range(rows.width):
                out[j] += w * rows.values[i * rows.width + j] ** 2
        else:
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                out[rows.indices[k]] += w * rows.values[k] ** 2
        if rows.bias != 0.0:
            out[rows.width] += w * rows.bias**2


@kernel
def scaled_squares(rows: Rows, weights: np.ndarray, scale: np.ndarray, out: np.ndarray) -> None:
    """out_i = weight * sum_j scale_j a_ij^2."""
    for i in range(out.size):
        out[i] = weight_of(weights, i) * scaled_square(rows, i, scale)


@kernel
def row_squares(rows: Rows, out: np.ndarray) -> None:
    """out_i = |a_i|^2."""
    for i in range(out.size):
        out[i] = row_square(rows, i)


@kernel
def first_bad_row(rows: Rows) -> int:
    """Index of the first row with a NaN or an infinite entry, or -1."""
    for i in range(count(rows)):
        if rows.indptr.size == 0:
            start, stop = i * rows.width, (i + 1) * rows.width
        else:
            start, stop = rows.indptr[i], rows.indptr[i + 1]
        for k in range(start, stop):
            if not np.isfinite(rows.values[k]):
                return i
    return -1


@kernel
def map_scalar(term: Term, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out_i = term(a_i, b_i)."""
    for i in range(out.size):
        out[i] = call_scalar(term, a[i], b[i])


@kernel
def map_scalar_prox(term: Term, a: np.ndarray, step: float, b: np.ndarray, out: np.ndarray) -> None:
    """out_i = prox of step * phi(., b_i) at a_i."""
    for i in range(out.size):
        out[i] = call_scalar_prox(term, a[i], step, b[i])
