"""What Newton models of some problems tell at their minima, in one read of the rows.

Most of the time of a read goes into finding the entries of rows, which several points can share.
"""

from typing import NamedTuple

import numpy as np

from .jit import CHUNK, Term, call_chunk, kernel
from .lanes import LANES
from .rows import Rows, add_row_to_each, row_dots, weight_of


class RowsAndLoss(NamedTuple):
    """Labelled rows, and what is asked of their loss."""

    rows: Rows
    labels: np.ndarray
    weights: np.ndarray
    read: Term
    conjugates: Term


class SlopesOfModel(NamedTuple):
    """Slopes of the rows where a model was made, beside + above - corner, and room for those at its minimum."""

    beside: np.ndarray
    above: np.ndarray
    corner: np.ndarray
    reached: np.ndarray


class Minima(NamedTuple):
    """The minima of LANES models, and the moves that led there: the j-th coordinates of all are next to each other.

    Slopes that a model predicts are to be multiplied by its scale in conjugates of the loss.
    """

    points: np.ndarray
    moves: np.ndarray
    scales: np.ndarray


class Room(NamedTuple):
    """Numbers of the rows of a chunk: LANES times margins and moves of them, predicted slopes, and room for a hook."""

    margins: np.ndarray
    moved: np.ndarray
    predicted: np.ndarray
    spare: np.ndarray

    @classmethod
    def new(cls) -> "Room":
        """Room for any chunk."""
        return cls(np.empty((LANES, CHUNK)), np.empty((LANES, CHUNK)), np.empty(CHUNK), np.empty(CHUNK))


@kernel
def at_minima(
    data: RowsAndLoss,
    minima: Minima,
    models: tuple[SlopesOfModel, ...],
    curvatures: np.ndarray,
    first: int,
    room: Room,
    gradients: np.ndarray,
    sums: np.ndarray,
) -> None:
    """For each model the mean loss at its minimum, the gradient, and two means of the slopes that it predicts there.

    These are u = s + h <a, move> with the slopes s and curvatures h of the model. `sums` has a line for each model in
    use: the mean loss, the mean of u^2, and that of the conjugates of scale u. The first row is one of many here.
    """
    rows, labels, weights, read, conjugates = data
    used = sums.shape[0]
    n, part = labels.size, 1.0 / labels.size
    gradients[:] = 0.0
    sums[:] = 0.0
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        size = stop - start
        for i in range(start, stop):
            row_dots(rows, i, minima.points, minima.moves, i - start, room.margins, room.moved)
        b, w = labels[start:stop], weights[start:stop]
        for k in range(used):
            slopes, scale, square = models[k], minima.scales[k], 0.0
            own = slopes.reached[first + start : first + stop]
            sums[k, 0] += call_chunk(read, room.margins[k, :size], b, w, own)
            for i in range(size):
                j = first + start + i
                u = slopes.beside[j] + slopes.above[j] - slopes.corner[j] + curvatures[j] * room.moved[k, i]
                square += weight_of(w, i) * u * u
                room.predicted[i] = scale * u
                room.margins[k, i] = own[i]
            sums[k, 1] += square
            sums[k, 2] += call_chunk(conjugates, room.predicted[:size], b, w, room.spare[:size])
        for i in range(start, stop):
            add_row_to_each(rows, i, weight_of(weights, i) * part, room.margins, i - start, gradients)
    for k in range(used):
        for c in range(sums.shape[1]):
            sums[k, c] *= part
