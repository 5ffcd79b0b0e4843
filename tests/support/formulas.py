"""Losses and penalties written out in NumPy, by the name of their class: slow, obvious, and apart from the kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Vector = np.ndarray
Prox = Callable[[Any, Vector, float], Vector]
Value = Callable[[Any, Vector], float]


def _hinge_slack(t: Vector, b: Vector) -> Vector:
    return np.asarray(np.maximum(1.0 - b * t, 0.0))


def _smoothed_hinge(s: Vector, width: float) -> Vector:
    return np.where(s >= 1, 0.0, np.where(s <= 1 - width, 1 - s - width / 2, (1 - s) ** 2 / (2 * width)))


LOSSES: dict[str, Callable[[Any, Vector, Vector], Vector]] = {
    "Logistic": lambda loss, t, b: np.logaddexp(0.0, -b * t),
    "Squared": lambda loss, t, b: 0.5 * (t - b) ** 2,
    "SquaredHinge": lambda loss, t, b: 0.5 * _hinge_slack(t, b) ** 2,
    "SmoothedHinge": lambda loss, t, b: _smoothed_hinge(b * t, loss.width),
    "Hinge": lambda loss, t, b: _hinge_slack(t, b),
    "Quantile": lambda loss, t, b: np.where(t < b, loss.level * (b - t), (1.0 - loss.level) * (t - b)),
    "Huber": lambda loss, t, b: np.where(
        np.abs(t - b) <= loss.delta, 0.5 * (t - b) ** 2, loss.delta * (np.abs(t - b) - loss.delta / 2)
    ),
    "Zero": lambda loss, t, b: np.zeros_like(t),
}

DERIVATIVES: dict[str, Callable[[Any, Vector, Vector], Vector]] = {
    "Logistic": lambda loss, t, b: -b / (1.0 + np.exp(b * t)),
    "Squared": lambda loss, t, b: t - b,
    "SquaredHinge": lambda loss, t, b: -b * _hinge_slack(t, b),
    "SmoothedHinge": lambda loss, t, b: -b * np.clip((1.0 - b * t) / loss.width, 0.0, 1.0),
    "Huber": lambda loss, t, b: np.clip(t - b, -loss.delta, loss.delta),
    "Zero": lambda loss, t, b: np.zeros_like(t),
}


def loss_value(loss: Any, t: Vector, b: Vector) -> Vector:
    """phi(t, b)."""
    return LOSSES[type(loss).__name__](loss, t, b)


def loss_derivative(loss: Any, t: Vector, b: Vector) -> Vector:
    """The derivative of phi(., b) at t."""
    return DERIVATIVES[type(loss).__name__](loss, t, b)


def _soft(v: Vector, limit: ArrayLike) -> Vector:
    return np.asarray(np.sign(v) * np.maximum(np.abs(v) - limit, 0.0))


def _onto_simplex(v: Vector, total: float) -> Vector:
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, v.size + 1)
    threshold = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.asarray(np.maximum(v - threshold, 0.0))


def _onto_l1_ball(v: Vector, radius: float) -> Vector:
    return v if np.abs(v).sum() <= radius else np.sign(v) * _onto_simplex(np.abs(v), radius)


def _shrink_norm(v: Vector, limit: float) -> Vector:
    norm = float(np.linalg.norm(v))
    return v * max(0.0, 1.0 - limit / norm) if norm > 0 else v


def _shrink_singular_values(matrix: Vector, limit: float) -> Vector:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray((left * np.maximum(values - limit, 0.0)) @ right)


def _flatten(v: Vector, limit: ArrayLike) -> Vector:
    """prox of sum_j limit_j |v_{j+1} - v_j|: slopes of the taut string between the cumulative sums -+ the limits."""
    width = np.concatenate([[0.0], np.broadcast_to(np.asarray(limit, dtype=float), (v.size - 1,)), [0.0]])
    sums = np.concatenate([[0.0], np.cumsum(v)])
    floor, ceiling = sums - width, sums + width
    slopes, start, height = np.empty(v.size), 0, 0.0
    while start < v.size:
        # The steepest and the flattest straight string from here; where they cross, it bends at the earlier one.
        least, most, end, slope = (-np.inf, start), (np.inf, start), v.size, np.nan
        for k in range(start + 1, v.size + 1):
            lowest, highest = (floor[k] - height) / (k - start), (ceiling[k] - height) / (k - start)
            if lowest > most[0] or highest < least[0]:
                slope, end = most if lowest > most[0] else least
                break
            least, most = max(least, (lowest, k)), min(most, (highest, k), key=lambda bound: bound[0])
            slope = (sums[-1] - height) / (v.size - start)
        slopes[start:end] = slope
        start, height = end, height + slope * (end - start)
    return slopes


def _groups(penalty: Any, v: Vector) -> list[slice]:
    """Consecutive blocks, the only kind of group used here."""
    return [slice(start, start + penalty.groups) for start in range(0, v.size, penalty.groups)]


def _huber_l1_prox(v: Vector, c: float, weight: float, delta: float) -> Vector:
    return np.where(np.abs(v) <= delta + c * weight, v / (1 + c * weight / delta), v - c * weight * np.sign(v))


PROXES: dict[str, Prox] = {
    "Zero": lambda r, v, c: v,
    "L1": lambda r, v, c: _soft(v, c * np.asarray(r.weight)),
    "L2Squared": lambda r, v, c: v / (1.0 + c * np.asarray(r.weight)),
    "Box": lambda r, v, c: np.clip(v, r.lower, r.upper),
    "NonNegative": lambda r, v, c: np.maximum(v, 0.0),
    "L2Ball": lambda r, v, c: v * min(1.0, r.radius / max(float(np.linalg.norm(v)), 1e-300)),
    "L1Ball": lambda r, v, c: _onto_l1_ball(v, r.radius),
    "Simplex": lambda r, v, c: _onto_simplex(v, r.total),
    "ElasticNet": lambda r, v, c: _soft(v, c * np.asarray(r.l1)) / (1.0 + c * np.asarray(r.l2)),
    "FusedL1": lambda r, v, c: _soft(_flatten(v, c * np.asarray(r.l2)), c * r.l1),
    "GroupL2": lambda r, v, c: np.concatenate([_shrink_norm(v[group], c * r.weight) for group in _groups(r, v)]),
    "LInf": lambda r, v, c: v - _onto_l1_ball(v, c * r.weight),
    "HuberL1": lambda r, v, c: _huber_l1_prox(v, c, r.weight, r.delta),
    "Nuclear": lambda r, v, c: _shrink_singular_values(v.reshape(r.shape), c * r.weight).reshape(-1),
    "Hinge": lambda r, v, c: v + r.labels * np.clip(1.0 - r.labels * v, 0.0, c * np.asarray(r.weight)),
    "Quantile": lambda r, v, c: v + np.clip(r.labels - v, c * r.weight * (r.level - 1.0), c * r.weight * r.level),
}

VALUES: dict[str, Value] = {
    "Zero": lambda r, v: 0.0,
    "L1": lambda r, v: float(np.sum(r.weight * np.abs(v))),
    "L2Squared": lambda r, v: float(np.sum(r.weight * v * v)) / 2,
    "Box": lambda r, v: 0.0 if np.all(v >= np.asarray(r.lower) - 1e-7) and np.all(v <= r.upper + 1e-7) else np.inf,
    "NonNegative": lambda r, v: 0.0 if np.all(v >= -1e-7) else np.inf,
    "L2Ball": lambda r, v: 0.0 if np.linalg.norm(v) <= r.radius + 1e-7 else np.inf,
    "L1Ball": lambda r, v: 0.0 if np.abs(v).sum() <= r.radius + 1e-7 else np.inf,
    "Simplex": lambda r, v: 0.0 if np.all(v >= -1e-7) and abs(v.sum() - r.total) <= 1e-7 else np.inf,
    "ElasticNet": lambda r, v: float(np.sum(r.l1 * np.abs(v)) + np.sum(r.l2 * v * v) / 2),
    "FusedL1": lambda r, v: float(r.l1 * np.sum(np.abs(v)) + np.sum(r.l2 * np.abs(np.diff(v)))),
    "GroupL2": lambda r, v: float(r.weight * sum(np.linalg.norm(v[group]) for group in _groups(r, v))),
    "LInf": lambda r, v: float(r.weight * np.max(np.abs(v))),
    "HuberL1": lambda r, v: float(
        r.weight * np.sum(np.where(np.abs(v) <= r.delta, v * v / (2 * r.delta), np.abs(v) - r.delta / 2))
    ),
    "Nuclear": lambda r, v: float(r.weight * np.linalg.norm(v.reshape(r.shape), "nuc")),
    "Hinge": lambda r, v: float(np.sum(r.weight * np.maximum(1.0 - r.labels * v, 0.0))),
    "Quantile": lambda r, v: float(
        np.sum(r.weight * np.maximum(r.level * (r.labels - v), (r.level - 1.0) * (r.labels - v)))
    ),
}


def prox(penalty: Any, v: Vector, c: Any) -> Vector:
    """argmin over w of c r(w) + |w - v|^2 / 2."""
    if type(penalty).__name__ == "SeparableSum":
        blocks = np.split(v, np.cumsum(penalty.sizes)[:-1])
        return np.concatenate([prox(part, block, c) for part, block in zip(penalty.parts, blocks, strict=True)])
    return PROXES[type(penalty).__name__](penalty, v, c)


def value(penalty: Any, v: Vector) -> float:
    """r(v)."""
    if type(penalty).__name__ == "SeparableSum":
        blocks = np.split(v, np.cumsum(penalty.sizes)[:-1])
        return sum(value(part, block) for part, block in zip(penalty.parts, blocks, strict=True))
    return VALUES[type(penalty).__name__](penalty, v)
