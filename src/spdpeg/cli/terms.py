"""Losses, penalties and operators as they are written on the command line: a name, then numbers after a colon."""

import argparse
from collections.abc import Callable
from typing import Any

from .. import SpdpegError, files, graphs, losses, operators, penalties
from ..losses import Loss
from ..operators import Operator
from ..penalties import Penalty

LOSSES: dict[str, type[Loss]] = {
    "logistic": losses.Logistic,
    "squared": losses.Squared,
    "huber": losses.Huber,
    "squared-hinge": losses.SquaredHinge,
    "smoothed-hinge": losses.SmoothedHinge,
    "hinge": losses.Hinge,
    "quantile": losses.Quantile,
}
PENALTIES: dict[str, type[Penalty]] = {
    "zero": penalties.Zero,
    "l1": penalties.L1,
    "ridge": penalties.L2Squared,
    "elastic-net": penalties.ElasticNet,
    "fused": penalties.FusedL1,
    "huber-l1": penalties.HuberL1,
    "linf": penalties.LInf,
    "nonnegative": penalties.NonNegative,
}
OPERATORS = ("identity", "chain", "difference:ORDER", "grid:28x28", "knn", "sics")


def loss(text: str) -> Loss:
    """logistic, or huber:1.35."""
    made: Loss = _made(text, LOSSES)
    return made


def penalty(text: str) -> Penalty:
    """l1:0.001, or elastic-net:0.01,0.1."""
    made: Penalty = _made(text, PENALTIES)
    return made


def operator(text: str) -> Callable[[Any], Operator]:
    """One of `OPERATORS`, or a file with a matrix; as a function of X, since graphs are made from its columns."""
    name, _, argument = text.partition(":")
    try:
        match name:
            case "knn":
                return graphs.knn
            case "sics":
                return lambda X: graphs.sics(X, tol=1e-6).operator()
            case "identity":
                made: Operator = operators.Identity()
            case "chain":
                made = operators.FirstDifference()
            case "difference":
                made = operators.Difference(int(argument))
            case "grid":
                made = operators.GridDifference(tuple(map(int, argument.split("x"))))
            case _:
                made = operators.as_operator(files.read(text).X)
    except FileNotFoundError:
        raise argparse.ArgumentTypeError(f"{text!r} is no file and none of {', '.join(OPERATORS)}") from None
    except (OSError, SpdpegError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    return lambda X: made


def _made(text: str, terms: dict[str, Any]) -> Any:
    name, _, numbers = text.partition(":")
    if name not in terms:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(terms)}")
    try:
        values = [float(number) for number in numbers.split(",")] if numbers else []
        if len(values) > len(terms[name].parameter_names()):
            raise argparse.ArgumentTypeError(f"{text!r} has more numbers than it takes")
        return terms[name](*values)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
