"""A buffer of rows, compiled: what comes in takes the place of what goes out."""

import numpy as np

from .jit import kernel


@kernel
def exchange(
    slots: np.ndarray, uses: np.ndarray, first: int, enough: int, buffered: np.ndarray, order: np.ndarray, out: int
) -> tuple[int, int]:
    """Let rows into a full buffer, one after the other, until `enough` are out; returns how many came and are out.

    Parameters
    ----------
    slots : array
        For each row that comes, the place in the buffer that it takes and those of rows to use once more.
    uses : array
        How many of these count.
    first : int
        The first row that comes; the others follow.
    enough : int
    buffered : array
        The rows in the buffer; changed.
    order : array
        The rows that go out, in order; filled from place `out` on.
    out : int
    """
    for number in range(slots.shape[0]):
        if out >= enough:
            return number, out
        for use in range(uses[number]):
            order[out] = buffered[slots[number, use]]
            out += 1
            if use == 0:
                buffered[slots[number, 0]] = first + number
    return slots.shape[0], out
