"""Files opened for reading: compression undone, lines counted, damage told apart from wrong content."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import sys
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from ..errors import InputError

_BUFFER = 1 << 16

_COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
"""By the first bytes of a file."""

_BINARY = {b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet", b"MATLAB ": "mat"}
"""Formats by the first bytes of a file."""

_LIBSVM_ROW = re.compile(rb"\s*[^\s,;]+\s+(qid:\d+\s+)?\d+:")
_CLUTO_HEADER = re.compile(rb"\s*\d+[ \t]+\d+([ \t]+\d+)?[ \t]*\r?\n")


class Source:
    """A file, or standard input for "-", to be used in a `with` statement.

    Attributes
    ----------
    name : str
        For messages.
    path : Path or None
        None for standard input.
    numbers : array of int
        Line number of every line that `rows` gave since it was called last.
    last : bytes
        The last of these lines.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = None if path == "-" else Path(path)
        self.name = "Standard input" if self.path is None else os.fspath(path)
        self.numbers = array("q")
        self.last = b""
        self._line = 0
        self._given_back: list[bytes] = []

    def __enter__(self) -> Self:
        self._raw = _opened(self.path)
        try:
            head = self._raw.peek(_BUFFER)
            undo = next((undo for magic, undo in _COMPRESSIONS.items() if head.startswith(magic)), None)
            self._file: Any = self._raw if undo is None else io.BufferedReader(undo(self._raw), _BUFFER)
            self._refuse_pages()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        if self.path is not None:
            self._raw.close()

    @property
    def format(self) -> str:
        """What the file holds, judged by how it begins."""
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

    def content(self) -> bytes:
        """All of it."""
        with self._undamaged():
            return bytes(self._file.read())

    def binary(self) -> IO[bytes]:
        """A file in which one can jump."""
        in_place = self._file is self._raw and self._raw.seekable()
        return self._raw if in_place else io.BytesIO(self.content())

    def rows(self, limit: int | None = None, comment: bytes = b"") -> Iterator[bytes]:
        """The next `limit` lines that hold anything; a line that begins with `comment` does not."""
        self.numbers = array("q")
        with self._undamaged():
            for line in itertools.islice(self._lines(comment), limit):
                self.numbers.append(self._line)
                self.last = line
                yield line

    def give_back(self) -> None:
        """Let `rows` begin with the line that it gave last."""
        self._given_back.append(self.last)

    def place(self, row: int) -> str:
        """Where a row stands that `rows` gave, counted from 0; -1 is the last one."""
        return f"line {self.numbers[row]}"

    def _lines(self, comment: bytes) -> Iterator[bytes]:
        while self._given_back:
            yield self._given_back.pop()
        for line in self._file:
            self._line += 1
            content = line.lstrip()
            if content and not (comment and content.startswith(comment)):
                yield line

    def _head(self) -> bytes:
        with self._undamaged():
            return bytes(self._file.peek(_BUFFER))

    def _refuse_pages(self) -> None:
        start = self._head().lstrip(b"\xef\xbb\xbf \t\r\n")[:30]
        if start.startswith(b"<"):
            raise InputError(
                f"{self.name} is a web page or XML, not data: it begins with {start!r}. Download it again."
            )

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


def _opened(path: Path | None) -> Any:
    return sys.stdin.buffer if path is None else path.open("rb", buffering=_BUFFER)
