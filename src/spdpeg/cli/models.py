"""Models by the names of the command line, and options for their parameters."""

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import InputError, SpdpegError, estimators, files
from ..errors import one_line
from . import data_options

MODELS: dict[str, Any] = {
    "fused-lasso": estimators.FusedLasso,
    "fused-logistic": estimators.FusedLogisticRegression,
    "fused-svc": estimators.FusedSVC,
    "graph-guided": estimators.GraphGuidedRegressor,
    "graph-guided-logistic": estimators.GraphGuidedLogisticRegression,
    "generalized-lasso": estimators.GeneralizedLasso,
    "generalized-lasso-logistic": estimators.GeneralizedLassoClassifier,
    "total-variation": estimators.TotalVariationRegressor,
    "total-variation-logistic": estimators.TotalVariationClassifier,
    "low-rank": estimators.LowRankRegressor,
    "low-rank-logistic": estimators.LowRankClassifier,
    "trend-filter": estimators.TrendFilter,
}


def add(parser: argparse.ArgumentParser) -> None:
    """The model and its parameters; those left out keep the defaults of the estimator."""
    parser.add_argument(
        "--model",
        choices=MODELS,
        metavar="NAME",
        help=f"one of {', '.join(MODELS)} (default: fused-logistic for text and for two different labels, else "
        "fused-lasso)",
    )
    group = parser.add_argument_group("parameters of the model", argument_default=argparse.SUPPRESS)
    for option, settings in _OPTIONS.items():
        group.add_argument(option, **settings)


def with_data(args: argparse.Namespace) -> tuple[Any, Any, Any, list[str] | None]:
    """The model, and the rows, labels and names of columns that it is for; the labels decide if no model is named."""
    if args.model is not None:
        return build(args), *data_options.load_labelled(args)  # wrong options are reported before a long read
    X, y, names = data_options.load_labelled(args)
    classes = y.dtype.kind not in "iuf" or np.unique(y).size <= 2
    args.model = "fused-logistic" if classes else "fused-lasso"
    return build(args), X, y, names


def build(args: argparse.Namespace) -> Any:
    """The estimator that the options describe; one that it does not have is refused."""
    folds = getattr(args, "cv", None)
    name = MODELS[args.model].__name__
    cls = getattr(estimators, name if folds is None else f"{name}CV")
    known = cls().get_params()
    given = {settings["dest"]: option for option, settings in _OPTIONS.items() if settings["dest"] in args}
    for name, option in given.items():
        if name not in known:
            fitting = ", ".join(option for option, settings in _OPTIONS.items() if settings["dest"] in known)
            raise InputError(f"{args.model} has no option {option}. It has: {fitting}.")
    parameters = {name: getattr(args, name) for name in given}
    if folds is not None:
        parameters |= {name: [parameters[name]] for name in ("lam1", "lam2") if name in parameters} | {"cv": folds}
    # The bar shows itself on terminals only.
    return cls(**parameters, verbose=True)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn refusals of scikit-learn into errors of this package."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from error


def _structure(text: str) -> Any:
    """A name, the shape of a grid, or a file with a matrix."""
    if text in ("chain", "knn", "sics"):
        return text
    return _shape(text) if re.fullmatch(r"[\dx]+", text) else _matrix(text)


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(x\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no shape such as 28x28")
    return tuple(map(int, text.split("x")))


def _matrix(text: str) -> Any:
    try:
        return files.read(text).X
    except (OSError, SpdpegError) as error:
        raise argparse.ArgumentTypeError(one_line(error)) from None


_OPTIONS: dict[str, dict[str, Any]] = {
    "--lam1": {"dest": "lam1", "type": float, "help": "weight of r1, which makes coefficients 0 or small"},
    "--lam2": {"dest": "lam2", "type": float, "help": "weight of r2, which makes coefficients equal"},
    "--r1": {"dest": "r1", "choices": ("l1", "ridge"), "help": "graph-guided: r1 (default: ridge)"},
    "--structure": {
        "dest": "structure",
        "action": data_options.Read,
        "read": _structure,
        "help": "graph-guided: chain, knn, sics, the shape of a grid (28x28), or a file with an adjacency matrix",
    },
    "--shape": {
        "dest": "shape",
        "type": _shape,
        "help": "total-variation and low-rank: shape of the image, such as 28x28",
    },
    "--F": {
        "dest": "F",
        "action": data_options.Read,
        "read": _matrix,
        "help": "generalized-lasso: a file with the matrix F (.npz or .mat)",
    },
    "--family": {
        "dest": "family",
        "choices": ("gaussian", "poisson", "gamma", "huber", "quantile"),
        "help": "distribution of the labels, for models that predict numbers (default: gaussian)",
    },
    "--order": {"dest": "order", "type": int, "help": "trend-filter: order of the differences"},
    "--multi-class": {
        "dest": "multi_class",
        "choices": ("ovr", "multinomial"),
        "help": "logistic models of more than two classes: each against the rest (default), or all at once",
    },
    "--class-weight": {
        "dest": "class_weight",
        "choices": ("balanced",),
        "help": "give all classes the same total weight",
    },
    "--no-intercept": {"dest": "fit_intercept", "action": "store_false", "help": "fit without an intercept"},
    "--solver": {"dest": "solver", "help": "see `spdpeg solvers` (default: auto)"},
    "--tol": {"dest": "tol", "type": float, "help": "relative duality gap to reach"},
    "--passes": {"dest": "max_passes", "type": float, "help": "budget: reads of all rows"},
    "--seed": {"dest": "random_state", "type": int, "help": "same seed, same bits"},
}
