"""Sums of columns over pieces, row by row."""

import numpy as np

from .jit import kernel
from .rows import Rows, count


@kernel
def collapsed_counts(rows: Rows, labels: np.ndarray, last: np.ndarray, out: np.ndarray) -> None:
    """out_i = the number of pieces in row i; `last` is a spare vector of one integer for each piece, all -1.

    Column j belongs to the piece labels[j], or to none where that is negative.
    """
    for i in range(out.size):
        found = 0
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            piece = labels[rows.indices[p]]
            if piece >= 0 and last[piece] != i:
                last[piece] = i
                found += 1
        out[i] = found


@kernel
def collapse_sparse(
    rows: Rows,
    labels: np.ndarray,
    last: np.ndarray,
    place: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
) -> None:
    """The rows with columns added up over pieces, as CSR; indptr is known."""
    for i in range(count(rows)):
        end = indptr[i]
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            piece = labels[rows.indices[p]]
            if piece < 0:
                continue
            if last[piece] != i:
                last[piece] = i
                place[piece] = end
                indices[end] = piece
                values[end] = rows.values[p]
                end += 1
            else:
                values[place[piece]] += rows.values[p]


@kernel
def collapse_dense(rows: Rows, labels: np.ndarray, out: np.ndarray) -> None:
    """Add up columns over pieces, from sparse rows into a dense matrix of zeros."""
    for i in range(out.shape[0]):
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            piece = labels[rows.indices[p]]
            if piece >= 0:
                out[i, piece] += rows.values[p]


@kernel
def select(rows: Rows, places: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> int:
    """The entries of columns that have a place, as CSR, and their number; places[j] is negative for the others.

    There is room for one entry more than the rows have.
    """
    end = np.uint64(0)
    indptr[0] = 0
    for i in range(count(rows)):
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            place = places[np.uint64(rows.indices[p])]
            # What is written for other columns is overwritten by the next entry: a branch would be guessed wrong.
            indices[end] = place
            values[end] = rows.values[p]
            end += np.uint64(place >= 0)
        indptr[i + 1] = end
    return int(end)
