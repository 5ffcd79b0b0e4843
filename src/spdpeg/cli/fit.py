"""`spdpeg fit`: a model from a data file, whole or as a stream."""

import argparse
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from sklearn.base import is_classifier

from .. import InputError, UnsupportedError
from ..files.table import labels
from ..model_file import save_model
from . import data_options, models
from .commands import Commands
from .describe import describe
from .output import add_json, check_output, show

_COLUMNS = (
    SpinnerColumn(),
    TextColumn("rows {task.completed:,.0f}  objective {task.fields[objective]:.6g}"),
    TimeElapsedColumn(),
)


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("fit", help="fit a model to a data file")
    data_options.add(parser)
    data_options.add_features(parser)
    data_options.add_categorical(parser)
    models.add(parser)
    parser.add_argument("--cv", type=int, metavar="FOLDS", help="choose lam1 and lam2 by cross-validation")
    parser.add_argument(
        "--stream", action="store_true", help="read each row once and keep none; standard input is always read so"
    )
    parser.add_argument("--classes", help="classes of a stream, separated by commas (default: those of its first rows)")
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to write the model to")
    parser.add_argument("--report", metavar="FILE", help="HTML page about the fit to write")
    add_json(parser)
    parser.set_defaults(command=_fit)


def _fit(args: argparse.Namespace, console: Console) -> None:
    check_output(args.output, data_options.inputs(args))
    check_output(args.report, [*data_options.inputs(args), *filter(None, [args.output])])
    start = time.perf_counter()
    model, rows, names = _learned(args) if args.stream or args.data == "-" else _fitted(args)
    seconds = time.perf_counter() - start
    # The bar is a matter of this command, not of the model.
    model.set_params(verbose=False)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if args.output is not None:
        save_model(model, args.output)
    if args.report is not None:
        model.report(args.report)
    written = {"written_to": args.output, "reported_to": args.report}
    show({"rows": rows, **describe(model), "seconds": seconds, **written}, console, args.json)


def _fitted(args: argparse.Namespace) -> tuple[Any, int, list[str] | None]:
    """A model fitted to all rows, their number, and the names of the columns."""
    if args.classes is not None:
        raise _odd_classes()
    model, X, y, names = models.with_data(args)
    with models.translated_errors():
        model.fit(X, y)
    return model, X.shape[0], names


def _odd_classes() -> InputError:
    return InputError("--classes is for classifiers that learn from a stream. Leave it out.")


def _learned(args: argparse.Namespace) -> tuple[Any, int, list[str] | None]:
    """A model that has learned from a stream in one pass, the number of rows, and the names of the columns."""
    if args.model is None:
        raise InputError("The labels of a stream are not known before it is read. Name the model with --model.")
    model = models.build(args)
    if args.classes is not None and not is_classifier(model):
        raise _odd_classes()
    if not hasattr(model, "partial_fit"):
        raise UnsupportedError(f"{args.model} cannot learn from a stream. Save the data to a file and fit that.")
    rows, names, rng = 0, None, np.random.default_rng(model.random_state)
    console = Console(stderr=True)
    with Progress(*_COLUMNS, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, objective=float("nan"))
        for chunk in data_options.chunks(args):
            if chunk.y is None:
                raise InputError(f"{args.data} has no labels to learn from. Put them beside the rows.")
            # Files are often sorted, or alternate between the classes, and a stream should look random.
            order = rng.permutation(chunk.y.size)
            with models.translated_errors():
                model.partial_fit(chunk.X[order], chunk.y[order], **_classes(model, args, chunk.y, first=rows == 0))
            rows, names = rows + chunk.y.size, chunk.names
            bar.update(task, completed=rows, objective=float(np.mean(model.objective_)))
    if rows == 0:
        raise InputError(f"{args.data} holds no rows. Check what should have written it.")
    return model, rows, names


def _classes(model: Any, args: argparse.Namespace, y: np.ndarray, first: bool) -> dict[str, np.ndarray]:
    """The classes, which the first call of `partial_fit` needs."""
    if not (first and is_classifier(model)):
        return {}
    return {"classes": np.unique(y) if args.classes is None else labels(args.classes.split(","))}
