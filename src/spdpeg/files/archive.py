"""Zip archives of .npy arrays, as numpy.savez writes them: what a header claims is held against what is there."""

import io
import math
import os
import stat
import zipfile
from typing import IO, Any, Self

import numpy as np

from ..errors import InputError
from . import limits

_KINDS = "biufcSU"
"""Types of arrays that need no pickle."""


class Archive:
    """The arrays of an archive, to be used in a `with` statement; whatever is wrong is an InputError without a name.

    Attributes
    ----------
    names : list of str
        Of all members.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __enter__(self) -> Self:
        allowed = limits.expanded(_size(self._file))
        try:
            self._zip = zipfile.ZipFile(self._file)
            claimed = sum(member.file_size for member in self._zip.infolist())
        except Exception as error:
            raise _damage(error, "it is no archive") from None
        if claimed > allowed:
            raise InputError(limits.refusal(claimed, allowed))
        self.names = self._zip.namelist()
        return self

    def __exit__(self, *_: Any) -> None:
        self._zip.close()

    @property
    def arrays(self) -> list[str]:
        """Names of the arrays."""
        return [name.removesuffix(".npy") for name in self.names if name.endswith(".npy")]

    def content(self, name: str) -> bytes:
        """A member as it is."""
        try:
            return self._zip.read(name)
        # zipfile, the decompressors and the disk fail in a dozen ways on damaged bytes, each of which means just that.
        except Exception as error:
            raise _damage(error, f"{name} cannot be read") from None

    def array(self, name: str) -> np.ndarray:
        """An array, by its name without the suffix."""
        if f"{name}.npy" not in self.names:
            raise InputError(f"it holds no {name}")
        return array(self.content(f"{name}.npy"), name)


def array(content: bytes, name: str) -> np.ndarray:
    """The array in the bytes of a .npy file, which must hold as many numbers as its header claims."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, by_columns, dtype = read(file)
    except Exception as error:
        raise _damage(error, f"{name} has no readable header") from None
    if dtype.kind not in _KINDS:
        raise InputError(f"{name} holds {dtype} objects instead of numbers")
    stored = len(content) - file.tell()
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != stored:
        raise InputError(f"{name} claims the shape {shape} of {dtype} and holds {stored} bytes")
    if not stored:
        return _nothing(shape, dtype, name)
    values = np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if by_columns else "C")
    # A copy, because arrays of a file may be written to, and the bytes may not.
    return values.astype(dtype.newbyteorder("="), copy=True)


def _nothing(shape: tuple[int, ...], dtype: Any, name: str) -> np.ndarray:
    """An array without entries, or of texts without letters."""
    if math.prod(shape) or any(length > np.iinfo(np.int32).max for length in shape):
        raise InputError(f"{name} claims the shape {shape} of {dtype} and holds nothing")
    return np.empty(shape, dtype)


def _size(file: IO[bytes]) -> int:
    """Bytes of a file that can be read from the beginning."""
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError("it is no regular file")
    except (OSError, AttributeError):
        pass  # in memory
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def _damage(error: Exception, what: str) -> InputError:
    message = str(error) or type(error).__name__
    return InputError(f"{what} ({message})")
