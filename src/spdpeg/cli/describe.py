"""Facts about a fitted model."""

import math
from typing import Any

import numpy as np

_SHOWN = 5
"""Coefficients that are shown by name."""


def describe(model: Any) -> dict[str, Any]:
    """A fitted estimator and the quality of its fit, in plain numbers."""
    certificates = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    proved = [certificate for certificate in certificates if certificate is not None]
    coef = np.asarray(model.coef_)
    return {
        "model": type(model).__name__,
        "features": int(model.n_features_in_),
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        **_choice(model),
        "objective": model.objective_,
        "relative_gap": _largest([certificate.rel_gap for certificate in proved]),
        "residual": _largest([certificate.residual for certificate in proved]),
        "tolerance_met": all(certificate.met is not None for certificate in proved) if proved else None,
        "passes": int(model.n_iter_),
        "nonzero_coefficients": int(np.count_nonzero(coef)),
    }


def _choice(model: Any) -> dict[str, Any]:
    """The weights that the model used, where it chose them, and how well they predicted rows held out."""
    used = {name: getattr(model, f"{name}_", None) for name in ("lam1", "lam2")}
    found: dict[str, Any] = {
        name: float(value) for name, value in used.items() if value is not None and np.ndim(value) == 0
    }
    if hasattr(model, "mean_scores_"):
        found["held_out_score"] = float(np.max(model.mean_scores_))
    return found


def largest_coefficients(model: Any) -> dict[str, float] | None:
    """The coefficients that count most, by the names of the columns or their numbers; None for several classes."""
    coef = np.atleast_2d(model.coef_)
    if coef.shape[0] > 1:
        return None
    names = getattr(model, "feature_names_in_", range(coef.size))
    order = np.argsort(-np.abs(coef[0]), kind="stable")[:_SHOWN]
    return {str(names[j]): float(coef[0, j]) for j in order}


def _largest(values: list[float]) -> float | None:
    """None where one is missing or infinite."""
    return float(max(values)) if values and all(map(math.isfinite, values)) else None
