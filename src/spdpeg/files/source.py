"""Files opened for reading: compression undone, lines counted, damage distinguished from wrong content."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import stat
import sys
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from ..errors import InputError
from . import limits
from .replacing import as_path

_BUFFER = 1 << 16

_COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
"""Compressions by the first bytes of a file."""

_BINARY = {b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet", b"MATLAB ": "mat"}
"""Formats by the first bytes of a file."""

_LONGEST_LINE = 1 << 30
"""Bytes of a line; a file that is no table may have no line end at all."""

_CARRIAGE_RETURNS = re.compile(rb"[^\n]*\r[^\n]*\Z")
"""The beginning of a text whose lines end in carriage returns alone."""

_LIBSVM_ROW = re.compile(rb"\s*[^\s,;]+\s+(qid:\d+\s+)?\d+:")
_CLUTO_HEADER = re.compile(rb"\s*\d+[ \t]+\d+([ \t]+\d+)?[ \t]*[\r\n]")


class NumberedLines:
    """Lines of a text, each with its number.

    Attributes
    ----------
    name : str
        For messages.
    numbers : array of int
        Line number of every line that `rows` gave since it was called last.
    last : bytes
        The last of these lines.
    """

    def __init__(self, name: str, first: int = 1, text: bytes = b"") -> None:
        self.name = name
        self.numbers = array("q")
        self.last = b""
        self._line = first - 1
        self._texts: Iterator[bytes] = iter(io.BytesIO(text))
        self._given_back: list[tuple[int, bytes]] = []

    def rows(self, limit: int | None = None, comment: bytes = b"") -> Iterator[bytes]:
        """The next `limit` lines that hold anything; a line that begins with `comment` does not."""
        self.numbers = array("q")
        with self._undamaged():
            for number, line in itertools.islice(self._lines(comment), limit):
                self.numbers.append(number)
                self.last = line
                yield line

    def give_back(self, number: int, line: bytes) -> None:
        """Put a line and its number back, so that `rows` or `blocks` begin with it; the last one comes first."""
        self._given_back.append((number, line))

    def place(self, row: int) -> str:
        """Position in the file of a row that `rows` returned, counted from 0; -1 is the last one."""
        return f"line {self.numbers[row]}"

    def _lines(self, comment: bytes) -> Iterator[tuple[int, bytes]]:
        while self._given_back:
            yield self._given_back.pop()
        for line in self._texts:
            self._line += 1
            content = line.lstrip()
            if content and not (comment and content.startswith(comment)):
                yield self._line, line

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        """Tell what the decompressors complain of; errors of the disk have a number and go on as they are."""
        try:
            yield
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(
                f"{self.name} is truncated or damaged after line {self._line} ({error}). Copy or download it again."
            ) from None


class Source(NumberedLines):
    """A file, or standard input for "-", to be used in a `with` statement.

    Attributes
    ----------
    path : Path or None
        None for standard input.
    compressed : bool
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _checked(path)
        super().__init__("Standard input" if self.path is None else str(path))
        self._length = 0

    def __enter__(self) -> Self:
        self._raw = _opened(self.path)
        try:
            head = self._raw.peek(_BUFFER)
            undo = next((undo for magic, undo in _COMPRESSIONS.items() if head.startswith(magic)), None)
            self._file: Any = self._raw if undo is None else io.BufferedReader(undo(self._raw), _BUFFER)
            self.compressed = undo is not None
            self._refuse_pages()
            self._old = _CARRIAGE_RETURNS.match(self._head()) is not None
            self._texts = self._carriage_returns() if self._old else iter(self._next_line, b"")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        if self.path is not None:
            self._raw.close()

    @property
    def format(self) -> str:
        """The format of the file, judged by its first bytes."""
        head = self._head()
        if not head.strip():
            raise InputError(f"{self.name} is empty. Check what should have written it.")
        for magic, name in _BINARY.items():
            if head.startswith(magic):
                return name
        if ".mat" in (self.path.suffixes if self.path else []):
            return "cluto" if _CLUTO_HEADER.match(head) else "mat"
        lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
        if any(_LIBSVM_ROW.match(line) for line in lines):
            return "libsvm"
        if lines and any(delimiter in lines[0] for delimiter in (b",", b";", b"\t")):
            return "csv"
        raise InputError(
            f"{self.name} begins with {head[:30]!r}, which is no format that is known here. "
            "Check the file; if it is right, name its format."
        )

    @property
    def size(self) -> int:
        """Bytes that are stored; those read so far where that is unknown, as for a pipe."""
        try:
            found = os.fstat(self._raw.fileno())
            return found.st_size if stat.S_ISREG(found.st_mode) else self._length
        except (OSError, AttributeError):
            return self._length

    @property
    def position(self) -> int:
        """Bytes of the file, as it is stored, that were read so far; 0 of what one cannot jump in."""
        return int(self._raw.tell()) if self._raw.seekable() else 0

    def content(self) -> bytes:
        """The whole content; refused if it expands beyond the limit."""
        most = limits.expanded(self.size) if self.compressed else -1
        with self._undamaged():
            found = bytes(self._file.read(most + 1 if self.compressed else -1))
        if self.compressed and len(found) > most:
            raise InputError(f"{self.name} is compressed, and {limits.refusal(2 * most, most)}")
        self._length = len(found)
        return found

    def binary(self) -> IO[bytes]:
        """A file in which one can jump."""
        in_place = self._file is self._raw and self._raw.seekable()
        return self._raw if in_place else io.BytesIO(self.content())

    def blocks(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Whole lines, about `size` bytes at a time, with the number of the first; instead of `rows`."""
        first, before = self._returned()
        while True:
            with self._undamaged():
                block = before + self._block(size)
            if not block:
                return
            yield first, block
            self._line = first - 1 + block.count(b"\n")
            first, before = self._line + 1, b""

    def _returned(self) -> tuple[int, bytes]:
        """Number of the next line, and the text of all that were given back, with empty lines between them."""
        first, text, number = self._line + 1, b"", 0
        while self._given_back:
            before, (number, line) = number, self._given_back.pop()
            first = first if text else number
            text += b"\n" * (number - before - 1 if text else 0) + line
        return first, text + b"\n" * (self._line - number if text else 0)

    def _block(self, size: int) -> bytes:
        if self._old:
            lines: list[bytes] = []
            while sum(map(len, lines)) < size and (line := next(self._texts, b"")):
                lines.append(line)
            return b"".join(lines)
        block = bytes(self._file.read(size))
        return block if block.endswith(b"\n") or len(block) < size else block + self._next_line()

    def _next_line(self) -> bytes:
        line: bytes = self._file.readline(_LONGEST_LINE)
        if len(line) == _LONGEST_LINE:
            raise InputError(
                f"{self.name}, line {self._line + 1}: more than {_LONGEST_LINE >> 20} MiB without a line end. "
                "Check that it is a table."
            )
        return line

    def _carriage_returns(self) -> Iterator[bytes]:
        """The lines of a file in which carriage returns end them, as on the first Macintosh."""
        rest = b""
        while part := self._file.read(_BUFFER):
            *whole, rest = (rest + part).split(b"\r")
            yield from (line + b"\n" for line in whole)
        if rest:
            yield rest

    def _head(self) -> bytes:
        with self._undamaged():
            return bytes(self._file.peek(_BUFFER))

    def _refuse_pages(self) -> None:
        start = self._head().lstrip(b"\xef\xbb\xbf \t\r\n")[:30]
        if start.startswith(b"<"):
            raise InputError(
                f"{self.name} is a web page or XML, not data: it begins with {start!r}. Download it again."
            )


def _checked(path: Any) -> Path | None:
    """The path, None for standard input."""
    return None if isinstance(path, str) and path == "-" else as_path(path)


def _opened(path: Path | None) -> Any:
    return sys.stdin.buffer if path is None else path.open("rb", buffering=_BUFFER)
