"""Checks of a loaded estimator: everything that predictions and descriptions rely on is there and fits together."""

import math
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..certificate import Certificate
from ..operators import Operator
from ..result import History

_REQUIRED = ("n_features_in_", "coef_", "intercept_", "objective_", "certificate_", "n_iter_")
_MOST_FEATURES = 2**40


def first_fault(model: Any) -> str | None:
    """The first thing that is missing, of the wrong kind or of the wrong size; None if the model is complete."""
    classifier = is_classifier(model)
    for name in (*_REQUIRED, *(["classes_"] if classifier else [])):
        if name not in vars(model):
            return f"{name} is missing"
    count = model.n_features_in_
    if type(count) is not int or not 1 <= count < _MOST_FEATURES:
        return "n_features_in_ is no number of columns"
    if classifier and not _are_classes(model.classes_):
        return "classes_ are not two labels or more"
    return _faulty_numbers(model, classifier, count) or _faulty_hazards(model) or _faulty_account(model)


def _faulty_numbers(model: Any, classifier: bool, count: int) -> str | None:
    """The first fault of coefficients, intercepts, positions and names."""
    knots = getattr(model, "knots_", None)
    if knots is not None:
        if not (_is_finite(knots, (np.size(knots),)) and np.all(np.diff(knots) > 0.0)):
            return "knots_ do not rise"
        if count != 1 or type(model.order) is not int or not 1 <= model.order <= knots.size:
            return "order does not fit knots_"
        count = knots.size
    shape: tuple[int, ...] = (count,)
    if classifier:
        problems = 1 if model.classes_.size == 2 else model.classes_.size
        shape = (problems, count)
        if not _is_finite(model.intercept_, (problems,)):
            return f"intercept_ is not {problems} finite number(s)"
    elif np.ndim(model.coef_) == 2:  # several outputs
        shape = (len(model.coef_), count)
        if not _is_finite(model.intercept_, shape[:1]):
            return f"intercept_ is not {shape[0]} finite numbers"
    elif not (_is_number(model.intercept_) and math.isfinite(model.intercept_)):
        return "intercept_ is no finite number"
    if not _is_finite(model.coef_, shape):
        return f"coef_ is no array of shape {shape} of finite numbers"
    names = getattr(model, "feature_names_in_", None)
    if names is not None and not (
        isinstance(names, np.ndarray) and names.dtype == object and names.shape == (model.n_features_in_,)
    ):
        return "feature_names_in_ are not one name for each column"
    return None


def _faulty_hazards(model: Any) -> str | None:
    """The first fault of times with events, for models that have them."""
    if not hasattr(model, "predict_survival"):
        return None
    times: Any = getattr(model, "event_times_", None)
    if not (_is_finite(times, (np.size(times),)) and np.all(np.diff(times) > 0.0)):
        return "event_times_ do not rise"
    if not _is_finite(getattr(model, "log_hazards_", None), times.shape):
        return "log_hazards_ are not one number for each time"
    return None


def _faulty_account(model: Any) -> str | None:
    """The first fault of the account of the fit."""
    if not all(map(_is_number, _listed(model.objective_))):
        return "objective_ is no number"
    for name in ("lam1_", "lam2_", "mean_scores_"):
        value = getattr(model, name, None)
        numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size > 0
        if not (value is None or _is_number(value) or numbers):
            return f"{name} is made of no numbers"
    traces = getattr(model, "hat_traces_", None)
    if traces is not None and not (type(traces) is list and all(one is None or _is_number(one) for one in traces)):
        return "hat_traces_ are made of no numbers"
    if type(model.n_iter_) is not int or model.n_iter_ < 0:
        return "n_iter_ is no count"
    for certificate in _listed(model.certificate_):
        values = [] if certificate is None else vars(certificate).values() if type(certificate) is Certificate else [[]]
        if not all(value is None or isinstance(value, float | int | str) for value in values):
            return "certificate_ is none"
    if not all(isinstance(history, History) for history in _listed(getattr(model, "history_", []))):
        return "history_ is none"
    for dual in _listed(getattr(model, "dual_", [])):
        if not _is_finite(dual, np.shape(dual)):
            return "dual_ does not hold finite numbers"
    if not isinstance(getattr(model, "F_", None), Operator | None):
        return "F_ is no operator"
    return None


def _are_classes(classes: Any) -> bool:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.size < 2:
        return False
    return classes.dtype.kind in "biuU" or (classes.dtype.kind == "f" and bool(np.isfinite(classes).all()))


def _is_finite(array: Any, shape: tuple[int, ...]) -> bool:
    good = isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.shape == shape
    return good and bool(np.isfinite(array).all())


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
