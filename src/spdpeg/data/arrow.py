"""Parquet files and whatever speaks Arrow, read in batches."""

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, UnsupportedError
from ..files.columns import Columns, categories, listed, roles
from ..files.parquet import is_category
from ..files.table import labels as as_labels
from ..parameters import shown, truth, whole_number
from .encoding import Encoding, Levels, plain
from .tables import BLOCK_ENTRIES, Tables

_FEWEST_PARTS, _MOST_PARTS = 4, 16
"""Fewest and most places of a data set that a sample comes from."""
_PART_OF_GROUPS = 0.05
"""Fraction of the row groups that a sample comes from, each of which is read as a whole, within those limits."""


class Asked(NamedTuple):
    """The columns to read from a table."""

    target: int | str | None
    columns: list[str] | None
    labelled: bool
    drop: Sequence[int | str]
    categorical: dict[str, Sequence[str] | None]


def _asked(target: Any, columns: Any, labelled: Any, drop: Any, categorical: Any) -> Asked:
    """The request, after checks."""
    if target is not None and not isinstance(target, str):
        whole_number("target", target)
    names = None
    if columns is not None:
        names = [name for name in listed("columns", columns) if isinstance(name, str)]
        if len(names) < len(columns):
            raise InputError(f"columns is {shown(columns)}. Give the names of the features.")
    return Asked(target, names, truth("labelled", labelled), listed("drop", drop), categories(categorical))


def open_parquet(
    source: Any,
    target: int | str | None = None,
    columns: Sequence[str] | None = None,
    labelled: bool = True,
    drop: Sequence[int | str] = (),
    categorical: Sequence[str] | Mapping[str, Sequence[str] | None] = (),
) -> Tables:
    """Parquet files as rows that are read in batches, again in every pass: they need not fit into memory.

    Parameters
    ----------
    source : path, directory, glob pattern, list of paths, or pyarrow dataset
        All files must have the same columns; those of a directory are taken in the order of their names.
    target : str or int, optional
        The column with the labels, by name or position; by default the last one, unless it is among `columns`. It is
        read once, into memory.
    columns : list of str, optional
        The features; all columns but the target by default. Only these are read. What categories become may stand for
        its column, so that `columns=rows.names, categorical=rows.categories` opens other rows like these.
    labelled : bool
        False if there is no target and all columns are features.
    drop : list of str or int
        Columns to leave out.
    categorical : list of str, or dict of them to lists of str or None
        Columns that hold text, by name; dictionaries of text need not be named. Each becomes a column of 0 and 1 for
        each of its categories, called `name=category`: those that a dict lists, or else those that occur.

    Returns
    -------
    Tables
        For `Problem(source, loss=...)`, which takes the labels from it, and for `fit(source)` of every estimator.

    See Also
    --------
    from_arrow : Rows of any object that speaks the Arrow interface.
    open_csr, open_dense : Rows that are read through a memory map.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet
    >>> from spdpeg import data
    >>> from spdpeg.estimators import FusedLasso
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     table = pa.table({"a": np.arange(8.0), "b": np.arange(8) % 3, "y": 2.0 * np.arange(8) + np.arange(8) % 3})
    ...     pa.parquet.write_table(table, pathlib.Path(directory, "part-0.parquet"))
    ...     rows = data.open_parquet(directory, target="y")
    ...     model = FusedLasso(1e-4, 1e-4).fit(rows)
    >>> rows.n_samples, rows.names, model.coef_.round(1).tolist()
    (8, ['a', 'b'], [2.0, 1.0])
    """
    dataset = _dataset(source)
    name = source if isinstance(source, str | os.PathLike) else "The Parquet data set"

    def batches(names: list[str], rows: int) -> Iterator[Any]:
        yield from dataset.to_batches(columns=names, batch_size=rows)

    with _translated_errors(name):
        n_rows = dataset.count_rows()
    asked = _asked(target, columns, labelled, drop, categorical)
    tables, encoding = _tables(str(name), dataset.schema, batches, n_rows, asked)
    tables.parts = lambda count: _spread(dataset, encoding, count)
    return tables


def from_arrow(
    source: Any,
    target: int | str | None = None,
    columns: Sequence[str] | None = None,
    labelled: bool = True,
    drop: Sequence[int | str] = (),
    categorical: Sequence[str] | Mapping[str, Sequence[str] | None] = (),
) -> Tables:
    """A polars LazyFrame, a pyarrow Table or anything else with the Arrow C stream interface, read in batches.

    Parameters
    ----------
    source : object
        It must be possible to read it again: a query, a frame or a table. A `RecordBatchReader` is read only once and
        is for `partial_fit`.
    target, columns, labelled, drop, categorical
        As for `open_parquet`.

    Returns
    -------
    Tables

    See Also
    --------
    open_parquet : Rows of a Parquet file.
    as_source : Anything that `Problem` takes as X.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from spdpeg import data
    >>> rows = data.from_arrow(pa.table({"a": [1.0, 2.0], "kind": ["x", "y"]}))
    >>> rows.n_features, list(map(str, rows.labels))
    (1, ['x', 'y'])
    """
    pa = _pyarrow("An Arrow table")
    kind = type(source).__name__
    if hasattr(source, "collect_batches"):  # a lazy frame of polars

        def batches(names: list[str], rows: int) -> Iterator[Any]:
            for frame in source.select(names).collect_batches(chunk_size=rows, maintain_order=True):
                yield from frame.to_arrow().to_batches()

        schema = source.head(0).collect().to_arrow().schema
    elif isinstance(source, pa.RecordBatchReader):
        raise UnsupportedError(
            "A RecordBatchReader can be read only once, and a fit reads the data several times. Pass what made it, "
            "write it to Parquet, or give its batches to partial_fit."
        )
    elif hasattr(source, "__arrow_c_stream__"):

        def batches(names: list[str], rows: int) -> Iterator[Any]:
            reader = pa.RecordBatchReader.from_stream(source)
            for batch in reader:
                yield from pa.Table.from_batches([batch]).select(names).to_batches(max_chunksize=rows)

        schema = pa.RecordBatchReader.from_stream(source).schema
    else:
        raise InputError(f"The source is {shown(source)}. Give a LazyFrame, a table, or another Arrow stream.")
    asked = _asked(target, columns, labelled, drop, categorical)
    return _tables(f"The {kind}", schema, batches, None, asked)[0]


def _tables(
    name: str,
    schema: Any,
    batches: Callable[[list[str], int], Iterator[Any]],
    n_rows: int | None,
    asked: Asked,
) -> tuple[Tables, Encoding]:
    target, features = _roles(name, list(schema.names), asked)
    found = Levels(name, _unlisted(schema, features, asked))
    labels = None
    if target is not None or found.columns:
        first = [] if target is None else [target]
        # One read tells both: labels, and the categories that occur.
        labels = _labels(name, target, batches([*first, *found.columns], BLOCK_ENTRIES), found)
        n_rows = found.rows
    elif n_rows is None:
        n_rows = sum(batch.num_rows for batch in batches(features[:1], BLOCK_ENTRIES))
    known = {
        column: list(levels)
        for column, levels in asked.categorical.items()
        if levels is not None and column in features
    }
    known |= found.sorted()
    narrow = all(str(_value_type(schema.field(column))) == "float" for column in features if column not in known)
    encoding = Encoding(name, features, known, np.float32 if narrow else np.float64)
    rows = max(1, BLOCK_ENTRIES // encoding.width)

    def read() -> Iterator[np.ndarray]:
        start = 0
        with _translated_errors(name):
            for batch in batches(features, rows):
                if batch.num_rows:
                    yield encoding.table(batch, start)
                start += batch.num_rows

    tables = Tables(name, read, n_rows, encoding.width, labels, encoding.names)
    tables.categories = known
    return tables, encoding


def _roles(name: str, found: list[str], asked: Asked) -> tuple[str | None, list[str]]:
    """Names of the target, if there is one, and of the features."""
    without_target = None if asked.labelled else len(found) - len(asked.drop)
    kept = roles(name, Columns(asked.target, asked.drop), found, without_target)
    target = None if kept.target is None else found[kept.target]
    features = [found[k] for k in kept.features] if asked.columns is None else _selected(asked.columns, found, asked)
    for column in [*features, *(column for column, levels in asked.categorical.items() if levels is None)]:
        if column not in found:
            raise InputError(f"{name} has no column {column!r}. It has: {', '.join(found)}.")
    if not features:
        raise InputError(f"{name} has no column beside the labels. Features must stand beside them.")
    return None if asked.target is None and target in features else target, features


def _selected(columns: list[str], found: list[str], asked: Asked) -> list[str]:
    """Columns of the table; those of X that categories become stand for the one they come from."""
    listed = asked.categorical.items()
    origin = {f"{column}={level}": column for column, levels in listed for level in levels or () if column in found}
    return list(dict.fromkeys(name if name in found else origin.get(name, name) for name in columns))


def _unlisted(schema: Any, features: list[str], asked: Asked) -> list[str]:
    """The features that are text, and whose categories are not listed."""
    listed = {column for column, levels in asked.categorical.items() if levels is not None}
    return [
        column
        for column in features
        if column not in listed and (column in asked.categorical or is_category(schema.field(column).type))
    ]


def _labels(name: str, column: str | None, batches: Iterator[Any], levels: Levels) -> np.ndarray | None:
    """The first column of the batches as labels, if it has a name; the others tell their categories."""
    found: list[np.ndarray] = []
    with _translated_errors(name):
        for batch in batches:
            levels.add(batch)
            if column is None:
                continue
            values = plain(batch.column(column))
            if values.null_count:
                raise InputError(f"{name} has missing labels in column {column!r}. Drop those rows.")
            found.append(values.to_numpy(zero_copy_only=False))
    if not levels.rows:
        raise InputError(f"{name} has no rows. Check what should have written it.")
    if column is None:
        return None
    whole = np.concatenate(found)
    return whole if whole.dtype.kind in "biuf" else as_labels([str(label) for label in whole])


def _value_type(field: Any) -> Any:
    return getattr(field.type, "value_type", field.type)


def _spread(dataset: Any, encoding: Encoding, count: int) -> Iterator[tuple[int, np.ndarray, int]]:
    """Rows from the beginnings of row groups all over a data set, with the number of the first of each.

    Beside them stands how many rows were read, which are those of the whole group.
    """
    groups, first = [], 0
    for fragment in dataset.get_fragments():
        for group in fragment.split_by_row_group():
            size = sum(info.num_rows for info in group.row_groups)  # count_rows() would be those of the whole file
            groups.append((first, group, size))
            first += size
    places = int(np.clip(_PART_OF_GROUPS * len(groups), _FEWEST_PARTS, _MOST_PARTS))
    chosen = [groups[k] for k in np.unique(np.linspace(0, len(groups) - 1, places).round().astype(int))]
    each = max(1, count // len(chosen))
    with _translated_errors(encoding.name):
        for start, group, size in chosen:
            batches = group.head(each, columns=encoding.columns).to_batches()
            if batches:
                yield start, np.concatenate([encoding.table(batch, start) for batch in batches]), size


def _dataset(source: Any) -> Any:
    _pyarrow("A Parquet data set")
    import pyarrow.dataset as ds

    if isinstance(source, ds.Dataset):
        return source
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        paths: Any = Path(text)
        if not paths.exists():
            paths = sorted(glob.glob(text))
            if not paths:
                raise InputError(f"There is no Parquet file at {text}. Check the path.")
    elif isinstance(source, list | tuple) and source and all(isinstance(path, str | os.PathLike) for path in source):
        paths = [os.fsdecode(path) for path in source]
    else:
        raise InputError(f"The source is {shown(source)}. Give a path, a directory, a glob pattern or a dataset.")
    with _translated_errors(str(source)):
        return ds.dataset(paths if isinstance(paths, list) else str(paths), format="parquet")


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(f"{what} needs pyarrow. Run: pip install pyarrow.") from None
    return pyarrow


class _translated_errors:
    """Turn errors of pyarrow into one sentence with the name of the data."""

    def __init__(self, name: Any) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError) and not isinstance(error, FileNotFoundError):
            what = " ".join(str(error).split())[:200]
            raise InputError(f"{self._name} cannot be read ({what}). Write it again.") from None
