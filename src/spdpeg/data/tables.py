"""Rows that are read again in every pass, as tables in a fixed order: data that need not fit into memory."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError, UnsupportedError
from .sources import Source, check_width

BLOCK_ENTRIES = 1 << 22
"""Numbers in a table that is worked on at a time: 32 MB of float64."""


class Tables(Source):
    """Rows in tables that a function reads from the beginning whenever it is called.

    The exact methods read all rows in order, a few times; what takes rows one by one is refused, except for streams.

    Parameters
    ----------
    name : str
        For messages.
    read : callable
        Returns an iterator of float64 or float32 tables, of any lengths, which hold the same rows in the same order
        each time.
    n_samples, n_features : int
    labels : array, optional
        Of the rows, in memory.
    names : list of str, optional
        Of the columns.
    parts : callable, optional
        `parts(n_rows)` iterates over (first row, table, rows read for it) from all over the data, with about so many
        rows in all.

    Attributes
    ----------
    categories : dict of str to list of str
        Columns of text that became columns of 0 and 1, with their categories.

    See Also
    --------
    open_parquet, from_arrow : Make such sources.
    Stream : Rows that need not come back.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> X, y, _ = spdpeg.datasets.piecewise_constant(300, 10, task="regression")
    >>> rows = spdpeg.data.Tables("X", lambda: iter(np.array_split(X, 3)), 300, 10, labels=y)
    >>> problem = spdpeg.Problem(rows, loss=spdpeg.losses.Squared(), r1=spdpeg.penalties.L1(0.1))
    >>> spdpeg.solve(problem).certificate.met
    'relative gap'
    """

    on_disk = True

    def __init__(
        self,
        name: str,
        read: Callable[[], Iterator[np.ndarray]],
        n_samples: int,
        n_features: int,
        labels: np.ndarray | None = None,
        names: list[str] | None = None,
        parts: Callable[[int], Iterator[tuple[int, np.ndarray, int]]] | None = None,
    ) -> None:
        check_width(n_samples, n_features)
        self.name, self.n_samples, self.n_features = name, n_samples, n_features
        self.labels, self.names, self.parts = labels, names, parts
        self.categories: dict[str, list[str]] = {}
        self._read = read

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "rows":
            raise UnsupportedError(
                f"{self.name} is read block by block, so that single rows of it cannot be had. Use a smooth loss with "
                '"auto", "prox-newton" or "working-set", stream it with "spdpeg", or load it into memory.'
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {attribute!r}")

    @property
    def block_rows(self) -> int:
        """Rows of a block; the last one may have fewer."""
        return max(1, BLOCK_ENTRIES // self.n_features)

    def blocks(self) -> Iterator[np.ndarray]:
        """All rows, `block_rows` at a time; a change in the number of rows since they were counted is refused.

        Yields
        ------
        array
            Rows, in order.
        """
        found = 0
        for table in _of_length(self._read(), self.block_rows):
            found += table.shape[0]
            if table.shape[1] != self.n_features or found > self.n_samples:
                break
            yield table
        if found != self.n_samples:
            raise InputError(
                f"{self.name} has other rows than when it was opened ({found} read, {self.n_samples} expected). "
                "Open it again once nobody writes to it."
            )

    def take(self, rows: np.ndarray) -> "Tables":
        """Some of the rows, by number or by a mark for each; they are read with all the others and come in order.

        Parameters
        ----------
        rows : array
            Numbers of rows, or a bool for each row.

        Returns
        -------
        Tables
        """
        chosen = np.zeros(self.n_samples, dtype=bool)
        chosen[rows] = True

        def read() -> Iterator[np.ndarray]:
            start = 0
            for table in self.blocks():
                yield table[chosen[start : start + table.shape[0]]]
                start += table.shape[0]

        labels = None if self.labels is None else self.labels[chosen]
        name = f"A part of {self.name}"
        return Tables(name, read, int(chosen.sum()), self.n_features, labels, self.names)


def _of_length(tables: Iterator[np.ndarray], length: int) -> Iterator[np.ndarray]:
    """The same rows, `length` at a time."""
    waiting: list[np.ndarray] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.shape[0]
        while rows >= length:
            whole = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
            yield whole[:length]
            waiting, rows = [whole[length:]], rows - length
    rest = np.concatenate(waiting) if waiting else np.empty((0, 0))
    if rest.shape[0]:
        yield rest
