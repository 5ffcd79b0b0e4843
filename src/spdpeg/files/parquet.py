"""Parquet: a table of columns with names, one of them the target."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError, UnsupportedError
from . import limits
from .columns import Columns, assembled, indicators, roles
from .source import Source
from .table import Table, checked, labels


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole table; pyarrow is needed."""
    file = _opened(source)
    allowed = limits.expanded(source.size)
    claimed = 8 * file.metadata.num_rows * file.metadata.num_columns
    try:
        table = file.read() if claimed <= allowed else None
    # pyarrow's complaints are of many classes, and each of them means the same.
    except Exception as error:
        raise InputError(f"{source.name} is damaged ({error}). Write it again.") from None
    if table is None:
        raise InputError(f"{source.name} cannot be read: {limits.refusal(claimed, allowed)}")
    # Here, and not in a chunk, which knows only its own categories.
    texts = {field.name: None for field in table.schema if is_category(field.type)}
    return _converted(
        source, table, n_features, requested._replace(categorical={**texts, **(requested.categorical or {})})
    )


def stream(source: Source, rows_per_chunk: int, n_features: int | None, requested: Columns) -> Iterator[Table]:
    """Chunks of the table, each from one row group; pyarrow is needed."""
    file = _opened(source)
    import pyarrow as pa

    try:
        for batch in file.iter_batches(rows_per_chunk):
            if batch.num_rows:
                yield _converted(source, pa.Table.from_batches([batch]), n_features, requested)
    except (InputError, GeneratorExit):
        raise
    # pyarrow's complaints are of many classes, and each of them means the same.
    except Exception as error:
        raise InputError(f"{source.name} is damaged ({error}). Write it again.") from None


def _opened(source: Source) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnsupportedError(
            f"{source.name} is a Parquet file and pyarrow is not installed. Run: pip install pyarrow."
        ) from None
    try:
        return pq.ParquetFile(pa.PythonFile(source.binary(), mode="r"))
    except InputError:
        raise
    # pyarrow's complaints are of many classes, and each of them means the same.
    except Exception as error:
        raise InputError(f"{source.name} is damaged ({error}). Write it again.") from None


def _converted(source: Source, table: Any, n_features: int | None, requested: Columns) -> Table:
    names = table.column_names
    target, features, categories = roles(source.name, requested, names, n_features)
    if not features:
        raise InputError(f"{source.name} has only the column of the labels. Features must stand beside it.")
    encoded = {
        k: indicators(source.name, names[k], _texts(source.name, names[k], table.column(k)), levels, "row {}".format)
        for k, levels in categories.items()
    }
    X, found = assembled(features, lambda k: _numbers(source.name, names[k], table.column(k)), encoded, names)
    y = None if target is None else _labels(source.name, names[target], table.column(target))
    return checked(source.name, X, y, n_features, found)


def is_category(kind: Any) -> bool:
    """Whether the type of a column says that it holds a few texts: a dictionary of them."""
    import pyarrow as pa

    values = getattr(kind, "value_type", None)
    return pa.types.is_dictionary(kind) and (pa.types.is_string(values) or pa.types.is_large_string(values))


def refuse_missing(file: str, name: str, column: Any, first: int = 0) -> None:
    """Text that is missing is no category; `first` is the number of the first row of the column."""
    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{file} has no value in column {name!r} in row {row}. Fill it in or drop the row.")


def _texts(file: str, name: str, column: Any) -> list[str]:
    refuse_missing(file, name, column)
    return [str(text) for text in column.to_pylist()]


def _numbers(file: str, name: str, column: Any) -> np.ndarray:
    array: np.ndarray = column.to_numpy()
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{file} has values of type {column.type} in column {name!r}. Leave it out with --drop {name}, or encode "
            f"text with --categorical {name}."
        )
    return array.astype(np.float64)


def _labels(file: str, name: str, column: Any) -> np.ndarray:
    if column.null_count:
        raise InputError(f"{file} has {column.null_count} missing labels in column {name!r}. Drop those rows.")
    array = column.to_numpy()
    return array if array.dtype.kind in "biuf" else labels([str(label) for label in array])
