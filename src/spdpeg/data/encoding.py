"""How the columns of an Arrow table become columns of X: numbers as they are, text as columns of 0 and 1."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..files.columns import MOST_CATEGORIES
from ..files.parquet import refuse_missing


class Encoding(NamedTuple):
    """The features of a table, each with its categories if it is text."""

    name: str
    """Name of the table, for messages."""
    columns: list[str]
    """The features, as the table calls them."""
    categories: dict[str, list[str]]
    """Categories of the columns that are text."""
    dtype: Any

    @property
    def names(self) -> list[str]:
        """Names of the columns of X: a column with categories becomes one for each, called name=category."""
        found = []
        for column in self.columns:
            levels = self.categories.get(column)
            found += [column] if levels is None else [f"{column}={level}" for level in levels]
        return found

    @property
    def width(self) -> int:
        """Columns of X."""
        return len(self.names)

    def table(self, batch: Any, first: int) -> np.ndarray:
        """A batch with just these columns as rows of X; `first` is the number of its first row."""
        out = np.zeros((batch.num_rows, self.width), dtype=self.dtype)
        place = 0
        for name, column in zip(self.columns, batch.columns, strict=True):
            if name in self.categories:
                levels = self.categories[name]
                out[np.arange(batch.num_rows), place + self._codes(name, column, levels, first)] = 1.0
                place += len(levels)
            else:
                out[:, place] = self._numbers(name, column)
                place += 1
        return out

    def _numbers(self, name: str, column: Any) -> np.ndarray:
        numbers: np.ndarray = plain(column).to_numpy(zero_copy_only=False)
        if numbers.dtype.kind not in "biuf":
            raise InputError(
                f"{self.name} has values of type {column.type} in column {name!r}. Name it among the categorical "
                "columns if it is text, encode it as numbers, or leave it out."
            )
        return numbers

    def _codes(self, name: str, column: Any, levels: Sequence[str], first: int) -> np.ndarray:
        """Which of the categories each row has; each batch may number them in its own way."""
        refuse_missing(self.name, name, column, first)
        encoded = _encoded(column)
        places = {level: k for k, level in enumerate(levels)}
        texts = _texts(encoded.dictionary)
        codes = np.array([places.get(text, -1) for text in texts])[encoded.indices.to_numpy(zero_copy_only=False)]
        if codes.size and codes.min() < 0:
            row = int(np.argmin(codes))
            raise InputError(
                f"{self.name} has {texts[encoded.indices[row].as_py()]!r} in column {name!r} in row {first + row}, "
                f"which is none of: {', '.join(levels)}. Drop the row, or fit the model with rows that have it."
            )
        return codes


def plain(column: Any) -> Any:
    """A column without its dictionary."""
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


class Levels:
    """The categories of some columns, gathered from batches: those that occur, sorted."""

    def __init__(self, table: str, columns: Iterable[str]) -> None:
        self._table, self.rows = table, 0
        self._found: dict[str, set[str]] = {column: set() for column in columns}

    @property
    def columns(self) -> list[str]:
        """Columns whose categories are collected."""
        return list(self._found)

    def add(self, batch: Any) -> None:
        """The next rows."""
        for name, found in self._found.items():
            column = batch.column(name)
            refuse_missing(self._table, name, column, self.rows)
            encoded = _encoded(column)
            found.update(_texts(encoded.dictionary.take(encoded.indices.unique())))
            if len(found) > MOST_CATEGORIES:
                raise InputError(
                    f"{self._table} has more than {MOST_CATEGORIES} texts in column {name!r}. Leave it out, or encode "
                    "it as numbers."
                )
        self.rows += batch.num_rows

    def sorted(self) -> dict[str, list[str]]:
        """The categories in order."""
        return {name: sorted(found) for name, found in self._found.items()}


def _encoded(column: Any) -> Any:
    return column if hasattr(column, "dictionary") else column.dictionary_encode()


def _texts(values: Any) -> list[str]:
    return [str(value).strip() for value in values.to_pylist()]
