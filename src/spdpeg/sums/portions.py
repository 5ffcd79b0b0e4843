"""Rows in fixed blocks, in memory or read when they are needed."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from ..kernels.rows import Rows

BLOCK_ENTRIES = 1 << 22
"""Numbers in a block: enough to make adding up its sums cheap, few enough for many threads. Smaller data are one."""


class Portions(Protocol):
    """Blocks of rows in a fixed order.

    Attributes
    ----------
    starts : list of int
        The first row of each block, and the number of all rows.
    width : int
        Columns, without that of an intercept.
    bias : float
    is_sparse : bool
    n_entries : int
    resident : bool
        Rows need not be read from anywhere.
    """

    starts: Sequence[int]
    width: int
    bias: float
    is_sparse: bool
    n_entries: int
    resident: bool

    def rows(self, number: int) -> Rows:
        """A block; may be called by several threads at a time."""


class InMemory:
    """Blocks that are there already."""

    resident = True

    def __init__(self, blocks: Sequence[Rows], starts: Sequence[int]) -> None:
        self._blocks, self.starts = blocks, starts
        self.width, self.bias = blocks[0].width, blocks[0].bias
        self.is_sparse = blocks[0].indptr.size > 0
        self.n_entries = sum(_entries(rows) for rows in blocks)

    def rows(self, number: int) -> Rows:
        """A block."""
        return self._blocks[number]


def cut(rows: Rows, n_rows: int) -> InMemory:
    """Rows in memory, or on a memory map, cut into blocks without a copy."""
    count = max(1, -(-_entries(rows) // BLOCK_ENTRIES))
    starts = [int(start) for start in np.linspace(0, n_rows, min(count, n_rows) + 1)]
    return InMemory([_slice(rows, *ends) for ends in pairwise(starts)], starts)


def _entries(rows: Rows) -> int:
    return int(rows.indptr[-1] - rows.indptr[0]) if rows.indptr.size else rows.values.size


def _slice(rows: Rows, start: int, stop: int) -> Rows:
    if rows.indptr.size:
        return rows._replace(indptr=rows.indptr[start : stop + 1])
    return rows._replace(values=rows.values[start * rows.width : stop * rows.width])
