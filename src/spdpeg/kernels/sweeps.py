"""One sweep over rows that brings all sums a Newton step needs."""

from typing import NamedTuple

import numpy as np

from .jit import CHUNK, Term, call_chunk, inner, kernel, shared
from .lapack import Routines, add_gram
from .rows import Rows, add_row, add_row_twice, row_dot, weight_of

_TILE = 32
"""Rows and columns of a matrix that are copied at a time."""


class Labelled(NamedTuple):
    """Rows, and what the loss takes beside their margins."""

    rows: Rows
    labels: np.ndarray
    weights: np.ndarray
    read: Term
    curvatures: Term


class AtRows(NamedTuple):
    """Numbers that stay with the rows: margins, slopes phi' and curvatures phi''."""

    margins: np.ndarray
    slopes: np.ndarray
    curvatures: np.ndarray


class Ahead(NamedTuple):
    """Slopes u = s + h <a, point - x> that a model with slopes s and curvatures h at x predicts, if it has a point."""

    point: np.ndarray
    margins: np.ndarray
    slopes: np.ndarray
    curvatures: np.ndarray
    """What the model was made of."""
    predicted: np.ndarray
    gradient: np.ndarray
    """u, and A^T W u / N, to be filled."""


class DenseChunk(NamedTuple):
    """Room for rows times numbers, `CHUNK` at a time, whose outer products BLAS adds up; empty if none does."""

    table: np.ndarray
    lapack: Routines


@shared
def add_outers(
    rows: Rows,
    start: int,
    stop: int,
    weights: np.ndarray,
    curvatures: np.ndarray,
    mean: float,
    room: DenseChunk,
    out: np.ndarray,
) -> None:
    """Add mean * w_i curvature_i a_i a_i^T to the lower triangle of out, for the rows of a chunk."""
    table = room.table[: stop - start]
    if rows.indptr.size:
        table[:] = 0.0
    for i in range(start, stop):
        scale = np.sqrt(mean * weight_of(weights, i) * curvatures[i])
        line = table[i - start]
        if rows.indptr.size == 0:
            row = rows.values[i * rows.width : (i + 1) * rows.width]
            for j in range(row.size):
                line[j] = scale * row[j]
        else:
            for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
                line[np.uint64(rows.indices[p])] += scale * rows.values[p]
        if rows.bias != 0.0:
            line[rows.width] = scale * rows.bias
    add_gram(room.lapack, table, out)


@inner
def add_outer(rows: Rows, i: int, factor: float, out: np.ndarray) -> None:
    """out + out^T += factor a_i a_i^T for a sparse row, whose columns may be in any order: each pair is added once."""
    start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    for p in range(start, stop):
        scaled = factor * rows.values[p]
        line = out[np.uint64(rows.indices[p])]
        for q in range(start, p):
            line[np.uint64(rows.indices[q])] += scaled * rows.values[q]
        line[np.uint64(rows.indices[p])] += 0.5 * scaled * rows.values[p]
    if rows.bias != 0.0:
        add_row(rows, i, factor * rows.bias, out[rows.width])
        out[rows.width, rows.width] -= 0.5 * factor * rows.bias * rows.bias


@shared
def complete(out: np.ndarray, halved: bool) -> None:
    """out + out^T where sums were halved and added to any triangle; otherwise the lower one to both."""
    n = out.shape[0]
    for first in range(0, n, _TILE):
        for begin in range(0, first + 1, _TILE):
            # Tile by tile: both halves of a large matrix would not stay in the cache.
            for i in range(first, min(first + _TILE, n)):
                for j in range(begin, min(begin + _TILE, i + 1)):
                    total = out[i, j] + (out[j, i] if halved else 0.0)
                    out[i, j] = out[j, i] = total


@kernel
def sweep(
    data: Labelled,
    n_rows: int,
    x: np.ndarray,
    known: bool,
    floor: float,
    room: DenseChunk,
    here: AtRows,
    ahead: Ahead,
    gradient: np.ndarray,
    curvature: np.ndarray,
) -> float:
    """A block's part of the mean loss at x; fills what stays with the rows, the gradient and the curvature.

    Means are over the n_rows rows of all blocks, so that parts need only be added. Margins are computed unless they are
    known. Curvatures of rows are at least `floor`; the matrix is left alone if it has no entries.
    """
    n = here.margins.size
    total = 0.0
    gradient[:] = 0.0
    curvature[:] = 0.0
    ahead.gradient[:] = 0.0
    # A model that ends at an exact face has its minimum at x itself, whose margins need no second product.
    same = not known and ahead.point.size == x.size
    for j in range(ahead.point.size):
        same &= ahead.point[j] == x[j]
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        if not known:
            for i in range(start, stop):
                here.margins[i] = row_dot(data.rows, i, x)
        labels, weights = data.labels[start:stop], data.weights[start:stop]
        total += call_chunk(data.read, here.margins[start:stop], labels, weights, here.slopes[start:stop])
        call_chunk(data.curvatures, here.margins[start:stop], labels, weights, here.curvatures[start:stop])
        for i in range(start, stop):
            if here.curvatures[i] < floor:
                here.curvatures[i] = floor
        if ahead.point.size:
            for i in range(start, stop):
                there = here.margins[i] if same else row_dot(data.rows, i, ahead.point)
                ahead.predicted[i] = ahead.slopes[i] + ahead.curvatures[i] * (there - ahead.margins[i])
                # The gradient with the same roundings as below: a run that is resumed has no model behind it.
                factor = weight_of(data.weights, i) * here.slopes[i] / n_rows
                other = weight_of(data.weights, i) * ahead.predicted[i] / n_rows
                add_row_twice(data.rows, i, factor, gradient, other, ahead.gradient)
        else:
            for i in range(start, stop):
                add_row(data.rows, i, weight_of(data.weights, i) * here.slopes[i] / n_rows, gradient)
        if room.table.size:
            add_outers(data.rows, start, stop, data.weights, here.curvatures, 1.0 / n_rows, room, curvature)
        elif curvature.size:
            for i in range(start, stop):
                factor = weight_of(data.weights, i) * here.curvatures[i] / n_rows
                if factor != 0.0:
                    add_outer(data.rows, i, factor, curvature)
    complete(curvature, room.table.size == 0)
    return total / n_rows


@kernel
def read_margins(data: Labelled, here: AtRows) -> float:
    """Mean loss, slopes and curvatures at known margins; reads no rows."""
    n = here.margins.size
    total = 0.0
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        labels, weights = data.labels[start:stop], data.weights[start:stop]
        total += call_chunk(data.read, here.margins[start:stop], labels, weights, here.slopes[start:stop])
        call_chunk(data.curvatures, here.margins[start:stop], labels, weights, here.curvatures[start:stop])
    return total / n


@kernel
def outer_sum(rows: Rows, factors: np.ndarray, room: DenseChunk, out: np.ndarray) -> None:
    """out = sum over all rows of factor_i a_i a_i^T."""
    out[:] = 0.0
    if room.table.size:
        for start in range(0, factors.size, CHUNK):
            stop = min(start + CHUNK, factors.size)
            add_outers(rows, start, stop, factors[:0], factors, 1.0, room, out)
    else:
        for i in range(factors.size):
            if factors[i] != 0.0:
                add_outer(rows, i, factors[i], out)
    complete(out, room.table.size == 0)
