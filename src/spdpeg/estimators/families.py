"""Families of distributions: the loss that numbers are fitted with, and how well a fit explains them."""

from typing import Any

import numpy as np
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, r2_score

from .. import losses
from ..errors import InputError, UnsupportedError
from ..parameters import numbers, shown
from .inputs import translated_errors

FAMILIES: dict[str, type[losses.Loss]] = {
    "gaussian": losses.Squared,
    "poisson": losses.Poisson,
    "gamma": losses.Gamma,
    "huber": losses.Huber,
    "quantile": losses.Quantile,
}


def loss_of(owner: object, family: Any) -> losses.Loss:
    """The loss of a family, by name or given as it is."""
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]()
    if isinstance(family, losses.Loss) and not family.binary:
        return family
    raise InputError(
        f"family of {type(owner).__name__} is {shown(family)}. Choose one of {', '.join(FAMILIES)}, or give a loss for "
        "numbers, such as losses.Huber(2.0)."
    )


def joined(loss: losses.Loss, offset: Any, exposure: Any) -> np.ndarray | None:
    """Offset and logarithm of the exposure added up; None if neither is given."""
    total = None if offset is None else numbers("offset", offset)
    if exposure is None:
        return total
    if not loss.log_link:
        raise InputError(
            f"exposure is given and {loss!r} predicts numbers, not rates. Leave it out, or choose the family poisson "
            "or gamma."
        )
    sizes = numbers("exposure", exposure)
    if not np.all(np.isfinite(sizes)) or np.any(sizes <= 0.0):
        raise InputError("exposure holds entries that are not positive finite numbers. Repair those rows or drop them.")
    return np.log(sizes) if total is None else total + np.log(sizes)


def mean_of(loss: losses.Loss, scores: np.ndarray) -> np.ndarray:
    """The prediction (mean of the response) from the linear predictor."""
    with np.errstate(over="ignore"):  # infinite, far outside the data
        return np.exp(scores) if loss.log_link else scores


def explained(loss: losses.Loss, y: Any, mean: np.ndarray, sample_weight: Any) -> float:
    """The part of the deviance that predictions explain, 1 at best; R^2 for least squares and robust ones.

    Of several outputs, the mean over them.
    """
    if mean.ndim == 2 and np.shape(y) == mean.shape:
        columns = zip(np.asarray(y).T, mean.T, strict=True)
        return float(np.mean([explained(loss, *column, sample_weight) for column in columns]))
    with translated_errors():
        if loss.variance_power:
            return float(d2_tweedie_score(y, mean, sample_weight=sample_weight, power=loss.variance_power))
        if loss.quantile is not None:
            return float(d2_pinball_score(y, mean, sample_weight=sample_weight, alpha=loss.quantile))
        return float(r2_score(y, mean, sample_weight=sample_weight))


def require_squares(loss: losses.Loss) -> None:
    """Refuse a family whose deviance is not made of squares."""
    if loss.variance_power or loss.quantile is not None:
        raise UnsupportedError(
            f"The deviance of {loss!r} is not added up on a cluster. Take predict(X), and compute what you need."
        )


def missed(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> float:
    """Mean squared error of a fitted model, or the mean loss of another family, by which weights are chosen."""
    loss, scores = model._loss(), model._margins(X, offset)
    if loss.quadratic:
        squares = np.square(scores - numbers("y", y))
        return float(np.mean(squares if sample_weight is None else np.average(squares, axis=0, weights=sample_weight)))
    if scores.ndim == 2:
        columns = zip(scores.T, numbers("y", y).T, strict=True)
        return float(np.mean([np.average(loss.value(*column), weights=sample_weight) for column in columns]))
    return float(np.average(loss.value(scores, y), weights=sample_weight))
