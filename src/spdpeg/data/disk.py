"""Data sets in a directory: written chunk by chunk, read through memory maps.

A directory holds .npy files, which NumPy opens by itself too, and manifest.json, which is written last: without it the
set is not complete.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..files.replacing import Part, replacing
from ..parameters import shown
from .conversion import as_source
from .selection import pieces
from .sources import CSR, Dense, values_of
from .stream import Chunk, Stream

_MANIFEST = "manifest.json"

_MOST_CLASSES = 10_000
"""Different labels of text."""

_HEADER = 128
"""Bytes before the numbers in a .npy file: enough for any shape, so that the header can be written at the end."""


def write_csr(directory: str | os.PathLike[str], chunks: Any, names: Sequence[str] | None = None) -> None:
    """Write a sparse data set to `directory`, keeping no more than one chunk in memory.

    Parameters
    ----------
    directory : path
        Made if need be; a set that is there is replaced once the new one is complete.
    chunks : matrix, source, stream, or iterable or callable as for `Stream`
        A matrix is written without labels. Chunks (X, y) bring labels, numbers or text; weights are refused. The first
        chunk decides between float64 and float32.
    names : list of str, optional
        Of the columns.

    See Also
    --------
    open_csr : Reads it back.
    write_dense : The same for dense rows.

    Examples
    --------
    >>> import tempfile
    >>> import scipy.sparse as sp
    >>> from spdpeg import data
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     data.write_csr(directory, sp.eye_array(3).tocsr())
    ...     rows, labels = data.open_csr(directory)
    ...     print(rows.shape, labels)
    (3, 3) None
    """
    with _Writer(_path(directory), "csr", names) as writer:
        writer.append("indptr", np.zeros(1, dtype=np.int64))
        entries = 0
        for X, y, weights in _pieces(chunks):
            rows = CSR.from_scipy(sp.csr_array(X)).rows
            writer.columns = rows.width
            writer.append("values", rows.values)
            writer.append("indices", rows.indices.astype(np.int32 if rows.width < 2**31 else np.int64, copy=False))
            writer.append("indptr", rows.indptr[1:] + np.int64(entries))
            writer.append_labels(y, weights)
            entries += rows.values.size


def write_dense(directory: str | os.PathLike[str], chunks: Any, names: Sequence[str] | None = None) -> None:
    """Write a dense data set to `directory`, keeping no more than one chunk in memory.

    Parameters
    ----------
    directory : path
        Made if need be; a set that is there is replaced once the new one is complete.
    chunks : array, source, stream, or iterable or callable as for `Stream`
    names : list of str, optional
        As for `write_csr`.

    See Also
    --------
    open_dense : Reads it back.
    write_csr : The same for sparse rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spdpeg import data
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     data.write_dense(directory, [(np.eye(2), [1.0, 2.0]), (np.eye(2), [3.0, 4.0])])
    ...     rows, labels = data.open_dense(directory)
    ...     print(rows.shape, labels.tolist())
    (4, 2) [1.0, 2.0, 3.0, 4.0]
    """
    with _Writer(_path(directory), "dense", names) as writer:
        for X, y, weights in _pieces(chunks):
            values = values_of(X.toarray() if sp.issparse(X) else X)
            writer.columns = values.shape[1]
            writer.append("values", values)
            writer.append_labels(y, weights)


def open_csr(directory: str | os.PathLike[str]) -> tuple[CSR, np.ndarray | None]:
    """The rows and labels that `write_csr` wrote, memory-mapped and read-only.

    The indices are read once, to make sure that they are sound.

    Parameters
    ----------
    directory : path

    Returns
    -------
    CSR
    array or None
        The labels; None if there are none.

    See Also
    --------
    write_csr : Writes such a directory.
    open_rows : The same for either kind of rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, scipy.sparse as sp
    >>> from spdpeg import data
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     data.write_csr(directory, [(sp.csr_array(np.eye(3)), np.arange(3.0))])
    ...     rows, labels = data.open_csr(directory)
    ...     print(rows.shape, labels)
    (3, 3) [0. 1. 2.]
    """
    columns, names, arrays = _read(_path(directory), "csr", ("values", "indices", "indptr"))
    rows = CSR(arrays["values"], arrays["indices"], arrays["indptr"], columns)
    rows.names = names
    return rows, arrays.get("labels")


def open_dense(directory: str | os.PathLike[str]) -> tuple[Dense, np.ndarray | None]:
    """The rows and labels that `write_dense` wrote, memory-mapped and read-only.

    Parameters
    ----------
    directory : path

    Returns
    -------
    Dense
    array or None
        The labels; None if there are none.

    See Also
    --------
    write_dense : Writes such a directory.
    open_rows : The same for either kind of rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spdpeg import data
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     data.write_dense(directory, [(np.eye(3), np.arange(3.0))])
    ...     rows, labels = data.open_dense(directory)
    ...     print(rows.shape, labels)
    (3, 3) [0. 1. 2.]
    """
    _, names, arrays = _read(_path(directory), "dense", ("values",))
    rows = Dense(arrays["values"])
    rows.names = names
    return rows, arrays.get("labels")


def open_rows(directory: str | os.PathLike[str]) -> CSR | Dense:
    """Open the files that `write_csr` or `write_dense` wrote, memory-mapped and read-only.

    Parameters
    ----------
    directory : path

    Returns
    -------
    CSR or Dense
        Its attributes `labels` and `names` hold the labels and the names of the columns, or None.

    See Also
    --------
    open_csr, open_dense : Rows and labels as a pair.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spdpeg import data
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     data.write_dense(directory, [(np.eye(3), np.arange(3.0))])
    ...     rows = data.open_rows(directory)
    ...     print(rows.shape, rows.labels)
    (3, 3) [0. 1. 2.]
    """
    path = _path(directory)
    kind = "dense" if _kind(path) == _format("dense") else "csr"
    rows, labels = open_dense(path) if kind == "dense" else open_csr(path)
    rows.labels = labels
    return rows


def is_set(directory: str | os.PathLike[str]) -> bool:
    """Whether a directory holds a data set that was written here."""
    return (_path(directory) / _MANIFEST).is_file()


def _kind(path: Path) -> Any:
    try:
        return json.loads((path / _MANIFEST).read_text())["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # which is reported when it is opened


def _path(directory: Any) -> Path:
    if not isinstance(directory, str | os.PathLike) or "\0" in os.fsdecode(directory):
        raise InputError(f"The directory is {shown(directory)}. Give its name.")
    return Path(os.fsdecode(directory))


def _pieces(chunks: Any) -> Iterator[Chunk | tuple[Any, None, None]]:
    """The chunks of a stream, or consecutive rows of a matrix."""
    source = as_source(chunks)
    if isinstance(source, Stream):
        source.peek()
        while (chunk := source.take(1)) is not None:
            yield chunk
        return
    for piece in pieces(source):
        yield piece, None, None


class _Column:
    """A .npy file that grows at its end; the first array fixes its type and width."""

    def __init__(self, path: Path, first: np.ndarray) -> None:
        self.part, self.dtype, self.shape = Part(path), first.dtype, (0, *first.shape[1:])
        self.part.file.write(bytes(_HEADER))

    def append(self, array: np.ndarray) -> None:
        if not np.can_cast(array.dtype, self.dtype):
            raise InputError(
                f"A chunk holds {array.dtype} numbers after chunks of {self.dtype}. Convert all chunks to one type."
            )
        self.part.file.write(np.ascontiguousarray(array, dtype=self.dtype).data)
        self.shape = (self.shape[0] + array.shape[0], *self.shape[1:])

    def close(self) -> None:
        """Write the header and bring all of it to the disk."""
        header = repr({"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}).ljust(_HEADER - 11) + "\n"
        self.part.file.seek(0)
        self.part.file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        self.part.flush()


class _Writer:
    """Writes under temporary names; when all went well the files get their own names and the manifest is added."""

    def __init__(self, directory: Path, kind: str, names: Sequence[str] | None) -> None:
        self.columns = 0
        self._directory, self._kind = directory, kind
        self._names = None if names is None else list(names)
        if not _are_names(self._names):
            raise InputError(f"names is {shown(names)}. Give a list with the name of each column.")
        self._arrays: dict[str, _Column] = {}
        self._classes: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._made = not self._directory.exists()
        self._directory.mkdir(parents=True, exist_ok=True)
        return self

    def append(self, name: str, array: np.ndarray) -> None:
        """Put `array` at the end of the file called `name`."""
        if name not in self._arrays:
            self._arrays[name] = _Column(self._directory / f"{name}.npy", array)
        self._arrays[name].append(array)

    def append_labels(self, y: np.ndarray | None, weights: np.ndarray | None) -> None:
        """Labels of a chunk, if it has any."""
        if weights is not None:
            raise InputError("A chunk has weights, which are not kept on disk. Save them apart as sample_weight.")
        if y is None:
            return
        if ("codes" if y.dtype.kind in "biuf" else "labels") in self._arrays:
            raise InputError("Some labels are numbers and some are text. Make all of them the same.")
        if y.dtype.kind == "U":
            self.append("codes", self._codes(y))
            return
        if y.dtype.kind not in "biuf":
            raise InputError(f"A chunk has labels of type {y.dtype}. Give numbers or text.")
        labels = y.astype(np.float64)
        if y.dtype.kind in "iu" and np.unique(labels).size != np.unique(y).size:
            raise InputError("A chunk has labels beyond 2^53 that float64 does not tell apart. Renumber the classes.")
        self.append("labels", labels)

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """Numbers of the classes, in the order in which they came."""
        names, places = np.unique(y, return_inverse=True)
        codes = [self._classes.setdefault(name, len(self._classes)) for name in names.tolist()]
        if len(self._classes) > _MOST_CLASSES:
            raise InputError(f"The labels are text of more than {_MOST_CLASSES} kinds, too many for classes.")
        return np.array(codes, dtype=np.int32)[places]

    def __exit__(self, failure: type[BaseException] | None, *_: Any) -> None:
        complete = False
        try:
            if failure is None:
                self._publish()
                complete = True
        finally:
            for array in self._arrays.values():
                array.part.discard()
            if self._made and not complete:
                with contextlib.suppress(OSError):  # somebody else has put something there
                    self._directory.rmdir()

    def _publish(self) -> None:
        if self._names is not None and len(self._names) != self.columns:
            raise InputError(f"{len(self._names)} names for {self.columns} columns. Give each column a name.")
        for array in self._arrays.values():
            array.close()
        manifest = self._directory / _MANIFEST
        manifest.unlink(missing_ok=True)
        for name in ("labels", "codes"):
            (self._directory / f"{name}.npy").unlink(missing_ok=True)
        for array in self._arrays.values():
            array.part.publish()
        arrays = {name: [array.dtype.str, *array.shape] for name, array in self._arrays.items()}
        content = {"format": _format(self._kind), "columns": self.columns, "arrays": arrays}
        if self._classes:
            content["classes"] = list(self._classes)
        if self._names is not None:
            content["names"] = self._names
        with replacing(manifest) as file:
            file.write(json.dumps(content, indent=1).encode())


def _format(kind: str) -> str:
    return f"spdpeg {kind} 1"


def _are_names(names: Any) -> bool:
    return names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names))


def _read(directory: Path, kind: str, needed: tuple[str, ...]) -> tuple[int, list[str] | None, dict[str, np.ndarray]]:
    """Number and names of the columns, and the arrays, memory-mapped."""
    try:
        manifest = json.loads((directory / _MANIFEST).read_text())
        written, columns, arrays = manifest["format"], int(manifest["columns"]), manifest["arrays"]
        described = {name: (str(dtype), tuple(map(int, shape))) for name, (dtype, *shape) in arrays.items()}
        classes, names = np.array(manifest.get("classes", []), dtype=str), manifest.get("names")
    except OSError as error:
        raise InputError(
            f"{directory} holds no complete data set: {_MANIFEST} cannot be read ({error.strerror}). "
            f"Write the set with data.write_{kind}."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(f"{directory / _MANIFEST} is damaged. Write the data set again.") from None
    if written != _format(kind):
        raise InputError(f"{directory} holds a data set of format {written!r}, not {_format(kind)!r}. Open it as such.")
    if not described.keys() >= set(needed) or not _are_names(names) or (names is not None and len(names) != columns):
        raise InputError(f"{directory / _MANIFEST} is damaged. Write the data set again.")
    found = {name: _mapped(directory / f"{name}.npy", *numbers) for name, numbers in described.items()}
    if "codes" in found:
        codes = found.pop("codes")
        if codes.ndim != 1 or codes.dtype != np.int32 or not np.all((codes >= 0) & (codes < classes.size)):
            raise InputError(f"{directory / 'codes.npy'} names classes that {_MANIFEST} does not. Write the set again.")
        found["labels"] = classes[codes]
    return columns, names, found


def _mapped(path: Path, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    # NumPy evaluates the header, which may hold anything.
    except Exception as error:
        raise InputError(f"{path} is missing or damaged ({error}). Write the data set again.") from None
    size = path.stat().st_size
    if array.dtype.str != dtype or array.shape != shape or array.offset + array.nbytes != size:
        raise InputError(
            f"{path} holds {array.dtype.str} numbers of shape {array.shape} in {size} bytes, which does not fit the "
            f"manifest's {dtype} and {shape}. Write the data set again."
        )
    return array
