"""Sums over all rows of a block: losses, gradients, statistics of rows and columns."""

import numpy as np

from .jit import CHUNK, Term, call_chunk, call_scalar, inner, kernel
from .rows import Rows, add_row, count, row_dot, row_square, scaled_square, weight_of


@kernel
def margins(rows: Rows, x: np.ndarray, out: np.ndarray) -> None:
    """out = A x."""
    for i in range(out.size):
        out[i] = row_dot(rows, i, x)


@kernel
def squared_lengths(indptr: np.ndarray) -> float:
    """The sum over sparse rows of their squared numbers of entries."""
    total = 0.0
    for i in range(indptr.size - 1):
        length = float(indptr[i + 1] - indptr[i])
        total += length * length
    return total


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
    """out = (max of w|a|^2, sum of w|a|^2, sum of (w phi'(0, b) |a|)^2, sum of (w phi'(0, b))^2) over the rows.

    The first entry is NaN if any entry of the data is NaN or infinite: one read of the data serves both purposes.
    """
    largest = 0.0
    total = 0.0
    noise = 0.0
    slopes = 0.0
    finite = True
    for i in range(count(rows)):
        square = row_square(rows, i)
        finite = finite and np.isfinite(square)
        w = weight_of(weights, i)
        largest = max(largest, w * square)
        total += w * square
        slope = w * call_scalar(derivative, 0.0, labels[i])
        noise += slope * slope * square
        slopes += slope * slope
    out[0] = largest if finite else np.nan
    out[1] = total
    out[2] = noise
    out[3] = slopes


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
def square_sum(values: np.ndarray) -> float:
    """The sum of squares of all entries; neither NaN nor infinite if each of them is a finite number, but for sums that
    overflow."""
    total = 0.0
    for k in range(values.size):
        total += np.float64(values[k]) * np.float64(values[k])
    return total


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
