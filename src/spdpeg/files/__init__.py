"""Data files: what they hold, whole or in chunks, with the place of what is wrong in them."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError, UnsupportedError
from ..parameters import whole_number
from . import cluto, delimited, libsvm, matlab, numpy_archive, parquet
from .columns import Columns, categories, listed
from .signal import read_signal
from .source import Source
from .table import Table

__all__ = ["FORMATS", "Table", "read", "read_signal", "stream"]

_READERS = {
    "libsvm": libsvm.read,
    "csv": delimited.read,
    "parquet": parquet.read,
    "npz": numpy_archive.read,
    "mat": matlab.read,
    "cluto": cluto.read,
}

_STREAMERS = {"libsvm": libsvm.stream, "csv": delimited.stream, "parquet": parquet.stream}

FORMATS = tuple(_READERS)
"""Names for `format`; by default the content of a file decides."""


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    n_features: int | None = None,
    target: int | str | None = None,
    drop: Sequence[int | str] = (),
    categorical: Sequence[str] | Mapping[str, Sequence[str] | None] = (),
) -> Table:
    r"""Read a whole data file as (X, y).

    Parameters
    ----------
    path : path
        "-" is standard input. gzip, bzip2 and xz are undone on the way, whatever the name of the file.
    format : str, optional
        One of `FORMATS`: LIBSVM text; CSV with commas, semicolons or tabs, with or without a header; Parquet; .npz with
        a sparse matrix or an array X, and y; MATLAB's .mat with X or A, and y or labels; CLUTO's .mat with labels in
        .rclass beside it. By default the content decides.
    n_features : int, optional
        Columns of X. LIBSVM text leaves zeros out, so the columns of a test set are those of the training set. A CSV or
        Parquet table of just that many columns has no target, and y is None. Elsewhere it is a check.
    target : int or str, optional
        The column of a CSV or Parquet table with the labels, by position or by name; the last one by default.
    drop : sequence of int or str, default=()
        Columns of such a table that are left out, by position or by name.
    categorical : sequence of str, or dict of them to lists of str or None, default=()
        Columns of such a table that hold text, by name; in Parquet, dictionaries of text need not be named. Each
        becomes a column of 0 and 1 for each of its categories, called `name=category`: those that a dict lists, or else
        those that the file holds.

    Returns
    -------
    Table
        The pair (X, y), X a float64 array or CSR matrix of finite numbers, y float64, or text where labels are no
        numbers, or None where there are none; `names` holds the names of the columns of X, if the file has them.

    See Also
    --------
    stream : The same chunk by chunk.
    read_signal : One column of a CSV file.

    Notes
    -----
    What is wrong with a file is an InputError with the place of it; a file that is not there or may not be read is the
    OSError of the system. A file may expand to 256 MiB, or to 100 times its size if that is more; the environment
    variable SPDPEG_MAX_EXPANDED, a number of bytes, changes that. .mat files are read in a process of their own, which
    a damaged one may bring down without harm.

    Examples
    --------
    >>> import pathlib, spdpeg.files, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "fruit.csv")
    ...     _ = path.write_text("weight,length,kind\n120,7,apple\n150,18,banana\n")
    ...     table = spdpeg.files.read(path)
    >>> X, y = table
    >>> X.shape, list(map(str, y)), table.names
    ((2, 2), ['apple', 'banana'], ['weight', 'length'])
    """
    _check_width(n_features)
    with Source(path) as source:
        name = source.format if format is None else format
        requested = _columns(name, target, drop, categorical)
        return _found(_READERS, name)(source, n_features, requested)


def stream(
    path: str | os.PathLike[str],
    rows_per_chunk: int,
    format: str | None = None,
    n_features: int | None = None,
    target: int | str | None = None,
    drop: Sequence[int | str] = (),
    categorical: Sequence[str] | Mapping[str, Sequence[str] | None] = (),
    on_progress: Callable[[int], Any] | None = None,
) -> Iterator[Table]:
    r"""Read LIBSVM text, CSV or Parquet as chunks (X, y) of up to `rows_per_chunk` rows, one in memory at a time.

    The other parameters are those of `read`. Categories that are not listed are looked for first, for which the file is
    read once more. Without `n_features`, the first chunk says how many columns LIBSVM text has, and a later row with
    more is refused. `on_progress` is called with the number of bytes read so far.

    Returns
    -------
    iterator of (array or CSR matrix, array)

    See Also
    --------
    read : The same at once.
    spdpeg.data.Stream : Takes the chunks.

    Examples
    --------
    >>> import pathlib, spdpeg.files, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "numbers.csv")
    ...     _ = path.write_text("1,2,0\n3,4,1\n5,6,0\n")
    ...     [X.shape for X, y in spdpeg.files.stream(path, rows_per_chunk=2)]
    [(2, 2), (1, 2)]
    """
    whole_number("rows_per_chunk", rows_per_chunk, least=1)
    _check_width(n_features)
    with Source(path) as source:
        name = source.format if format is None else format
        requested = _columns(name, target, drop, categorical)
        requested = _with_categories(source, name, requested, rows_per_chunk)
        if isinstance(name, str) and name in _READERS and name not in _STREAMERS:
            raise UnsupportedError(
                f"{source.name} is of format {name}, which is not read in chunks. "
                "Read it whole, or convert it to LIBSVM text, CSV or Parquet."
            )
        for chunk in _found(_STREAMERS, name)(source, rows_per_chunk, n_features, requested):
            if on_progress is not None:
                on_progress(source.position)
            yield chunk


def _with_categories(source: Source, name: str, requested: Columns, rows_per_chunk: int) -> Columns:
    """The request, with the categories that the file holds where none are listed."""
    unlisted = [column for column, known in (requested.categorical or {}).items() if known is None]
    if not unlisted:
        return requested
    if source.path is None or name != "csv":
        raise UnsupportedError(
            f"The categories of {unlisted[0]!r} in {source.name} are not known before its end. List them, drop the "
            "column, or read all of it at once."
        )
    with Source(source.path) as first:
        found = delimited.categories(first, rows_per_chunk, requested)
    return requested._replace(categorical={**(requested.categorical or {}), **found})


def _found(table: dict[str, Any], name: str) -> Any:
    if not isinstance(name, str) or name not in table:
        raise InputError(f"There is no format called {name!r}. Choose from: {', '.join(table)}.")
    return table[name]


def _check_width(n_features: int | None) -> None:
    if n_features is not None:
        whole_number("n_features", n_features, least=1)


def _columns(name: str, target: Any, drop: Any, categorical: Any) -> Columns:
    if target is not None and not isinstance(target, str):
        whole_number("target", target)
    drop = listed("drop", drop)
    levels = categories(categorical)
    if isinstance(name, str) and name not in ("csv", "parquet"):
        if target is not None:
            raise InputError(
                f"target is {target!r}, which chooses a column of a table; the format {name} has its labels elsewhere. "
                "Leave target out."
            )
        if drop or any(known is None for known in levels.values()):
            raise InputError(f"drop and categorical are for tables; the format {name} is none. Leave them out.")
    return Columns(target, drop, levels)
