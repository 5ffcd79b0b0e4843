"""`spdpeg predict`: what a model says about the rows of a data file."""

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from .. import InputError, UnsupportedError
from ..data import Source
from ..errors import printable
from ..files.replacing import replacing
from ..model_file import load_model
from . import data_options, models
from .commands import Commands
from .output import add_json, check_output, plain, show


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("predict", help="predict with a model")
    parser.add_argument("model", metavar="MODEL", help="file written by `spdpeg fit`")
    data_options.add(parser)
    parser.add_argument("--proba", action="store_true", help="write the probability of each class, with a header")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write to (default: standard output)")
    add_json(parser)
    parser.set_defaults(command=_predict)


def _predict(args: argparse.Namespace, console: Console) -> None:
    check_output(args.output, [args.model, *data_options.inputs(args)])
    model = load_model(args.model)
    if args.proba and not hasattr(model, "predict_proba"):
        raise UnsupportedError(f"{type(model).__name__} has no probabilities. Leave --proba out.")
    known = {"n_features": int(model.n_features_in_), "categorical": _categories(model)}
    columns = [str(name) for name in getattr(model, "feature_names_in_", ())]
    X, y, names = data_options.load(args, columns=columns or None, **known)
    if not isinstance(X, Source):
        X = _in_order(model, X, names)
    with models.translated_errors():
        predictions = model.predict_proba(X) if args.proba else model.predict(X)
        score = None if y is None else float(model.score(X, y))
    if args.output is not None:
        with replacing(args.output) as file:
            file.writelines(f"{line}\n".encode() for line in _lines(model, predictions, args.proba))
        show({"rows": len(predictions), "score": score, "written_to": args.output}, console, args.json)
    elif args.json:
        show({"rows": len(predictions), "score": score, "predictions": predictions.tolist()}, console, True)
    else:
        for line in _lines(model, predictions, args.proba):
            console.out(printable(line), highlight=False)


def _categories(model: Any) -> dict[str, list[str]]:
    """Columns of text that were encoded, from the names of the model's columns: name=category."""
    found: dict[str, list[str]] = {}
    for name in getattr(model, "feature_names_in_", ()):
        column, sign, category = str(name).partition("=")
        if sign:
            found.setdefault(column, []).append(category)
    return found


def _lines(model: Any, predictions: np.ndarray, proba: bool) -> list[str]:
    header = [",".join(map(plain, model.classes_.tolist()))] if proba else []
    rows = predictions.tolist()
    return header + [",".join(map(plain, row if proba else [row])) for row in rows]


def _in_order(model: Any, X: Any, found: list[str] | None) -> Any:
    """The columns in the order of the model, found by name if both have names."""
    # They are compared here, since an array has none and scikit-learn would warn of that.
    names = vars(model).pop("feature_names_in_", None)
    if names is None or found is None or found == names.tolist():
        return X
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"The data have no column {missing[0]!r}, which the model was fitted with. Their columns are: "
            f"{', '.join(found)}."
        )
    return X[:, [found.index(name) for name in names]]
