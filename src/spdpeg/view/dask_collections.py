"""Arrays and data frames of dask, partition by partition, with the labels and weights that belong to them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..parameters import is_dask
from ..sums.rounds import Rounds, active_client

_LABELS, _WEIGHTS = "\x00y", "\x00sample_weight"
"""Names that no column of a user has."""


def columns_of(X: Any) -> tuple[int, list[Any] | None]:
    """Number and names of the columns."""
    if hasattr(X, "columns"):
        names = list(X.columns)
        return len(names), names if all(isinstance(name, str) for name in names) else None
    if getattr(X, "ndim", None) != 2:
        raise InputError(
            f"X is a {type(X).__name__} of dask that is no table. Give a data frame or an array of two dimensions."
        )
    return int(X.shape[1]), None


def computed(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """One partition after the other, computed on the cluster and gathered; those without rows are left out.

    The next one is computed while one is worked on.
    """
    client = active_client("X")
    parts = of_each(_together, X, y, sample_weight)
    following = client.compute(parts[:1])
    for number in range(len(parts)):
        here, following = following, client.compute(parts[number + 1 : number + 2])
        [chunk] = Rounds(client, [number]).gathered(here)
        if chunk[0].shape[0]:
            yield chunk


def of_each(function: Any, X: Any, y: Any, sample_weight: Any, *arguments: Any) -> list[Any]:
    """function(rows, labels, weights, *arguments) of each partition, not computed yet."""
    from dask import delayed

    columns_of(X)
    if not hasattr(X, "chunks"):
        beside = {_LABELS: y, _WEIGHTS: sample_weight}
        columns = {name: part for name, part in beside.items() if is_dask(part) and hasattr(part, "npartitions")}
        columns = {name: part for name, part in columns.items() if not hasattr(part, "chunks")}
        if len(columns) == sum(part is not None for part in beside.values()):
            # Together they are read once, and cut alike: dask cuts a file by the sizes of the columns that are wanted.
            frame = _assigned(X, columns)
            return [delayed(_of_own_columns, pure=False)(function, part, *arguments) for part in frame.to_delayed()]
    lengths = None
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        lengths = X.chunks[0]
    tables = list(np.ravel(X.to_delayed()))
    labels = _beside("y", y, tables, lengths)
    weights = _beside("sample_weight", sample_weight, tables, lengths)
    together = zip(tables, labels, weights, strict=True)
    return [delayed(function, pure=False)(*part, *arguments) for part in together]


def _assigned(X: Any, columns: dict[str, Any]) -> Any:
    """The frame with more columns."""
    for name, part in columns.items():
        if part.ndim != 1:
            raise InputError(f"{name[1:]} is a {type(part).__name__} of dask that is no vector. Give one column.")
    try:
        return X.assign(**columns)
    except (ValueError, NotImplementedError, AssertionError) as error:
        raise InputError(
            f"y or sample_weight has other partitions than X ({error}). Take all of them from one data frame."
        ) from None


def _beside(name: str, vector: Any, tables: list[Any], lengths: Any) -> list[Any]:
    """The parts of labels or weights that belong to the partitions."""
    if vector is None:
        return [None] * len(tables)
    known = lengths is not None and not any(math.isnan(length) for length in lengths)
    if not is_dask(vector):
        import dask.array as da

        vector = np.asarray(vector)
        if not known or vector.shape != (sum(lengths),):
            raise InputError(
                f"{name} is no collection of dask, has shape {vector.shape}, and does not fit X, whose partitions have "
                f"{'other' if known else 'unknown'} lengths. Give a column or an array that is cut like X."
            )
        vector = da.from_array(vector, chunks=(lengths,))
    if getattr(vector, "ndim", None) != 1:
        raise InputError(f"{name} is a {type(vector).__name__} of dask that is no vector. Give one column.")
    if known and hasattr(vector, "chunks") and not any(map(math.isnan, vector.chunks[0])):
        if vector.shape[0] != sum(lengths):
            raise InputError(f"{name} has {vector.shape[0]} entries where X has {sum(lengths)} rows.")
        vector = vector.rechunk((lengths,))
    parts = list(np.ravel(vector.to_delayed()))
    if len(parts) != len(tables):
        raise InputError(
            f"{name} has {len(parts)} partitions where X has {len(tables)}. Take both from one collection, or "
            "repartition them alike."
        )
    return parts


def _together(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    return X, y, weights


def _of_own_columns(function: Any, frame: Any, *arguments: Any) -> Any:
    """The function of a frame's own columns and of those that were added to it."""
    added = [frame[name] if name in frame.columns else None for name in (_LABELS, _WEIGHTS)]
    own = frame.drop(columns=[name for name in (_LABELS, _WEIGHTS) if name in frame.columns])
    return function(own, *added, *arguments)
