"""`spdpeg info`: what a model file or a data file holds."""

import argparse
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console

from .. import data, files
from ..model_file import is_model, load_model, read_header
from ..pages.model import short
from . import data_options
from .commands import Commands
from .describe import describe, largest_coefficients
from .output import add_json, plain, show

_CLASSES = 20
"""Labels with more different values than this are shown as numbers."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("info", help="show what a model file or a data file holds")
    data_options.add(parser)
    data_options.add_features(parser)
    data_options.add_categorical(parser)
    add_json(parser)
    parser.set_defaults(command=_info)


def _info(args: argparse.Namespace, console: Console) -> None:
    source = data_options.in_blocks(args)
    if source is not None:
        facts = _source(source)
    elif args.data != "-" and is_model(args.data):
        facts = _model(args.data)
    else:
        facts = _data(files.read(**data_options.reading(args)))
    show(facts, console, args.json)


def _model(path: str) -> dict[str, Any]:
    model = load_model(path)
    return {
        **describe(model),
        "parameters": {name: short(value) for name, value in model.get_params(deep=False).items()},
        "largest_coefficients": largest_coefficients(model),
        "written_by": f"spdpeg {read_header(path)['spdpeg']}",
    }


def _data(table: files.Table) -> dict[str, Any]:
    X, y = table
    entries = int(X.nnz if sp.issparse(X) else np.count_nonzero(X))
    return {
        "rows": X.shape[0],
        "features": X.shape[1],
        "stored_as": "sparse matrix" if sp.issparse(X) else "array",
        "nonzero_entries": entries,
        "nonzero_share": entries / (X.shape[0] * X.shape[1]),
        "names": table.names,
        "labels": _labels(y),
    }


def _source(source: data.Source) -> dict[str, Any]:
    """Facts about data that are read in blocks, without reading the rows."""
    kinds = {data.CSR: "memory map, sparse", data.Dense: "memory map"}
    return {
        "rows": source.n_samples,
        "features": source.n_features,
        "stored_as": kinds.get(type(source), "table, read in blocks"),
        "names": source.names,
        "labels": _labels(source.labels),
    }


def _labels(y: np.ndarray | None) -> dict[Any, Any] | None:
    if y is None:
        return None
    values, counts = np.unique(y, return_counts=True)
    if values.size <= _CLASSES or y.dtype.kind == "U":
        return dict(zip(map(plain, values.tolist()), counts.tolist(), strict=True))
    return {"from": float(values[0]), "to": float(values[-1]), "mean": float(y.mean())}
