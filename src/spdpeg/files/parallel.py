"""Text in blocks of lines, several of them parsed at a time."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, Self, TypeVar

from joblib import cpu_count

from .source import Source

_BLOCK = 1 << 22
"""Bytes that are parsed at a time."""

MOST_LEFT = 1 << 12
"""Numbers of a block that Python may read one by one."""


class Part(Protocol):
    """Some rows of a file."""

    def __len__(self) -> int:
        """Rows."""

    def cut(self, rows: slice) -> Self:
        """Some of the rows."""


P = TypeVar("P", bound=Part)


def parsed(source: Source, parse: Callable[[str, int, bytes], P]) -> Iterator[P]:
    """The results of `parse` for the blocks of a file, in order; it gets a name, the first line's number and text."""
    waiting: deque[Future[P]] = deque()
    with ThreadPoolExecutor(cpu_count(), thread_name_prefix="spdpeg-parse") as pool:
        try:
            for first, block in source.blocks(_BLOCK):
                waiting.append(pool.submit(parse, source.name, first, block))
                if len(waiting) > cpu_count():
                    yield from _any_rows(waiting.popleft().result())
            while waiting:
                yield from _any_rows(waiting.popleft().result())
        finally:
            for future in waiting:
                future.cancel()


def _any_rows(part: P) -> Iterator[P]:
    if len(part):
        yield part


def of_length(parts: Iterator[P], length: int, joined: Callable[[list[P]], P]) -> Iterator[P]:
    """The same rows, `length` at a time."""
    waiting: list[P] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part)
        if rows < length:
            continue
        whole = joined(waiting)
        stop = rows - rows % length
        for start in range(0, stop, length):
            yield whole.cut(slice(start, start + length))
        waiting, rows = [whole.cut(slice(stop, None))], rows - stop
    if rows:
        yield joined(waiting)
